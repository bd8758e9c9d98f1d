"""Cells of (location, style, explode, type): parameters, and values with the schemas that they fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from checker.core.operation import Location, Parameter
from checker.core.schema import Dialect, Schema
from checker.schema.views import outline_of
from checker.transport.wire import ambiguity
from checker.transport.wire.bodies import cookie_encoder, header_encoder, path_encoder, query_encoder
from checker.transport.wire.decoding import Decoding, decode_parameter, pairs_of
from checker.transport.wire.readings import Reading

from .ambiguity_table import TYPES


class Alone:
    """A document that nothing refers to."""

    root: object = None

    def __init__(self) -> None:
        self.facts: dict[object, Any] = {}

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        raise LookupError(reference)


def schema_of(raw: object, dialect: Dialect = Dialect.OPENAPI31) -> Schema:
    return Schema(raw, "#", dialect, Alone())


@dataclass(frozen=True)
class Typed:
    """A value and what its schema says."""

    value: Any
    raw: dict[str, Any]


@dataclass(frozen=True)
class Ambiguous:
    """Several values, and nothing that decides between them."""

    candidates: tuple[Any, ...]
    reason: str


def settled(found: Sequence[Reading]) -> Any | Ambiguous:
    """Return the one value that readings leave no doubt of."""
    fitting = [reading for reading in found if reading.doubt != ambiguity.UNFIT] or list(found)
    if len(fitting) == 1 and not fitting[0].doubt:
        return fitting[0].value
    reason = next((reading.doubt for reading in fitting if reading.doubt), TYPES)
    return Ambiguous(tuple(reading.value for reading in fitting), reason)


STYLES = {
    Location.PATH: ("simple", "label", "matrix", "spaceDelimited", "pipeDelimited", "tabDelimited"),
    Location.QUERY: ("form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"),
    Location.HEADER: ("simple", "spaceDelimited", "pipeDelimited", "tabDelimited"),
    Location.COOKIE: ("form", "cookie"),
}
CELLS = [
    (location, style, explode) for location, styles in STYLES.items() for style in styles for explode in (False, True)
]
texts = st.text(max_size=6) | st.text(",;|=&.%+[] \t/é☃\"'ab", max_size=6)
scalars = st.one_of(
    st.integers().map(lambda one: Typed(one, {"type": "integer"})),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda one: Typed(one, {"type": "number"})),
    st.booleans().map(lambda one: Typed(one, {"type": "boolean"})),
    texts.map(lambda one: Typed(one, {"type": "string"})),
)
nulls = st.just(Typed(None, {"type": ["string", "null"]}))


def arrays(items: st.SearchStrategy[Typed], **sizes: Any) -> st.SearchStrategy[Typed]:
    """Each item has a schema of its own."""
    return st.lists(items, **sizes).map(
        lambda found: Typed([one.value for one in found], {"type": "array", "prefixItems": [one.raw for one in found]})
    )


def objects(properties: st.SearchStrategy[Typed], **sizes: Any) -> st.SearchStrategy[Typed]:
    return st.dictionaries(texts, properties, **sizes).map(
        lambda found: Typed(
            {name: one.value for name, one in found.items()},
            {"type": "object", "properties": {name: one.raw for name, one in found.items()}},
        )
    )


flat = scalars | arrays(scalars | nulls, max_size=3) | objects(scalars | nulls, max_size=3)
deep = st.recursive(scalars | nulls, lambda inner: arrays(inner, max_size=3) | objects(inner, max_size=3), max_leaves=6)


def parameter(place: Location, style: str, name: str = "color", **options: Any) -> Parameter:
    return Parameter(name, place, True, schema_of({}), style, **options)


def sent(made: Parameter, value: Any) -> str | list[tuple[str, str]]:
    """What decoders get of a value that was sent."""
    match made.location:
        case Location.PATH:
            return path_encoder(made.name, made)(value)
        case Location.HEADER:
            return header_encoder(made)(value).decode("latin-1")
        case Location.COOKIE:
            return pairs_of(cookie_encoder(made.name, made)(value), "; ")
        case _:
            text = query_encoder(made.name, made)(value)
            return text if made.style == "querystring" else pairs_of(text)


def received(made: Parameter, typed: Typed) -> Decoding:
    return decode_parameter(made, sent(made, typed.value), outline_of(schema_of(typed.raw)))


def same(left: Any, right: Any) -> bool:
    """Equal, and of the same types: 1 is not true."""
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(item, right[key]) for key, item in left.items())
        )
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)
