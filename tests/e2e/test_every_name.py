"""Every public name of cases, operations, responses and contexts works in all user code, wherever that runs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.serving import serving
from tests.e2e.runner import Command
from tests.e2e.test_cases_in_user_code import DOCUMENT, configure, rooms

PLACES = {
    "before_call", "after_call", "after_validate", "filter_case", "map_case", "map_query", "function", "generator",
    "class", "get", "set", "serializer", "deserializer",
}  # fmt: skip
# Not imported: its hooks and checks would act in all tests of this process.
SOURCE = Path(__file__).with_name("every_name.py").read_text()
CHOSEN = ("--mode", "positive", "--include-path", "/rooms/{id}")
TESTS = """
schema = checker.openapi.from_url(URL).include(path="/rooms/{id}")
schema.config.phases.update(phases=["fuzzing"])
schema.config.generation.update(max_examples=2, mode="positive", database="none")


@schema.parametrize()
def test_room(case):
    asked("test", case, response=case.call_and_validate())
"""


def told(folder: Path) -> tuple[set[str], list[str]]:
    """Return the places at which names were asked for, and the names that raised there."""
    file = folder / "names.txt"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    wrong = [f"{place}: {kind}.{name}\n{error}" for place, kind, name, error in lines if error]
    return {place for place, *_ in lines}, wrong


@pytest.mark.thorough
@pytest.mark.parametrize("workers", [1, 4])
def test_in_runs_and_replays(command: Command, workers: int) -> None:
    configure(command, SOURCE)
    with serving(rooms, DOCUMENT) as app:
        done = command.run(app.document_url, *CHOSEN, "-n", "4", "--report", "vcr", workers=workers)
        assert (done.code, done.view.errors) == (0, {}), done.shown
        assert told(command.directory) == (PLACES, [])
        if workers == 1:
            (command.directory / "names.txt").unlink()
            (tape,) = command.directory.rglob("*.yaml")
            again = command("replay", str(tape))
            assert again.code == 0, again.shown
            assert told(command.directory)[1] == []


@pytest.mark.thorough
def test_in_fuzz(command: Command) -> None:
    configure(command, SOURCE, '[generation]\nmaximize = "size"\n')
    wanted = PLACES | {"metric"}
    with serving(rooms, DOCUMENT) as app:
        done = command.until(lambda: told(command.directory)[0] == wanted, "fuzz", app.document_url, *CHOSEN)
    assert done.view.errors == {}, done.shown
    assert told(command.directory) == (wanted, [])


@pytest.mark.thorough
def test_in_pytest(command: Command) -> None:
    with serving(rooms, DOCUMENT) as app:
        (command.directory / "test_rooms.py").write_text(f"{SOURCE}\nURL = {app.document_url!r}\n{TESTS}")
        arguments = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_rooms.py"]
        done = subprocess.run(arguments, cwd=command.directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert told(command.directory) == (PLACES | {"test"}, [])
