"""Turns a failure into a finding: it is confirmed, shrunk, and sent again as printed."""
