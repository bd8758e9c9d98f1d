"""Whole runs from Python: `checker.run`, `checker.fuzz`, and the records of a run one by one."""

import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from checker.config.config import Config
from checker.config.filters import FilterSpec, OperationFilters, waits_for_name
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.core.errors import IncorrectUsage, InternalError, UsageError
from checker.core.given_values import require
from checker.core.request import BaseUrl
from checker.core.send import Transport
from checker.corpus.records import Finding, OperationError, Record
from checker.library.run_reports import RunReports
from checker.library.schema import LoadedSchema
from checker.library.users_code import users_code
from checker.supervisor.endings import CANNOT
from checker.supervisor.environment import RunEnvironment
from checker.supervisor.execution import RunOutcome, execute
from checker.supervisor.launchers.handle import Launcher
from checker.supervisor.launchers.inline import InlineLauncher
from checker.supervisor.signals import Interrupts
from checker.transport.applications import Application
from checker.transport.blocking import BlockingTransport
from checker.transport.factories import TransportFactory
from checker.transport.settings import HttpSettings
from checker.workers.incarnation import work
from checker.workers.leaving import LeavingKind

_NUMBERS: Final = count(1)


class RunResult(Struct, frozen=True):
    """What a run came to."""

    exit_code: int
    """0 nothing failed, 1 something did, 2 it could not be done or tested nothing, 130 it was stopped."""
    findings: tuple[Finding, ...]
    """Distinct defects, each with its smallest case and the command that shows it, in the order of discovery."""
    errors: tuple[OperationError, ...]
    """Operations that could not be tested as they should, and why."""
    cases: int
    """Cases that were sent and judged."""
    requests: int
    """All requests, those that looked into failures included."""
    error: str = ""
    """One sentence where the run could not be done or tested nothing, or a report could not be written."""

    def __repr__(self) -> str:
        said = f", error={self.error!r}" if self.error else ""
        counts = f"cases={self.cases}, requests={self.requests}"
        return f"RunResult(exit_code={self.exit_code}, findings={list(self.findings)}, errors={len(self.errors)}, {counts}{said})"

    @property
    def passed(self) -> bool:
        """Whether everything that was to be tested was, and nothing failed."""
        return self.exit_code == 0


def run(
    location: str | LoadedSchema, *, config: Config | None = None, inline: bool = True
) -> RunResult:
    """Test the API that a URL, a file or a loaded schema describes, once, as `checker run` does; nothing is printed.

    `inline` works in threads of this process, so that hooks and checks registered in it act; else processes are started.
    A loaded schema has a configuration of its own, and acts in this process alone.
    Raises `ConfigError`, `LoaderError`, `UsageError`, `IncorrectUsage`, `InternalError`.
    """
    if isinstance(location, LoadedSchema):
        return _in_this_process(location, config, inline=inline).execute().finish()
    return _result(_located(location, config, "run", inline=inline))


def fuzz(
    location: str | LoadedSchema, *, config: Config | None = None, inline: bool = True
) -> RunResult:
    """Explore the API that a URL, a file or a loaded schema describes, as `checker fuzz` does.

    The run ends after `fuzz.max-time` seconds and returns all failures. Without a time limit it ends at the first failure.

    Arguments and errors are those of `run`.
    """
    if isinstance(location, LoadedSchema):
        return _in_this_process(location, config, inline=inline).fuzz().finish()
    return _result(_located(location, config, "fuzz", inline=inline))


def _in_this_process(
    schema: LoadedSchema, config: Config | None, *, inline: bool
) -> "SchemaEngine":
    if config is not None:
        raise IncorrectUsage("a loaded schema has a configuration: change `schema.config` instead")
    if not inline:
        raise IncorrectUsage(
            "a loaded schema is run in this process, since its hooks and extension points cannot leave it; "
            "leave `inline=False` out, or give the location of the schema"
        )
    return SchemaEngine(schema)


def _located(location: str, config: Config | None, kind: str, *, inline: bool) -> RunSettings:
    is_text = isinstance(location, str | os.PathLike)
    require(is_text, "location", "a URL, the path of a file or a loaded schema", location)
    occasion = Invocation(os.fspath(location), kind=kind, inline=inline)
    return run_settings(Config.discover() if config is None else config, occasion)


def _result(settings: RunSettings) -> RunResult:
    reports = RunReports(settings)
    return _told(*reports.written(execute(settings, reports.on_record)))


def _told(outcome: RunOutcome, problems: Sequence[str]) -> RunResult:
    """A run as a value. Raises `LoaderError`, `UsageError` where it could not begin; `InternalError` for a mistake of ours.

    `problems` say why reports are not there.
    """
    error = outcome.error
    if error is not None and error.kind is LeavingKind.BUG:
        raise InternalError(str(error))
    if outcome.view.opened is None and error is not None:
        if error.kind is LeavingKind.CANNOT_OPEN:
            raise error.loader_error
        if error.kind is LeavingKind.USAGE:
            raise UsageError(error.sentence)
    view = outcome.view
    return RunResult(
        CANNOT if problems else outcome.exit_code,
        tuple(view.findings.values()),
        tuple(view.errors.values()),
        view.cases,
        view.requests,
        "; ".join(problems) if error is None else str(error),
    )


