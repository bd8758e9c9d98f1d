"""Documents of whatever kind brought from files and URLs, within what reading a description may cost."""
