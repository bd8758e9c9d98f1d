"""What stands in the repository for pipelines: its options are those of the program, its script keeps words apart."""

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from checker.commands.run import run

ROOT = Path(__file__).parents[2]
OPTIONS = {name for option in run.params for name in option.opts}


def action() -> Any:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def script() -> str:
    step = next(one for one in action()["runs"]["steps"] if one.get("id") == "run")
    return str(step["run"])


@pytest.mark.parametrize("name", ["action.yml", "ci/gitlab.yml", "docs/ci.md"])
def test_it_names_options_that_there_are(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if re.search(r"checker|given|--report", line)]
    used = set(re.findall(r"(?<![\w-])--(?:report|url|baseline|seed|max-time|workers|shard)[\w-]*", "\n".join(lines)))
    assert used
    assert used <= OPTIONS


def test_inputs_are_never_part_of_a_script() -> None:
    for step in action()["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def ran(tmp_path: Path, **inputs: str) -> tuple[int, list[str], str]:
    """Exit code, words that the program got, and what was told to the job."""
    program = tmp_path / "checker" / "bin" / "checker"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$RUNNER_TEMP/words"\nexit 1\n')
    program.chmod(0o755)
    output = tmp_path / "output"
    given = {
        "SCHEMA": "s", "BASE_URL": "", "ARGS": "", "BASELINE": "", "REPORT_DIR": "out", "SHARD": "", "SHARDS": "",
    }  # fmt: skip
    environment = {
        **os.environ, **given, **inputs, "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(output),
    }  # fmt: skip
    done = subprocess.run(
        ["bash", "-e", "-c", script()], env=environment, cwd=tmp_path, capture_output=True, check=False
    )
    words = tmp_path / "words"
    return (
        done.returncode,
        words.read_text().splitlines() if words.exists() else [],
        output.read_text() if output.exists() else done.stdout.decode(),
    )


def test_the_action_hands_words_and_exit_code_on(tmp_path: Path) -> None:
    code, words, told = ran(tmp_path, ARGS="-n 5 -H 'X-A: b c'", BASE_URL="http://h; rm -rf /")
    assert code == 1
    assert told == "artifact=\nexit-code=1\n"
    assert words[:8] == ["run", "s", "--url", "http://h; rm -rf /", "-n", "5", "-H", "X-A: b c"]


def test_the_action_tests_one_shard_or_reports_all(tmp_path: Path) -> None:
    _, words, told = ran(tmp_path, SHARD="3/4")
    assert words[:4] == ["run", "s", "--shard", "3/4"]
    assert "artifact=checker-shard-3\n" in told
    (tmp_path / "output").unlink()
    for name in ("one", "two"):
        (tmp_path / "shards" / name).mkdir(parents=True)
    code, words, _ = ran(tmp_path, SCHEMA="", SHARDS="shards/*")
    assert (code, words[:3]) == (1, ["report", "shards/one", "shards/two"])


@pytest.mark.parametrize(("node", "expected"), [({}, []), ({"CI_NODE_INDEX": "3"}, ["--shard", "3/4"])])
def test_parallel_jobs_of_gitlab_test_shards(node: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    job = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text(encoding="utf-8"))[".checker"]
    program = tmp_path / "checker"
    program.write_text('#!/bin/sh\nprintf "%s\n" "$@" > words\nmkdir .checker\n')
    program.chmod(0o755)
    given = {**job["variables"], "PATH": f"{tmp_path}:{os.environ['PATH']}", "CI_NODE_TOTAL": "4", **node}
    script = "\n".join([*job["script"], *job["after_script"]])
    subprocess.run(["sh", "-e", "-c", script], env=given, cwd=tmp_path, check=True)
    words = (tmp_path / "words").read_text().splitlines()
    assert words[2 : 2 + len(expected)] == expected
    assert ("--shard" in words, (tmp_path / "shards" / "3").is_dir()) == (bool(expected), bool(expected))


def test_a_baseline_that_is_missing_fails_a_job(tmp_path: Path) -> None:
    code, words, told = ran(tmp_path, BASELINE="nowhere.toml")
    assert (code, words) == (2, [])
    assert "nowhere.toml does not exist" in told


def gitlab(tmp_path: Path, source: str) -> tuple[int, str, str]:
    """Return exit code, stderr and the arguments of pip after the `before_script` of the GitLab job."""
    pip = tmp_path / "pip"
    pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$0.words"\n')
    pip.chmod(0o755)
    job = yaml.safe_load((ROOT / "ci/gitlab.yml").read_text(encoding="utf-8"))[".checker"]
    given = {**job["variables"], "CHECKER_SOURCE": source} if source else job["variables"]
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(job["before_script"])],
        env={**os.environ, **given, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        check=False,
    )
    words = tmp_path / "pip.words"
    return done.returncode, done.stderr.decode(), words.read_text() if words.exists() else ""


def test_the_gitlab_job_installs_this_distribution_by_default(tmp_path: Path) -> None:
    code, error, words = gitlab(tmp_path, "")
    name = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    assert (code, error, words.splitlines()[-1]) == (0, "", name)


def test_the_gitlab_job_installs_the_source_that_is_set(tmp_path: Path) -> None:
    code, error, words = gitlab(tmp_path, "git+https://git.example.com/checker@v1")
    assert (code, error) == (0, "")
    assert words.splitlines()[-1] == "git+https://git.example.com/checker@v1"


@pytest.mark.parametrize("name", ["action.yml", "ci/gitlab.yml", "Containerfile", "README.md"])
def test_nothing_installs_the_package_that_the_index_calls_checker(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    installs = re.findall(r"pip(?:x|\b.?) install\b[^\n]*", text)
    assert installs
    assert not [one for one in installs if re.search(r"[\s\"']checker(?:[\s\"'=\[]|$)", one)]
