"""What one worker finds when it opens a description, and what it tells of it."""

from contextlib import closing
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import orjson
import psutil
import pytest
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.errors import LoaderError, StorageError
from checker.core.operation import Label
from checker.core.schema import WarningKind
from checker.corpus.journal import DAMAGED, JournalReader, JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note, OperationError, Record, SchemaOpened
from checker.workers import incarnation
from checker.workers.messages import Leaving, LeavingKind
from checker.workers.starting import opening
from checker.workers.starting.opening import open_worker_context
from checker.workers.subject import RUN_ENGINE
from tests.apps.serving import json_reply, serving
from tests.asking import run_settings, saying
from tests.workers.harness import workplace

OK = {"responses": {"200": {"description": ""}}}
LOST = {"parameters": [{"$ref": "#/components/parameters/Gone"}], **OK}
BASE = "http://127.0.0.1:9"


def described(**more: Any) -> dict[str, Any]:
    paths = {"/a": {"get": OK, "put": LOST}, "/b/{id}": {"get": OK}}
    return {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths, **more}


def opened(incarnation: int, settings: RunSettings) -> tuple[str, list[Record]]:
    """(digest of the document, what is in the journal) of one incarnation that has only begun."""
    with closing(open_worker_context(incarnation, settings)) as place:
        place.factory.program(Label("GET /a"), "fuzzing")
        place.recorder.close()
        records = list(JournalReader(place.recorder.journal.path).read_new())
        return place.opened.document, records


def asked(folder: Path, location: str, **changes: Any) -> RunSettings:
    fields = {"folder": str(folder / "corpus"), "database": "none", **changes}
    return run_settings(location, "fuzz", **fields)


def fetched_from(folder: Path, server: str, location: str = "", **changes: Any) -> tuple[str, str]:
    """(what is told to come from elsewhere, where the description was)."""
    with serving(lambda _: json_reply({}), described(servers=[{"url": server}])) as app:
        port = str(urlsplit(app.url).port)
        place = location.replace("PORT", port) or app.document_url
        _, records = opened(1, asked(folder, place, **changes))
    (found,) = (record for record in records if isinstance(record, SchemaOpened))
    return found.fetched_from, app.url


@pytest.mark.parametrize("server", ["http://api.example.com/v1", "http://127.0.0.1:9"])
def test_another_host_of_a_fetched_description_is_told(tmp_path: Path, server: str) -> None:
    told, url = fetched_from(tmp_path, server)
    assert told == url


def test_a_host_that_was_asked_for_is_not_told(tmp_path: Path) -> None:
    assert fetched_from(tmp_path, "http://api.example.com/v1", base_url=BASE)[0] == ""


@pytest.mark.parametrize("location", ["", "http://localhost:PORT/openapi.json"])
def test_a_server_beside_the_description_is_not_told(tmp_path: Path, location: str) -> None:
    assert fetched_from(tmp_path, "/v1", location)[0] == ""


def test_a_worker_that_comes_later_tells_the_same_and_selects_nothing_broken(tmp_path: Path) -> None:
    with serving(lambda _: json_reply({}), described()) as app:
        settings = asked(tmp_path, app.document_url)
        document, first = opened(1, settings)
    again, second = opened(2, replace(settings, document=document))
    assert (again, second) == (document, first)
    (error,) = (record for record in first if isinstance(record, OperationError))
    assert (error.label, error.title) == ("PUT /a", "Schema Error")
    # What cannot be read was selected, too: it is told as an error.
    assert first[0] == SchemaOpened("T", "Open API 3.0.3", f"{app.url}/", document, 3, 3, unreadable=1)


def test_a_description_is_fetched_through_the_proxy(tmp_path: Path) -> None:
    with serving(lambda _: json_reply({}), described()) as app:
        proxied = asked(tmp_path, f"{app.url}/openapi.json", operations=saying(proxy=BASE))
        with pytest.raises(LoaderError, match="through the proxy refused the connection"):
            opened(1, proxied)


def test_warnings_of_an_operation_are_told_when_it_is_compiled(tmp_path: Path) -> None:
    pdf = {"application/pdf": {"schema": {"type": "object"}}}
    document = described()
    document["paths"]["/a"]["get"] = {"responses": {"200": {"description": "", "content": pdf}}}
    with serving(lambda _: json_reply({}), document) as app:
        _, records = opened(1, asked(tmp_path, app.document_url))
    (note,) = (record for record in records if isinstance(record, Note))
    assert (note.kind, note.label) == (WarningKind.MISSING_DESERIALIZER, "GET /a")


def test_a_damaged_description_is_fetched_again_and_told(tmp_path: Path) -> None:
    with serving(lambda request: json_reply({}), described()) as app:
        first = asked(tmp_path, app.document_url, base_url=BASE)
        name, _ = opened(1, first)
        kept = RunLayout(tmp_path / "corpus").document(name)
        whole = kept.read_bytes()
        kept.write_bytes(whole[:-9])
        again, records = opened(2, replace(first, document=name))
    assert (again, kept.read_bytes()) == (name, whole)
    (told,) = [one for one in records if isinstance(one, Note) and one.kind == DAMAGED]
    assert told.text == f"{kept} is damaged: its content does not have the digest in its name; it was fetched again"


def test_a_disk_that_is_full_when_a_worker_begins_is_called_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StorageError("no space left")

    said: list[object] = []
    monkeypatch.setattr(incarnation, "open_worker_context", full)
    queue: Any = SimpleNamespace(send=said.append)
    incarnation.work(2, asked(tmp_path, "openapi.json"), queue, queue)
    assert said == [Leaving(LeavingKind.DISK, "no space left")]


def test_reading_for_all_is_no_cost_of_a_successor(tmp_path: Path) -> None:
    place = tmp_path / "api.json"
    place.write_bytes(orjson.dumps(described(servers=[{"url": BASE}])))
    settings = asked(tmp_path, str(place))
    with closing(open_worker_context(1, settings)) as first:
        document, reading_s = first.opened.document, first.subject.description.once_s
    with closing(open_worker_context(2, replace(settings, document=document))) as later:
        assert (reading_s > 0, later.subject.description.once_s) == (True, 0)


def test_what_was_opened_is_closed_however_a_worker_leaves(tmp_path: Path) -> None:
    """Workers in threads of a process have no end of it that closes files: what nobody closed would add up run by run."""
    journal = tmp_path / "journal"
    with workplace(tmp_path) as context:
        with closing(JournalWriter(journal)) as peer:
            peer.commit(Note("a", "", "", ""))
        context.knowledge.follow([str(journal)])
        context.recorder.tick(inf)
        assert open_below(tmp_path)
    assert open_below(tmp_path) == []


def test_what_was_opened_is_closed_when_a_worker_cannot_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        # By now journal and slots are open.
        assert len(open_below(tmp_path)) == 2
        raise StorageError("no space left")

    monkeypatch.setattr(opening, "opened_of", full)
    with pytest.raises(StorageError), workplace(tmp_path):
        pass
    assert open_below(tmp_path) == []
    # Schemas that this thread loads later send their requests themselves.
    assert RUN_ENGINE.get() is None


def open_below(folder: Path) -> list[str]:
    return [path for path, *_ in psutil.Process().open_files() if Path(path).is_relative_to(folder)]
