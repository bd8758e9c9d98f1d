"""Discoveries about a target for the next run: a JSON file that may be deleted at any time."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from checker import __version__
from checker.core.constraints import Constraint, constraint
from checker.core.errors import StorageError
from checker.core.meta import Literal
from checker.core.request import Location
from checker.corpus import files
from checker.corpus.records import DemandHeard

FORMAT_VERSION: Final = 1
NAME: Final = "discoveries.json"
_DEMAND, _NEVER_ALLOWED, _AUTH = "demand", "method_not_allowed", "auth_required"
_MOST: Final = 100  # Discoveries of one operation.
_MOST_BYTES: Final = 16 << 20


class Discovery(Struct, frozen=True):
    """A demand, with the case that was refused for it."""

    label: str
    demand: Constraint
    request: Literal


class Discoveries(Struct, frozen=True):
    """The discoveries of earlier runs."""

    demands: tuple[Discovery, ...] = ()
    never_allowed: tuple[str, ...] = ()  # Operations whose only status was 405.
    auth_needs: tuple[tuple[str, str], ...] = ()
    """(operation, security scheme or nothing) of operations that refuse every caller and declare no scheme."""

    @property
    def is_empty(self) -> bool:
        return not self.demands and not self.never_allowed and not self.auth_needs


def load(directory: Path) -> Discoveries:
    """Return the discoveries of earlier runs; empty if the file is missing or unreadable."""
    try:
        content = files.read_file(directory / NAME, _MOST_BYTES)
        found = json.loads(content or b"null")
        # The file of another version is not converted: the next run learns its content again.
        if found["format_version"] != FORMAT_VERSION:
            return Discoveries()
        entries = found["entries"]
        return Discoveries(
            tuple(_discovery(entry) for entry in entries if entry["kind"] == _DEMAND),
            tuple(str(entry["operation"]) for entry in entries if entry["kind"] == _NEVER_ALLOWED),
            tuple((str(entry["operation"]), str(entry["scheme"])) for entry in entries if entry["kind"] == _AUTH),
        )
    except (StorageError, OSError, ValueError, TypeError, KeyError, RecursionError):
        return Discoveries()


def save(directory: Path, demands: Iterable[DemandHeard], kept: Discoveries) -> None:
    """Write the demands that were not refuted, and the discoveries of earlier runs in `kept`. If the file cannot be written, it stays as it is."""
    heard = list(demands)
    refuted = {(one.label, one.demand) for one in heard if one.is_refuted}
    found = {
        (one.label, one.demand): Discovery(one.label, one.demand, one.refused[0])
        for one in heard
        if one.refused and not one.is_refuted
    }
    for one in kept.demands:
        found.setdefault((one.label, one.demand), one)
    entries: list[dict[str, Any]] = []
    counts: dict[str, int] = {}
    for key in sorted(found.keys() - refuted):
        label = key[0]
        counts[label] = counts.get(label, 0) + 1
        if counts[label] <= _MOST and (entry := _entry(found[key])) is not None:
            entries.append(entry)
    entries += ({"kind": _NEVER_ALLOWED, "operation": one} for one in sorted(kept.never_allowed))
    entries += ({"kind": _AUTH, "operation": label, "scheme": scheme} for label, scheme in sorted(kept.auth_needs))
    text = json.dumps({"format_version": FORMAT_VERSION, "version": __version__, "entries": entries}, indent=1)
    try:
        files.make_directory(directory)
        files.write_file(directory / NAME, text.encode())
    except (StorageError, OSError):
        # No run depends on this file.
        return


def _entry(one: Discovery) -> dict[str, Any] | None:
    entry = {
        "kind": _DEMAND,
        "operation": one.label,
        "location": one.demand.location,
        "path": one.demand.path,
        "keyword": one.demand.keyword,
        "value": one.demand.given,
        "request": asdict(one.request),
    }
    try:
        json.dumps(entry)
    except (TypeError, ValueError, RecursionError):
        # A value with bytes, such as an uploaded file, has no JSON.
        return None
    return entry


def _discovery(entry: Mapping[str, Any]) -> Discovery:
    demand = constraint(Location(entry["location"]), map(str, entry["path"]), entry["keyword"], entry["value"])
    if demand is None:
        raise ValueError(f"no such demand: {entry!r}")
    given = dict(entry["request"])
    given["body"] = tuple(given["body"])
    given["data"] = tuple((str(name), value) for name, value in given["data"])
    return Discovery(str(entry["operation"]), demand, Literal(**given))
