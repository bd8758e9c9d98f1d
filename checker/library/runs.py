"""Whole runs from Python: `checker.run`, `checker.fuzz`, and the records of a run one by one."""

import os
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.context import KnowingMaker
from checker.config.config import Config
from checker.config.filters import FilterSpec, OperationFilters, waits_for_name
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.core.case import Case
from checker.core.credentials import Credentials, CredentialSource, new_values
from checker.core.errors import IncorrectUsage, InternalError, UsageError
from checker.core.hooks import GLOBAL_HOOKS, HookChain, HookContext, HookRegistry, HookScope
from checker.core.meta import GenerationMode, ValuePool
from checker.core.operation import Label, Operation
from checker.core.providers import GLOBAL_AUTH
from checker.core.registry import FORMATS
from checker.core.request import BaseUrl, WireRequest
from checker.core.resources import Transition
from checker.core.response import Outcome, Response
from checker.core.system import Interrupts
from checker.core.user_code import require
from checker.corpus.records import Finding, OperationError, Record
from checker.kinds.protocol import ApiOperation
from checker.kinds.table import packed
from checker.library import extensions
from checker.library.extensions import ExtraValues
from checker.library.schema import LoadedSchema
from checker.reporting.report import report_of
from checker.reporting.writing import RunOnDisk, check_reports, write_streams, write_summaries
from checker.supervisor.endings import CANNOT
from checker.supervisor.handle import Launcher
from checker.supervisor.launchers import InlineLauncher
from checker.supervisor.supervisor import RunEnvironment, RunOutcome, execute
from checker.transport.applications import transport_to
from checker.workers.authentication.keeper import ReauthState
from checker.workers.incarnation import work
from checker.workers.messages import LeavingKind
from checker.workers.users import UsersCode


def users_code(schema: LoadedSchema) -> UsersCode:
    """Return the user code for runs of a loaded schema."""

    def is_mine(*names: str) -> bool:
        return any(extensions.is_extended(schema, name) for name in names)

    registry = HookRegistry(HookScope.SCHEMA)
    if extensions.is_extended(schema, "get_coverage_capabilities"):

        def filter_case(context: HookContext, case: Case) -> bool:
            return any(True for _ in extensions.within_capabilities(schema, [case]))

        registry.register(filter_case)
    return _SchemaCode(
        schema=schema,
        hooks=HookChain((GLOBAL_HOOKS, *schema.engine.hooks, registry)),
        auth=(*schema.engine.auth.registries, GLOBAL_AUTH),
        description=packed(schema.opened),
        app=schema.app,
        changes_requests=is_mine("prepare_request_body", "build_request_url"),
        told=(partial(_tell, schema),) if is_mine(*_TOLD) else (),
        applies=AppliedByUsers(schema) if is_mine("apply_auth") else None,
        engine=schema.engine,
        has_values=schema.engine.extra_data is not None,
        judges=extensions.judges(schema),
    )


class _SchemaCode(UsersCode, frozen=True, kw_only=True):
    """The extension points of a loaded schema that users replaced."""

    schema: LoadedSchema

    def maker(self, usual: KnowingMaker, origin: BaseUrl) -> KnowingMaker:
        return ExtendedMaker(self.schema, usual, origin) if self.changes_requests else usual

    def reauth(self) -> ReauthState:
        return self.schema.reauth_state

    def formats(self, mode: GenerationMode | None) -> Mapping[str, Any]:
        own = self.schema.get_custom_format_strategies(self.schema.config.generation, mode)
        return {**FORMATS, **own} if own else FORMATS

    def pool(self, operation: Operation, usual: ValuePool | None) -> ValuePool | None:
        (known,) = _operations(self.schema, [operation.label])
        source = self.schema.engine.extra_data
        return usual if source is None else ExtraValues(source, known, usual)

    def transitions(self) -> Iterable[Transition]:
        return self.schema.apply_stateful_inference(self.schema.observations)

    def order(self, phase: str, labels: Sequence[Label]) -> Sequence[Label] | None:
        if not extensions.is_extended(self.schema, "get_unit_scheduler"):
            return None
        scheduled = self.schema.get_unit_scheduler(_operations(self.schema, labels), phase)
        return [Label(one.label) for one in scheduled]

    def weights(self, labels: Sequence[Label]) -> Sequence[float] | None:
        if not extensions.is_extended(self.schema, "compute_fuzz_operation_weights"):
            return None
        return self.schema.compute_fuzz_operation_weights(_operations(self.schema, labels))


_TOLD = ("record_runtime_observations", "adapt_to_null_byte_in_header_failure", "adapt_to_path_decoder_rejection")


