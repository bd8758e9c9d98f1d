"""Removes the resources that runs have created at the target, at the end of a run, and after a kill at the start of the next."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from checker.core.case import Case
from checker.core.digests import digest
from checker.core.errors import CheckerError
from checker.core.operation import Operation
from checker.core.request import BaseUrl
from checker.core.resource_names import variables_of
from checker.core.resources import REMOVING
from checker.corpus.files import AppendFile, read_piece
from checker.corpus.inflight import Stage
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note
from checker.health import MadeResources, Safety, SafetyGate
from checker.phases.attempt import attempt
from checker.workers.class_checks import states_in
from checker.workers.context import WorkerContext
from checker.workers.jobs import Job, answered, exchange
from checker.workers.messages import Drain
from checker.workers.selected import SelectedOperations

_MOST_BYTES = 8 << 20


class MadeLedger(MadeResources):
    """A file of created and removed resources of one target, written and read by all processes."""

    def __init__(self, path: Path, target: str) -> None:
        """`target`: URL without credentials. Resources of other targets are ignored."""
        super().__init__()
        self._path = path
        self._target = target
        self._file: AppendFile | None = None
        self._at = 0

    def write(self, path: str, label: str) -> None:
        """Append a line for a resource; an empty label means that it was removed."""
        if self._file is None:
            self._file = AppendFile(self._path)
        self._file.append(json.dumps([self._target, path, label]).encode() + b"\n")

    def news(self) -> Iterator[tuple[str, str]]:
        """Yield (path, label) pairs from the file. Incomplete lines and lines of other targets are skipped."""
        if not self._path.exists():
            return
        data = read_piece(self._path, self._at, _MOST_BYTES)
        # Another process may be writing the last line.
        whole, _, _ = data.rpartition(b"\n")
        self._at += len(whole) + 1 if whole else 0
        for line in whole.splitlines():
            try:
                target, path, label = json.loads(line)
            except ValueError:
                continue
            if target == self._target:
                yield str(path), str(label)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


_VARIABLE = re.compile(r"\{[^{}]*\}")


def gate_for(level: str, layout: RunLayout, origin: BaseUrl, selected: SelectedOperations) -> SafetyGate:
    """Return the gate before every request of a run."""
    if level == Safety.FULL:
        return SafetyGate()
    made = MadeLedger(layout.made, f"{origin.url}{origin.base_path}")
    return SafetyGate(Safety(level), made, selected.variables_below())


def clean_up(context: WorkerContext) -> Job[None]:
    """Delete the resources that this run and earlier ones have created, latest first, and note those that remain."""
    gate = context.tools.gate
    if gate.level is not Safety.CREATE_OWN:
        return
    gate.made.catch_up()
    removing = [entry.label for entry in context.subject.selected.entries if entry.method == REMOVING]
    operations = [context.subject.selected[label] for label in removing]
    lasting: dict[str, list[str]] = {}
    """Label of the creating operation -> paths of resources that no tested operation removes."""
    # Latest first: a resource often cannot be removed while others are below it or refer to it.
    for path, label in reversed(list(gate.made.paths.items())):
        found = [(one, values_in(path, one, context.subject.origin)) for one in operations]
        fitting = [(one, values) for one, values in found if values is not None]
        if not fitting:
            lasting.setdefault(label, []).append(path)
            continue
        for operation, values in fitting:
            case = Case(operation, digest("clean", path)[:12], path_parameters=values)
            try:
                yield from answered(attempt(context.tools, case), exchange)
            except CheckerError:
                continue
            # The gate has seen the response.
            if path not in gate.made.paths:
                break
        else:
            context.recorder.note(Note("left_behind", label, "", path))
    for label, paths in lasting.items():
        more = f", and {len(paths) - 1} more like it" if len(paths) > 1 else ""
        text = f"{paths[0]}{more}: no operation that is tested removes it"
        context.recorder.note(Note("left_behind", label, "", text))
    context.recorder.flush()


def values_in(path: str, operation: Operation, origin: BaseUrl) -> dict[str, str] | None:
    """Return the values of an operation's path variables in a path; None if the path belongs to another operation."""
    template = origin.base_path + operation.path
    names = variables_of(operation.path)
    pattern = "([^/]+)".join(map(re.escape, _VARIABLE.split(template)))
    found = re.fullmatch(pattern, path)
    if found is None:
        return None
    return dict(zip(names, map(unquote, found.groups()), strict=True))


_NO_TASK = "0"  # The task id, in in-flight slots, of work for the whole run.


def conclude_run(context: WorkerContext, order: Drain) -> Job[None]:
    """Record the failures of class checks about the whole run, and remove the resources that it created."""
    context.slots.enter(0, Stage.HOOK, _NO_TASK, 0)
    if not order.only_cleans:
        states = states_in(RunLayout(Path(context.subject.settings.corpus.folder)), order.first)
        context.recorder.keep(context.subject.classes.conclusion(states))
    yield from clean_up(context)
    context.slots.leave(0)
