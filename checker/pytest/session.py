"""Reports of a session of pytest, and the results of class checks over all of it."""

import pickle
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self

import pytest
from msgspec import Struct, field
from msgspec.structs import replace
from pluggy import HookimplMarker

from checker import __version__
from checker.checks.custom import ClassCheck, after_run
from checker.config.settings import RunSettings
from checker.config.user_code import know_phases
from checker.core.errors import CheckError
from checker.core.failures import FailureGroup
from checker.core.meta import Drawn, Step
from checker.core.operation import Label
from checker.core.reports import REPORT_FORMATS
from checker.core.response import Response
from checker.core.security import UNAUTHORIZED
from checker.corpus.codec import decode, join, pack
from checker.corpus.fold import RunView
from checker.corpus.records import (
    CheckOutcome,
    Finding,
    Interaction,
    Investigation,
    OperationsSelected,
    Record,
    RunFinished,
    RunStarted,
    SchemaOpened,
    TaskProgress,
)
from checker.corpus.secrets import exchange, secrets_of
from checker.library.decorators import KeptClassChecks
from checker.library.recording import RECORDERS, Call
from checker.phases.attempt import CheckResult
from checker.reporting.events import Event, EventStream
from checker.reporting.report import report_of
from checker.reporting.shown import ReportContext
from checker.reporting.warnings import NEARLY_ALL
from checker.reporting.writing import write_stream, write_summary
from checker.workers.recording.traffic import MODES, Components

_hook = HookimplMarker("allure")
_MOST_CALLS: Final = 200
"""Most calls with different arguments that are kept for an operation, because a test may attach something in each case."""
_SINGLE: Final = ("severity", "thread", "host")  # Labels that a result has only once, as in `allure_commons.types`.


class AllureCalls:
    """A plug-in of `allure_commons`. The methods are called for each call in a test; `allure-pytest` may be another plug-in."""

    def __init__(self) -> None:
        self.label = ""
        """The operation under test; empty between tests."""
        self.told: dict[str, dict[tuple[str, ...], Any]] = {}
        """Label of an operation -> data that its tests passed to Allure, as in `ReportContext.allure`."""

    @_hook
    def add_title(self, test_title: str) -> None:
        self._tell(str(test_title), "name")

    @_hook
    def add_description(self, test_description: str) -> None:
        self._tell(str(test_description), "description")

    @_hook
    def add_description_html(self, test_description_html: str) -> None:
        self._tell(str(test_description_html), "descriptionHtml")

    @_hook
    def add_label(self, label_type: str, labels: tuple[Any, ...]) -> None:
        """Add labels: severity, tags, epics, features, stories, suites, an id."""
        for value in map(_text, labels):
            kind = _text(label_type)
            key = (kind,) if kind in _SINGLE else (kind, value)
            self._tell({"name": kind, "value": value}, "labels", *key)

    @_hook
    def add_link(self, url: str, link_type: str, name: str | None) -> None:
        target, kind = _text(url), _text(link_type)
        self._tell({"type": kind, "url": target, "name": _text(name or url)}, "links", target, kind)

    @_hook
    def decorate_as_link(self, url: str, link_type: str, name: str | None) -> None:
        """Add the link of `allure.link`, which a test may also call as a statement."""
        self.add_link(url, link_type, name)

    @_hook
    def add_parameter(self, name: str, value: Any, excluded: bool | None, mode: Any) -> None:
        more = {"excluded": excluded, "mode": None if mode is None else _text(mode)}
        given = {key: one for key, one in more.items() if one is not None}
        self._tell({"name": _text(name), "value": str(value), **given}, "parameters", _text(name))

    @_hook
    def attach_data(self, body: str | bytes, name: str | None, attachment_type: Any, extension: str | None) -> None:
        media_type = _text(getattr(attachment_type, "mime_type", attachment_type) or "text/plain")
        ending = _text(extension or getattr(attachment_type, "extension", None) or "attach")
        content = body.encode(errors="backslashreplace") if isinstance(body, str) else bytes(body)
        shown = _text(name or "attachment")
        self._tell((shown, media_type, ending, content), "attachments", shown, sha256(content).hexdigest())

    @_hook
    def attach_file(self, source: str, name: str | None, attachment_type: Any, extension: str | None) -> None:
        self.attach_data(Path(source).read_bytes(), name or Path(source).name, attachment_type, extension)

    def absorb(self, told: dict[str, dict[tuple[str, ...], Any]]) -> None:
        for label, entries in told.items():
            self.told.setdefault(label, {}).update(entries)

    def _tell(self, value: Any, *key: str) -> None:
        """Keep a value of the operation under test; it replaces an earlier one with the same key."""
        if self.label:
            own = self.told.setdefault(self.label, {})
            if key in own or len(own) < _MOST_CALLS:
                own[key] = value


