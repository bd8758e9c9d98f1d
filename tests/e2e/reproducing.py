"""Runs the texts that a run of the depot prints: each failure alone, on a fresh server with its defects and on one without."""

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from checker.core.known import failure_id
from checker.corpus.records import Finding
from checker.reporting.replays import symptoms_of
from tests.apps.depot import ALL, DOCUMENT, PASSWORD, USER, Restartable
from tests.e2e.runner import Command, Ran
from tests.fork_server import plain_environment

LOGIN = f"""
[auth.dynamic.openapi.Bearer]
path = "/token"
payload = {{ user = "{USER}", password = "{PASSWORD}" }}
extract_selector = "/access_token"
"""
PRINTED = ("html", "markdown", "junit", "sarif")
_CURL = 'silent\nwrite-out = "%{stderr}%{http_code} %{content_type}\\n"\n'
HTTPYAC = Path(__file__).parents[2] / ".browser" / "node_modules" / "httpyac" / "bin" / "httpyac.js"


def recorded(directory: Path, depot: Restartable, *arguments: str) -> Ran:
    """Run the depot with all its defects, and write reports."""
    (directory / "openapi.json").write_text(json.dumps(DOCUMENT))
    (directory / "checker.toml").write_text(LOGIN)
    paths = [(name, f"printed.{name}") for name in PRINTED]
    paths += [("pytest", "known.py"), ("sh", "failures.sh"), ("http", "failures.http"), ("json", "verdict.json")]
    paths += [("allure", "allure")]
    reports = [word for name, path in paths for word in (f"--report-{name}-path", path)]
    command = Command(directory)
    return command.run_as_usual("openapi.json", "--url", depot.url, *arguments, *reports, inline=True)


def environment(depot: Restartable, on: frozenset[str]) -> dict[str, str]:
    """Start the depot again with these defects; return the variables that printed texts read."""
    depot.restart(on)
    body = json.dumps({"user": USER, "password": PASSWORD}).encode()
    asked = urllib.request.Request(f"{depot.url}/token", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked) as answer:
        token = json.load(answer)["access_token"]
    return {"CHECKER_BASE_URL": depot.url, "CHECKER_AUTHORIZATION": f"Bearer {token}", "CHECKER_TOKEN_BEARER": token}


def by_pytest(directory: Path, depot: Restartable) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each test of the pytest file, and its outcomes with the defects and without them."""
    text = (directory / "known.py").read_text()
    for name in re.findall(r"(?m)^def (test_\w+)", text):
        yield name, (_outcome(text, name, depot, ALL), _outcome(text, name, depot, frozenset()))


def _outcome(text: str, name: str, depot: Restartable, on: frozenset[str]) -> str:
    with pytest.MonkeyPatch.context() as patched:
        for variable, value in environment(depot, on).items():
            patched.setenv(variable, value)
        names: dict[str, Any] = {}
        exec(compile(text, "known.py", "exec"), names)
        try:
            names[name]()
        except AssertionError:
            return "failed"
        except (pytest.fail.Exception, pytest.skip.Exception) as error:
            return str(error)
        return "passed"


def by_bash(directory: Path, depot: Restartable) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each failure of the script, and its exit codes with the defects and without them."""
    text = (directory / "failures.sh").read_text()
    (ids,) = re.findall(r"(?m)^all=\((.*)\)$", text)
    for one in ids.split():
        words = ["bash", "failures.sh", one]
        yield one, (_code(directory, depot, ALL, words), _code(directory, depot, frozenset(), words))


def printed(directory: Path) -> dict[str, str]:
    """Return id -> the text that the JSON report prints for bash."""
    failures = json.loads((directory / "verdict.json").read_text())["failures"]
    return {one["id"]: "\n".join(one["reproduce"]) for one in failures}


def texts_of(directory: Path, ran: Ran) -> dict[str, str]:
    """Return the name of each report -> all its text, as a reader sees it, without indentation."""
    texts = {"console": ran.stdout}
    for name in PRINTED:
        text = (directory / f"printed.{name}").read_text()
        if name in ("html", "junit", "markdown"):
            text = unescape(text)
        elif name == "sarif":
            text = "\n".join(one["message"]["text"] for one in json.loads(text)["runs"][0]["results"])
        texts[name] = text
    results = [json.loads(path.read_text()) for path in (directory / "allure").glob("*-result.json")]
    texts["allure"] = "\n".join(step["statusDetails"]["trace"] for one in results for step in one["steps"])
    return {name: "\n".join(map(str.strip, text.splitlines())) for name, text in texts.items()}


def by_printed_text(
    directory: Path, depot: Restartable, ran: Ran, base_url: str
) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """Yield each failure, and whether the text that is printed for it shows it with the defects and without them."""
    (directory / ".curlrc").write_text(_CURL)
    of_id = {failure_id(one): one for one in ran.findings}
    for name, text in printed(directory).items():
        yield (
            name,
            (
                _shows(directory, depot, ALL, of_id[name], text, base_url),
                _shows(directory, depot, frozenset(), of_id[name], text, base_url),
            ),
        )


def _shows(directory: Path, depot: Restartable, on: frozenset[str], finding: Finding, text: str, base_url: str) -> bool:
    variables = plain_environment() | environment(depot, on) | {"CURL_HOME": str(directory)}
    words = ["bash", "-c", text.replace(base_url, depot.url)]
    ran = subprocess.run(words, cwd=directory, env=variables, capture_output=True, check=False)
    status, _, media_type = ran.stderr.decode().splitlines()[-1].partition(" ")
    return all(one.holds(int(status), media_type, ran.stdout) for one in symptoms_of(finding))


def by_httpyac(directory: Path, depot: Restartable) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each failure of the `.http` file, and the exit codes of httpyac with the defects and without them."""
    text = (directory / "failures.http").read_text()
    # A test server has another port each time, and `base` is a line of the file.
    (directory / "failures.http").write_text(re.sub(r"(?m)^@base = .*$", f"@base = {depot.url}", text))
    for name in re.findall(r"(?m)^# @name (v1_[0-9a-f]{16})$", text):
        words = ["node", str(HTTPYAC), "send", "failures.http", "--name", name, "--output", "none"]
        yield name, (_code(directory, depot, ALL, words), _code(directory, depot, frozenset(), words))


def _code(directory: Path, depot: Restartable, on: frozenset[str], words: list[str]) -> int:
    variables = plain_environment() | environment(depot, on)
    return subprocess.run(words, cwd=directory, env=variables, capture_output=True, check=False).returncode
