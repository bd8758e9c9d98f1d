"""What a terminal is not shown as it stands."""

from typing import Final

DRIVING: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""Inside of a class of a regular expression: characters that a terminal obeys, and those that make it write what follows
in another place. Tabs and line feeds are not among them.
"""
