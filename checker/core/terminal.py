"""What a terminal is not shown as it stands."""

from typing import Final

DRIVING: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""Inside of a class of a regular expression: characters that a terminal obeys, and those that make it write what follows
in another place. Tabs and line feeds are not among them.
"""
UNSEEN: Final = (
    r"\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2065\u206a-\u206f"
    r"\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
"""Inside of a class of a regular expression: characters that nobody sees (Unicode: Default_Ignorable_Code_Point), and spaces that
nobody can tell from the usual one."""
