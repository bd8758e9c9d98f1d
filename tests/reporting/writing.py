"""Cassettes of interactions that are all there."""

from collections.abc import Iterable
from pathlib import Path

from checker.corpus.records import Interaction
from checker.reporting.vcr import Cassette, CassetteSettings


def cassette_text(settings: CassetteSettings, interactions: Iterable[Interaction]) -> str:
    """A cassette of these interactions, in this order."""
    cassette = Cassette(settings)
    entries = [
        cassette.numbered(number, cassette.entry(one))
        for number, one in enumerate(interactions, start=1)
    ]
    return "".join((cassette.head(), *entries, cassette.end(len(entries))))


def write_cassette(
    path: Path, settings: CassetteSettings, interactions: Iterable[Interaction]
) -> None:
    """Let one stand at `path`."""
    path.write_text(cassette_text(settings, interactions), encoding="utf-8", newline="\n")