class ExtendedMaker(Struct, frozen=True):
    """Makes requests with the bodies and URLs of extension points."""

    schema: LoadedSchema
    maker: KnowingMaker
    origin: BaseUrl

    def make(self, case: Case) -> WireRequest:
        """Return the request of a case. Raises `SerializationError`."""
        prepared = extensions.prepared(self.schema, case)
        request = self.maker.make(prepared)
        where = self.origin.url + self.base_path_of(case.operation)
        request.target = extensions.target_of(self.schema, prepared, where, request.target)
        return request

    def base_path_of(self, operation: Operation) -> str:
        return self.maker.base_path_of(operation)


@dataclass(slots=True)
class AppliedByUsers(CredentialSource):
    """The values that a user's `apply_auth` adds to a case, as credentials, so that all output masks them."""

    schema: LoadedSchema
    name: str = "apply_auth"
    is_kept: bool = False

    def fetch(self, case: Case) -> Credentials:
        sent = extensions.authorised(self.schema, case)
        headers, query, cookies = (
            new_values(getattr(case, part), getattr(sent, part)) for part in ("headers", "query", "cookies")
        )
        return Credentials(headers, query, cookies, data=sent is not case)

    def carried(self, held: Credentials, case: Case) -> Credentials | None:
        return held if held.data else None


def _tell(schema: LoadedSchema, case: Case, request: WireRequest, outcome: Outcome) -> None:
    extensions.adapt(schema, request, outcome)
    if isinstance(outcome, Response):
        schema.record_runtime_observations(case, outcome)


def _operations(schema: LoadedSchema, labels: Sequence[Label]) -> list[ApiOperation]:
    found = (schema.find_operation_by_label(label) for label in labels)
    return [one for one in found if one is not None]


def _reported(
    settings: RunSettings, around: RunEnvironment, hear: Callable[[Record], object] = lambda record: None
) -> tuple[RunOutcome, list[str]]:
    """Return the outcome of a run, with the exit code of its report, and the reasons why reports are missing.

    `hear` is called with each record. Raises `UsageError` if a report cannot be written, before the first request.
    """
    check_reports(settings)
    run = RunOnDisk(settings)

    def on_record(incarnation: int, record: Record) -> None:
        run.on_record(incarnation, record)
        hear(record)

    outcome = execute(settings, on_record, around)
    if run.opened is None:
        return outcome, []
    streams = write_streams([run], run.settings.report.files)
    for note in streams.notes:
        outcome.view.absorb(0, note)
    report = report_of(outcome.view, run.settings, outcome.outcome)
    problems = streams.problems | write_summaries(run.settings.report.files, report, run.context)
    return replace(outcome, exit_code=outcome.exit_code or int(report.falls_short)), list(problems.values())


_NUMBERS: Final = count(1)


class RunResult(Struct, frozen=True):
    """The result of a run."""

    exit_code: int  # 0: no failure; 1: failures; 2: the run was impossible or tested nothing; 130: it was stopped.
    findings: tuple[Finding, ...]
    """Distinct defects in the order of discovery, each with its smallest case and the command that reproduces it."""
    errors: tuple[OperationError, ...]  # Operations that could not be tested fully, with the reasons.
    cases: int  # Cases that were sent and judged.
    requests: int  # All requests, including those of investigations.
    error: str = ""  # One sentence if the run was impossible or tested nothing, or a report could not be written.

    def __repr__(self) -> str:
        said = f", error={self.error!r}" if self.error else ""
        counts = f"cases={self.cases}, requests={self.requests}"
        return f"RunResult(exit_code={self.exit_code}, findings={list(self.findings)}, errors={len(self.errors)}, {counts}{said})"

    @property
    def passed(self) -> bool:
        """Whether the run was complete and found no failure."""
        return self.exit_code == 0


def run(location: str | LoadedSchema, *, config: Config | None = None, inline: bool = True) -> RunResult:
    """Test the API of a URL, a file or a loaded schema once, as `checker run` does, without output.

    With `inline` the run uses threads of this process, so that its hooks and checks apply; otherwise it starts processes.
    A loaded schema has its own configuration and always runs in this process.
    Raises `ConfigError`, `LoaderError`, `UsageError`, `IncorrectUsage`, `InternalError`.
    """
    return _run("run", location, config, inline=inline)


def fuzz(location: str | LoadedSchema, *, config: Config | None = None, inline: bool = True) -> RunResult:
    """Explore the API of a URL, a file or a loaded schema, as `checker fuzz` does.

    The run ends after `fuzz.max-time` seconds and returns all failures. Without a time limit it ends at the first failure.

    Arguments and errors are those of `run`.
    """
    return _run("fuzz", location, config, inline=inline)


