"""Operations that need credentials but declare none: which configured scheme opens them is found, told, kept and asked again."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply
from tests.health.running import Ran, run
from tests.health.services import THING, Service, operation

SCHEMES = {"Bearer": {"type": "http", "scheme": "bearer"}, "Key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
AUTH = {"auth": {"openapi": {"Bearer": {"bearer": "b"}, "Key": {"api_key": "k"}}}}
QUIET = {"checks": {"enabled": False, "not_a_server_error": {"enabled": True}}}


class Silent(Service):
    """`GET /list` wants the key, `POST /notes` the bearer's token, and neither says so."""

    is_open: bool = False

    @classmethod
    def new(cls) -> "Silent":
        return cls({"/list": {"get": operation(200)}, "/notes": {"post": operation(201, body=THING)}}, 503)  # fmt: skip

    @property
    def document(self) -> dict[str, Any]:
        return super().document | {"components": {"securitySchemes": SCHEMES}}

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        given = request.headers
        let_in = {"/list": given.get("x-key") == "k", "/notes": given.get("authorization") == "Bearer b"}  # fmt: skip
        if path not in let_in:
            return None
        if not self.is_open and not let_in[path]:
            return json_reply({}, 401)
        return json_reply({})

    def statuses(self, what: str) -> Counter[int]:
        return Counter(status for at, status in self.seen if at == what)


def ran(folder: Path, service: Silent, **fields: Any) -> Ran:
    service.seen.clear()
    return run(folder, service, AUTH | QUIET, phases=("fuzzing",), **fields)


@pytest.mark.parametrize("is_cached", [True, False], ids=["kept", "not kept"])
def test_they_are_opened_now_where_that_is_harmless_and_else_by_the_next_run(tmp_path: Path, is_cached: bool) -> None:
    cache, service = tmp_path / "cache", Silent.new()
    where = str(cache) if is_cached else None
    first = ran(tmp_path, service, cache=where)
    assert [label for label, _ in first.notes("undeclared_auth")] == ["GET /list"]
    # Without credentials, and with those of the other scheme.
    assert service.statuses("GET /list")[401] == 2
    assert set(service.statuses("POST /notes")) == {401}
    second = ran(tmp_path, service, cache=where)
    notes = [label for label, _ in second.notes("undeclared_auth")]
    assert cache.exists() is is_cached
    if not is_cached:
        assert notes == ["GET /list"]
        return
    assert notes == ["GET /list", "POST /notes"]
    assert service.statuses("POST /notes")[401] == 1
    assert service.statuses("POST /notes")[200] > 3
    # It is asked first what it was opened by before.
    assert service.statuses("GET /list")[401] == 1
    # The target has changed its mind.
    service.is_open = True
    third = ran(tmp_path, service, cache=where)
    assert third.notes("undeclared_auth") == []
    kept = json.loads((cache / "discoveries.json").read_text())["entries"]
    assert [one for one in kept if one["kind"] == "auth_required"] == []


def test_a_broken_cache_is_no_error(tmp_path: Path) -> None:
    cache, service = tmp_path / "cache", Silent.new()
    cache.mkdir()
    entry = {"kind": "auth_required", "operation": ["GET /list"], "scheme": 7}
    (cache / "discoveries.json").write_text(
        json.dumps({"format_version": 1, "entries": [entry, {"kind": "auth_required"}]})
    )
    found = ran(tmp_path, service, cache=str(cache))
    assert found.outcome.exit_code == 0
    assert [label for label, _ in found.notes("undeclared_auth")] == ["GET /list"]
