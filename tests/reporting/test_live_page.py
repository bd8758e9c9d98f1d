"""The page that follows a run, over HTTP as a browser asks for it."""

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.core.errors import UsageError
from checker.corpus.journal import JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import Record, RunStarted
from checker.reporting.live_page import LivePage

from .samples import changed, finding, opened, progress, records, settings, started


@pytest.fixture
def layout(tmp_path: Path) -> RunLayout:
    found = RunLayout(tmp_path / "corpus")
    found.create()
    return found


def write(layout: RunLayout, incarnation: int, *found: Record) -> JournalWriter:
    writer = JournalWriter(layout.journal(incarnation, 1000 + incarnation))
    for one in found:
        writer.write(one)
        writer.flush()
    return writer


@pytest.fixture
def page(layout: RunLayout) -> Iterator[LivePage]:
    one = LivePage(settings(folder=str(layout.root)), 0)
    yield one
    one.close()


def asked(page: LivePage, path: str, **headers: str) -> tuple[int, str]:
    port = int(page.url.rpartition(":")[2].strip("/"))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_it_shows_what_the_journals_hold_by_now(layout: RunLayout, page: LivePage) -> None:
    status, text = asked(page, "/?severity=high")
    assert status == 200
    assert "EventSource" in text
    writer = write(layout, 1, started(), opened(), finding())
    assert "GET /users" in asked(page, "/body")[1]
    assert "Failures (1)" in asked(page, "/body")[1]
    writer.write(finding(fingerprint="f9", unique_key="501"))
    writer.write(progress())
    writer.flush()
    assert "Failures (2)" in asked(page, "/body")[1]
    writer.close()


def test_a_run_that_is_over_is_not_shown(layout: RunLayout) -> None:
    write(layout, 1, started(), opened(), finding(), records()[-1]).close()
    page = LivePage(settings(folder=str(layout.root)), 0)
    assert "Failures" not in asked(page, "/body")[1]
    again: RunStarted = changed(started(), run="r2")
    write(layout, 2, again, opened(), finding(label="GET /other")).close()
    assert "GET /other" in asked(page, "/body")[1]
    page.close()


def test_pages_are_told_when_something_changed(layout: RunLayout, page: LivePage) -> None:
    port = int(page.url.rpartition(":")[2].strip("/"))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/events")
    answer = connection.getresponse()
    assert answer.getheader("Content-Type") == "text/event-stream"
    assert answer.readline() == b"data: changed\n"
    connection.close()


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [("/", "evil.example:80", 403), ("/etc/passwd", "127.0.0.1:1", 404), ("/", "localhost:1", 200)],
)
def test_it_answers_this_machine_alone(page: LivePage, path: str, host: str, status: int) -> None:
    assert asked(page, path, Host=host)[0] == status


def test_a_port_that_is_taken_is_one_sentence(page: LivePage) -> None:
    port = int(page.url.rpartition(":")[2].strip("/"))
    with pytest.raises(UsageError, match=f"--live-port {port}: .*; give another port"):
        LivePage(settings(), port)
