"""Worker processes: they lease tasks, send the cases of these tasks, and record what they learn."""
