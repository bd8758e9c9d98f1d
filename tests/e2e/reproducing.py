"""Runs the texts that a run of a service with planted defects prints: each failure alone, on a fresh server with its defects and on one without."""

import json
import re
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from checker.corpus.known import failure_id
from checker.corpus.records import Finding
from checker.reporting.replays import symptoms_of
from tests.apps.restartable import Restartable
from tests.e2e.runner import Command, Ran
from tests.fork_server import plain_environment

PRINTED = ("html", "markdown", "junit", "sarif")
_CURL = 'silent\nwrite-out = "%{stderr}%{http_code} %{size_download} %{content_type}\\n"\n'
HTTPYAC = Path(__file__).parents[2] / ".browser" / "node_modules" / "httpyac" / "bin" / "httpyac.js"


def prepare(directory: Path, service: Restartable) -> None:
    """Write the description of a service and the configuration for it."""
    (directory / "openapi.json").write_text(json.dumps(service.document))
    (directory / "checker.toml").write_text(service.config)


def recorded(directory: Path, service: Restartable, *arguments: str) -> Ran:
    """Run a service with all its defects, and write reports."""
    prepare(directory, service)
    paths = [(name, f"printed.{name}") for name in PRINTED]
    paths += [("pytest", "known.py"), ("sh", "failures.sh"), ("http", "failures.http"), ("json", "verdict.json")]
    paths += [("allure", "allure")]
    reports = [word for name, path in paths for word in (f"--report-{name}-path", path)]
    command = Command(directory)
    return command.run_as_usual("openapi.json", "--url", service.url, *arguments, *reports, inline=True)


def environment(service: Restartable, on: frozenset[str]) -> dict[str, str]:
    """Start a service again with these defects; return the variables that printed texts read."""
    service.restart(on)
    return {"CHECKER_BASE_URL": service.url, **service.log_in(service.url)}


def by_pytest(directory: Path, service: Restartable) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each test of the pytest file, and its outcomes with the defects and without them."""
    text = (directory / "known.py").read_text()
    for name in re.findall(r"(?m)^def (test_\w+)", text):
        yield name, (_outcome(text, name, service, service.all), _outcome(text, name, service, frozenset()))


def _outcome(text: str, name: str, service: Restartable, on: frozenset[str]) -> str:
    with pytest.MonkeyPatch.context() as patched:
        for variable, value in environment(service, on).items():
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


def by_bash(directory: Path, service: Restartable) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each failure of the script, and its exit codes with the defects and without them."""
    text = (directory / "failures.sh").read_text()
    (ids,) = re.findall(r"(?m)^all=\((.*)\)$", text)
    for one in ids.split():
        words = ["bash", "failures.sh", one]
        yield one, (_code(directory, service, service.all, words), _code(directory, service, frozenset(), words))


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
    directory: Path, service: Restartable, ran: Ran, base_url: str
) -> Iterator[tuple[str, tuple[bool, bool]]]:
    """Yield each failure, and whether the text that is printed for it shows it with the defects and without them."""
    (directory / ".curlrc").write_text(_CURL)
    of_id = {failure_id(one): one for one in ran.findings}
    for name, text in printed(directory).items():
        yield (
            name,
            (
                _shows(directory, service, service.all, of_id[name], text, base_url),
                _shows(directory, service, frozenset(), of_id[name], text, base_url),
            ),
        )


def _shows(
    directory: Path, service: Restartable, on: frozenset[str], finding: Finding, text: str, base_url: str
) -> bool:
    variables = plain_environment() | environment(service, on) | {"CURL_HOME": str(directory)}
    words = ["bash", "-c", text.replace(base_url, service.url)]
    ran = subprocess.run(words, cwd=directory, env=variables, capture_output=True, check=False)
    status, size, media_type = ran.stderr.decode().splitlines()[-1].split(" ", 2)
    # The bodies of all responses are printed, except for those that a variable takes.
    body = ran.stdout[len(ran.stdout) - int(size) :]
    return all(one.holds(int(status), media_type, body) for one in symptoms_of(finding))


def by_httpyac(directory: Path, service: Restartable) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield each failure of the `.http` file, and the exit codes of httpyac with the defects and without them."""
    text = (directory / "failures.http").read_text()
    # A test server has another port each time, and `base` is a line of the file.
    (directory / "failures.http").write_text(re.sub(r"(?m)^@base = .*$", f"@base = {service.url}", text))
    for name in re.findall(r"(?m)^# @name (v1_[0-9a-f]{16})$", text):
        words = ["node", str(HTTPYAC), "send", "failures.http", "--name", name, "--output", "none"]
        yield name, (_code(directory, service, service.all, words), _code(directory, service, frozenset(), words))


def _code(directory: Path, service: Restartable, on: frozenset[str], words: list[str]) -> int:
    variables = plain_environment() | environment(service, on)
    return subprocess.run(words, cwd=directory, env=variables, capture_output=True, check=False).returncode
