"""Credentials that are obtained during a run: write a `CredentialSource` and `register` it in a hooks module."""

from checker.core.credentials import Credentials, CredentialSource, register

__all__ = ["CredentialSource", "Credentials", "register"]
