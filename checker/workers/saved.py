"""Failing examples of earlier runs: tried first, apart from the run's own cases, and forgotten when they pass."""

from pathlib import Path

from checker.core.operation import Label
from checker.core.sequence import Drawn, Step
from checker.corpus.codec import RecordEncoder, Undecodable, decode, join
from checker.corpus.records import CorpusEntry
from checker.corpus.shards import Shards
from checker.generation.sources.hypothesis import choices_from_bytes, choices_to_bytes

_OURS = b"\xff"
"""No list of choices begins like this: the first byte of each holds a type below 7 in its upper three bits."""
MOST = 20
"""Tried for each operation."""


class SavedExamples:
    """The example database as recipes. Without a folder it is empty and stays so."""

    def __init__(self, database: str) -> None:
        self._shards = None if database in ("none", ":memory:") else Shards(Path(database))

    def load(self, label: Label) -> list[Step]:
        """Recipes that failed before; smallest first."""
        if self._shards is None:
            return []
        found = (_step(label, data) for data in self._shards.load(label)[:MOST])
        return [step for step in found if step is not None]

    def save(self, step: Step) -> None:
        """Keep a recipe that failed. One that took values of responses cannot be made again by itself."""
        if self._shards is not None and not step.bindings:
            self._shards.save(step.label, _data(step))

    def forget(self, step: Step) -> None:
        """Drop a recipe that does not fail any more."""
        if self._shards is not None:
            self._shards.forget(step.label, _data(step))


def _data(step: Step) -> bytes:
    """A recipe as it is kept: choices as Hypothesis writes them, all others as records of ours."""
    if isinstance(step.recipe, Drawn):
        return choices_to_bytes(step.recipe.choices)
    entry = CorpusEntry(step.label, (step,), (), 0.0)
    return _OURS + join([RecordEncoder().encode(entry)], 1)


def _step(label: Label, data: bytes) -> Step | None:
    """The recipe of what was kept; None for what nobody can read."""
    if not data.startswith(_OURS):
        choices = choices_from_bytes(data)
        return None if choices is None else Step(label, Drawn(tuple(choices)))
    try:
        (entry,) = decode(data.removeprefix(_OURS))
    except (Undecodable, ValueError):
        return None
    return entry.steps[0] if isinstance(entry, CorpusEntry) and entry.steps else None
