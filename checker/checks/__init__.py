"""Judges of interactions: each failed check is a value with an identity.

For users, the package itself has the functions of the built-in checks: `checker.checks.not_a_server_error`.
"""

from checker.core.public_names import public_names

__getattr__, __dir__ = public_names("checks.")