Prepare = Callable[[Path], RunSettings]
"""Settings of a run whose files may stand in a folder."""


class RunRecords:
    """The records of a run, one by one, while it goes on: `RunStarted`, `SchemaOpened`, `Finding`, ..., `RunFinished`."""

    def __init__(self, prepare: Prepare, launcher: Launcher | None = None) -> None:
        """The run begins with the first record that is asked for; its folder is gone when it is over.

        `launcher` starts the workers; None: as the settings say.
        """
        self._launcher = launcher
        self._prepare = prepare
        self._records: queue.SimpleQueue[Record | None] = queue.SimpleQueue()
        self._interrupts = Interrupts()
        self._thread = threading.Thread(target=self._run, name="run", daemon=True)
        self._is_read = False
        """Whether the last record was given."""
        self._outcome: tuple[RunOutcome, list[str]] | None = None
        """With why reports are not there."""
        self._raised: BaseException | None = None

    def __iter__(self) -> Iterator[Record]:
        if self._thread.ident is None:
            self._thread.start()
        while not self._is_read:
            record = self._records.get()
            if record is not None:
                yield record
            self._is_read = record is None
        self._thread.join()
        if self._raised is not None:
            raise self._raised

    def stop(self) -> None:
        """Have the run end early; its last records are still to come."""
        self._interrupts.count += 1

    def finish(self) -> RunResult:
        """What the run came to, when it is over. Raises what kept it from beginning."""
        for _ in self:
            pass
        assert self._outcome is not None
        return _told(*self._outcome)

    def _run(self) -> None:
        try:
            around = RunEnvironment(self._launcher, interrupts=self._interrupts)
            with TemporaryDirectory(prefix="checker-", ignore_cleanup_errors=True) as folder:
                settings = self._prepare(Path(folder))
                reports = RunReports(settings)

                def on_record(incarnation: int, record: Record) -> None:
                    reports.on_record(incarnation, record)
                    self._records.put(record)

                self._outcome = reports.written(execute(settings, on_record, around))
        except BaseException as error:  # noqa: BLE001 - raised where the records are read
            self._raised = error
        finally:
            self._records.put(None)


class SchemaEngine:
    """Whole runs over the selected operations of a loaded schema."""

    def __init__(self, schema: LoadedSchema) -> None:
        self._schema = schema

    def execute(self) -> RunRecords:
        """The records of a run of all phases, in threads of this process: hooks and checks of it act."""
        return self._stream("run")

    def fuzz(self) -> RunRecords:
        """Return the records of an exploration that ends after `fuzz.max-time`, without a time limit at the first failure, or by `stop()`."""
        return self._stream("fuzz")

    def _stream(self, kind: str) -> RunRecords:
        own_work = partial(work, users=users_code(self._schema))
        return RunRecords(self._preparing(kind), InlineLauncher(own_work))

    def _preparing(self, kind: str) -> Prepare:
        schema, filters = self._schema, _filters(self._schema)

        def prepare(folder: Path) -> RunSettings:
            location = schema.location or schema.title or "schema"
            occasion = Invocation(location, kind=kind, inline=True, filters=filters)
            settings = run_settings(schema.config, occasion)
            settings = replace(settings, corpus_dir=str(folder / "corpus"))
            application = schema.engine.application
            if application is None:
                return settings
            name = f"application_{next(_NUMBERS)}"
            setattr(sys.modules[__name__], name, _transport_to(application))
            url = application.origin.url + schema.base_path.removesuffix("/")
            return replace(settings, transport=f"{__name__}:{name}", base_url=url)

        return prepare


def from_schema(schema: LoadedSchema) -> SchemaEngine:
    """Whole runs over a loaded schema. Raises `IncorrectUsage` for anything else."""
    if not isinstance(schema, LoadedSchema):
        raise IncorrectUsage(f"`from_schema` takes a loaded schema, got {schema!r:.80}")
    return SchemaEngine(schema)


def _filters(schema: LoadedSchema) -> OperationFilters:
    """Those that select what the schema was narrowed to."""
    labels = [str(one.label) for one in schema.matching_entries()]
    # What waits for its name is there only when it was given.
    if labels == [str(one.label) for one in schema.opened.entries() if not waits_for_name(one)]:
        return OperationFilters()
    if not labels:
        raise IncorrectUsage("no operation is selected; there is nothing to run")
    return OperationFilters(tuple(FilterSpec("include", "name", label) for label in labels))


def _transport_to(application: Application) -> TransportFactory:
    """What makes transports to an application of this process."""

    def connect(origin: BaseUrl, settings: HttpSettings, lanes: int) -> Transport:
        return BlockingTransport(application.send, settings)

    return connect
