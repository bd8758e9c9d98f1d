"""Proof that a part of a request is invalid as it travels: no reading of its text is a value that the schema admits.

Cautious on purpose: what some server could read as valid is not proved, and what is not proved is not sent.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, Final

from msgspec import Struct

from checker.core.media_types import is_form, is_json, is_xml, is_yaml, parse
from checker.core.operation import Body, Location, Parameter, PropertyEncoding
from checker.generation.normalization import forms
from checker.schema.views import Outline, outline_of
from checker.transport.wire import ambiguity
from checker.transport.wire.ambiguity import shares
from checker.transport.wire.bodies import is_unstructured
from checker.transport.wire.decoding import MISSING, Malformed, Missing, decode_parameter
from checker.transport.wire.readings import BOOLEAN_WORDS, Reading
from checker.transport.wire.styles import (
    HEADER_DELIMITERS,
    Pairs,
    cookie_pairs,
    escape,
    header_text,
    joined_inside,
    path_text,
    query_pairs,
    text_of,
)
from checker.transport.wire.xml import xml_encoder, xml_readings

IsValid = Callable[[Any], bool]
_READINGS: Final = 64
_FORMS: Final = ("multipart/form-data", "multipart/*")
"""Kinds of multipart whose parts have names."""
_USUAL: Final = PropertyEncoding()
_NULLS: Final = frozenset({"null", "none", "nil", ""})
_SPOKEN: Final = _NULLS | BOOLEAN_WORDS.keys() | {"inf", "infinity", "nan"}
"""Words that begin with a letter and may be read as something else than text."""


class Unreadable(Exception):
    """The reading of a text is undefined: nothing is proved."""


def readings_of_text(text: str) -> Iterator[Any]:
    """Scalars that a server may read a text as."""
    yield text
    bare = text.strip()
    word = bare.lower()
    if bare[:1].isalpha() and word not in _SPOKEN:
        # Most texts: asking for a number costs more than all the rest.
        return
    if word in _NULLS:
        yield None
    if word in BOOLEAN_WORDS:
        yield BOOLEAN_WORDS[word]
    yield from _numbers(bare)


def _numbers(text: str) -> Iterator[float]:
    """Numbers of a text, as generous as readers are: blanks, underscores, digits of other scripts, `1e3`, `5.0`."""
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return
    if not math.isfinite(number):
        raise Unreadable(text)
    try:
        yield int(text)
    except ValueError:
        yield number
        if number.is_integer():
            yield int(number)


def parameter_proof(parameter: Parameter, outline: Outline, is_valid: IsValid) -> IsValid:
    """True for values of a parameter of which no reading, as they are sent, is valid."""
    if parameter.media_type is not None:
        if not is_json(parameter.media_type):
            return lambda value: False
        return lambda value: not is_valid(value)
    whole = _StyledProof(parameter, outline, is_valid)
    if outline.types & {forms.ARRAY, forms.OBJECT}:
        return whole
    plain = _text_proof(parameter, is_valid)
    return lambda value: whole(value) if isinstance(value, list | dict) else plain(value)


def _text_proof(parameter: Parameter, is_valid: IsValid) -> IsValid:
    """Proves scalars wrong that travel as their own text."""
    location = parameter.location
    # Sent empty, it counts as absent for many.
    may_be_empty = parameter.required and not parameter.allow_empty and location in (Location.QUERY, Location.COOKIE)
    is_trimmed = location is Location.HEADER

    def is_wrong(value: Any) -> bool:
        text = text_of(value)
        if (text == "" and not may_be_empty) or (is_trimmed and text != text.strip()):
            return False
        try:
            return not any(map(is_valid, readings_of_text(text)))
        except (Unreadable, ValueError):
            return False

    return is_wrong


class _StyledProof(Struct, frozen=True):
    """Proves arrays and objects of a parameter wrong: what the style makes of them is decoded."""

    parameter: Parameter
    outline: Outline
    is_valid: IsValid

    def __call__(self, value: Any) -> bool:
        try:
            parts = self._encoded(value)
            if parts == [(escape(self.parameter.name), "")]:
                return False
            # What may count as absent proves nothing.
            decoded = self._decoded(parts) if parts else None
        except ValueError:
            return False
        return isinstance(decoded, list) and not any(self.is_valid(reading.value) for reading in decoded)

    def _decoded(self, parts: str | Pairs) -> list[Reading] | Missing | Malformed:
        if isinstance(parts, str):
            return decode_parameter(self.parameter, parts, self.outline)
        # Pairs that nobody declares may be nobody's.
        (share,), _ = shares([(self.parameter, self.outline)], parts)
        if not share.own and not self.parameter.required:
            return MISSING
        return decode_parameter(self.parameter, share.own, self.outline, share.rest)

    def _encoded(self, value: Any) -> str | Pairs:
        parameter = self.parameter
        name, style, explode = parameter.name, parameter.style, parameter.explode
        value = joined_inside(value, parameter.inner)
        match parameter.location:
            case Location.PATH:
                return path_text(value, style, name, explode=explode)
            case Location.HEADER:
                return header_text(value, explode=explode, style=style)
            case Location.QUERY:
                return query_pairs(name, value, style, explode=explode)
            case _:
                return cookie_pairs(name, value, explode=explode)


def readings(decoded: str | list[str] | dict[str, str]) -> Iterator[Any]:
    """Values that decoded texts may be read as. Raises `Unreadable` when there are too many ways."""
    if isinstance(decoded, str):
        yield from readings_of_text(decoded)
    elif isinstance(decoded, list):
        yield from map(list, _combined(decoded))
    else:
        for values in _combined(decoded.values()):
            yield dict(zip(decoded, values, strict=True))


def _combined(texts: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    ways = [list(readings_of_text(text)) for text in texts]
    if math.prod(map(len, ways)) > _READINGS:
        raise Unreadable("too many readings")
    return product(*ways)


def body_proof(body: Body, is_valid: IsValid) -> IsValid | None:
    """True for values that are invalid as the body that is sent; None when nothing can be proved of such bodies."""
    media_type = body.media_type
    if body.write is not None:
        # Only its kind knows how it is read.
        return body.is_wrong
    if is_json(media_type) or is_yaml(media_type) or media_type in ("*/*", "application/*"):
        return lambda value: not is_valid(value)
    parsed = parse(media_type)
    if is_form(media_type) or (parsed is not None and parsed.essence in _FORMS):
        return _FieldsProof(is_form(media_type), body, is_valid)
    if is_xml(media_type):
        return _XmlProof(body, is_valid)
    if is_unstructured(media_type):
        outline = outline_of(body.schema)
        return None if outline.types & {forms.ARRAY, forms.OBJECT} else _PlainProof(is_valid)
    return None


class _PlainProof(Struct, frozen=True):
    """Proves bodies wrong that are a text, or octets of undeclared type and encoding."""

    is_valid: IsValid

    def __call__(self, value: Any) -> bool:
        # Sent empty, it counts as absent for many.
        if not value or not isinstance(value, str | bytes):
            return False
        content = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        texts = {content.decode("latin-1"), content.decode("utf-8", "replace")}
        try:
            return not any(self.is_valid(reading) for text in texts for reading in readings_of_text(text))
        except Unreadable:
            return False


class _XmlProof:
    """Proves XML wrong: the whole document is read back by its schema."""

    def __init__(self, body: Body, is_valid: IsValid) -> None:
        self._encode = xml_encoder(body.schema)
        self._outline = outline_of(body.schema)
        self._is_valid = is_valid

    def __call__(self, value: Any) -> bool:
        try:
            found = xml_readings(self._encode(value), self._outline)
        except ValueError:
            return False
        if self._is_valid(value) or any(one.doubt == ambiguity.MANY for one in found):
            return False
        return not any(self._is_valid(one.value) for one in found)


class _FieldsProof(Struct, frozen=True):
    """Proves forms wrong: each property is read back from its text, the others as they were meant."""

    is_urlencoded: bool
    body: Body
    is_valid: IsValid

    def __call__(self, value: Any) -> bool:
        if not isinstance(value, dict):
            return False
        try:
            # What is sent as nothing is absent, or what its text says; an empty text may be either.
            sent = {name: item for name, item in value.items() if not _is_nothing(item)}
            kept = {name: item for name, item in value.items() if item not in ([], {})}
            wholes = [sent] if sent == kept else [sent, kept]
            if any(map(self.is_valid, wholes)):
                return False
            return not any(
                self.is_valid(whole | {name: reading})
                for name, item in value.items()
                for reading in self._readings(name, item)
                for whole in wholes
            )
        except (Unreadable, ValueError):
            return False

    def _readings(self, name: str, value: Any) -> Iterator[Any]:
        how = self.body.encoding.get(name, _USUAL)
        if how.content_type is not None and is_json(how.content_type):
            yield from self._of_json(value)
        elif how.content_type is not None and is_xml(how.content_type) and not self.is_urlencoded:
            yield from self._of_xml(name, value)
        elif isinstance(value, bytes):
            yield from self._of_file(value)
        elif isinstance(value, dict):
            if self.is_urlencoded and value:
                raise Unreadable("names of an object are names of the form")
            # What is not declared to be an object is sent as its text, and read as such; one part may be a list of one.
            yield from (text_of(value), [value])
        elif isinstance(value, list):
            yield from _of_list(value, how)
        else:
            text = text_of(value)
            for reading in readings_of_text(text):
                yield reading
                yield [reading]
            if text == "":
                yield []

    def _of_json(self, value: Any) -> Iterator[Any]:
        yield value
        if not self.is_urlencoded:
            # Each item is a part of its own, and one part may be a list of one.
            yield [value]
            if isinstance(value, list):
                yield from (value[0], value[-1]) if value else ()

    def _of_file(self, value: bytes) -> Iterator[Any]:
        """Yield the readings of a file by servers that expect no file."""
        if self.is_urlencoded:
            raise Unreadable("nothing says how forms write octets")
        for text in (value.decode("latin-1"), value.decode("utf-8", "replace")):
            yield from (text, [text])

    def _of_xml(self, name: str, value: Any) -> Iterator[Any]:
        if isinstance(value, list | bytes):
            raise Unreadable("nothing says how lists are written as XML in a part")
        outline = outline_of(self.body.schema).property(name)
        for one in xml_readings(xml_encoder(outline.schema())(value), outline):
            if one.doubt == ambiguity.MANY:
                raise Unreadable(name)
            yield one.value
            yield [one.value]


def _of_list(value: list[Any], how: PropertyEncoding) -> Iterator[Any]:
    """One item alone may be read as itself; of several some take the first, some the last."""
    if any(isinstance(item, dict | list) for item in value):
        raise Unreadable("nothing says how lists in lists are written")
    texts = [text_of(item) for item in value]
    yield from readings(texts)
    for text in {texts[0], texts[-1]} if texts else ():
        yield from readings_of_text(text)
    if texts == [""]:
        yield []
    if not how.explode:
        yield from readings_of_text(HEADER_DELIMITERS.get(how.style, ",").join(texts))


def _is_nothing(value: Any) -> bool:
    """Sent as nothing, or as what counts as absent for many."""
    return value in ([], {}, [""], "") or value is None
