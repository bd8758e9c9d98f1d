"""Schemas on which the oracles disagree, with the instance and who is right."""

from typing import Final

KNOWN: Final[dict[str, tuple[str, str]]] = {}
"""Name of the sample -> who calls our values valid and is right ("the first", "the second"), and why."""
