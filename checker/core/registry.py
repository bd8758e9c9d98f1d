"""Registries of the objects that users add by name, and the registries of values and media types."""

import re
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from checker.core.case import Case
from checker.core.errors import IncorrectUsage
from checker.core.media_types import is_form, is_json, is_multipart, is_xml, is_yaml, parse
from checker.core.operation import Operation
from checker.core.user_code import refuse_coroutine, require, require_texts, several, takes

Registered = TypeVar("Registered", bound=Callable[..., Any])
Item = TypeVar("Item")


class NameRule(NamedTuple):
    """The rule for the names of one registry."""

    pattern: str
    words: str  # The pattern in words, for messages: `one word`.


WORD: Final = NameRule("[A-Za-z_][A-Za-z0-9_]*", "one word")
LOWER_CASE: Final = NameRule("[a-z][a-z0-9_]*", "one word in lower case")


class Registry(dict[str, Item]):
    """The objects that are registered under names, in the order of registration.

    `what` is the noun for one of them ("check"), and `built_in` the reserved names. If objects may replace others
    (`replaces`), the last object of a name counts.
    """

    def __init__(
        self,
        what: str,
        rows: Iterable[tuple[str, Item]] = (),
        *,
        built_in: Container[str] = (),
        names: NameRule = WORD,
        replaces: bool = False,
    ) -> None:
        super().__init__(rows)
        self._what = what
        self._built_in = built_in
        self._names = names
        self._replaces = replaces

    def add_row(self, row: Item) -> Item:
        """Register an object under its own `name`, and return it. Raises `IncorrectUsage`."""
        require(hasattr(row, "name"), self._what, "an object with a `name`", row)
        return self.add(row.name, row)  # type: ignore[attr-defined]

    def add(self, name: object, item: Item) -> Item:
        """Register an object and return it. Raises `IncorrectUsage` for an invalid name, or a name that is taken."""
        if not isinstance(name, str) or not re.fullmatch(self._names.pattern, name):
            wanted = self._names.words
            raise IncorrectUsage(f"the name of a {self._what} must be {wanted}, got {name!r}")
        is_taken = not self._replaces and self.get(name, item) != item
        if is_taken or name in self._built_in:
            raise IncorrectUsage(f"{self._what} {name!r} is already registered; choose another name")
        self[name] = item
        return item


FORMATS: Final[Registry[Any]] = Registry("format", names=NameRule("(?s:.*)", "a string"), replaces=True)
"""Format name -> strategy of strings, as given by users."""


class SerializationContext(Struct, frozen=True):
    """The context of a serializer beside the value."""

    case: Case | None = None
    """The case with this body; None if the value does not belong to a case."""


class DeserializationContext(Struct, frozen=True):
    """The context of a deserializer beside the response."""

    operation: Operation
    case: Case | None = None
    """None if a response is judged without its case."""


class BuiltIn(Struct, frozen=True):
    """The built-in handling of a media type."""

    media_type: str


Serializer = Callable[[SerializationContext, Any], bytes | None]
Deserializer = Callable[[DeserializationContext, Any], Any]


class Strategy(Protocol):
    """The attributes by which a strategy of Hypothesis is recognised, because importing Hypothesis takes too long."""

    def example(self) -> Any: ...
    def map(self, pack: Any) -> Any: ...


