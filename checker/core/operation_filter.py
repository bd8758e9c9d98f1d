"""Filters of operations for hooks, schemas and providers of credentials, as in the Python API."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypedDict, Unpack

from msgspec import Struct
from msgspec.structs import replace

from checker.core.errors import IncorrectUsage
from checker.core.user_code import refuse_coroutine, takes

ATTRIBUTES = ("name", "method", "path", "tag", "operation_id")
"""The attributes of an operation that a filter matches; each also with `_regex`."""
Predicate = Callable[[Any], object]  # A predicate on an object that has the attribute `operation`.
_Texts = str | Iterable[str] | None
_Pattern = str | re.Pattern[str] | None


class OperationAttributes(TypedDict, total=False):
    """The attributes of an operation, which have to equal one of some texts or match a regular expression; None matches all."""

    name: _Texts  # `GET /users`, or `Query.users` of GraphQL.
    name_regex: _Pattern
    method: _Texts  # In any letter case.
    method_regex: _Pattern
    path: _Texts  # The whole template, without the base path.
    path_regex: _Pattern
    tag: _Texts
    tag_regex: _Pattern
    operation_id: _Texts
    operation_id_regex: _Pattern


class FilterAttributes(OperationAttributes, total=False):
    """Attributes, and a function that also has to return a true value."""

    func: Predicate | None


class _Condition(Struct, frozen=True):
    """One condition: an attribute equals one of some texts or contains a match of a pattern, or a function returns a true value."""

    name: str  # The attribute; `deprecated` has neither texts nor a pattern, a function has no name.
    values: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    function: Predicate | None = None

    def holds(self, context: Any) -> bool:
        if self.function is not None:
            return bool(self.function(context))
        if self == _DEPRECATED:
            return bool(getattr(context.operation, "deprecated", False))
        texts = texts_of(context.operation, self.name)
        if self.pattern is not None:
            return any(self.pattern.search(text) for text in texts)
        return any(text in self.values for text in texts)

    def __str__(self) -> str:
        if self.function is not None:
            return str(getattr(self.function, "__name__", self.function))
        if self.pattern is not None:
            return f"{self.name}_regex={self.pattern.pattern}"
        shown = self.values[0] if len(self.values) == 1 else list(self.values)
        return f"{self.name}={shown!r}" if self.values else self.name


_DEPRECATED = _Condition("deprecated")
_Term = tuple[_Condition, ...]  # Conditions that all have to be met.


class OperationFilter(Struct, frozen=True):
    """Included and excluded terms: an operation has to match an included term and no excluded term."""

    included: tuple[_Term, ...] = ()
    excluded: tuple[_Term, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.included or self.excluded)

    @property
    def asks_functions(self) -> bool:
        """Whether an operation has to be read to find out if it matches."""
        conditions = (one for term in (*self.included, *self.excluded) for one in term)
        return any(one.function is not None for one in conditions)

    def including(self, *functions: Predicate, **attributes: Unpack[FilterAttributes]) -> "OperationFilter":
        """Return a filter that also includes the operations of this term. Raises `IncorrectUsage`."""
        term = _term(functions, dict(attributes))
        self._refuse_repeated(term)
        return replace(self, included=(*self.included, term))

    def excluding(
        self, *functions: Predicate, deprecated: bool = False, **attributes: Unpack[FilterAttributes]
    ) -> "OperationFilter":
        """Return a filter that also excludes the operations of this term. Raises `IncorrectUsage`."""
        term = _term(functions, dict(attributes)) if functions or attributes or not deprecated else ()
        if deprecated:
            term = (_DEPRECATED, *term)
        self._refuse_repeated(term)
        return replace(self, excluded=(*self.excluded, term))

    def joined(self, other: "OperationFilter") -> "OperationFilter":
        """Return both filters combined. An operation has to be included by one of them, and excluded by none."""
        return OperationFilter((*self.included, *other.included), (*self.excluded, *other.excluded))

    def matches(self, context: Any) -> bool:
        """Whether the filter admits the operation of a context."""
        if any(_holds(term, context) for term in self.excluded):
            return False
        return not self.included or any(_holds(term, context) for term in self.included)

    def names(self, context: Any) -> bool:
        """Whether the filter includes the operation of a context by its name."""
        conditions = (one for term in self.included for one in term)
        return any(one.holds(context) for one in conditions if one.name == "name")

    def _refuse_repeated(self, term: _Term) -> None:
        if term in self.included or term in self.excluded:
            raise IncorrectUsage(f"the filter {' and '.join(map(str, term))} is already there; remove one of them")


def _holds(term: _Term, context: Any) -> bool:
    return all(condition.holds(context) for condition in term)


def _term(functions: Iterable[Predicate], attributes: dict[str, Any]) -> _Term:
    function = attributes.pop("func", None)
    # Attributes come first: a function is called only for the operations that have them.
    found = [*_conditions(attributes)]
    for one in (*functions, *(() if function is None else (function,))):
        if not callable(one):
            raise IncorrectUsage(f"a filter function must be callable, got {one!r}")
        refuse_coroutine(one, "a filter function")
        if not takes(one, 1):
            raise IncorrectUsage(f"a filter function takes one argument, an object with `operation`, got {one!r}")
        found.append(_Condition("", function=one))
    if not found:
        raise IncorrectUsage(f"a filter needs a function or one of {', '.join(ATTRIBUTES)}, each also with `_regex`")
    return tuple(found)


def _conditions(attributes: dict[str, Any]) -> Iterator[_Condition]:
    given = {key: value for key, value in attributes.items() if value is not None}
    for key, value in given.items():
        name = key.removesuffix("_regex")
        if name not in ATTRIBUTES:
            raise IncorrectUsage(f"there is no filter {key!r}; use {', '.join(ATTRIBUTES)}, each also with `_regex`")
        if name != key:
            if name in given:
                raise IncorrectUsage(f"{name!r} and {key!r} contradict each other; give one")
            if isinstance(value, re.Pattern):
                pattern = value
            else:
                if not isinstance(value, str):
                    raise IncorrectUsage(f"{key} must be a regular expression, got {value!r}")
                try:
                    pattern = re.compile(value, re.IGNORECASE if key == "method_regex" else 0)
                except re.error as error:
                    raise IncorrectUsage(f"{key}: invalid regular expression {value!r}: {error}") from error
            yield _Condition(name, pattern=pattern)
        else:
            listed = [value] if isinstance(value, str) else value
            if not isinstance(listed, Iterable):
                raise IncorrectUsage(f"{name} must be a string or a list of strings, got {value!r}")
            texts = tuple(listed)
            if not texts or not all(isinstance(text, str) for text in texts):
                raise IncorrectUsage(f"{name} must be a string or a list of strings, got {value!r}")
            yield _Condition(name, tuple(text.upper() for text in texts) if name == "method" else texts)


def texts_of(operation: Any, name: str) -> tuple[str, ...]:
    """Return the texts of one of `ATTRIBUTES` of an operation; some are unknown if it could not be read."""
    match name:
        case "name":
            return (str(operation.label),)
        case "method":
            return (operation.method.upper(),)
        case "path":
            return (operation.path,)
        case "tag":
            return tuple(getattr(operation, "tags", ()))
        case _:
            found = getattr(operation, "operation_id", None)
            return () if found is None else (found,)
