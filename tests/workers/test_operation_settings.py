"""Every key that may stand in an `[[operations]]` block acts for its operations alone, or is refused by name."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.table import (
    LATER_IN_OPERATIONS,
    OPERATION_KEYS,
    SECTIONS,
    not_in_operations,
)
from checker.core import phases
from checker.core.errors import NotAvailableYet
from checker.core.phases import FUZZING
from checker.corpus.fold import RunView
from checker.demo.http import Reply, Request
from checker.supervisor.endings import Ending
from checker.supervisor.execution import execute
from checker.workers.opening import open_worker_context
from tests.apps.serving import Answer, json_reply, serving
from tests.reporting.samples import finding
from tests.workers.elsewhere import BASIC, NULL, OF_CHECKS, SECURITY

Place = tuple[str, ...]


def operation() -> dict[str, Any]:
    content = {"application/json": {"schema": {"properties": {"on": {"format": "date"}}}}}
    text = {"type": "string", "maxLength": 60, "minLength": 1}
    body = {"type": "object", "properties": {"name": text}, "required": ["name"]}
    number = {"type": "integer", "minimum": 1, "maximum": 3}
    described = {"description": "", "content": content}
    promise = {"X-Count": {"required": True, "schema": {"type": "integer"}}}
    return {
        "parameters": [
            {"name": "q", "in": "query", "required": True, "schema": number},
            {"name": "X-Text", "in": "header", "required": True, "schema": text},
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {"200": {**described, "headers": promise}, "500": described},
    }


def narrow() -> dict[str, Any]:
    parameters = operation()["parameters"][:1]
    return {"parameters": parameters, "responses": {"200": {"description": ""}}}


def document(made: Callable[[], dict[str, Any]] = operation) -> dict[str, Any]:
    paths = {"/a": {"post": made()}, "/b": {"post": made()}}
    return {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths}


@dataclass(frozen=True)
class Observed:
    """What a server saw of one operation, and what the run came to."""

    label: str
    requests: list[Request]
    view: RunView

    @property
    def names(self) -> list[Any]:
        return [json.loads(request.body)["name"] for request in self.requests]

    @property
    def queries(self) -> list[dict[str, str]]:
        targets = [request.target.decode().partition("?")[2] for request in self.requests]
        return [dict(parse_qsl(text, keep_blank_values=True)) for text in targets]

    @property
    def commands(self) -> list[str]:
        """Commands of its findings; there are some."""
        found = [one.reproduction for one in self.view.findings.values() if one.label == self.label]
        assert found
        return found

    @property
    def failed(self) -> set[str]:
        return {one.check for one in self.view.findings.values() if one.label == self.label}

    @property
    def errors(self) -> list[str]:
        return [one.message for one in self.view.errors.values() if one.label == self.label]


def good(_: Request) -> Reply:
    return Reply(200, "application/json", b"{}", (("X-Count", "1"),))


def always(status: int, media_type: str, body: bytes, *, counts: bool = True) -> Answer:
    headers = (("X-Count", "1"),) if counts else ()
    return lambda _: Reply(status, media_type, body, headers)


OVER = threading.Event()
"""Set when a run is over: what waits for it is as slow as the run is long."""


def silent_for_one(request: Request) -> Reply:
    if request.target.startswith(b"/a"):
        OVER.wait()
    return good(request)


def unless_three(request: Request) -> Reply:
    return json_reply({}, 500) if b"q=3" in request.target else good(request)


def silent(request: Request) -> Reply:
    OVER.wait()
    return good(request)


def landing(request: Request) -> Reply:
    """A redirect to the same path, where all is well."""
    if b"landed" in request.target:
        return good(request)
    place = request.target.partition(b"?")[0].decode() + "?landed=1"
    return Reply(302, "application/json", b"{}", (("Location", place), ("X-Count", "1")))


@dataclass
class AtFirst:
    """Answers the first request of each case in one way, and the same one again well."""

    answer: Answer
    known: set[str] = field(default_factory=set)

    def __call__(self, request: Request) -> Reply:
        name = request.headers.get("x-checker-testcaseid", "")
        if name in self.known:
            return good(request)
        self.known.add(name)
        return self.answer(request)


@dataclass(frozen=True)
class Probe:
    """A value of a key, and what shows that it acts: true of one operation, false of the other."""

    value: Any
    shows: Callable[[Observed], bool]
    answer: Answer = good
    root: tuple[tuple[str, Any], ...] = ()
    made: Callable[[], dict[str, Any]] = operation
    cases: int = 25


def without(check: str, answer: Answer) -> Probe:
    return Probe(False, lambda seen: check not in seen.failed, answer)


def is_valid(query: dict[str, str], request: Request) -> bool:
    try:
        body = json.loads(request.body)
    except ValueError:
        return False
    texts = [body.get("name") if isinstance(body, dict) else None, request.headers.get("x-text")]
    is_fitting = all(isinstance(text, str) and 1 <= len(text) <= 60 for text in texts)
    return is_fitting and query.get("q") in ("1", "2", "3")


CERTIFICATE = str(Path(__file__).parent.parent / "data" / "tls" / "cert.pem")
BROKEN = always(500, "application/json", b"{}")
UNDATED = always(200, "application/json", b'{"on": "yesterday"}')
DICTIONARY = (("dictionaries", {"words": {"values": ["word"]}}),)
PROBES: dict[Place, Probe] = {
    ("headers",): Probe(
        {"X-Own": "7"}, lambda seen: all(one.headers.get("x-own") == "7" for one in seen.requests)
    ),
    ("proxy",): Probe(
        "http://127.0.0.1:9",
        lambda seen: "through the proxy" in str(seen.errors) or not seen.requests,
    ),
    ("tls-verify",): Probe(
        False,
        lambda seen: all(
            "--insecure" in one.reproduction
            for one in seen.view.findings.values()
            if one.label == seen.label
        ),
        BROKEN,
    ),
    ("request-cert",): Probe(
        CERTIFICATE,
        lambda seen: all(f"--cert {CERTIFICATE}" in one for one in seen.commands),
        BROKEN,
    ),
    ("request-cert-key",): Probe(
        CERTIFICATE,
        lambda seen: all(f"--key {CERTIFICATE}" in one for one in seen.commands),
        BROKEN,
    ),
    ("request-timeout",): Probe(
        0.05, lambda seen: "within 0.05 s" in str(seen.errors), silent_for_one
    ),
    ("max-redirects",): Probe(0, lambda seen: "status_code_conformance" in seen.failed, landing),
    ("request-retries",): Probe(
        1,
        lambda seen: not seen.errors,
        AtFirst(silent),
        root=(("request-timeout", 0.1),),
        cases=1,
    ),
    ("rate-limit",): Probe(
        "auto",
        lambda seen: "status_code_conformance" not in seen.failed,
        AtFirst(lambda _: Reply(429, "application/json", b"{}", (("Retry-After", "0"),))),
    ),
    ("parameters",): Probe(
        {"q": 77}, lambda seen: all(query["q"] == "77" for query in seen.queries)
    ),
    ("generation", "mode"): Probe(
        "negative", lambda seen: not any(map(is_valid, seen.queries, seen.requests))
    ),
    ("generation", "max-examples"): Probe(3, lambda seen: len(seen.requests) == 3),
    ("generation", "no-shrink"): Probe(
        True,
        lambda seen: (
            not any(
                one.shrink_executions
                for one in seen.view.findings.values()
                if one.label == seen.label
            )
        ),
        unless_three,
    ),
    ("generation", "allow-x00"): Probe(
        False, lambda seen: not any("\0" in name for name in seen.names), cases=400
    ),
    ("generation", "codec"): Probe(
        "ascii", lambda seen: all(name.isascii() for name in seen.names)
    ),
    ("generation", "exclude-header-characters"): Probe(
        "\r\n" + "".join(map(chr, range(0x30, 0x7F))),
        lambda seen: (
            not any(
                char.isalnum() and char.isascii()
                for one in seen.requests
                for char in one.headers.get("x-text", "")
            )
        ),
    ),
    ("generation", "allow-extra-parameters"): Probe(
        False,
        lambda seen: all(set(json.loads(one.body)) == {"name"} for one in seen.requests),
        cases=200,
    ),
    ("generation", "unique-inputs"): Probe(
        True, lambda seen: len(seen.requests) == len(set(map(repr, seen.queries))), made=narrow
    ),
    ("generation", "dictionaries"): Probe(
        {"string": {"dictionary": "words", "probability": 1.0}},
        lambda seen: set(seen.names) == {"word"},
        root=DICTIONARY,
    ),
    ("phases", "enabled"): Probe(False, lambda seen: not seen.requests),
    ("phases", "fuzzing", "enabled"): Probe(False, lambda seen: not seen.requests),
    ("checks", "enabled"): Probe(False, lambda seen: not seen.failed, BROKEN),
    ("checks", "not_a_server_error", "enabled"): without("not_a_server_error", BROKEN),
    ("checks", "not_a_server_error", "expected-statuses"): Probe(
        ["5XX"], lambda seen: "not_a_server_error" not in seen.failed, BROKEN
    ),
    ("checks", "status_code_conformance", "enabled"): without(
        "status_code_conformance", always(404, "application/json", b"{}")
    ),
    ("checks", "content_type_conformance", "enabled"): without(
        "content_type_conformance", always(200, "text/plain", b"{}")
    ),
    ("checks", "response_headers_conformance", "enabled"): without(
        "response_headers_conformance", always(200, "application/json", b"{}", counts=False)
    ),
    ("checks", "response_schema_conformance", "enabled"): without(
        "response_schema_conformance", UNDATED
    ),
    ("checks", "max_response_time"): Probe(1e-6, lambda seen: "max_response_time" in seen.failed),
    ("checks", "positive_data_acceptance", "enabled"): without(
        "positive_data_acceptance", always(422, "application/json", b"{}")
    ),
    ("checks", "positive_data_acceptance", "expected-statuses"): Probe(
        [422],
        lambda seen: "positive_data_acceptance" not in seen.failed,
        always(422, "application/json", b"{}"),
    ),
    ("checks", "response_schema_conformance", "validate-formats"): Probe(
        False, lambda seen: "response_schema_conformance" not in seen.failed, UNDATED
    ),
}
LATER: dict[str, Any] = {
    "warnings": False,
    "maximize": "response_time",
    "enabled": True,
    "expected-statuses": [400],
    "checks": {"enabled": False},
    "generation": {"mode": "all"},
    "max-steps": 3,
    "inference": {"algorithms": []},
    "link-calibration": False,
}
"""Values that are asked for in vain, by key."""


def places() -> Iterator[Place]:
    """Everything that the table lets stand in a block."""
    for path, keys in SECTIONS.items():
        for key in keys:
            place = (*path, key)
            starts = [place[:length] for length in range(1, len(place) + 1)]
            if place[0] in OPERATION_KEYS and not not_in_operations().intersection(starts):
                yield place


def is_later(place: Place) -> bool:
    key = SECTIONS[place[:-1]][place[-1]]
    return place[:1] in LATER_IN_OPERATIONS or (key.works is not None and len(key.works) == 1)


ELSEWHERE = [
    ("continue-on-failure",),
    ("max-stream-events",),
    *BASIC,
    *(place for key in (SECURITY, NULL) for place in (key, ("phases", "fuzzing", *key))),
]
"""Have tests of their own."""
LISTED = tuple(("phases", name) for name in phases.phase_names() if name != FUZZING.name)
"""What acts in phases that list their cases, or follow answers, has tests with them."""
ACTING = [
    place
    for place in places()
    if not is_later(place)
    and place not in ELSEWHERE
    and place[:2] not in LISTED
    and OF_CHECKS.isdisjoint(place)
]
REFUSED = [place for place in places() if is_later(place)]


def nested(place: Place, value: Any) -> dict[str, Any]:
    for part in reversed(place):
        value = {part: value}
    found: dict[str, Any] = value
    return found


def both(
    folder: Path, block: dict[str, Any], probe: Probe, phase: str = FUZZING.name
) -> tuple[Observed, Observed]:
    """What is seen of the operation that the block is about, and of the other one, in one phase."""
    values = {
        "generation": {"max-examples": probe.cases, "database": "none", "mode": "positive"},
        "seed": 1,
        "operations": [{"include-path": "/a", **block}],
        **dict(probe.root),
    }
    with serving(probe.answer, document(probe.made)) as app:
        config = Config.from_dict(values, environment={})
        occasion = Invocation(app.document_url, inline=True)
        asked = run_settings(config, occasion, {})
        asked = replace(asked, corpus_dir=str(folder / "corpus"), phases=(phase,))
        OVER.clear()
        try:
            outcome = execute(asked, lambda *_: None)
        finally:
            OVER.set()
        seen = [(one.target.partition(b"?")[0].decode(), one) for one in app.seen]
    first, second = (
        Observed(f"POST {path}", [one for of, one in seen if of == path], outcome.view)
        for path in ("/a", "/b")
    )
    return first, second


@pytest.mark.parametrize("place", ACTING, ids=".".join)
def test_a_key_of_a_block_acts_for_its_operations_alone(place: Place, tmp_path: Path) -> None:
    is_of_phase = place[0] == "phases" and len(place) > 2
    phase = place[1] if is_of_phase else FUZZING.name
    within = ("phases", FUZZING.name, "enabled") if place[2:] == ("enabled",) else place[2:]
    probe = PROBES[within if is_of_phase else place]
    mine, other = both(tmp_path, nested(place, probe.value), probe, phase)
    assert probe.shows(mine)
    assert not probe.shows(other)


@pytest.mark.parametrize("place", REFUSED, ids=".".join)
def test_a_key_of_a_block_that_does_nothing_yet_is_refused_by_name(place: Place) -> None:
    value = LATER["enabled"] if place[-1] not in LATER else LATER[place[-1]]
    if place[:1] == ("servers",):
        value = {"a": "b"}
    block = {"include-path": "/a", **nested(place, value)}
    with pytest.raises(NotAvailableYet, match=place[0] if place[:1] == ("servers",) else place[-1]):
        Config.from_dict({"operations": [block]}, environment={})


def test_fuzz_goes_on_after_failures_of_operations_that_say_so(tmp_path: Path) -> None:
    block = {"include-path": "/a", "continue-on-failure": True}
    with serving(good, document()) as app:
        occasion = Invocation(app.document_url, "fuzz")
        config = Config.from_dict({"operations": [block]}, environment={})
        asked = replace(run_settings(config, occasion, {}), corpus_dir=str(tmp_path / "corpus"))
        with open_worker_context(1, asked) as place:
            cards = place.opened.operations
            place.recorder.close()
    for label, wanted in (("POST /a", ""), ("POST /b", "first failure")):
        ending, view = Ending(asked), RunView()
        ending.know(cards)
        view.absorb(1, finding(label=label))
        ending.next_order(view, 0.0, 0.0, 0)
        assert ending.outcome == wanted


@pytest.mark.parametrize("place", [("generation", "maximize")], ids=".".join)
def test_what_is_later_may_stand_at_its_default(place: Place) -> None:
    default = SECTIONS[place[:-1]][place[-1]].default
    block = {"include-path": "/a", **nested(place, default)}
    assert Config.from_dict({"operations": [block]}, environment={}).operations


def test_a_phase_may_run_for_some_operations_alone(tmp_path: Path) -> None:
    off = (("phases", {"enabled": False}),)
    probe = Probe(True, lambda seen: bool(seen.requests), root=off)
    mine, other = both(tmp_path, {"phases": {"fuzzing": {"enabled": True}}}, probe)
    assert mine.requests
    assert not other.requests
