"""The fork server of a process that runs tests: the same one for all of them, whichever is the first to need it."""

import os
from multiprocessing import forkserver
from typing import Any, Final

import pytest

PRELOADED: Final = "checker.workers.starting.preloaded"
LEFT_OUT: Final = (
    "NO_COLOR", "FORCE_COLOR", "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
)  # fmt: skip
"""Variables that would say something to a command line which nobody meant."""


def plain_environment() -> dict[str, str]:
    """That of this process, without what speaks to the command line."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith("CHECKER_") and name not in LEFT_OUT
    }


def prepare() -> None:
    """Let it begin as the one of a run does: with the modules of workers and their order of hashes, wherever it begins."""
    forkserver.set_forkserver_preload([PRELOADED])
    ensure_running = forkserver.ForkServer.ensure_running

    def ensured(server: Any) -> None:
        with pytest.MonkeyPatch.context() as patched:
            wanted = plain_environment() | {"PYTHONHASHSEED": "0"}
            for name in os.environ.keys() - wanted.keys():
                patched.delenv(name)
            for name, value in wanted.items():
                patched.setenv(name, value)
            ensure_running(server)

    forkserver.ForkServer.ensure_running = ensured  # type: ignore[method-assign, assignment]
