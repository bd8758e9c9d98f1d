"""Before the first case: opens the description, and creates everything that one worker works with."""
