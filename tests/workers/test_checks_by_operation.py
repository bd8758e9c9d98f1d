"""Checks of users, where they hold for some operations alone: what they see, and what the requests carry that they make."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import checker
from checker.checks.custom import CUSTOM_CHECKS
from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.core.credentials import CREDENTIAL_SOURCES
from checker.corpus.fold import RunView
from checker.credentials import Credentials, CredentialSource, register
from checker.health import RUN_CHECKS
from checker.supervisor.supervisor import execute
from tests.apps.http import Request
from tests.apps.serving import json_reply, serving
from tests.asking import changed

ANSWERED = {"responses": {"200": {"description": ""}}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "paths": {"/a": {"get": ANSWERED}, "/b": {"get": ANSWERED}},
}
OF_A = {"include-path": "/a"}
KEYS = {"/a": "Bearer of-a", "/b": None}


@pytest.fixture(autouse=True)
def no_checks() -> Iterator[None]:
    yield
    CUSTOM_CHECKS.clear()
    CREDENTIAL_SOURCES.clear()


def run(folder: Path, said: dict[str, Any]) -> tuple[RunView, list[Request]]:
    """What the one case of each operation came to, and what the server saw."""
    with serving(lambda _: json_reply({}), DOCUMENT) as app:
        config = Config.from_dict({"generation": {"database": "none"}, **said}, environment={})
        asked = run_settings(config, Invocation(app.document_url, inline=True), {})
        asked = changed(asked, folder=str(folder / "corpus"), phases=("fuzzing",))
        outcome = execute(asked, lambda *_: None)
    return outcome.view, app.seen


def test_a_class_check_sees_the_operations_that_it_is_enabled_for(tmp_path: Path) -> None:
    @checker.check
    class Paths:
        def __init__(self, *, shown: int = 0) -> None:
            self.shown = shown
            self.seen: list[str] = []

        def after_response(self, context, response, case):
            self.seen.append(case.path)

        def after_run(self, context):
            raise AssertionError(", ".join(self.seen[: self.shown]))

    said = {
        "checks": {"Paths": {"enabled": False, "shown": 9}},
        "operations": [{**OF_A, "checks": {"Paths": {"enabled": True}}}],
    }
    view, _ = run(tmp_path, said)
    assert [(one.label, one.message) for one in view.findings.values()] == [(RUN_CHECKS, "/a")]


def test_requests_of_checks_carry_what_their_operation_carries_or_nobody_s_name(tmp_path: Path) -> None:
    class Tickets(CredentialSource):
        name = "tickets"

        def fetch(self, case: checker.Case) -> Credentials:
            return Credentials({"X-Ticket": "number-1-of-many"})

        def carried(self, held: Credentials, case: checker.Case) -> Credentials | None:
            return held

        def is_refused(self, response: checker.Response) -> bool:
            return False

    @checker.check
    def asks_again(context, response, case):
        yield context.make(case)
        yield context.make(case, with_credentials=False)

    register(Tickets())
    said = {"headers": {"X-Tenant": "main"}, "operations": [{**OF_A, "headers": {"Authorization": "Bearer of-a"}}]}
    view, seen = run(tmp_path, said)
    assert not view.findings
    assert not view.errors
    names = ("authorization", "x-ticket", "x-tenant")
    carried = {
        path: [tuple(one.headers.get(name) for name in names) for one in seen if one.target.decode() == path]
        for path in ("/a", "/b")
    }
    nobody = (None, None, "main")
    somebody = {path: (key, "number-1-of-many", "main") for path, key in KEYS.items()}
    assert carried == {path: [one, one, nobody] for path, one in somebody.items()}
