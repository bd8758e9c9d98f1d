"""The command line: options become a configuration, a configuration becomes settings, a run becomes an exit code."""
