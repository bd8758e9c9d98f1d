"""Runs on real Ray clusters: `make test-cluster` installs Ray."""
