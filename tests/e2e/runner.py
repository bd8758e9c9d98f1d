"""Runs the command line as a user does, in a folder of its own."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

import checker
from checker.cli import main
from checker.corpus.fold import RunView, fold
from checker.corpus.journal import JournalReader, Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import Finding
from tests.fork_server import plain_environment
from tests.waiting import wait_until

_ROOT = Path(checker.__file__).parent.parent


NEVER_S = 540.0
"""No limit of what is tested: a guard against what hangs, below the one of pytest and far above what a busy machine needs."""


PROGRAM = (sys.executable, "-m", "checker")
UNHURRIED_S = "500"
"""Seconds of a run that ends by what it meets: so long that no machine is too busy for it."""
SLOW_CLOCK = (sys.executable, str(Path(__file__).with_name("slow_clock.py")))
"""The command line, for runs that are not to end by their time before they met what they are to meet."""


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str
    directory: Path

    @property
    def shown(self) -> str:
        """Everything that was printed, for the message of an assertion."""
        return f"exit code {self.code}\n{self.stdout}\n{self.stderr}"

    @property
    def view(self) -> RunView:
        """What the journals tell, read by nobody's help."""
        corpora = sorted(self.directory.glob(".checker/*/journals"))
        assert len(corpora) == 1, self.shown
        journals = Journals(RunLayout(corpora[0].parent))
        return fold(journals.finish_all())

    @property
    def findings(self) -> list[Finding]:
        """Findings that are on disk."""
        return list(self.view.findings.values())

    @property
    def defects(self) -> list[tuple[str, str]]:
        """(operation, check) of the findings, sorted."""
        return sorted((finding.label, finding.check) for finding in self.findings)


