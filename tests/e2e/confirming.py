"""A run over failures of each class, and what its printed commands do on a fresh instance."""

import json
import re
import subprocess
from typing import Any

from tests.apps.moods import DOCUMENT, Moods
from tests.apps.serving import serving
from tests.e2e.runner import Command, Ran

CLASSES = {
    "GET /always": "stable",
    "GET /third": "intermittent",
    "GET /clock": "intermittent",
    "GET /vault": "stable",
    "GET /things/{id}": "needs its sequence",
}
SEQUENCE = "needs its sequence"
REPORTS = ("json", "ndjson", "sarif", "markdown", "html", "junit", "allure")
_SUFFIXES = {"markdown": "md", "junit": "xml"}
_SETTINGS = """
[checks]
enabled = false
[checks.not_a_server_error]
enabled = true
[checks.ignored_auth]
enabled = true
[phases.examples]
enabled = false
[phases.coverage]
enabled = false
# Found there, it would take things that other requests made.
[[operations]]
include-path-regex = '^/things'
phases.fuzzing.enabled = false
"""


def confirmed_run(command: Command, seed: int) -> Ran:
    """A run over a fresh instance, with every report."""
    (command.directory / "checker.toml").write_text(_SETTINGS)
    with serving(Moods().answer, DOCUMENT) as app:
        return command.here(
            *("run", app.document_url, "--inline", "--seed", str(seed), "--mode", "positive"),
            *("-n", "15", "--auth", "ann:secret"),
            *("--report", ",".join(REPORTS), "--report-dir", "out"),
        )


def failures(ran: Ran) -> list[dict[str, Any]]:
    """The failures of the JSON report."""
    (path,) = (ran.directory / "out").glob("*.json")
    found: list[dict[str, Any]] = json.loads(path.read_text())["failures"]
    return found


def classes(ran: Ran) -> dict[str, str]:
    """Operation -> class, without counts."""
    return {one["operation"]: one["stability"].partition(" (")[0] for one in failures(ran)}


def text_of(ran: Ran, output: str) -> str:
    """What an output says: "console", or the name of a report."""
    if output == "console":
        return ran.stdout
    paths = [path for path in (ran.directory / "out").rglob("*") if path.is_file()]
    if output == "allure":
        wanted = [path for path in paths if "allure" in str(path)]
    else:
        suffix = f".{_SUFFIXES.get(output, output)}"
        wanted = [path for path in paths if path.suffix == suffix and "allure" not in str(path)]
    return "".join(path.read_text() for path in wanted)


def tells_classes(text: str) -> bool:
    """Whether a text speaks of a sequence, and counts what fails once in eight."""
    counts = re.findall(r"intermittent \((\d+) of (\d+)\)", text)
    return SEQUENCE in text and ("1", "8") in counts


def pasted(commands: list[str]) -> list[str]:
    """Statuses that printed commands get from bash, one after the other, from a fresh instance."""
    with serving(Moods().answer, DOCUMENT) as app:
        here = app.url.rpartition("/")[2]
        return [_status(_moved(one, here)) for one in commands]


def _moved(command: str, here: str) -> str:
    return re.sub(r"127\.0\.0\.1:\d+", here, command)


def _status(command: str) -> str:
    more = f"{command} --silent --output /dev/null --write-out '%{{http_code}}'"
    return subprocess.run(["bash", "-c", more], capture_output=True, text=True, check=True, timeout=60).stdout
