"""Credentials that come while a run goes on: write a `CredentialSource`, and `register` it in a module of hooks."""

from checker.core.credentials import Credentials, CredentialSource, register

__all__ = ["CredentialSource", "Credentials", "register"]
