"""`fuzz` finds its way along resources whose parameters and fields have different names."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from checker.corpus.journal import Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import CorpusEntry, Record, SignalsSeen, ValueSeen
from tests.apps.chain import DOCUMENT, Parcels
from tests.apps.serving import App, serving
from tests.e2e.runner import SLOW_CLOCK, Command
from tests.e2e.slow_clock import OVER
from tests.waiting import wait_until

MOST_REQUESTS = 2_000
CLASSES = {"status", "media_type", "header", "leaf", "error", "input", "transition", "flow"}


@pytest.fixture
def parcels() -> Parcels:
    return Parcels()


@pytest.fixture
def app(parcels: Parcels) -> Iterator[App]:
    with serving(parcels, DOCUMENT) as running:
        yield running


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_a_read_after_a_deletion_is_reached(command: Command, app: App, parcels: Parcels, seed: str) -> None:
    ran = command.here("fuzz", app.document_url, "--mode", "positive", "--seed", seed, "--workers", "2")
    assert ran.code == 1, ran.shown
    # A parcel may be deleted before anything reads it.
    assert parcels.reached >= {"created", "deleted", "used after deletion"}
    label = "GET /parcels/{shipment}"
    assert ran.defects == [(label, "not_a_server_error")]
    # The parcel may be that of another sequence.
    marks = r"\((needs its sequence|dependent on earlier requests(, needs its sequence)?)\)"
    assert re.search(marks, ran.stdout), ran.shown
    assert len(app.seen) <= MOST_REQUESTS


def test_what_was_learned_is_on_disk(command: Command, parcels: Parcels) -> None:
    parcels.is_planted = False
    with serving(parcels, DOCUMENT) as app:
        arguments = (
            "fuzz",
            app.document_url,
            "--mode",
            "positive",
            "--max-time",
            "30",
            "--seed",
            "1",
            "--workers",
            "1",
        )
        with replace(command, program=SLOW_CLOCK).started(*arguments) as process:
            wait_until(lambda: process.poll() is not None or is_learned(records_in(command)))
            (command.directory / OVER).touch()
            ran = command.finished(process)
    assert ran.code == 0, ran.shown
    assert is_learned(records_in(command))


def records_in(command: Command) -> list[Record]:
    found: list[Record] = []
    for corpus in command.directory.glob(".checker/*"):
        journals = Journals(RunLayout(corpus))
        found += [record for _, record in journals.read_new()]
    return found


def is_learned(records: list[Record]) -> bool:
    """Whether there are signals of each class, a sequence worth keeping, and a value that another operation takes."""
    classes = {name for record in records if isinstance(record, SignalsSeen) for _, name in record.ids}
    values = {(record.producer, record.pointer) for record in records if isinstance(record, ValueSeen)}
    return (
        classes >= CLASSES
        and any(isinstance(record, CorpusEntry) and len(record.steps) > 1 for record in records)
        and ("POST /parcels", "/tracking") in values
    )
