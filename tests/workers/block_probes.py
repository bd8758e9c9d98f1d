"""For each key of an `[[operations]]` block, a value and what a server and a run show of it when it acts."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from checker.corpus.fold import RunView
from tests.apps.http import Reply, Request
from tests.apps.serving import Answer, json_reply

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
        found = [one.investigation.reproduction for one in self.view.findings.values() if one.label == self.label]
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


def dangling(request: Request) -> Reply:
    """A created resource that cannot be read at its `Location`."""
    if request.method == "GET":
        return json_reply({}, 404)
    return Reply(201, "application/json", b"{}", (("Location", "/nowhere"), ("X-Count", "1")))


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


def without(check: str, answer: Answer, cases: int = 25) -> Probe:
    return Probe(False, lambda seen: check not in seen.failed, answer, cases=cases)


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
    ("headers",): Probe({"X-Own": "7"}, lambda seen: all(one.headers.get("x-own") == "7" for one in seen.requests)),
    ("proxy",): Probe("http://127.0.0.1:9", lambda seen: "through the proxy" in str(seen.errors) or not seen.requests),
    ("tls-verify",): Probe(
        False,
        lambda seen: all(
            "--insecure" in one.investigation.reproduction
            for one in seen.view.findings.values()
            if one.label == seen.label
        ),
        BROKEN,
    ),
    ("request-cert",): Probe(
        CERTIFICATE, lambda seen: all(f"--cert {CERTIFICATE}" in one for one in seen.commands), BROKEN
    ),
    ("request-cert-key",): Probe(
        CERTIFICATE, lambda seen: all(f"--key {CERTIFICATE}" in one for one in seen.commands), BROKEN
    ),
    ("request-timeout",): Probe(0.05, lambda seen: "within 0.05 s" in str(seen.errors), silent_for_one),
    ("max-redirects",): Probe(0, lambda seen: "status_code_conformance" in seen.failed, landing),
    ("request-retries",): Probe(
        1, lambda seen: not (seen.errors or seen.failed), AtFirst(silent), root=(("request-timeout", 0.1),), cases=1
    ),
    ("rate-limit",): Probe(
        "auto",
        lambda seen: "status_code_conformance" not in seen.failed,
        AtFirst(lambda _: Reply(429, "application/json", b"{}", (("Retry-After", "0"),))),
    ),
    ("parameters",): Probe({"q": 77}, lambda seen: all(query["q"] == "77" for query in seen.queries)),
    ("generation", "mode"): Probe("negative", lambda seen: not any(map(is_valid, seen.queries, seen.requests))),
    ("generation", "max-examples"): Probe(3, lambda seen: len(seen.requests) == 3),
    ("generation", "no-shrink"): Probe(
        True,
        lambda seen: (
            not any(
                one.investigation.shrink_executions for one in seen.view.findings.values() if one.label == seen.label
            )
        ),
        unless_three,
    ),
    ("generation", "allow-x00"): Probe(False, lambda seen: not any("\0" in name for name in seen.names), cases=400),
    ("generation", "codec"): Probe("ascii", lambda seen: all(name.isascii() for name in seen.names)),
    ("generation", "exclude-header-characters"): Probe(
        "\r\n" + "".join(map(chr, range(0x30, 0x7F))),
        lambda seen: (
            not any(
                char.isalnum() and char.isascii() for one in seen.requests for char in one.headers.get("x-text", "")
            )
        ),
    ),
    ("generation", "allow-extra-parameters"): Probe(
        False, lambda seen: all(set(json.loads(one.body)) == {"name"} for one in seen.requests), cases=200
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
    ("checks", "status_code_conformance", "expected-statuses"): Probe(
        ["404"], lambda seen: "status_code_conformance" not in seen.failed, always(404, "application/json", b"{}")
    ),
    ("checks", "content_type_conformance", "enabled"): without(
        "content_type_conformance", always(200, "text/plain", b"{}")
    ),
    ("checks", "response_headers_conformance", "enabled"): without(
        "response_headers_conformance", always(200, "application/json", b"{}", counts=False)
    ),
    ("checks", "response_schema_conformance", "enabled"): without("response_schema_conformance", UNDATED),
    ("checks", "location_conformance", "enabled"): without("location_conformance", dangling, 3),  # Each waits.
    ("checks", "error_disclosure", "enabled"): without(
        "error_disclosure", always(500, "text/plain", b"Traceback (most recent call last):\n")
    ),
    ("checks", "max_response_time"): Probe(1e-6, lambda seen: "max_response_time" in seen.failed),
    ("checks", "positive_data_acceptance", "enabled"): without(
        "positive_data_acceptance", always(422, "application/json", b"{}")
    ),
    ("checks", "positive_data_acceptance", "expected-statuses"): Probe(
        [422], lambda seen: "positive_data_acceptance" not in seen.failed, always(422, "application/json", b"{}")
    ),
    ("checks", "response_schema_conformance", "validate-formats"): Probe(
        False, lambda seen: "response_schema_conformance" not in seen.failed, UNDATED
    ),
}
