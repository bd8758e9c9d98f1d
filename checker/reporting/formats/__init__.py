"""What writes each format of reports: one file for each row of `checker.core.reports`."""