def _text(value: Any) -> str:
    """Return a plain text, because xdist sends only built-in types between its processes."""
    return str(value.value if isinstance(value, Enum) else value)


_RUN: Final = "pytest"
_MOST: Final = 200_000  # Calls that are kept for reports: a session that never ends must not fill the memory.
_NO_TIME: Final = (0.0, 0.0, 0.0, 0.0, 0.0)


_FEWEST: Final = 10  # Responses below which a share is no evidence.


class SessionCalls(Struct, eq=False):
    """Calls of one process, as records of a run. Implements `checker.library.recording.CallRecorder`."""

    settings: RunSettings | None = None  # Settings of the first schema whose configuration asks for reports.
    opened: SchemaOpened | None = None
    started_at: float = field(default_factory=time.time)
    calls: list[Call] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)  # Interactions and findings of other processes.
    lost: int = 0  # Calls beyond the limit.
    seeds: list[int | str] = field(default_factory=list)  # The different seeds of the tests, in order.
    classes: dict[int, KeptClassChecks] = field(default_factory=dict)
    unasked: list[str] = field(default_factory=list)
    """Class checks whose `after_run` is not called, because each process saw only a part of the session."""
    refused: int = 0  # Responses 401 and 403.
    answered: int = 0
    allure: AllureCalls = field(default_factory=AllureCalls)
    _by_response: dict[int, Call] = field(default_factory=dict)

    @classmethod
    def recording(cls) -> Self:
        made = cls()
        RECORDERS.append(made)
        if "allure_commons" in sys.modules:
            sys.modules["allure_commons"].plugin_manager.register(made.allure)
        return made

    def began(self, label: str, seed: Any) -> None:
        """Keep the seed of a test, and attribute calls of Allure's API to its operation."""
        self.allure.label = label
        if seed is not None:
            self._add_seed(seed)

    def ended(self) -> None:
        """Attribute no further calls of Allure's API to the operation of the last test."""
        self.allure.label = ""

    def _add_seed(self, seed: Any) -> None:
        plain = seed if isinstance(seed, int) else str(seed)
        if plain not in self.seeds:
            self.seeds.append(plain)

    def called(self, call: Call) -> None:
        """Count the response, and keep the call if reports are asked for."""
        if isinstance(call.outcome, Response):
            self.answered += 1
            self.refused += call.outcome.status_code in UNAUTHORIZED
        if not call.settings.report.files:
            return
        if self.settings is None or self.opened is None:
            schema = call.schema
            total = sum(1 for _ in schema.entries())
            self.settings, self.opened = (
                call.settings,
                SchemaOpened(
                    schema.title, schema.specification, call.base_url, "", total, total, credentials=schema.credentials
                ),
            )
        if len(self.calls) >= _MOST:
            self.lost += 1
            return
        self.calls.append(call)
        # The call keeps its outcome alive, so no other outcome has the same `id`.
        self._by_response[id(call.outcome)] = call

    def judged(self, response: Response, results: Sequence[CheckResult], command: str) -> None:
        call = self._by_response.get(id(response))
        if call is not None:
            call.results += results
            call.command = command or call.command

    def judging(self, classes: KeptClassChecks) -> None:
        """Keep instances of class checks, which are called at the end of the session."""
        self.classes[id(classes)] = classes

    def finish(self) -> None:
        if self in RECORDERS:
            RECORDERS.remove(self)
        manager = getattr(sys.modules.get("allure_commons"), "plugin_manager", None)
        if manager is not None and manager.is_registered(self.allure):
            manager.unregister(self.allure)

    def conclusions(self) -> list[str]:
        """Return the failures of class checks about the whole session, and their errors."""
        found: list[str] = []
        for check in self._concluding():
            try:
                failures = after_run(check)
            except CheckError as error:
                found.append("".join([*traceback.format_exception(error.__cause__), str(error)]))
            else:
                found += (f"{one.check}: {one.message or one.title}" for one in failures)
        return found

    def _concluding(self) -> Iterator[ClassCheck]:
        for kept in self.classes.values():
            yield from (check for check in kept.at_work() if check.concludes)

    def sent(self) -> dict[str, Any]:
        said = {
            "answers": (self.refused, self.answered),
            "seeds": self.seeds,
            "allure": self.allure.told,
            "unasked": [check.name for check in self._concluding()],
        }
        if self.settings is None or self.opened is None:
            return said
        own = [self.opened, *self._own_records()]
        packed = [pack(one) for one in own]
        return said | {"settings": pickle.dumps(self.settings), "records": join(packed, len(packed)), "lost": self.lost}

    def absorb(self, sent: dict[str, Any]) -> None:
        refused, answered = sent["answers"]
        self.refused += refused
        self.answered += answered
        for seed in sent["seeds"]:
            self._add_seed(seed)
        self.allure.absorb(sent["allure"])
        self.unasked += (name for name in sent["unasked"] if name not in self.unasked)
        if "records" not in sent:
            return
        opened, *records = decode(sent["records"])
        if self.settings is None and isinstance(opened, SchemaOpened):
            self.settings = pickle.loads(sent["settings"])
            know_phases(self.settings.phases)
            self.opened = opened
        self.records += records
        self.lost += sent["lost"]

    def write(self, command: str) -> Iterator[str]:
        """Write the reports. Yield a line for each: its path, or why it is missing."""
        if self.settings is None or self.opened is None:
            return
        seed = next((one for one in self.seeds if isinstance(one, int)), self.settings.seed)
        settings = replace(self.settings, command=command, seed=seed)
        records = list(self._all(settings, self.opened))
        view, context = (RunView(), ReportContext.of(settings, _started(settings, self.started_at), self.opened))
        context = replace(context, allure=self.allure.told)
        for record in records:
            if not isinstance(record, Interaction):
                view.absorb(0, record)
        for name, path in settings.report.files:
            row = REPORT_FORMATS.get(name)
            assert row is not None
            if row.streams:
                problem = write_stream(row, path, settings, context, _events(records))
            else:
                report = report_of(view, settings, "completed")
                problem = write_summary(row, Path(path), report, context)
            yield problem or f"{row.title}: {path}"
        if self.lost:
            yield f"{self.lost:,} requests after the first {_MOST:,} are not in the reports"

    def closed(self) -> Iterator[str]:
        """Yield the line about a session in which nearly every response was 401 or 403; nothing for others."""
        if self.answered >= _FEWEST and self.refused >= NEARLY_ALL * self.answered:
            yield (
                f"{self.refused:,} of {self.answered:,} responses were 401 or 403: the tests show nothing about the "
                "API itself; "
                "give credentials (`[auth]`, `case.call(session=...)`, `@schema.auth()`)"
            )

    def told_seeds(self) -> Iterator[str]:
        """Yield the line that explains how to repeat the same cases; nothing if no test had a seed."""
        listed = ", ".join(map(str, self.seeds))
        if self.seeds:
            yield f"Seed: {listed}" if len(self.seeds) == 1 else f"Seeds: {listed}"

    def _all(self, settings: RunSettings, opened: SchemaOpened) -> Iterator[Record]:
        told = [*self._own_records(), *self.records]
        interactions = [one for one in told if isinstance(one, Interaction)]
        findings = {one.fingerprint: one for one in told if isinstance(one, Finding)}
        labels = tuple(dict.fromkeys(one.label for one in interactions))
        yield _started(settings, self.started_at)
        yield replace(opened, selected=max(opened.selected, len(labels)))
        yield OperationsSelected(labels)
        yield from interactions
        yield from findings.values()
        for phase in dict.fromkeys(one.phase for one in interactions):
            own = [one for one in interactions if one.phase == phase]
            counts = Counter((one.label, one.exchange.status or 0) for one in own)
            yield TaskProgress(
                f"{_RUN}-{phase}",
                phase,
                tuple(dict.fromkeys(one.label for one in own)),
                len(own),
                True,
                len(own),
                len(own),
                sum(one.status == "FAILURE" for one in own),
                tuple(((label, status, count) for (label, status), count in counts.items())),
                _NO_TIME,
            )
        elapsed_s = time.time() - self.started_at
        yield RunFinished(_RUN, time.time(), "completed", elapsed_s, _NO_TIME)

    def _own_records(self) -> Iterator[Record]:
        components = Components()
        for call in self.calls:
            case, meta = call.case, call.case.meta
            wanted = call.secrets if not call.secrets.is_empty else secrets_of(call.settings, call.schema.credentials)
            failed = any(failure is not None for _, _, failure in call.results)
            is_answered = isinstance(call.outcome, Response)
            status = ("FAILURE" if failed else "SUCCESS") if is_answered else "ERROR"
            if is_answered and not call.results:
                status = "SKIP"
            interaction = Interaction(
                case=case.id,
                label=case.operation.label,
                phase="" if meta is None else meta.phase.name,
                phase_data=() if meta is None else tuple(meta.phase.data.items()),
                mode="positive" if meta is None else MODES[meta.mode],
                components=components.of(case, call.outcome),
                status=status,
                at=call.at,
                generation_s=0.0 if meta is None else meta.time,
                exchange=exchange(call.request, call.outcome, wanted),
                checks=tuple(
                    CheckOutcome(name, said.upper(), None if failure is None else failure.message)
                    for name, said, failure in call.results
                ),
                worker=0,
            )
            yield interaction
            for _, _, failure in call.results:
                if failure is not None:
                    yield Finding.of(
                        failure,
                        interaction.label,
                        phase=interaction.phase,
                        case=interaction.case,
                        task=_RUN,
                        index=0,
                        steps=(Step(Label(interaction.label), Drawn(())),),
                        interactions=(interaction,),
                        investigation=Investigation("minimised", call.command, reproduced=True),
                        at=interaction.at,
                    )


