"""The commands together, in this process: demo, cassette, replay."""

import re

import pytest

from checker.demo import Server
from tests.cassettes import cassette_of

DEMO = ("demo", "-n", "20", "--seed", "1", "--inline", "--no-shrink")


def test_demo_finds_defects_and_records_what_it_did(invoke, folder) -> None:
    result = invoke(*DEMO, "--phases", "fuzzing", "--report-vcr-path", "tape.yaml")
    assert result.exit_code == 1, result.output
    assert "FAILURES" in result.stdout
    tape = cassette_of(folder / "tape.yaml")
    assert len(tape["http_interactions"]) >= 20
    assert tape["seed"] == 1
    assert (folder / ".checker" / "demo").is_dir()


@pytest.mark.thorough
def test_fixed_demo_is_clean(invoke) -> None:
    result = invoke(*DEMO, "--fixed")
    assert result.exit_code == 0, result.output
    assert "No issues found" in result.stdout


def test_options_of_run_are_those_of_demo(invoke) -> None:
    result = invoke("demo", "--include-path", "/no-such-path", "--inline")
    assert result.exit_code == 2
    assert "Empty test suite" in result.stdout
    wrong = invoke("demo", "--workers", "100")
    assert "Invalid value for '-w' / '--workers'" in wrong.stderr


def test_port_that_is_taken_is_a_usage_error(invoke) -> None:
    with Server() as server:
        port = server.url.rpartition(":")[2]
        result = invoke("demo", "--port", port)
    assert result.exit_code == 2
    assert f"Error: --port {port}: Address already in use" in result.stderr


@pytest.mark.thorough
def test_failures_are_replayed_and_change_on_a_fixed_server(invoke, folder) -> None:
    with Server() as server:
        result = invoke(
            *("run", server.document_url, "-n", "20", "--seed", "1", "--inline", "--no-shrink"),
            *("--phases", "fuzzing", "--mode", "positive"),
            *("--report", "vcr", "--report-dir", "out", "-c", "not_a_server_error"),
        )
    assert result.exit_code == 1, result.output
    (tape,) = (folder / "out").glob("vcr-*.yaml")
    with Server(fixed=True) as fixed:
        result = invoke("replay", str(tape), "--status", "failure", "-u", fixed.url)
    assert result.exit_code == 0, result.output
    old = re.findall(r"Old status code\s*: (\d+)", result.stdout)
    new = re.findall(r"New status code\s*: (\d+)", result.stdout)
    assert old
    assert set(old) == {"500"}
    assert "500" not in new


@pytest.mark.parametrize(
    ("arguments", "sentence"), [(("demo", "--serve"), "--serve tests nothing: --config-file would have no effect")]
)
def test_commands_that_read_no_configuration_take_none(
    invoke, folder, arguments: tuple[str, ...], sentence: str
) -> None:
    (folder / "tape.yaml").write_text("http_interactions: []")
    result = invoke("--config-file", "any.toml", *arguments)
    assert (result.exit_code, sentence in result.stderr) == (2, True), result.output


def test_a_demo_that_only_serves_takes_no_options_of_run(invoke) -> None:
    result = invoke("demo", "--serve", "-n", "5")
    assert result.exit_code == 2
    assert "Error: --serve tests nothing: -n would have no effect" in result.stderr


@pytest.mark.parametrize("pattern", ["--uri", "--method"])
def test_replay_refuses_bad_patterns(invoke, folder, pattern: str) -> None:
    (folder / "tape.yaml").write_text("http_interactions: []")
    result = invoke("replay", "tape.yaml", pattern, "(")
    assert result.exit_code == 2
    assert pattern in result.output
