"""A server that takes characters of a path for an attack refuses valid requests: later ones do without those, and only those."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

import pytest

from checker.core.constraints import USUAL
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply
from tests.health.running import Ran, run
from tests.health.services import Service, operation

NAMED = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
PATHS = {"/named/{name}": {"parameters": [NAMED], "get": operation(200, 404)}}
ODD = ";%é<"


class Walled(Service):
    """Whoever sends what its wall does not like gets a page, or nothing."""

    disliked: str = ""
    reply: Reply = Reply(400)

    def own(self, method: str, path: str, request: Request) -> Reply | None:
        plain = unquote(path)
        is_foreign = self.disliked == "é" and not plain.isascii()
        # Walls that look for tags refuse both of their brackets.
        disliked = "<>" if self.disliked == "<" else self.disliked
        if is_foreign or any(one in plain for one in disliked):
            return self.reply
        return json_reply({}) if path.startswith("/named/") else None


def ran(folder: Path, service: Walled) -> Ran:
    service.seen.clear()
    said = {
        "generation": {"database": "none", "max-examples": 200, "mode": "positive"},
        "checks": {"enabled": False, "positive_data_acceptance": {"enabled": True}},
    }
    return run(folder, service, said, phases=("fuzzing",), cache=str(folder / "cache"))


def walled(refused: str, reply: Reply) -> Walled:
    service = Walled(dict(PATHS), 503)
    service.disliked, service.reply = refused, reply
    return service


def patterns(found: Ran) -> set[str]:
    refuted = {key for key, one in found.view.demands.items() if one.is_refuted}
    return {one.given for label, one in found.view.demands.keys() - refuted if one.keyword != USUAL}


def names(seen: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return [(unquote(what.removeprefix("GET /named/")), status) for what, status in seen if "/named/" in what]  # fmt: skip


@pytest.mark.parametrize(
    ("refused", "reply"),
    [
        (";", Reply(400)),
        ("%", Reply(400, "text/html", b"<!doctype html><html><title>HTTP Status 400</title></html>")),
        ("é", json_reply({"timestamp": 1, "status": 400, "error": "Bad Request", "path": "/"}, 400)),
        ("<", Reply(400, "text/plain", b"400 Bad Request")),
    ],
)  # fmt: skip
@pytest.mark.thorough_beyond(1)
def test_what_is_refused_is_left_out_and_nothing_else(tmp_path: Path, refused: str, reply: Reply) -> None:
    service = walled(refused, reply)
    heard = ran(tmp_path, service)
    before = [status for _, status in names(service.seen)]
    ran(tmp_path, service)
    after = names(service.seen)
    assert len(patterns(heard)) == 1
    assert [one.label for one in heard.view.findings.values() if "named" in one.label] == []
    # The first run learns it from a block of cases. The second one sends one case to see whether it is so still.
    assert [status for _, status in after].count(400) == 1 <= before.count(400)
    sent = "".join(name for name, _ in after[1:])
    assert [one for one in ODD if one != refused and one in sent] == [one for one in ODD if one != refused]


def test_a_refusal_with_a_reason_is_none_of_the_path(tmp_path: Path) -> None:
    found = ran(tmp_path, walled(";", json_reply({"message": "names have no marks"}, 400)))
    assert patterns(found) == set()
    assert {one.label for one in found.view.findings.values()} == {"GET /named/{name}"}
