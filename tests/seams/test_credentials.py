"""A token that expires every 20 requests, under 4 workers: fetched once for all, written down nowhere."""

import threading
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

SOURCE = Path(__file__).with_name("expiring_tokens.py")
USES = 20
WORKERS = 4


class Bank:
    """Answers with 401 whatever does not carry the token of now, which is good for so many requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.tokens: list[str] = []
        self._left = 0
        self.spent_in_vain = 0
        """Logins while the token was still good."""
        self.served: dict[str, int] = {}

    def answer(self, request: Request) -> Reply:
        path, _, query = request.target.decode("latin-1").partition("?")
        with self._lock:
            if path == "/login":
                return self._login()
            if path == "/public":
                return json_reply({"carried": "authorization" in request.headers})
            if not self._left or not self._is_proved(path, query, request):
                return json_reply({"error": "who are you?"}, 401)
            self._left -= 1
            self.served[path] = self.served.get(path, 0) + 1
            # Echoed, as careless servers do; and wrong now and then, so that failures are looked into.
            token = self.tokens[-1]
            return json_reply({"you": token}, 500 if "broken" in path else 200)

    def _login(self) -> Reply:
        self.spent_in_vain += self._left > 0
        self._left = USES
        self.tokens.append(f"token-{len(self.tokens):03d}-tkyk7hr2")
        return Reply(200, "text/plain", self.tokens[-1].encode())

    def _is_proved(self, path: str, query: str, request: Request) -> bool:
        token = self.tokens[-1]
        if request.headers.get("authorization") != f"Bearer {token}":
            return False
        session = parse_qs(query).get("session", [])
        if path == "/plain":
            return not session
        return session == [f"q-{token}"] and f"sid=c-{token}" in request.headers.get("cookie", "")


PATHS = ("/a", "/b", "/c", "/d", "/broken", "/plain", "/public")


def document() -> dict[str, object]:
    parameters = [{"name": "q", "in": "query", "schema": {"type": "integer"}}]
    responses = {str(status): {"description": ""} for status in (200, 401, 500)}
    operation = {"get": {"parameters": parameters, "responses": responses}}
    return {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": dict.fromkeys(PATHS, operation)}


def written(folder: Path) -> list[tuple[Path, bytes]]:
    return [(path, path.read_bytes()) for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("sanitizes", [True, False])
@pytest.mark.thorough_beyond(1)
def test_every_token_is_fetched_once_for_all_and_kept_nowhere(tmp_path: Path, *, sanitizes: bool) -> None:
    bank, command = Bank(), Command(tmp_path)
    with ExitStack() as opened:
        app = opened.enter_context(serving(bank.answer, document()))
        command.environment |= {"LOGIN_URL": f"{app.url}/login", "CHECKER_HOOKS": str(SOURCE)}
        ran = command(
            "run", app.document_url, "--url", app.url, "-w", str(WORKERS), "-n", "40", "--seed", "1",
            "--phases", "fuzzing", "--mode", "positive",
            "--report", "vcr", f"--output-sanitize={'on' if sanitizes else 'off'}",
        )  # fmt: skip
    served = sum(bank.served.values())
    assert served > 200, ran.shown
    assert set(bank.served) == set(PATHS) - {"/public"}
    # Each login but the last was spent to its end: nobody fetched what another one had fetched already.
    assert bank.spent_in_vain == 0
    assert len(bank.tokens) == -(-served // USES)
    public = [one for one in app.seen if one.target.startswith(b"/public")]
    assert public
    assert not any("authorization" in one.headers for one in public)
    # The failure is found, and again as printed, although its token expired on the way.
    (finding,) = (one for one in ran.findings if one.label == "GET /broken")
    assert (finding.check, finding.investigation.reproduced) == ("not_a_server_error", True), ran.shown
    assert not [one for one in ran.findings if one.label != "GET /broken"], ran.shown
    leaked = [
        (path, token)
        for path, content in written(command.directory)
        for token in bank.tokens
        if token.encode() in content
    ]
    assert not leaked
    assert not any(token in ran.stdout + ran.stderr for token in bank.tokens)


KILLED = """
import os, signal
from pathlib import Path

from tests.seams.expiring_tokens import LoggedIn


def killed_at_first(fetch):
    def fetching(self, case):
        try:
            Path("killed").touch(exist_ok=False)
        except FileExistsError:
            return fetch(self, case)
        os.kill(os.getpid(), signal.SIGKILL)

    return fetching


LoggedIn.fetch = killed_at_first(LoggedIn.fetch)
"""


@pytest.mark.thorough
def test_a_worker_that_is_killed_while_it_fetches_is_replaced_by_another(tmp_path: Path) -> None:
    bank, command = Bank(), Command(tmp_path)
    (tmp_path / "hooks.py").write_text(KILLED)
    with serving(bank.answer, document()) as app:
        command.environment |= {"LOGIN_URL": f"{app.url}/login", "CHECKER_HOOKS": "hooks.py"}
        command.environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        ran = command.run(app.document_url, "--url", app.url, "-n", "10")
    assert (tmp_path / "killed").exists()
    assert set(bank.served) == set(PATHS) - {"/public"}, ran.shown
    assert len(bank.tokens) == -(-sum(bank.served.values()) // USES)
    # No case is to blame for it.
    assert not ran.view.quarantined
    assert not ran.view.errors
