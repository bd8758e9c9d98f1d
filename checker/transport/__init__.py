"""Requests as bytes, and the transports that send them: libcurl, applications in this process, transports of users.

Transports outside the package use the names below. Like all public names, they are resolved on first use.
"""

from checker.core.public_names import public_names

__getattr__, __dir__ = public_names("transport.")
