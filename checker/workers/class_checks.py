"""The state of users' class checks in one worker, and their conclusions at the end of the run.

States are written as plain values with their types, never as pickle. A container is a list `[kind, ...]`, so that msgpack loses
no type. Users' classes (data classes, enumerations, named tuples) are written by name and looked up in modules that are
already loaded: a journal cannot cause an import, and no code of a class runs.
"""

import dataclasses
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from operator import attrgetter
from pathlib import Path, PosixPath, PurePosixPath
from time import time as now
from typing import Any, Final
from uuid import UUID

from msgspec import Struct, field

from checker.checks.custom import AFTER_RUN, ClassCheck, after_run
from checker.core.errors import CheckError
from checker.corpus.codec import Undecodable, pack, unpack
from checker.corpus.journal import Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import CheckState, Finding, Investigation, OperationError
from checker.health import RUN_CHECKS
from checker.workers.recording.recorder import title_of

MOST_STATE = 1 << 16  # Packed bytes of one state. Each worker records a changed state whenever a task ends.
_PLAIN: Final = (type(None), bool, int, float, str, bytes)
_LISTED: Final[Mapping[str, type]] = {one.__name__: one for one in (list, tuple, set, frozenset, bytearray)}
_MAPPED: Final[Mapping[str, type]] = {one.__name__: one for one in (dict, Counter, OrderedDict)}
_FACTORIES: Final[Mapping[str, Any]] = {
    one.__name__: one for one in (bool, int, float, str, bytes, list, tuple, dict, set, frozenset, Counter, deque)
}
"""The factories that a `defaultdict` may have."""
_WRITTEN: Final[Mapping[type, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    Decimal: (str, Decimal),
    Fraction: (str, Fraction),
    UUID: (str, UUID),
    complex: (lambda one: [one.real, one.imag], lambda parts: complex(*parts)),
    PosixPath: (str, Path),
    PurePosixPath: (str, PurePosixPath),
    date: (date.isoformat, date.fromisoformat),
    time: (time.isoformat, time.fromisoformat),
    timedelta: (lambda one: [one.days, one.seconds, one.microseconds], lambda parts: timedelta(*parts)),
    datetime: (datetime.isoformat, datetime.fromisoformat),
    timezone: (
        lambda one: [one.utcoffset(None).days, one.utcoffset(None).seconds],
        lambda parts: timezone(timedelta(*parts)),
    ),
    range: (lambda one: [one.start, one.stop, one.step], lambda parts: range(*parts)),
}
_BY_NAME: Final = {kind.__name__: restore for kind, (_, restore) in _WRITTEN.items()}
_TRAVELS: Final = (
    "None, numbers, texts, bytes, lists, tuples, sets, dictionaries, `Counter`, `defaultdict`, `deque`, dates, `Decimal`, "
    "`UUID`, paths, data classes, named tuples and members of enumerations"
)


class ClassChecks(Struct):
    """The class checks of one worker."""

    checks: tuple[ClassCheck, ...]
    _written: dict[str, CheckState] = field(default_factory=dict)

    @property
    def concludes(self) -> bool:
        """Whether some check has conclusions when the run is over."""
        return any(check.concludes for check in self.checks)

    @property
    def works_alone(self) -> str:
        """Return the name of a check that needs all cases in one worker; empty if there is none."""
        alone = (one.name for one in self.checks if one.concludes and not one.is_mergeable)
        return next(alone, "")

    def news(self) -> Iterator[CheckState]:
        """Return the states that changed since the last call, as records."""
        for check in self.checks:
            if check.concludes:
                try:
                    packed = pack(encoded(check.state(), "state()" if check.is_mergeable else ""))
                except (CheckError, Untransferable) as error:
                    record = CheckState(check.name, b"", str(error))
                else:
                    record = CheckState(check.name, packed)
                    if len(packed) > MOST_STATE:
                        lost = f"it has {len(packed)} bytes; at most {MOST_STATE} are kept"
                        record = CheckState(check.name, b"", lost)
                if record != self._written.get(check.name):
                    self._written[check.name] = record
                    yield record

    def conclusion(self, kept: Iterable[tuple[int, CheckState]]) -> Iterator[Finding | OperationError]:
        """Yield the conclusions from the states of all workers: (incarnation, state) pairs in the order of their records."""
        latest: dict[str, dict[int, CheckState]] = {}
        for incarnation, record in kept:
            latest.setdefault(record.check, {})[incarnation] = record
        for check in self.checks:
            if check.concludes:
                states = latest.get(check.name, {})
                yield from _concluded(check, [states[number] for number in sorted(states)])


def states_in(layout: RunLayout, first: int) -> list[tuple[int, CheckState]]:
    """(incarnation, state) pairs of the run that the incarnation `first` began."""
    pairs = Journals(layout, above=first, kinds=(CheckState,)).read_new()
    return [(incarnation, record) for incarnation, record in pairs if isinstance(record, CheckState)]


def _concluded(check: ClassCheck, states: list[CheckState]) -> Iterator[Finding | OperationError]:
    lost = next((state.lost for state in states if state.lost), "")
    if lost:
        yield _error(check, f"its state is lost, so `after_run` was not called: {lost}")
        return
    if len(states) > 1 and not check.is_mergeable:
        yield _error(
            check,
            f"it has no `merge`, and {len(states)} workers had a part of the run, since one was replaced: "
            "`after_run` was not called",
        )
        return
    try:
        for state in states:
            check.absorb(unpack(state.state, decoded))
        failures = after_run(check)
    except Undecodable as error:
        yield _error(check, f"its state cannot be read, so `after_run` was not called: {error}")
        return
    except CheckError as error:
        title, trace = title_of(error)
        yield OperationError(RUN_CHECKS, "", title, str(error), trace)
        return
    for number, failure in enumerate(failures):
        yield Finding.of(
            failure,
            RUN_CHECKS,
            phase="",
            case="",
            task=AFTER_RUN,
            index=number,
            steps=(),
            interactions=(),
            investigation=Investigation(stage="minimised"),
            at=now(),
        )


def _error(check: ClassCheck, reason: str) -> OperationError:
    return OperationError(RUN_CHECKS, "", "Check Error", f"check {check.name}: {reason}")


class Untransferable(Exception):
    """A state that cannot be sent by a worker. The text names the attribute that prevents it."""


def encoded(state: object, name: str = "") -> Any:
    """Return a state as plain values. `name` is the user's name for it; empty for the attributes of an instance. Raises `Untransferable`."""
    if name or not isinstance(state, dict):
        return _attempted(state, name)
    return ["dict", *([key, _attempted(value, str(key))] for key, value in state.items())]


def decoded(value: Any) -> Any:
    """Return the state that `encoded` wrote. Raises `ValueError`, `TypeError` or `LookupError` for other values."""
    if not isinstance(value, list):
        return value
    kind, parts = value[0], value[1:]
    if kind in _LISTED:
        return _LISTED[kind](map(decoded, parts))
    if kind in _MAPPED:
        return _MAPPED[kind]({decoded(key): decoded(item) for key, item in parts})
    if kind == "defaultdict":
        factory, *items = parts
        made = None if factory is None else _FACTORIES[factory]
        return defaultdict(made, ((decoded(key), decoded(item)) for key, item in items))
    if kind == "deque":
        length, *items = parts
        return deque(map(decoded, items), maxlen=length)
    if kind in _BY_NAME:
        try:
            return _BY_NAME[kind](parts[0])
        except ArithmeticError as error:
            raise ValueError(f"no {kind}: {parts[0]!r}") from error
    module, name, *fields = parts
    found = _found(module, name)
    if kind == "enum" and isinstance(found, type) and issubclass(found, Enum):
        return found[fields[0]]
    if kind == "namedtuple" and isinstance(found, type) and hasattr(found, "_fields"):
        return tuple.__new__(found, map(decoded, fields))
    if kind == "dataclass" and isinstance(found, type) and dataclasses.is_dataclass(found):
        whole: Any = object.__new__(found)
        for attribute, one in fields:
            object.__setattr__(whole, attribute, decoded(one))
        return whole
    raise ValueError(f"no {kind} is called {module}.{name}")


def _attempted(value: object, name: str) -> Any:
    try:
        found = _encoded(value)
        pack(found)
    except RecursionError:
        raise Untransferable(f"`{name}` contains itself, or is nested too deeply") from None
    except Untransferable as error:
        raise Untransferable(
            f"`{name}` holds {error}, which cannot be sent from a worker; possible types: {_TRAVELS}"
        ) from None
    except Exception as error:
        raise Untransferable(f"`{name}` cannot be written down ({error})") from error
    return found


def _encoded(value: Any) -> Any:
    kind: type[Any] = value.__class__
    if kind in _PLAIN:
        return value
    name = kind.__name__
    if kind is set or kind is frozenset:
        # Sorted, so that equal states have equal bytes.
        return [name, *sorted(map(_encoded, value), key=pack)]
    if _LISTED.get(name) is kind:
        return [name, *map(_encoded, value)]
    if _MAPPED.get(name) is kind:
        return [name, *_items(value)]
    if kind is defaultdict:
        factory = value.default_factory
        called = next((one for one, known in _FACTORIES.items() if known is factory), None)
        if factory is not None and called is None:
            raise Untransferable("a `defaultdict` with a function of its own")
        return ["defaultdict", called, *_items(value)]
    if kind is deque:
        return ["deque", value.maxlen, *map(_encoded, value)]
    if kind in _WRITTEN:
        return [name, _WRITTEN[kind][0](value)]
    place = [kind.__module__, kind.__qualname__]
    if _found(*place) is not kind:
        raise Untransferable(f"a `{kind.__qualname__}`")
    if isinstance(value, Enum):
        return ["enum", *place, value.name]
    if dataclasses.is_dataclass(value):
        fields = [one.name for one in dataclasses.fields(value) if hasattr(value, one.name)]
        return ["dataclass", *place, *([one, _encoded(getattr(value, one))] for one in fields)]
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return ["namedtuple", *place, *map(_encoded, value)]
    raise Untransferable(f"a `{kind.__qualname__}`")


def _items(value: Mapping[Any, Any]) -> list[list[Any]]:
    return [[_encoded(key), _encoded(item)] for key, item in value.items()]


def _found(module: str, name: str) -> object:
    """Return the object with this name in a loaded module; None if there is none."""
    try:
        return attrgetter(name)(sys.modules[module])
    except (KeyError, AttributeError):
        return None