def _started(settings: RunSettings, at: float) -> RunStarted:
    return RunStarted(_RUN, settings.kind, at, __version__, settings.location, settings.seed, "", settings.command, 1)


def _events(records: Iterable[Record]) -> Iterator[Event]:
    stream = EventStream()
    for record in records:
        yield from stream.interaction(record) if isinstance(record, Interaction) else stream.follow(0, record)
    yield from stream.end()


_NUMBER: Final = re.compile(r"\A\d+\. ")


class ChecksFailed(AssertionError):
    """Replaces groups of failures, which pytest would show as plain text with every frame."""


def show(item: pytest.Item, excinfo: pytest.ExceptionInfo[Any], report: pytest.TestReport) -> None:
    """Put failed checks into a report; other exceptions stay unchanged."""
    groups = list(_groups(excinfo.value))
    if not groups:
        return
    blocks = [_NUMBER.sub(f"{number}. ", one.text) for number, one in enumerate(groups, 1)]
    count = sum(len(one.exceptions) for one in groups)
    heading = f"checker found {count} distinct failures" if count > 1 else "checker found 1 failure"
    told = ChecksFailed("\n\n".join([heading, *blocks]))
    for note in dict.fromkeys(note for one in groups for note in getattr(one, "__notes__", ())):
        told.add_note(note)
    where = groups[0].raised_for or excinfo.tb
    shown = pytest.ExceptionInfo.from_exc_info((ChecksFailed, told, where))
    style = item.config.getoption("tbstyle", "auto")
    report.longrepr = shown.getrepr(
        style="long" if style == "auto" else style,
        showlocals=bool(item.config.getoption("showlocals", False)),
        tbfilter=False,
    )
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        # The summary and JUnit show one line of the error.
        crash.message = ", ".join(dict.fromkeys(one.title for group in groups for one in group.exceptions))


def _groups(error: BaseException) -> Iterator[FailureGroup]:
    """Yield the groups of failures in the exception of a test; nothing if it contains another exception."""
    found: list[FailureGroup] = []
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, FailureGroup):
            found.append(one)
        elif isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
        else:
            return
    seen: set[tuple[tuple[str, str, str], ...]] = set()
    for group in found:
        key = tuple((one.check, one.unique_key, one.text) for one in group.exceptions)
        if key not in seen:
            seen.add(key)
            yield group
