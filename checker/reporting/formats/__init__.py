"""The writers of report formats: one file for each row of `checker.core.reports`."""
