"""Values that a server evaluates, opens, fetches, or writes into headers and statements."""

import json
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from benchmarks.exploration.__main__ import counts, serving
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from tests.checks.asked import POSITIVE, Exchanges, operations_of
from tests.e2e.runner import Command

NAME = "injection"
_URL = {"name": "url", "in": "query", "schema": {"type": "string"}}
PATHS = {"/previews": {"get": {"parameters": [_URL], "responses": {"200": {"description": ""}}}}}


def _plain(text: str) -> Response:
    return Response(200, [], json.dumps({"text": text}).encode())


def _evaluated(text: str) -> Response:
    found = re.search(r"\{\{(\d+)\*(\d+)\}\}", text)
    return _plain(text if found is None else text.replace(found[0], str(int(found[1]) * int(found[2]))))


def _opened(text: str) -> Response:
    return Response(200, [], b"root:x:0:0:root:/root:/bin/sh" if text.endswith("etc/passwd") else b"")


def _split(text: str) -> Response:
    line, _, rest = text.partition("\r\n")
    return Response(302, [("Location", line), *([(rest.partition(":")[0], "1")] if rest else [])], b"")


def _stated(text: str) -> Response:
    return Response(500, [], b'near "x": syntax error') if text.endswith("'") else _plain("")


def _always_broken(text: str) -> Response:
    return Response(500, [], b'near "x": syntax error')


def _fetched(text: str) -> Response:
    url = urlsplit(text)
    if url.hostname == "127.0.0.1" and url.port:
        socket.create_connection((url.hostname, url.port)).close()
    return _plain("")


def _refused(text: str) -> Response:
    return Response(422, [], text.encode())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (_evaluated, ["Template is evaluated"]),
        (_opened, ["Path leads out of the folder"]),
        (_split, ["Value begins a header"]),
        (_stated, ["Quote ends a text of a statement"]),
        (_fetched, ["Any address is fetched"]),
        (_plain, []),
        (_refused, []),
        (_always_broken, []),
    ],
)
def test_a_value_with_an_effect_is_told(answer: Callable[[str], Response], expected: list[str]) -> None:
    def served(request: WireRequest) -> Outcome:
        return answer(parse_qs(request.target.partition(b"?")[2].decode())["url"][0])

    for index in range(200):
        them = Exchanges(operations_of(PATHS))
        content = answer("abc").content
        told: dict[str, Any] = {"mode": POSITIVE, "phase": "exploration", "query": {"url": "abc"}}
        status = answer("abc").status_code
        sent = them.sent("GET /previews", status, answer=content, index=index, **told)
        found = them.verdict(NAME, sent, answers=served)
        if them.asked:
            assert [one.unique_key for one in found.failures] == expected
            return
    raise AssertionError("no case was chosen")


@pytest.mark.parametrize("is_fixed", [False, True], ids=["planted", "fixed"])
def test_fuzz_reports_the_injections_of_a_service_and_none_of_its_fixed_twin(tmp_path: Path, *, is_fixed: bool) -> None:
    with serving("desk", is_fixed=is_fixed) as url:
        done = Command(tmp_path).until(
            # The last one is found within the first thousand.
            lambda: counts(url)["requests"] > 4_000,
            *("fuzz", f"{url}/openapi.json", "--checks", NAME, "--seed", "1", "--workers", "1", "--max-time", "60"),
            *("--include-path-regex", "^/(templates|attachments|webhooks|go)"),
        )
    injected = ["GET /attachments", "GET /go", "POST /templates/preview", "POST /webhooks"]
    assert sorted(done.defects) == [(label, NAME) for label in ([] if is_fixed else injected)], done.shown
