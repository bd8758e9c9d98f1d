"""Filters of operations for hooks, schemas and providers of credentials, as the Python API states them."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypedDict, Unpack

from msgspec import Struct
from msgspec.structs import replace

from checker.core.errors import IncorrectUsage
from checker.core.user_code import refuse_coroutine, takes

ATTRIBUTES = ("name", "method", "path", "tag", "operation_id")
"""The attributes of an operation that a filter matches; each also with `_regex`."""
Predicate = Callable[[Any], object]
"""A predicate on an object that has the attribute `operation`."""
_Texts = str | Iterable[str] | None
_Pattern = str | re.Pattern[str] | None


class OperationAttributes(TypedDict, total=False):
    """The attributes of an operation that have to equal one of some texts, or to match a regular expression; None matches all."""

    name: _Texts
    """`GET /users`, or `Query.users` of GraphQL."""
    name_regex: _Pattern
    method: _Texts
    """In any letter case."""
    method_regex: _Pattern
    path: _Texts
    """The whole template, without the base path."""
    path_regex: _Pattern
    tag: _Texts
    tag_regex: _Pattern
    operation_id: _Texts
    operation_id_regex: _Pattern


class FilterAttributes(OperationAttributes, total=False):
    """Attributes, and a function that has to hold, too."""

    func: Predicate | None


class _Attribute(Struct, frozen=True):
    """One condition: an attribute equals one of some texts, or a pattern is found in it."""

    name: str
    values: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None

    def holds(self, context: Any) -> bool:
        texts = texts_of(context.operation, self.name)
        if self.pattern is not None:
            return any(self.pattern.search(text) for text in texts)
        return any(text in self.values for text in texts)


class _IsDeprecated(Struct, frozen=True):
    def holds(self, context: Any) -> bool:
        return bool(getattr(context.operation, "deprecated", False))


class _Function(Struct, frozen=True):
    function: Predicate

    def holds(self, context: Any) -> bool:
        return bool(self.function(context))


_Condition = _Attribute | _IsDeprecated | _Function
_Term = tuple[_Condition, ...]
"""Conditions that hold together."""


class OperationFilter(Struct, frozen=True):
    """Terms that were asked for, and terms that were ruled out: one of the first has to hold, and none of the second."""

    included: tuple[_Term, ...] = ()
    excluded: tuple[_Term, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.included or self.excluded)

    @property
    def asks_functions(self) -> bool:
        """Whether an operation has to be read before it is known if it matches."""
        conditions = (one for term in (*self.included, *self.excluded) for one in term)
        return any(isinstance(one, _Function) for one in conditions)

    def including(self, *functions: Predicate, **attributes: Unpack[FilterAttributes]) -> "OperationFilter":
        """Return a filter that also includes the operations of this term. Raises `IncorrectUsage`."""
        term = _term(functions, dict(attributes))
        self._refuse_repeated(term)
        return replace(self, included=(*self.included, term))

    def excluding(
        self, *functions: Predicate, deprecated: bool = False, **attributes: Unpack[FilterAttributes]
    ) -> "OperationFilter":
        """Return a filter that also excludes the operations of this term. Raises `IncorrectUsage`."""
        found = self
        if functions or attributes or not deprecated:
            term = _term(functions, dict(attributes))
            self._refuse_repeated(term)
            found = replace(self, excluded=(*self.excluded, term))
        return replace(found, excluded=(*found.excluded, (_IsDeprecated(),))) if deprecated else found

    def joined(self, other: "OperationFilter") -> "OperationFilter":
        """Both together: what either asks for, without what either rules out."""
        return OperationFilter((*self.included, *other.included), (*self.excluded, *other.excluded))

    def matches(self, context: Any) -> bool:
        """Whether it lets through the operation of a context."""
        if any(_holds(term, context) for term in self.excluded):
            return False
        return not self.included or any(_holds(term, context) for term in self.included)

    def names(self, context: Any) -> bool:
        """Whether the operation of a context is asked for by its name."""
        conditions = (one for term in self.included for one in term)
        return any(one.holds(context) for one in conditions if isinstance(one, _Attribute) and one.name == "name")

    def _refuse_repeated(self, term: _Term) -> None:
        if term in self.included or term in self.excluded:
            raise IncorrectUsage(f"the filter {_shown(term)} is already there; remove one of them")


def _holds(term: _Term, context: Any) -> bool:
    return all(condition.holds(context) for condition in term)


def _term(functions: Iterable[Predicate], attributes: dict[str, Any]) -> _Term:
    function = attributes.pop("func", None)
    named = () if function is None else (function,)
    # Attributes come first: a function is called only for the operations that have them.
    found: _Term = (*_conditions(attributes), *_functions((*functions, *named)))
    if not found:
        raise IncorrectUsage(f"a filter needs a function or one of {', '.join(ATTRIBUTES)}, each also with `_regex`")
    return found


def _functions(functions: Iterable[Predicate]) -> Iterator[_Function]:
    for function in functions:
        if not callable(function):
            raise IncorrectUsage(f"a filter function must be callable, got {function!r}")
        refuse_coroutine(function, "a filter function")
        if not takes(function, 1):
            raise IncorrectUsage(f"a filter function takes one argument, an object with `operation`, got {function!r}")
        yield _Function(function)


def _conditions(attributes: dict[str, Any]) -> Iterator[_Attribute]:
    given = {key: value for key, value in attributes.items() if value is not None}
    for key, value in given.items():
        name = key.removesuffix("_regex")
        if name not in ATTRIBUTES:
            raise IncorrectUsage(f"there is no filter {key!r}; use {', '.join(ATTRIBUTES)}, each also with `_regex`")
        if name != key:
            if name in given:
                raise IncorrectUsage(f"{name!r} and {key!r} contradict each other; give one")
            yield _Attribute(name, pattern=_pattern(key, value))
        else:
            yield _Attribute(name, _listed(name, value))


def _pattern(key: str, value: object) -> re.Pattern[str]:
    """The pattern of a filter. Raises `IncorrectUsage` for what is none."""
    if isinstance(value, re.Pattern):
        return value
    if not isinstance(value, str):
        raise IncorrectUsage(f"{key} must be a regular expression, got {value!r}")
    try:
        return re.compile(value, re.IGNORECASE if key == "method_regex" else 0)
    except re.error as error:
        raise IncorrectUsage(f"{key}: invalid regular expression {value!r}: {error}") from error


def _listed(name: str, value: object) -> tuple[str, ...]:
    """The texts of a filter, methods in upper case. Raises `IncorrectUsage` for what is neither text nor list."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, Iterable):
        raise IncorrectUsage(f"{name} must be a string or a list of strings, got {value!r}")
    texts = tuple(listed)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise IncorrectUsage(f"{name} must be a string or a list of strings, got {value!r}")
    return tuple(text.upper() for text in texts) if name == "method" else texts


def texts_of(operation: Any, name: str) -> tuple[str, ...]:
    """Return the texts of one of `ATTRIBUTES` of an operation, of which little is known if it could not be read."""
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


def _shown(term: _Term) -> str:
    return " and ".join(map(_shown_condition, term))


def _shown_condition(condition: _Condition) -> str:
    match condition:
        case _Attribute(name, values, None):
            return f"{name}={values[0] if len(values) == 1 else list(values)!r}"
        case _Attribute(name, _, pattern):
            return f"{name}_regex={pattern.pattern if pattern else ''}"
        case _IsDeprecated():
            return "deprecated"
        case _Function(function):
            return str(getattr(function, "__name__", function))
