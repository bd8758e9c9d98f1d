"""The process that leases tasks, notices deaths of workers and reads journals. It runs no code that can crash or hang."""