def _run(kind: str, location: str | LoadedSchema, config: Config | None, *, inline: bool) -> RunResult:
    if isinstance(location, LoadedSchema):
        if config is not None:
            raise IncorrectUsage("a loaded schema has a configuration: change `schema.config` instead")
        if not inline:
            raise IncorrectUsage(
                "a loaded schema is run in this process, since its hooks and extension points cannot leave it; "
                "leave `inline=False` out, or give the location of the schema"
            )
        return SchemaEngine(location).stream(kind).finish()
    is_text = isinstance(location, str | os.PathLike)
    require(is_text, "location", "a URL, the path of a file or a loaded schema", location)
    occasion = Invocation(os.fspath(location), kind=kind, inline=inline)
    settings = run_settings(Config.discover() if config is None else config, occasion)
    return _result_of(*_reported(settings, RunEnvironment()))


def _result_of(outcome: RunOutcome, problems: Sequence[str]) -> RunResult:
    """Return the result of a run. Raises `LoaderError`, `UsageError` if it could not begin; `InternalError` for a bug of checker.

    `problems` are the reasons why reports are missing.
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
        view.counts.cases,
        view.counts.requests,
        "; ".join(problems) if error is None else str(error),
    )


Prepare = Callable[[Path], RunSettings]  # Returns the settings of a run; its files may be written to a folder.


class RunRecords:
    """The records of a run, as they are written: `RunStarted`, `SchemaOpened`, `Finding`, ..., `RunFinished`."""

    def __init__(self, prepare: Prepare, launcher: Launcher | None = None) -> None:
        """The run begins with the request for the first record. The folder of the run is deleted at the end.

        `launcher` starts the workers; None: by the settings.
        """
        self._launcher = launcher
        self._prepare = prepare
        self._records: queue.SimpleQueue[Record | None] = queue.SimpleQueue()
        self._interrupts = Interrupts()
        self._thread = threading.Thread(target=self._run, name="run", daemon=True)
        self._is_read = False
        """Whether the last record was yielded."""
        self._outcome: tuple[RunOutcome, list[str]] | None = None
        """The outcome, and the reasons why reports are missing."""
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
        """End the run early. The last records of the run still follow."""
        self._interrupts.count += 1

    def finish(self) -> RunResult:
        """Wait for the end of the run and return its result. Raises the error that prevented its start."""
        for _ in self:
            pass
        assert self._outcome is not None
        return _result_of(*self._outcome)

    def _run(self) -> None:
        try:
            around = RunEnvironment(self._launcher, interrupts=self._interrupts)
            with TemporaryDirectory(prefix="checker-", ignore_cleanup_errors=True) as folder:
                self._outcome = _reported(self._prepare(Path(folder)), around, self._records.put)
        except BaseException as error:  # noqa: BLE001 - raised where the records are read
            self._raised = error
        finally:
            self._records.put(None)


class SchemaEngine:
    """Whole runs over the selected operations of a loaded schema."""

    def __init__(self, schema: LoadedSchema) -> None:
        self._schema = schema

    def execute(self) -> RunRecords:
        """Return the records of a run of all phases in threads of this process, with its hooks and checks."""
        return self.stream("run")

    def fuzz(self) -> RunRecords:
        """Return the records of an exploration that ends after `fuzz.max-time`, without a time limit at the first failure, or by `stop()`."""
        return self.stream("fuzz")

    def stream(self, kind: str) -> RunRecords:
        """Return the records of a run of a kind, `run` or `fuzz`."""
        own_work = partial(work, users=users_code(self._schema))
        schema = self._schema
        labels = [str(one.label) for one in schema.matching_entries()]
        # Operations that are selected only by name are missing unless the user named them.
        if labels == [str(one.label) for one in schema.opened.entries() if not waits_for_name(one)]:
            filters = OperationFilters()
        else:
            if not labels:
                raise IncorrectUsage("no operation is selected; there is nothing to run")
            filters = OperationFilters(tuple(FilterSpec("include", "name", label) for label in labels))

        def prepare(folder: Path) -> RunSettings:
            location = schema.location or schema.title or "schema"
            occasion = Invocation(location, kind=kind, inline=True, filters=filters)
            settings = run_settings(schema.config, occasion)
            settings = settings.with_changes(corpus={"folder": str(folder / "corpus")})
            application = schema.engine.application
            if application is None:
                return settings
            name = f"application_{next(_NUMBERS)}"
            setattr(sys.modules[__name__], name, transport_to(lambda: application))
            url = application.origin.url + schema.base_path.removesuffix("/")
            return settings.with_changes(target={"transport": f"{__name__}:{name}", "base_url": url})

        return RunRecords(prepare, InlineLauncher(own_work))


def from_schema(schema: LoadedSchema) -> SchemaEngine:
    """Return whole runs over a loaded schema. Raises `IncorrectUsage` for anything else."""
    if not isinstance(schema, LoadedSchema):
        raise IncorrectUsage(f"`from_schema` takes a loaded schema, got {schema!r:.80}")
    return SchemaEngine(schema)
