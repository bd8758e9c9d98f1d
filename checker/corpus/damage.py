"""Files that were damaged on disk, as notes of the summary: nothing may be missing without a word."""

from enum import StrEnum
from pathlib import Path

from checker.corpus.records import Note

DAMAGED = "damaged_file"
"""Kind of these notes."""


class Loss(StrEnum):
    """The possible losses, by the content of the file."""

    JOURNAL = "findings, errors, counts and values that its process wrote down later may be missing"
    SNAPSHOT = "findings, values and signals of earlier runs may be missing"
    DESCRIPTION = "it was fetched again"
    TRAFFIC = "interactions that its process recorded later are missing in the reports"


def damage_note(path: Path, reason: str, loss: Loss) -> Note:
    """Return one sentence, the same for every reader that finds the damage: the fold reports it once."""
    return Note(DAMAGED, "", "", f"{path} is damaged: {reason}; {loss}")
