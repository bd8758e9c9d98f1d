"""`fuzz` finds its way along resources whose parameters and fields have different names."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from checker.corpus.layout import RunLayout
from checker.corpus.reader import Journals
from checker.corpus.records import Entry, SignalsSeen, ValueSeen
from tests.apps.chain import DOCUMENT, Parcels
from tests.apps.serving import App, serving
from tests.e2e.runner import Command

MOST_REQUESTS = 2_000


@pytest.fixture
def parcels() -> Parcels:
    return Parcels()


@pytest.fixture
def app(parcels: Parcels) -> Iterator[App]:
    with serving(parcels, DOCUMENT) as running:
        yield running


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_create_read_delete_read_is_reached(
    command: Command, app: App, parcels: Parcels, seed: str
) -> None:
    ran = command("fuzz", app.document_url, "--max-time", "30", "--seed", seed, "--workers", "2")
    assert ran.code == 1, ran.shown
    assert parcels.reached == {"created", "read", "deleted", "used after deletion"}
    label = "GET /parcels/{shipment}"
    assert ran.defects == [(label, "not_a_server_error"), (label, "status_code_conformance")]
    assert len(app.seen) <= MOST_REQUESTS


def test_what_was_learned_is_on_disk(command: Command, parcels: Parcels) -> None:
    parcels.is_planted = False
    with serving(parcels, DOCUMENT) as app:
        ran = command("fuzz", app.document_url, "--max-time", "6", "--seed", "1", "--workers", "1")
    assert ran.code == 0, ran.shown
    corpus = next(ran.directory.glob(".checker/*"))
    with closing(Journals(RunLayout(corpus))) as journals:
        records = [record for _, record in journals.finish_all()]
    classes = {
        name for record in records if isinstance(record, SignalsSeen) for _, name in record.ids
    }
    assert classes >= {
        "status",
        "media_type",
        "header",
        "leaf",
        "error",
        "input",
        "transition",
        "flow",
    }
    assert any(isinstance(record, Entry) and len(record.steps) > 1 for record in records)
    seen = [record for record in records if isinstance(record, ValueSeen)]
    assert ("POST /parcels", "/tracking") in {(value.producer, value.pointer) for value in seen}
