"""Cassettes as another tool plays them: vcrpy answers a client from what was recorded."""

import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import vcr
import yaml

from checker.reporting.shown import ReportContext
from tests import cassettes

from .samples import exchange, interaction
from .writing import cassette_text

BASE = "http://127.0.0.1:8080/api"
SENT = (
    interaction(
        exchange=exchange(
            target=b"/api/users?limit=0&name=%C3%A9",
            response_head=b"Content-Type: application/json\r\nX-Two: a\r\nX-Two: b\r\n",
            response_body='{"error":"boom: \u00e9 \U0001f600"}'.encode(),
        )
    ),
    interaction(
        exchange=exchange(
            method="POST",
            target=b"/api/orders",
            headers=((b"Content-Type", b"application/json"),),
            body=b'{"n":"\\u0000 # not: a comment"}',
            status=201,
            reason="Created",
            response_body=b"- 1\n- [2]\n",
        )
    ),
)


def as_played(text: str) -> dict[str, Any]:
    """The cassette with the name that vcrpy has for the list, bare bodies of requests, and statuses as numbers."""
    found = cassettes.read(text)["http_interactions"]
    for one in found:
        one["request"]["body"] = one["request"].get("body", {}).get("string")
        one["response"]["status"]["code"] = int(one["response"]["status"]["code"])
    return {"version": 1, "interactions": found}


@pytest.fixture
def played(tmp_path: Path) -> Any:
    text = cassette_text(ReportContext("checker run x", 7, BASE), SENT)
    path = tmp_path / "cassette.yaml"
    path.write_text(yaml.safe_dump(as_played(text)))
    matches = ["method", "uri", "body"]
    with vcr.use_cassette(str(path), record_mode="none", match_on=matches) as cassette:
        yield cassette


def test_a_client_is_answered_what_was_recorded(played: Any) -> None:
    with pytest.raises(urllib.error.HTTPError) as found:
        urllib.request.urlopen(f"{BASE}/users?limit=0&name=%C3%A9")
    with found.value as answer:
        assert (answer.code, answer.reason) == (500, "Internal Server Error")
        assert answer.headers.get_all("X-Two") == ["a", "b"]
        assert answer.read() == SENT[0].exchange.response_body
    posted = urllib.request.Request(f"{BASE}/orders", SENT[1].exchange.body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(posted) as answer:
        assert (answer.status, answer.read()) == (201, b"- 1\n- [2]\n")
    assert played.all_played
