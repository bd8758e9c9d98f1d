"""Python samples of the pages about checks, phases, reports, warnings, options and credentials, word for word, in a run."""

import json
import re
from pathlib import Path

import pytest

from checker.demo import Server
from tests.apps.http import Reply, Request
from tests.apps.serving import serving
from tests.e2e.runner import Command

DOCS = Path(__file__).parents[2] / "docs"
OPERATION = {"responses": {"200": {"description": ""}, "401": {"description": ""}}}


def samples(page: str) -> list[str]:
    """The Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL)


def installed(command: Command, **modules: str) -> None:
    """Let the processes of a command find these modules behind entry points."""
    metadata = command.directory / "site" / "mine-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[checker.plugins]\n" + "".join(f"{one} = {one}\n" for one in modules))
    for name, text in modules.items():
        (command.directory / "site" / f"{name}.py").write_text(text)
    command.environment["PYTHONPATH"] = f"{DOCS.parent}:{command.directory / 'site'}"


@pytest.mark.thorough
def test_checks_phases_reports_and_options(tmp_path: Path) -> None:
    command = Command(tmp_path)
    hook, phase, metric = samples("phases")
    installed(command, quoting=phase, csv_lines=samples("reports")[0])
    (tmp_path / "mine.py").write_text("\n".join([*samples("command-line"), *samples("checks"), hook, metric]))
    command.environment["CHECKER_HOOKS"] = "mine.py"
    with Server() as demo:
        ran = command.run(
            demo.document_url, "-n", "10", "--include-path-regex", "^/rooms", "--phases", "examples,quoting,fuzzing",
            "--checks", "has_request_id,deleted_once,created_is_listed,Names", "--report", "csv,vcr", "--report-dir", "out",
            "--report-vcr-path", "out/run.yaml", "--team", "blue",
        )  # fmt: skip
    for text in ("Counting for blue", "no X-Request-Id", "- Counts: counts.txt"):
        assert text in ran.stdout, ran.shown
    (path,) = (tmp_path / "out").glob("csv-*.csv")
    head, *lines = path.read_text().splitlines()
    assert head == "operation,status"
    assert f"blue: {len(lines)} requests" in ran.stdout
    sent = (tmp_path / "out" / "run.yaml").read_text()
    for uri in (r"/rooms\?limit=7", r"/rooms\?kind=(%27|')"):
        assert re.search(f'uri: "http://[^/]*{uri}"', sent)


@pytest.mark.thorough
def test_a_source_of_credentials_and_a_warning(tmp_path: Path) -> None:
    tokens: list[str] = []

    def answer(request: Request) -> Reply:
        if request.target == b"/login":
            tokens.append(f"t{len(tokens)}")
            return Reply(200, "application/json", json.dumps({"token": tokens[-1]}).encode())
        is_known = request.headers.get("authorization") == f"Bearer {tokens[-1]}" if tokens else False
        return Reply(200 if is_known else 401, "application/json", b"{}")

    document = {"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "paths": {"/items": {"get": OPERATION}}}
    command = Command(tmp_path)
    installed(command, one_status=samples("warnings")[0])
    with serving(answer, document) as app:
        (sample,) = samples("credentials")
        (tmp_path / "login.py").write_text(sample.replace("http://127.0.0.1:8080", app.url))
        command.environment["CHECKER_HOOKS"] = "login.py"
        ran = command.run(app.document_url, "-n", "5", "--phases", "fuzzing")
    assert ran.view.of("GET /items").positive_statuses.keys() == {200}, ran.shown
    assert "  Operations with only one status: 1\n    - always 200 (GET /items)" in ran.stdout