class ByMediaType(Generic[Item]):
    """The objects that are registered for media types, ranges such as `text/*` included; the last one that fits counts."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}

    def add(self, media_types: Iterable[str], item: Item) -> None:
        """Register an object for each media type. Raises `IncorrectUsage` for other texts."""
        for name in media_types:
            if parse(str(name)) is None:
                raise IncorrectUsage(f"{name!r} is not a media type; give one like `text/csv`")
            self._items.pop(name, None)
            self._items[name] = item

    def find(self, media_type: str) -> Item | None:
        """Return the object that is registered for a media type, without regard to parameters."""
        wanted = parse(media_type) if self._items else None
        if wanted is None:
            return None
        for name, item in reversed(self._items.items()):
            known = parse(name)
            if known is not None and known.covers(wanted):
                return item
        return None

    def clear(self) -> None:
        """Remove all objects."""
        self._items.clear()

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)


SERIALIZERS: Final[ByMediaType[Serializer | BuiltIn]] = ByMediaType()
DESERIALIZERS: Final[ByMediaType[Deserializer | BuiltIn]] = ByMediaType()
BODY_STRATEGIES: Final[ByMediaType[Strategy]] = ByMediaType()  # Strategies of whole bodies, as bytes.
CONSTANT_SOURCES: Final[list[Callable[[], Any]]] = []
"""Each returns an application or modules whose literals may become values."""


class MediaTypeDecorator:
    """`@checker.serializer("text/csv")`: registers a function for media types and returns it."""

    def __init__(self, what: str, registry: ByMediaType[Any], is_built_in: Callable[[str], bool]) -> None:
        """`is_built_in` returns whether checker supports a media type by itself."""
        self._what = what
        self._registry = registry
        self._is_built_in = is_built_in

    def __call__(self, *media_types: str) -> Callable[[Registered], Registered]:
        """Decorator of a function for these media types. Raises `IncorrectUsage`."""
        if not media_types or callable(media_types[0]):
            raise IncorrectUsage(f"a {self._what} is for media types: `@checker.{self._what}('text/csv')`")

        def register(function: Registered) -> Registered:
            if not callable(function):
                raise IncorrectUsage(f"a {self._what} must be a function of context and value, got {function!r:.80}")
            if not takes(function, 2):
                raise IncorrectUsage(
                    f"a {self._what} takes two arguments, context and value: {function!r:.80} cannot be called so"
                )
            refuse_coroutine(function, f"{self._what} {media_types[0]!r}")
            self._registry.add(media_types, function)
            return function

        return register

    def alias(self, target: str | Iterable[str], source: str) -> None:
        """Use the function that is registered or built in for `source` for other media types as well. Raises `ValueError` if there is none."""
        require_texts(source=source)
        targets = several("target", target, "a media type, or a list of them")
        if not targets or not all(targets):
            raise ValueError(f"alias: the target must name a media type, got {target!r}")
        known = self._registry.find(source)
        if known is None and self._is_built_in(source):
            known = BuiltIn(source)
        if known is None:
            raise ValueError(f"alias: no {self._what} is registered for {source!r}")
        self._registry.add(targets, known)


def _is_read(media_type: str) -> bool:
    return media_type in ("text/plain", "text/csv") or any(fits(media_type) for fits in (is_json, is_xml, is_yaml))


serializer: Final = MediaTypeDecorator(
    "serializer",
    SERIALIZERS,
    lambda media_type: (
        _is_read(media_type)
        or media_type == "application/octet-stream"
        or is_form(media_type)
        or is_multipart(media_type)
    ),
)
deserializer: Final = MediaTypeDecorator("deserializer", DESERIALIZERS, _is_read)


def constants(function: Registered) -> Registered:
    """Register a function that returns an application or modules whose literals may become values."""
    if not callable(function):
        raise IncorrectUsage(f"`constants` takes a function, got {function!r}")
    refuse_coroutine(function, "a source of constants")
    if function not in CONSTANT_SOURCES:
        CONSTANT_SOURCES.append(function)
    return function


def register_format(name: str, strategy: object) -> None:
    """Let `strategy` draw strings of `format: name`. A later one replaces an earlier one."""
    _require_strategy(strategy, f"format {name!r} must be a Hypothesis strategy of strings")
    FORMATS.add(name, strategy)


def register_media_type(name: str, strategy: Any, *, aliases: Iterable[str] = ()) -> None:
    """Let `strategy` draw bodies of a media type and of its aliases, as bytes. Raises `IncorrectUsage`."""
    _require_strategy(strategy, f"media type {name!r} must have a Hypothesis strategy of bytes")
    BODY_STRATEGIES.add([name, *several("aliases", aliases, "media types")], strategy)


def _require_strategy(value: object, sentence: str) -> None:
    if not hasattr(value, "example") or not hasattr(value, "map"):
        raise IncorrectUsage(f"{sentence}, got {value!r}")
