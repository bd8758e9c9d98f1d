"""Failing examples of earlier runs. Saved examples are tried first, in addition to the run's own cases, and forgotten when they pass."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from checker.core.digests import digest, shard_of
from checker.core.meta import Binding, Drawn, Listed, Literal, Step
from checker.core.operation import Label
from checker.corpus.codec import Undecodable, decode, join, pack
from checker.corpus.records import CorpusEntry
from checker.corpus.secrets import NO_SECRETS, Secrets
from checker.generation.sources.basic import hypothesis
from checker.phases.attempt import Verdict
from checker.workers.recording.task_state import InFlight

_SECONDARY = b".secondary"


class Shards:
    """The example database below one directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._had_any = root.exists()
        """Whether there were examples at the start. Examples that this run saves do not count."""
        self._databases: dict[int, hypothesis.DirectoryBasedExampleDatabase] = {}

    def database(self, label: str) -> "hypothesis.DirectoryBasedExampleDatabase":
        """Return the shard of an operation as a database of Hypothesis."""
        shard = shard_of(label)
        database = self._databases.get(shard)
        if database is None:
            database = hypothesis.DirectoryBasedExampleDatabase(self._root / f"{shard:02d}")
            self._databases[shard] = database
        return database

    def save(self, label: str, choices: bytes) -> None:
        """Keep a failing example under the secondary key. Hypothesis treats examples under the primary key as shrunk."""
        self.database(label).save(secondary_key(label), choices)

    def load(self, label: str) -> list[bytes]:
        """Return examples of an operation, shrunk ones first, shortest first."""
        if not self._had_any:
            return []
        database = self.database(label)
        found: dict[bytes, None] = {}
        for where in (key(label), secondary_key(label)):
            found.update(dict.fromkeys(sorted(database.fetch(where), key=lambda one: (len(one), one))))
        return list(found)

    def forget(self, label: str, choices: bytes) -> None:
        """Drop an example that does not fail any more."""
        if self._root.exists():
            for where in (key(label), secondary_key(label)):
                self.database(label).delete(where, choices)


def key(label: str) -> bytes:
    """Return the primary key of an operation, for examples that Hypothesis itself has shrunk."""
    return digest(label).encode()


def secondary_key(label: str) -> bytes:
    """Return the key of failing examples that are not shrunk."""
    return key(label) + _SECONDARY


_OURS = b"\xff"
"""Marks the checker's own recipes. No list of choices begins with it: the first byte of a choice has a type below 7 in its upper three bits."""
MOST = 20  # Examples that are tried for each operation.


class SavedExamples:
    """The example database as recipes. Without a folder it stays empty."""

    def __init__(self, database: str, secrets: Secrets = NO_SECRETS) -> None:
        self._secrets = secrets
        self._shards = None if database in ("none", ":memory:") else Shards(Path(database))

    def saw(self, flight: InFlight, verdict: Verdict) -> None:
        """Drop an example that passed, once its last step was sent."""
        if not (flight.is_counted or flight.rest or verdict.judgement.failures):
            self.forget(flight.steps)

    def load(self, label: Label) -> list[tuple[Step, ...]]:
        """Return recipes that failed before, smallest first: single cases, and sequences that begin with the operation."""
        if self._shards is None:
            return []
        found: list[tuple[Step, ...]] = []
        for data in self._shards.load(label)[:MOST]:
            if not data.startswith(_OURS):
                choices = hypothesis.choices_from_bytes(data)
                found += [] if choices is None else [(Step(label, Drawn(tuple(choices))),)]
                continue
            with suppress(Undecodable, ValueError):
                (entry,) = decode(data.removeprefix(_OURS))
                found += [entry.steps] if isinstance(entry, CorpusEntry) and entry.steps else []
        return found

    def save(self, steps: Sequence[Step]) -> None:
        """Keep a recipe that failed, unless it contains a secret: other runs, and other people, read these files."""
        if self._shards is None:
            return
        # All values of the recipe that came from outside.
        found: list[object] = [binding.literal for step in _bare(steps) for binding in step.bindings]
        for step in steps:
            found += step.names
            match step.recipe:
                case Drawn(choices):
                    found += choices
                case Literal(path_parameters, query, headers, cookies, body):
                    found += (path_parameters, query, headers, cookies, body)
                case Listed():
                    # An index in a list of the description.
                    pass
        if not self._secrets.is_in(found):
            self._shards.save(steps[0].label, _data(steps))

    def forget(self, steps: Sequence[Step]) -> None:
        """Drop a recipe that does not fail any more."""
        if self._shards is not None:
            self._shards.forget(steps[0].label, _data(steps))


def _data(steps: Sequence[Step]) -> bytes:
    """Return a recipe as bytes: the choices of a single case in Hypothesis' format, other recipes as records.

    Values from responses of earlier steps are not kept, because a replay gets new ones, and the recipe of a failure must be
    the same each time. Values from elsewhere are kept, because they may still exist.
    """
    recipe = steps[0].recipe
    is_alone = len(steps) == 1 and not (steps[0].bindings or steps[0].names)
    if is_alone and isinstance(recipe, Drawn) and not recipe.learned:
        return hypothesis.choices_to_bytes(recipe.choices)
    entry = CorpusEntry(steps[0].label, _bare(steps), (), 0.0)
    return _OURS + join([pack(entry)], 1)


def _bare(steps: Sequence[Step]) -> tuple[Step, ...]:
    return tuple(replace(step, bindings=tuple(map(_without_found, step.bindings))) for step in steps)


def _without_found(binding: Binding) -> Binding:
    is_found_anew = binding.expression and binding.step >= 0
    return replace(binding, literal=None) if is_found_anew else binding
