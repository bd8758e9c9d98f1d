"""For each warning an API that earns it and one that nearly does: it is told, and `fail-on` has it in the exit code."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from checker.core.registry import CONSTANT_SOURCES, constants
from checker.core.warning_table import BUILT_IN
from tests import waiting
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving

CASES = 10
TEXT = {"type": "string"}
OBJECT = {"application/json": {"schema": {"type": "object"}}}


def operation(name: Mapping[str, Any] = TEXT, *statuses: str, **more: Any) -> dict[str, Any]:
    """Operation with as many cases as anybody asks for."""
    answers = {status: {"description": "", "content": OBJECT} for status in statuses or ("200",)}
    query = {"name": "q", "in": "query", "required": True, "schema": name}
    return {"parameters": [query], "responses": answers} | more


def document(found: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {"/a": {"get": found}}} | more  # fmt: skip


def counting(**counts: int) -> Callable[[Request], Reply]:
    """Answers so many of 10 requests with each status: `s401=9, s400=1`."""
    statuses = [int(name[1:]) for name, count in counts.items() for _ in range(count)]
    assert len(statuses) == CASES
    seen: list[int] = []

    def answer(request: Request) -> Reply:
        seen.append(statuses[len(seen) % CASES])
        return json_reply({}, seen[-1])

    return answer


@dataclass(frozen=True)
class App:
    """An API, and what its user wrote."""

    answer: Callable[[Request], Reply] = field(default_factory=lambda: counting(s200=CASES))
    described: dict[str, Any] = field(default_factory=lambda: document(operation()))
    settings: str = ""
    options: tuple[str, ...] = ()
    source: Callable[[], object] | None = None
    """Of constants."""


def answering(**counts: int) -> App:
    return App(counting(**counts))


def said(settings: str, options: tuple[str, ...] = (), **described: Any) -> App:
    return App(described=document(operation(), **described), settings=settings, options=options)


def with_reference(pointer: str) -> App:
    schemas = {"Name": TEXT}
    optional = {"name": "r", "in": "query", "schema": {"$ref": pointer}}
    found = operation()
    found["parameters"].append(optional)
    return App(described=document(found, components={"schemas": schemas}))


def with_response(media_type: str, schema: dict[str, Any]) -> App:
    found = operation()
    found["responses"]["200"]["content"] = {media_type: {"schema": schema}}
    return App(lambda _: Reply(200, media_type, b"x"), document(found))


def with_pattern(pattern: str) -> App:
    return App(described=document(operation({"type": "string", "pattern": pattern})))


def with_dictionary(*entries: str) -> App:
    settings = (
        f"[dictionaries.mine]\nvalues = {list(entries)}\n"
        "[parameters]\n'query.q' = { dictionary = 'mine', probability = 0.5 }\n"
    )
    return App(described=document(operation({"type": "string", "maxLength": 3})), settings=settings)


SCHEMES = {"securitySchemes": {"Bearer": {"type": "http", "scheme": "bearer"}}}
WITH_HOST: dict[str, Any] = {"servers": [{"url": "http://{host}", "variables": {"host": {"default": "a"}}}]}
AT_V1 = {"servers": [{"url": "/v1"}]}
EARN: dict[str, tuple[App, App]] = {
    "missing_auth": (answering(s401=9, s400=1), answering(s401=8, s400=2)),
    "rate_limited": (answering(s429=9, s400=1), answering(s429=8, s400=2)),
    "base_url_mismatch": (
        App(counting(s404=10), document(operation(), **AT_V1)),
        App(counting(s404=9, s200=1), document(operation(), **AT_V1)),
    ),
    "missing_test_data": (answering(s404=1, s200=9), answering(s410=9, s200=1)),
    "validation_mismatch": (answering(s422=1, s404=9), answering(s409=9, s404=1)),
    "low_valid_rate": (answering(s200=1, s400=9), answering(s200=2, s400=8)),
    "unreached": (answering(s400=10), answering(s400=9, s200=1)),
    "method_not_allowed": (answering(s405=10), answering(s405=9, s404=1)),
    "timeout_units": (said("request-timeout = 100"), said("request-timeout = 99")),
    "unused_openapi_auth": (
        said("[auth.openapi.Bearr]\nbearer = 't'", components=SCHEMES),
        said("[auth.openapi.Bearer]\nbearer = 't'", components=SCHEMES),
    ),
    "unused_server_variable": (
        said("[servers.variables]\nhos = 'b'", **WITH_HOST),
        said("[servers.variables]\nhost = 'b'", **WITH_HOST),
    ),
    "unmatched_parameter": (said("[parameters]\n'query.limitt' = 1"), said("[parameters]\n'body.limitt' = 1")),
    "unmatched_filter": (said("", ("--exclude-path", "/b")), said("", ("--include-path", "/a"))),
    "unresolvable_reference": (with_reference("#/components/schemas/Nam"), with_reference("#/components/schemas/Name")),
    "missing_deserializer": (
        with_response("application/x-own", {"type": "object"}),
        with_response("application/x-own", TEXT),
    ),
    "unsupported_regex": (with_pattern("^(?<n>a)(?(n)b|c)$"), with_pattern("^(?<n>a)b$")),
    "dictionary_mismatch": (with_dictionary("abc", "too long", "as well"), with_dictionary("abc", "too long")),
    "constants_extraction": (App(source=lambda: [1]), App(source=lambda: [1, waiting])),
}
TOLD_AS = {row.name: row.title for row in BUILT_IN} | {"missing_auth": "Authentication failed"}
HARMLESS = ("timeout_units",)
"""Kinds that fail no run."""


@pytest.fixture(autouse=True)
def no_sources() -> Iterator[None]:
    yield
    CONSTANT_SOURCES.clear()


@pytest.mark.parametrize("is_earned", [True, False], ids=["earned", "nearly"])
@pytest.mark.parametrize("kind", EARN)
def test_it_is_told_and_fails_the_run_that_asked_for_it(invoke: Any, folder: Path, kind: str, is_earned: bool) -> None:
    app = EARN[kind][0 if is_earned else 1]
    (folder / "checker.toml").write_text(
        f"warnings = {{ display = ['{kind}'], fail-on = ['{kind}'] }}\n{app.settings}\n"
    )
    if app.source is not None:
        constants(app.source)
    with serving(app.answer, app.described) as served:
        ran = invoke(
            *("run", served.document_url, "-u", served.url, "--inline", "-n", str(CASES)),
            *("--phases", "fuzzing", "--mode", "positive", "-c", "not_a_server_error"),
            *app.options,
        )
    assert (TOLD_AS[kind] in ran.output) is is_earned, ran.output
    assert ran.exit_code == int(is_earned and kind not in HARMLESS), ran.output
