"""Where the fork server of a run comes from."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.waiting import wait_until

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has a fork server")
_HASHES = """
import sys
from checker.__main__ import take_hashes_of_workers
take_hashes_of_workers()
print(sys.flags.hash_randomization)
"""


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}


@LINUX
@pytest.mark.parametrize(
    ("arguments", "is_random"), [(("run", "x"), 0), (("fuzz", "x"), 0), (("run", "--help"), 1), (("report", "x"), 1)]
)
def test_commands_that_start_workers_have_their_hashes(arguments: tuple[str, ...], is_random: int) -> None:
    command = [sys.executable, "-c", _HASHES, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    assert result.stdout == f"{is_random}\n"


@LINUX
@pytest.mark.parametrize(
    ("given", "options", "is_fork"),
    [
        ({}, (), True),
        ({"CHECKER_HOOKS": "hooks.py"}, (), False),
        ({}, ("-H", "X-Api-Key: s3cr3t-key"), False),
        ({}, ("--auth", "admin:s3cr3t-word"), False),
    ],
)
def test_the_fork_server_is_a_fork_of_a_command_without_code_of_users_and_secrets(
    tmp_path: Path, given: dict[str, str], options: tuple[str, ...], *, is_fork: bool
) -> None:
    Path(tmp_path, "hooks.py").touch()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/openapi.json"
        command = [sys.executable, "-m", "checker", "run", url, *options]
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment() | given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                # It asks for the description when there is a worker.
                silent.accept()[0].close()
                own = psutil.Process(process.pid)
                wait_until(lambda: len(own.children()) > 1)
                lines = [one.cmdline() for one in own.children()]
            finally:
                process.terminate()
    assert all(line[1:] == command[1:] for line in lines) == is_fork
    assert is_fork or not any(one in " ".join(line) for line in lines for one in options)