@dataclass
class Command:
    """Where commands run, and how long they may take."""

    directory: Path
    timeout_s: float = NEVER_S
    program: tuple[str, ...] = PROGRAM
    streams: int | None = None
    """Descriptor of the standard streams; None: nothing is read, and what is printed is kept."""
    environment: dict[str, str] = field(default_factory=dict)
    """Variables besides those of the tests themselves."""

    @property
    def found(self) -> set[tuple[str, str]]:
        """(operation, check) of the failures that workers of its runs have written down by now."""
        journals = self.directory.glob(".checker/*/journals/*")
        records = (one for path in journals for one in JournalReader(path).read_new())
        return {(one.label, one.check) for one in records if isinstance(one, Finding)}

    def __call__(self, *arguments: str) -> Ran:
        """Run a command to its end."""
        with self.started(*arguments) as process:
            return self.finished(process)

    def here(self, *arguments: str) -> Ran:
        """Run a command in this process, where all modules are loaded: importing them takes most runs longer than their work.

        Its workers are processes, unless it is `--inline`: forked from the server of all runs of this process, with its
        environment (`tests/fork_server.py`). Not for what is about signals or the process of the command
        itself; `--inline` not for what loads hooks: they would stay, and act in the runs of other tests.
        """
        printed = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True)
        complained = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n", write_through=True)
        with (
            pytest.MonkeyPatch.context() as patched,
            contextlib.chdir(self.directory),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(complained),
        ):
            wanted = _environment() | self.environment
            for name in os.environ.keys() - wanted.keys():
                patched.delenv(name)
            for name, value in wanted.items():
                patched.setenv(name, value)
            patched.setattr(sys, "argv", ["checker", *arguments])
            code = main(time.monotonic())
        if "--inline" in arguments:
            folder = f"{self.directory.resolve()}{os.sep}"
            files = [str(getattr(module, "__file__", "")) for module in list(sys.modules.values())]
            left = [path for path in files if path.startswith(folder)]
            assert not left, f"hooks stay in this process: {left}"
        stdout, stderr = (_text(stream) for stream in (printed, complained))
        return Ran(code, stdout, stderr, self.directory)

    def until(self, is_so: Callable[[], object], *arguments: str) -> Ran:
        """Run a command that would go on for long, and interrupt it when it is so. Where: as `run` does."""
        if not self._runs_here(*arguments):
            with self.started(*arguments) as process:
                # One that is over by itself says why.
                wait_until(lambda: process.poll() is not None or is_so())
                process.send_signal(signal.SIGINT)
                return self.finished(process)
        is_over = threading.Event()

        def interrupt() -> None:
            wait_until(lambda: is_over.is_set() or is_so())
            os.kill(os.getpid(), signal.SIGINT)

        # One that is over by itself hears nothing any more.
        heard = signal.signal(signal.SIGINT, lambda *_: None)
        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        try:
            return self.here(*arguments)
        finally:
            is_over.set()
            interrupting.join()
            signal.signal(signal.SIGINT, heard)

    def run(self, location: str, *arguments: str, seed: int = 1, workers: int = 2, inline: bool = False) -> Ran:
        """Run `checker run`; see `run_arguments`.

        `here`, unless it is another program, or workers need variables of their own.
        """
        return self.run_any(*run_arguments(location, *arguments, seed=seed, workers=workers, inline=inline))

    def run_as_usual(self, location: str, *arguments: str, seed: int = 1, inline: bool = False) -> Ran:
        """Run `checker run` with the phases and kinds of data that nobody chose; where: as `run` does."""
        mode = ("--inline",) if inline else ("--workers", "2")
        return self.run_any("run", location, "--seed", str(seed), *mode, *arguments)

    def run_any(self, *arguments: str) -> Ran:
        """Run a command; where: as `run` does."""
        return self.here(*arguments) if self._runs_here(*arguments) else self(*arguments)

    def _runs_here(self, *arguments: str) -> bool:
        is_plain = self.program == PROGRAM and self.streams is None
        return is_plain and ("--inline" in arguments or not self.environment)

    @contextlib.contextmanager
    def started(self, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        """A command under way; it does not outlive the block, nor do its workers."""
        process = subprocess.Popen(
            [*self.program, *arguments],
            cwd=self.directory,
            env=_environment() | self.environment,
            stdin=subprocess.DEVNULL if self.streams is None else self.streams,
            stdout=subprocess.PIPE if self.streams is None else self.streams,
            stderr=subprocess.PIPE if self.streams is None else self.streams,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    def finished(self, process: "subprocess.Popen[str]") -> Ran:
        """What a command under way leaves behind."""
        stdout, stderr = process.communicate(timeout=self.timeout_s)
        return Ran(process.returncode, stdout or "", stderr or "", self.directory)


def run_arguments(location: str, *arguments: str, seed: int = 1, workers: int = 2, inline: bool = False) -> list[str]:
    """Arguments of `checker run`: of its fuzzing phase with valid data alone, unless `arguments` say otherwise.

    What a test counts, and which of several phases tells of a defect first, is not to depend on defaults.
    """
    mode = ["--inline"] if inline else ["--workers", str(workers)]
    phases = [] if "--phases" in arguments else ["--phases", "fuzzing"]
    data = [] if "--mode" in arguments else ["--mode", "positive"]
    return ["run", location, "--seed", str(seed), *mode, *phases, *data, *arguments]


def worker_pids(process: "subprocess.Popen[str] | None" = None) -> list[int]:
    """Pids of the live workers of a run, None: of the one `here`. They are descendants that have a journal open."""
    found = []
    for child in psutil.Process(None if process is None else process.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any(file.path.endswith(".journal") for file in child.open_files()):
                found.append(child.pid)
    return sorted(found)


def kill_a_worker() -> None:
    """Kill a worker of the run that goes on in this process."""
    os.kill(worker_pids()[0], signal.SIGKILL)


def _text(stream: io.TextIOWrapper) -> str:
    content = stream.buffer
    assert isinstance(content, io.BytesIO)
    return content.getvalue().decode()


def _environment() -> dict[str, str]:
    return plain_environment() | {"PYTHONPATH": str(_ROOT), "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
