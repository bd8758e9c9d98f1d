"""Signals by which people and their tools ask a program to end."""

import signal

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, `kill` and service managers, a terminal that goes away: one wish."""
