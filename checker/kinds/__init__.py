"""Kinds of API descriptions: the protocol of a kind, and the table of kinds.

The rooms above work with any kind and import none. A kind outside the package needs the names below. Like
all public names they are resolved on first use.
"""

from checker.core.public_names import public_names

__getattr__, __dir__ = public_names("kinds.")
