"""Cassettes of interactions that are all there."""

from collections.abc import Iterable
from pathlib import Path

from checker.corpus.records import Interaction
from checker.reporting.formats.vcr import Cassette
from checker.reporting.shown import ReportContext


def cassette_text(settings: ReportContext, interactions: Iterable[Interaction]) -> str:
    """A cassette of these interactions, in this order."""
    cassette = Cassette(settings)
    return "".join((cassette.head(), *map(cassette.event, interactions), cassette.end()))


def write_cassette(path: Path, settings: ReportContext, interactions: Iterable[Interaction]) -> None:
    """Let one stand at `path`."""
    path.write_text(cassette_text(settings, interactions), encoding="utf-8", newline="\n")
