"""What could not be tested as blocks of text: errors of operations, and cases that took a worker with them."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Final

from msgspec.structs import replace

from checker.core.blocks import hidden_paragraphs, indented, reproduction_paragraphs
from checker.core.terminal import one_line
from checker.corpus.records import UNREACHED, WHOLE_TASK, OperationError, Quarantined
from checker.reporting.findings import MOST_PLACES, UNSHOWN, prose
from checker.reporting.masking import Parts, Shown, ShownCommand, unmasked
from checker.reporting.summary import counted
from checker.reporting.wall import walled

_QUARANTINED: Final = "Quarantined case"


def alike_as_one(errors: Iterable[OperationError]) -> Iterator[OperationError]:
    """Errors for people: a target that nobody reaches, or a hook that raises, is told once, whatever number of operations it costs."""
    alike: dict[tuple[str, str, str], list[OperationError]] = {}
    for error in errors:
        if error.request:
            yield error
        else:
            alike.setdefault((error.title, error.message, error.trace), []).append(error)
    for group in alike.values():
        labels = list(dict.fromkeys(one.label for one in group))
        yield group[0] if len(labels) == 1 else _as_one(group[0], labels)


def _as_one(error: OperationError, labels: list[str]) -> OperationError:
    """An error of many operations, with where it is; a target that nobody reaches is nowhere."""
    if error.title == UNREACHED:
        return replace(error, label=f"{len(labels)} operations")
    lines = [f"- {one_line(label)}" for label in labels[:MOST_PLACES]]
    if (left := len(labels) - MOST_PLACES) > 0:
        lines.append(f"- and {left} more")
    places = "\n".join([f"In {len(labels)} operations:", *lines])
    return replace(
        error,
        label=f"{labels[0]} and {counted(len(labels) - 1, 'more operation')}",
        message=f"{error.message}\n\n{places}",
    )


def errors_by_label(
    errors: Iterable[OperationError],
    quarantined: Iterable[Quarantined],
    shown: Shown = unmasked,
) -> Iterator[tuple[str, str]]:
    """(label, text), labels sorted: what could not be tested, and the cases that took a worker with them."""
    parts = [
        (error.label, walled(partial(_error_text, error, shown), partial(_unshown, error.title)))
        for error in errors
    ]
    alike: dict[tuple[str, str, str], list[Quarantined]] = {}
    for case in quarantined:
        alike.setdefault((case.label, case.stage, case.reason), []).append(case)
    parts += [
        (
            cases[0].label,
            walled(partial(_quarantine_text, cases, shown), partial(_unshown, _QUARANTINED)),
        )
        for cases in alike.values()
    ]
    for label, group in groupby(sorted(set(parts)), key=lambda part: part[0]):
        yield label, "\n\n".join(text for _, text in group)


def _unshown(title: str, why: str) -> str:
    return f"{title}\n\n{UNSHOWN.format(why=why)}"


def _error_text(error: OperationError, shown: Shown) -> str:
    parts = [error.title, indented(prose(error.message, shown))]
    if error.trace:
        parts.append(indented(prose(error.trace, shown)))
    parts += _reproduction(error.request, error.components, shown)
    return "\n\n".join(part for part in parts if part)


def _quarantine_text(alike: Sequence[Quarantined], shown: Shown) -> str:
    """Cases of one operation that ended their workers in the same way: the first, and how many more there are."""
    case, more = alike[0], len(alike) - 1
    times = "once" if case.strikes == 1 else f"{case.strikes} times"
    what = f"case {case.case}" if case.case else f"case {case.index} of task {case.task}"
    sentence = f"{what} ended its worker {times} in stage {case.stage}: {case.reason}"
    if case.index == WHOLE_TASK:
        sentence = f"the rest of its cases was given up: {case.reason}"
    if more:
        sentence += f"\nSo did {counted(more, 'more case')}."
    parts = [_QUARANTINED, indented(sentence)]
    return "\n\n".join(parts + _reproduction(case.request, case.components, shown))


def _reproduction(command: str, components: Parts, shown: Shown) -> list[str]:
    """Nobody tried whether it shows again."""
    if not command:
        return []
    # A case that stopped its worker while it was made left its choices, not a command.
    is_command = command.startswith("curl ")
    text = shown(command, [components]) if is_command else ShownCommand(command)
    return [
        *reproduction_paragraphs(text.text.split("\n"), reproduced=None),
        *hidden_paragraphs(text.hidden),
    ]
