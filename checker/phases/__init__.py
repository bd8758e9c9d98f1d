"""The phases: which cases to try, in which order, and one attempt from the case to its verdict.

The names below are what a phase outside the package needs; Like all public names, they are resolved on first use.
"""

from checker.core.public_names import public_names

__getattr__, __dir__ = public_names("phases.")
