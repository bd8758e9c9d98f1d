"""Failing examples of earlier runs: tried first, apart from the run's own cases, and forgotten when they pass."""

from pathlib import Path

from checker.core.operation import Label
from checker.core.sequence import Step
from checker.corpus.shards import Shards
from checker.generation.sources.hypothesis import choices_from_bytes, choices_to_bytes

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
        found = (choices_from_bytes(data) for data in self._shards.load(label)[:MOST])
        return [Step(label, tuple(choices)) for choices in found if choices is not None]

    def save(self, step: Step) -> None:
        """Keep a recipe that failed. One that took values of responses cannot be made again by its choices."""
        if self._shards is not None and not step.bindings:
            self._shards.save(step.label, choices_to_bytes(step.choices))

    def forget(self, step: Step) -> None:
        """Drop a recipe that does not fail any more."""
        if self._shards is not None:
            self._shards.forget(step.label, choices_to_bytes(step.choices))
