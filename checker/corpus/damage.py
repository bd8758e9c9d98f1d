"""Files that were damaged on disk, as notes of the summary: nothing may be missing without a word."""

from enum import StrEnum
from pathlib import Path

from checker.corpus.records import Note

DAMAGED = "damaged_file"
"""Kind of these notes."""


class Loss(StrEnum):
    """What may be missing, by what the file holds."""

    JOURNAL = "findings, errors, counts and values that its process wrote down later may be missing"
    SNAPSHOT = "findings, values and signals of earlier runs may be missing"
    DESCRIPTION = "it was fetched again"
    TRAFFIC = "interactions that its process recorded later are missing in the reports"


def damage_note(path: Path, reason: str, loss: Loss) -> Note:
    """One sentence, the same whoever finds the damage: the fold tells it once."""
    return Note(DAMAGED, "", "", f"{path} is damaged: {reason}; {loss}")
