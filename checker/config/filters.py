"""Include and exclude filters of operations."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.errors import UsageError, did_you_mean
from checker.core.operation_filter import texts_of
from checker.core.schema import tokens_of
from checker.core.shards import Shard

SUBJECTS = ("path", "method", "name", "tag", "operation-id")
"""The attributes that a filter can match, besides `by` (an expression) and `deprecated`."""

_MISSING = object()
_Test = Callable[["Selectable"], bool]


class Selectable(Protocol):
    """The attributes that every operation has, even an unreadable one. Filters may read others if they exist."""

    @property
    def label(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...


def waits_for_name(operation: object) -> bool:
    """Whether an operation, such as one for gateways, is tested only if a filter names it (`only_by_name`)."""
    return bool(getattr(operation, "only_by_name", False))


class FilterSpec(Struct, frozen=True):
    """One filter, as the user wrote it."""

    verb: str  # `include` or `exclude`.
    subject: str  # One of `SUBJECTS`, `by` or `deprecated`.
    value: str  # Exact value, regular expression or expression; empty for `deprecated`.
    is_regex: bool = False

    @property
    def option(self) -> str:
        return f"{self.verb}-{self.subject}" + ("-regex" if self.is_regex else "")


class OperationFilters(Struct, frozen=True, dict=True):
    """A set of filters: different kinds of includes are combined by AND, those of one kind by OR; exclusions take precedence."""

    specs: tuple[FilterSpec, ...] = ()

    def __post_init__(self) -> None:
        seen: dict[tuple[str, bool, str], str] = {}
        for spec in self.specs:
            verb = seen.setdefault((spec.subject, spec.is_regex, _folded(spec)), "")
            if verb and verb != spec.verb:
                raise UsageError(f"{spec.subject} {spec.value!r} is both included and excluded")
            if verb:
                raise UsageError(f"{spec.option}: {spec.value!r} is given more than once")
            seen[spec.subject, spec.is_regex, _folded(spec)] = spec.verb
        # Compiled now, so that a wrong expression is reported before the first operation.
        _ = self._tests

    def matches(self, operation: Selectable) -> bool:
        includes, excludes = self._tests
        return not any(holds(operation) for holds in excludes) and all(
            any(holds(operation) for holds in kind) for kind in includes
        )

    def names(self, operation: Selectable) -> bool:
        asked = [one for one in self.specs if (one.verb, one.subject) == ("include", "name")]
        return any(_test(one)(operation) for one in asked)

    @cached_property
    def _tests(self) -> tuple[list[list[_Test]], list[_Test]]:
        includes: dict[str, list[_Test]] = {}
        excludes: list[_Test] = []
        for spec in self.specs:
            if spec.verb == "exclude":
                excludes.append(_test(spec))
            else:
                includes.setdefault(spec.option, []).append(_test(spec))
        return list(includes.values()), excludes


def unmatched(
    filters: OperationFilters,
    operations: Sequence[Selectable],
    broken: Sequence[Selectable] = (),
    *,
    written: str = "--{option} {value}",
) -> Iterator[str]:
    """Yield a sentence for each filter that matches none of these operations, with the nearest value if there is one.

    `broken` are operations that could not be read. `written` is the form in which the filter is named.
    """
    for spec in filters.specs:
        alone = OperationFilters((replace(spec, verb="include"),))
        if spec.subject == "deprecated" or any(map(alone.matches, (*operations, *broken))):
            continue
        near = ""
        if not spec.is_regex and spec.subject in SUBJECTS:
            near = did_you_mean(spec.value, {text for one in operations for text in _texts(one, spec.subject)})
        called = written.format(option=spec.option, value=spec.value)
        yield f"`{called}` matches no operation{near}"


class Selection(Struct, frozen=True):
    """The operations that a run tests. An operation must meet all of these conditions; `matches` tests only the filters."""

    filters: OperationFilters = field(default_factory=OperationFilters)
    disabled: tuple[OperationFilters, ...] = ()  # `[[operations]]` with `enabled = false`.
    changed_since: str | None = None
    """Path or URL of an earlier version of the description: only operations that differ are tested."""
    with_dependents: bool = False  # Whether operations that need resources of changed ones are tested, too.
    changed: tuple[str, ...] | None = None
    """Labels that `changed_since` selects, as the first worker of the run found them."""
    shard: Shard | None = None  # The part of the operations that is tested; None: all.

    def matches(self, operation: Selectable) -> bool:
        return self.filters.matches(operation) and not any(block.matches(operation) for block in self.disabled)


def _test(spec: FilterSpec) -> _Test:
    if spec.subject == "deprecated":
        return lambda operation: bool(getattr(operation, "deprecated", False))
    if spec.subject == "by":
        for sign in ("==", "!="):
            pointer, found, right = (part.strip() for part in spec.value.partition(sign))
            if found and right and (not pointer or pointer.startswith("/")):
                break
        else:
            raise UsageError(
                f"invalid filter expression {spec.value!r}; expected `<JSON pointer> == <value>` or `<JSON pointer> != <value>`"
            )
        try:
            expected: object = json.loads(right)
        except ValueError:
            expected = right

        def holds(operation: Selectable) -> bool:
            left = _resolve(getattr(operation, "definition", {}), pointer)
            # In Python `True == 1`, in JSON they differ.
            return (left == expected and isinstance(left, bool) == isinstance(expected, bool)) == (sign == "==")

        return holds
    if not spec.is_regex:
        wanted = _folded(spec)
        return lambda operation: wanted in _texts(operation, spec.subject)
    try:
        pattern = re.compile(spec.value, re.IGNORECASE if spec.subject == "method" else 0)
    except re.error as error:
        raise UsageError(f"{spec.option}: invalid regular expression {spec.value!r}: {error}") from error
    return lambda operation: any(map(pattern.search, _texts(operation, spec.subject)))


def _texts(operation: Selectable, subject: str) -> tuple[str, ...]:
    return texts_of(operation, subject.replace("-", "_"))


def _folded(spec: FilterSpec) -> str:
    return spec.value.upper() if spec.subject == "method" and not spec.is_regex else spec.value


def _resolve(value: object, pointer: str) -> object:
    for token in tokens_of(pointer):
        if isinstance(value, Mapping):
            value = value.get(token, _MISSING)
        elif isinstance(value, list):
            value = value[int(token)] if token.isdigit() and int(token) < len(value) else _MISSING
        else:
            return _MISSING
    return value
