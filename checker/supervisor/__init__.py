"""One process that leases tasks, notices deaths and reads journals; it touches nothing that can crash or hang."""
