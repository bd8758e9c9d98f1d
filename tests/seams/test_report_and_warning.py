"""A format of reports and a warning, both from outside the package."""

import ast
import csv
from pathlib import Path

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import serving
from tests.e2e.runner import Command, Ran

from .plugged import install

MOST_LINES = 80
OPERATION = {"responses": {"200": {"description": "as told"}}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Two", "version": "1"},
    "paths": {"/good": {"get": OPERATION}, "/bad": {"get": OPERATION}},
}


def answer(request: Request) -> Reply:
    return Reply(500 if request.target.startswith(b"/bad") else 200, "application/json", b"{}")


def ran(folder: Path, *arguments: str, text: str = "") -> Ran:
    command = Command(folder)
    install(command, "csv_report", "quiet_warning")
    (folder / "checker.toml").write_text(text)
    with serving(answer, DOCUMENT) as app:
        return command.run(app.document_url, "-n", "5", "--phases", "fuzzing", *arguments)


@pytest.mark.parametrize("name", ["csv_report", "quiet_warning"])
def test_they_are_made_of_public_names_in_a_few_lines(name: str) -> None:
    text = Path(__file__).with_name(f"{name}.py").read_text()
    imported = {
        (node.module or "").partition(".")[0] for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)
    }
    assert imported == {"checker"}
    assert "_" not in {part[:1] for line in text.splitlines() for part in line.split(".")[1:]}
    assert len(text.splitlines()) <= MOST_LINES


def test_a_report_from_outside_is_asked_for_like_any_other(tmp_path: Path) -> None:
    found = ran(tmp_path, "--report", "csv,json", "--report-dir", "out")
    (path,) = (tmp_path / "out").glob("csv-*.csv")
    assert f"- CSV: out/{path.name}" in found.stdout
    with path.open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["what", "operation", "result"]
    assert ["request", "GET /good", "200"] in rows
    assert ["failure", "GET /bad", "Server error"] in rows
    assert rows[-2:] == [["end", "", "completed"], ["seed", "", "1"]]
    sent = next(line for line in found.stdout.splitlines() if "requests," in line).split()[0]
    assert sum(row[0] == "request" for row in rows) == int(sent)


def test_it_has_a_section_in_the_configuration(tmp_path: Path) -> None:
    ran(tmp_path, text="[reports.csv]\npath = 'mine.csv'\n")
    assert (tmp_path / "mine.csv").read_text().startswith("what,operation,result")


def test_a_warning_from_outside_is_shown_and_makes_a_run_fail(tmp_path: Path) -> None:
    text = "[warnings]\nfail-on = ['one_answer']\n"
    found = ran(tmp_path, "--include-path", "/good", text=text)
    assert found.code == 1, found.shown
    assert "  Operations that know one answer only: 1\n    - always 200 (GET /good)" in found.stdout
    assert "    Look whether they read what they are sent." in found.stdout
    assert "warnings fail the run (one_answer)" in found.stdout.splitlines()[-1]


def test_a_warning_is_left_out_by_name(tmp_path: Path) -> None:
    found = ran(tmp_path, "--include-path", "/good", "--warnings", "missing_auth")
    assert (found.code, "know one answer only" in found.stdout) == (0, False), found.shown
