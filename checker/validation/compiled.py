"""The first opinion, on the hot path: schemas compiled by jsonschema-rs, a few microseconds a value."""

import json
import re
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, Final

import jsonschema_rs
import orjson
from msgspec import Struct, field

from checker.core.errors import CheckerError
from checker.core.schema import Dialect, Direction, Document, Schema
from checker.schema.scopes import HAS_SIBLINGS, Scope, is_scoped
from checker.validation.formats import ASSERTED_FORMATS
from checker.validation.translate import Plain, SchemaTooLarge, Translator, too_large


class UnusableSchema(CheckerError):
    """A schema that cannot be compiled although its references resolve."""


class OversizedSchema(UnusableSchema):
    """One that holds so many others that compiling it would take for ever."""


class Compiled(Struct, frozen=True):
    """A schema, ready to judge."""

    is_valid: Callable[[Any], bool]
    """True when the value is valid. Text that is not Unicode is judged as if the faulty characters were question marks."""
    is_strictly_valid: Callable[[Any], bool]
    """True when the value is valid with formats as the strictest reader knows them."""


def compile_schema(
    schema: Schema, direction: Direction, *, validate_formats: bool = True, scope: Scope = ()
) -> Compiled:
    """Validator of values that travel in one direction; `scope` is the way that led to the schema.

    Equal schemas of a document share one. Raises `UnresolvableReference` and `UnusableSchema`.
    """
    shelf = _shelf_of(schema.document)
    return shelf.compiled((schema, scope), direction, validate_formats=validate_formats)


class _DocumentCache(Struct):
    """The compiled schemas of one document."""

    document: Document
    translators: dict[tuple[Dialect, Direction, bool], Translator] = field(default_factory=dict)
    by_content: dict[tuple[Dialect, bytes], Compiled] = field(default_factory=dict)

    def compiled(self, place: tuple[Schema, Scope], direction: Direction, *, validate_formats: bool) -> Compiled:
        schema, scope = place
        dialect = _written_in(schema)
        view = (dialect, direction, validate_formats)
        translator = self.translators.get(view)
        if translator is None:
            translator = self.translators[view] = Translator(
                self.document, schema.dialect, direction, validate_formats=validate_formats, written_in=dialect
            )
        try:
            plain = translator.bundle(schema, scope)
        except RecursionError:
            raise UnusableSchema(
                f"the schema at {schema.pointer} is nested too deeply to be read; simplify it"
            ) from None
        except SchemaTooLarge:
            raise OversizedSchema(too_large(schema.pointer)) from None
        content = _content(plain)
        key = (dialect, blake2b(content, digest_size=16).digest())
        found = self.by_content.get(key)
        if found is None:
            if len(self.by_content) >= _COMPILED_PER_DOCUMENT:
                del self.by_content[next(iter(self.by_content))]
            found = _built(plain, dialect, schema.pointer, _formats_in(content))
            self.by_content[key] = found
        return found


_Formats = dict[str, Callable[..., bool]]
_IsValid = Callable[[Any], bool]
_SHELVES: Final[dict[int, _DocumentCache]] = {}
_OPEN_DOCUMENTS = 8
_COMPILED_PER_DOCUMENT = 4096
_DRAFTS: Final = {
    **dict.fromkeys(Dialect, jsonschema_rs.Draft7Validator),
    Dialect.DRAFT2019: jsonschema_rs.Draft201909Validator,
    Dialect.DRAFT2020: jsonschema_rs.Draft202012Validator,
    Dialect.OPENAPI31: jsonschema_rs.Draft202012Validator,
}
"""Draft 7 reads what is left of the older dialects after translation, and takes 1.0 for an integer."""
_NAMED = re.compile(rb'"format":"([^"]+)"')


def _shelf_of(document: Document) -> _DocumentCache:
    shelf = _SHELVES.get(id(document))
    # The shelf keeps its document alive, so that no other one can have the same id.
    if shelf is None:
        if len(_SHELVES) >= _OPEN_DOCUMENTS:
            del _SHELVES[next(iter(_SHELVES))]
        shelf = _SHELVES[id(document)] = _DocumentCache(document)
    return shelf


def _written_in(schema: Schema) -> Dialect:
    """Dialect to translate to: its own, unless a schema inside may say what an older one has no words for."""
    document, own = schema.document, schema.dialect
    if own in HAS_SIBLINGS or not is_scoped(document):
        return own
    # Known as soon as somebody has looked.
    document.resource(schema.pointer)
    return Dialect.DRAFT2020 if document.dialects & HAS_SIBLINGS else own


def _content(plain: Plain) -> bytes:
    try:
        return orjson.dumps(plain)
    except TypeError:
        return json.dumps(plain, default=str, separators=(",", ":")).encode()


def _formats_in(content: bytes) -> _Formats:
    """Our readings of the formats that are named in a translated schema."""
    names = {name.decode() for name in _NAMED.findall(content)}
    return {name: ASSERTED_FORMATS[name] for name in names & ASSERTED_FORMATS.keys()}


def _built(plain: Plain, dialect: Dialect, pointer: str, formats: _Formats) -> Compiled:
    def build(formats: _Formats) -> _IsValid:
        return _DRAFTS[dialect](plain, formats=formats, validate_formats=True).is_valid

    return _two_steps(build, pointer, formats)


def _two_steps(build: Callable[[_Formats], _IsValid], pointer: str, formats: _Formats) -> Compiled:
    """The formats of jsonschema-rs are fast and strict: only what they reject is asked again with ours."""
    # The engine has all of them, or keywords stand in their place: one of ours slows down every call by a third.
    try:
        strict = build({})
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        reason = str(error).split("\n", 1)[0]
        raise UnusableSchema(f"the schema at {pointer} cannot be compiled: {reason}; correct the schema") from error
    # Where the engine has no reading of its own there is nothing to ask again: one validator is enough.
    lenient: _IsValid | None = None if formats else strict

    def is_valid(value: Any) -> bool:
        nonlocal lenient
        try:
            if strict(value):
                return True
            if lenient is strict:
                return False
            if lenient is None:
                lenient = build(formats)
            return lenient(value)
        except ValueError:
            return (lenient or strict)(_as_json(value))

    def is_strictly_valid(value: Any) -> bool:
        try:
            return strict(value)
        except ValueError:
            return strict(_as_json(value))

    return Compiled(is_valid, is_strictly_valid)


def _as_json(value: Any) -> Any:
    """A value in which what JSON text cannot carry is replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {_as_json(str(key)): _as_json(item) for key, item in value.items()}
    return value
