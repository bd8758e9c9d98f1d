"""A user reads a resource of another user: responses and credentials that are broken."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.exploration.__main__ import configure, counts, serving
from benchmarks.exploration.drive import TOKENS, build
from checker.core.case import Case
from checker.core.errors import CredentialError
from checker.core.meta import Binding
from checker.core.operation import Label, Location
from checker.core.request import WireRequest
from checker.core.response import Response
from tests.checks.asked import POSITIVE, Exchanges, Sent, operations_of
from tests.e2e.runner import Command
from tests.fork_server import plain_environment

CHECK = "object_level_authorization"
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
OK = {"200": {"description": "fine"}}
PATHS: dict[str, Any] = {
    "/notes": {"get": {"responses": OK}, "post": {"responses": OK}},
    "/notes/{id}": {"get": {"parameters": [ID], "responses": OK}},
    "/carts": {"post": {"responses": OK}},
}
NOTE = {"id": "7", "text": "mine"}
SAMPLE = {"id": "1", "text": "for all"}
OWN = {"id": "2", "text": "of anna"}


@dataclass
class Users:
    """Two users, each with a header of the own name."""

    broken: tuple[str, ...] = ()
    """Users without credentials."""
    names: tuple[str, ...] = ("anna", "bert")

    def caller_of(self, request: WireRequest | None) -> str | None:
        name = None if request is None else request.header(b"x-user")
        return None if name is None else name.decode()

    def lend(self, case: Case, request: WireRequest, who: str) -> None:
        if who in self.broken:
            raise CredentialError(f"no token for {who}")
        request.headers.append((b"X-User", who.encode()))


def exchanges(*broken: str) -> Exchanges:
    return Exchanges(operations_of(PATHS), peers=Users(broken))


def of_user(one: Sent, user: str) -> Sent:
    assert one.request is not None
    one.request.headers.append((b"X-User", user.encode()))
    return one


def made(them: Exchanges, label: str = "POST /notes", *headers: tuple[str, str]) -> Sent:
    return of_user(them.sent(label, 201, headers, answer=json.dumps(NOTE).encode(), mode=POSITIVE), "anna")


def read(them: Exchanges, user: str = "anna", maker: str = "POST /notes") -> Sent:
    given = (Binding(Location.PATH, "id", Label(maker), "/id", 0, "7"),)
    answer = json.dumps(NOTE).encode()
    one = them.sent("GET /notes/{id}", 200, answer=answer, mode=POSITIVE, bindings=given, path_parameters={"id": "7"})
    return of_user(one, user)


def served(**pages: Any) -> Any:
    """Return a server that shows the note to each user, and these pages of the collection."""

    def answer(request: WireRequest) -> Response:
        user = (request.header(b"x-user") or b"").decode()
        if not user:
            return Response(401, [], b"")
        shown = NOTE if request.target.endswith(b"/7") else pages.get(user, [])
        return Response(200, [], json.dumps(shown).encode())

    return answer


@pytest.mark.parametrize("location", ["http://[x", "/v1/other", "/v1/n\u00f6tes"])
def test_a_location_that_is_no_address_of_the_resource_names_no_creator(location: str) -> None:
    them = exchanges()
    verdict = them.verdict(
        CHECK, read(them, maker="POST /carts"), [made(them, "POST /carts", ("Location", location))], served()
    )
    assert (verdict.failures, verdict.errors) == ((), ())


def test_missing_credentials_of_the_owner_leave_the_command_of_a_failure_unjudged() -> None:
    them = exchanges("anna")
    again = read(them, "bert")
    assert again.request is not None
    again.request.is_of_check = True
    verdict = them.verdict(CHECK, again, [made(them)], served())
    assert (verdict.failures, verdict.errors) == ((), ())
    assert "as the peer 'anna'" in verdict.unjudged[0]


def test_missing_credentials_of_the_owner_leave_the_collection_unread() -> None:
    them = exchanges("anna")
    verdict = them.verdict(CHECK, read(them), [made(them)], served())
    assert (verdict.failures, verdict.errors) == ((), ())
    assert "as the peer 'anna'" in verdict.unjudged[0]


@pytest.mark.parametrize(
    ("pages", "is_leak"),
    [
        ({"anna": [SAMPLE, OWN], "bert": [SAMPLE]}, True),
        ({"anna": [SAMPLE, OWN], "bert": [SAMPLE, {"id": "3", "text": "of bert"}]}, True),
        ({"anna": [SAMPLE, OWN], "bert": [SAMPLE, OWN]}, False),
        ({"anna": {"at": 1, "items": [SAMPLE]}, "bert": {"at": 2, "items": [SAMPLE]}}, False),
        ({"anna": [SAMPLE], "bert": [NOTE]}, False),
        ({"anna": [], "bert": []}, True),
    ],
)
def test_a_sample_that_both_users_see_shares_no_other_member(pages: dict[str, Any], *, is_leak: bool) -> None:
    them = exchanges()
    verdict = them.verdict(CHECK, read(them), [made(them)], served(**pages))
    assert bool(verdict.failures) is is_leak


def test_a_collection_that_needs_a_query_leaves_its_members_unjudged() -> None:
    them = exchanges()

    def answer(request: WireRequest) -> Response:
        return Response(422, [], b"{}") if request.path.endswith(b"/notes") else served()(request)

    verdict = them.verdict(CHECK, read(them), [made(them)], answer)
    assert (verdict.failures, verdict.errors) == ((), ())
    assert "the collection cannot be read (422)" in verdict.unjudged[0]


@pytest.mark.parametrize("is_fixed", [False, True], ids=["planted", "fixed"])
def test_fuzz_reports_what_users_read_and_write_of_each_other(tmp_path: Path, *, is_fixed: bool) -> None:
    configure(build(is_fixed=True), tmp_path)
    checks = (CHECK, "object_level_writes")
    read = {(f"GET {path}", CHECK) for path in ("/files/{file_id}", "/files/{file_id}/content", "/folders/{folder_id}")}
    written = {(f"{method} /files/{{file_id}}", "object_level_writes") for method in ("PATCH", "DELETE")}
    expected = set() if is_fixed else read | written
    command = Command(tmp_path)

    def has_ended(url: str) -> bool:
        # On a busy machine an operation may have its turn late.
        requests = counts(url)["requests"]
        return requests > 4_000 and (command.found >= expected or requests > 20_000)

    with serving("drive", is_fixed=is_fixed) as url:
        done = command.until(
            lambda: has_ended(url),
            *("fuzz", f"{url}/openapi.json", "--checks", ",".join(checks), "--seed", "1", "--workers", "1"),
            *("--include-path-regex", "^/(files|folders)", "--max-time", "60", "--report-json-path", "found.json"),
        )
    assert set(done.defects) == expected, done.shown
    if not is_fixed:
        failures = json.loads((tmp_path / "found.json").read_text())["failures"]
        # On a busy machine the night ends before each sequence is shrunk: its mark says that it needs what the night has made.
        writes = [one for one in failures if one["check"] == "object_level_writes"]
        alone = [one for one in writes if "earlier requests" not in one["stability"]]
        assert alone, [one["stability"] for one in writes]
        for failure in alone:
            _shows_alone(tmp_path, failure, url)


def _shows_alone(directory: Path, failure: dict[str, Any], url: str) -> None:
    """Assert that the commands of a failure show it with the credentials of its two users, and that a replay says whether it is fixed."""
    users = {f"CHECKER_{name.upper()}_AUTHORIZATION": f"Bearer {token}" for token, name in TOKENS.items()}
    text = "\n".join(failure["reproduce"])
    with serving("drive", is_fixed=False) as fresh:
        words = ["bash", "-c", text.replace(url, fresh)]
        shown = subprocess.run(words, env=plain_environment() | users, capture_output=True, check=False).stdout.decode()
        assert ("file not found" in shown) is ("DELETE" in text), shown
        assert counts(fresh)["first"].keys() & {"file-of-other-user-renamed", "file-of-other-user-deleted"}, text
    for is_fixed, word in ((False, "FAILED"), (True, "FIXED")):
        with serving("drive", is_fixed=is_fixed) as fresh:
            done = Command(directory).here("replay", failure["id"], "--url", fresh)
        assert done.stdout.startswith(word), f"{done.stdout}{done.stderr}"
