import os
import subprocess
import sys
from pathlib import Path

import pytest

from checker import __version__
from checker.demo import Server

HEAVY = ("hypothesis", "rich", "httpx", "pycurl", "jsonschema", "jsonschema_rs", "yaml", "psutil")


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONWARNINGS": "error"}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment)


def test_importing_checker_imports_nothing_heavy() -> None:
    code = f"import sys, checker; print([m for m in (*{HEAVY}, 'click') if m in sys.modules])"
    assert python("-c", code).stdout == "[]\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['checker', '--help']\n"
        "import checker.cli as main; assert main.main(0.0) == 0\n"
        f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
    )
    result = python("-c", code)
    assert result.stderr == "[]\n"
    assert "fuzz" in result.stdout


def test_help_of_a_command_imports_no_engine() -> None:
    engine = (
        *HEAVY,
        "graphql",
        "importlib.metadata",
        "tempfile",
        "checker.supervisor.supervisor",
        "checker.workers.loop",
        "checker.generation",
    )
    code = (
        "import sys; sys.argv = ['checker', 'run', '--help']\n"
        "import checker.cli as main; assert main.main(0.0) == 0\n"
        f"print([m for m in {engine} if m in sys.modules], file=sys.stderr)"
    )
    assert python("-c", code).stderr == "[]\n"


def test_files_of_the_working_directory_do_not_stand_for_modules(tmp_path: Path) -> None:
    for name in ("csv", "random", "socket"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the user')")
    with Server() as demo:
        # `-P`: as the script `checker`, which Python does not start with the working directory on its path.
        given = ("run", demo.document_url, "-n", "1", "--phases", "fuzzing")
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "checker", *given], cwd=tmp_path, capture_output=True, text=True
        )
    assert "a file of the user" not in ran.stderr
    assert "Test cases:" in ran.stdout, ran.stderr


def test_module_is_the_program() -> None:
    result = python("-m", "checker", "--version")
    assert (result.returncode, result.stdout) == (0, f"checker, version {__version__}\n")


def test_a_misspelt_description_is_told_with_the_file_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "openapi.yaml").touch()
    result = python("-m", "checker", "run", f"{tmp_path}/opnapi.yaml")
    assert result.returncode == 2
    assert f"opnapi.yaml' does not exist. Did you mean '{tmp_path}/openapi.yaml'?" in result.stderr


def test_usage_error_of_the_program() -> None:
    result = python("-m", "checker", "run", "no.json")
    assert result.returncode == 2
    assert result.stderr == (
        "Usage: checker run [OPTIONS] LOCATION\n"
        "Try 'checker run --help' for help.\n\n"
        "Error: Invalid value for 'LOCATION': file 'no.json' does not exist\n"
    )


def test_unknown_command(invoke) -> None:
    result = invoke("rum")
    assert result.exit_code == 2
    assert "No such command 'rum'" in result.stderr


@pytest.mark.parametrize("command", ["run", "fuzz", "replay", "demo"])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_explains_itself(invoke, command: str, flag: str) -> None:
    result = invoke(command, flag)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: checker {command}")


def test_wrong_configuration_file_ends_with_2(invoke, folder) -> None:
    (folder / "checker.toml").write_text("sed = 1")
    result = invoke("run", "openapi.json")
    assert result.exit_code == 2
    start = f"Failed to load configuration file from {folder / 'checker.toml'}\n\nError in root"
    assert result.stderr.startswith(start)
    assert "'sed'. Did you mean 'seed'?" in result.stderr


def test_given_configuration_file_beats_discovery(settings_of, folder) -> None:
    (folder / "checker.toml").write_text("seed = 1")
    (folder / "other.toml").write_text("seed = 2")
    assert settings_of("--config-file", "other.toml", "run", "openapi.json").seed == 2
    assert settings_of("run", "openapi.json").seed == 1


def test_missing_configuration_file_ends_with_2(invoke) -> None:
    result = invoke("--config-file", "no.toml", "run", "openapi.json")
    assert result.exit_code == 2
    expected = (
        "Failed to load configuration file from no.toml\n\n"
        "no.toml does not exist; give the path of a configuration in TOML\n"
    )
    assert result.stderr == expected


def test_replay_needs_a_cassette_that_exists(invoke) -> None:
    result = invoke("replay", "no.yaml")
    assert result.exit_code == 2
    assert "'no.yaml' does not exist" in result.stderr
