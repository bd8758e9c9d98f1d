"""A JSON Schema in its document: raw value, place (RFC 6901, in the form of a URI fragment), dialect, document; and warnings about descriptions."""

import json
from enum import StrEnum
from typing import Any, Final, Protocol
from urllib.parse import unquote

from msgspec import Struct


class Dialect(StrEnum):
    """The rules by which a schema is read."""

    DRAFT4 = "draft4"
    DRAFT6 = "draft6"
    DRAFT7 = "draft7"
    DRAFT2019 = "draft2019-09"
    DRAFT2020 = "draft2020-12"
    OPENAPI20 = "openapi-2.0"  # Draft 4 subset; `x-nullable`; boolean exclusive bounds; siblings of `$ref` ignored.
    OPENAPI30 = "openapi-3.0"
    """Draft 4 subset with `nullable`, `readOnly`, `writeOnly`, `discriminator`; siblings of `$ref` ignored."""
    OPENAPI31 = "openapi-3.1"  # Draft 2020-12 plus `discriminator`; also read for 3.2.


class Direction(StrEnum):
    """The direction of the value: `readOnly` is left out of requests, `writeOnly` out of responses."""

    REQUEST = "request"
    RESPONSE = "response"


class UnresolvableReference(Exception):
    """A `$ref` points at nothing; the message states the reference, its place and the nearest name."""


class Document(Protocol):
    """The document that resolves references."""

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        """Return the target of a reference and its JSON pointer. `at` is the pointer of the schema that holds the reference.

        Raises `UnresolvableReference`.
        """
        ...

    @property
    def root(self) -> object:
        """The whole parsed document."""
        ...

    @property
    def facts(self) -> dict[object, Any]:
        """Results that are computed once for the whole document, by the function or class that computes them.

        They live as long as the document. A cache elsewhere would need a limit, and the identity of the document as its
        key. Python may later give that identity to another object.
        """
        ...


class Schema(Struct, frozen=True):
    """A JSON Schema at its place in a document."""

    raw: object  # A mapping, or a boolean where the dialect has boolean schemas.
    pointer: str
    """JSON pointer from the document's root as a URI fragment: `#/components/schemas/User`."""
    dialect: Dialect
    document: Document


class WarningKind(StrEnum):
    """The kind of a mistake."""

    UNRESOLVABLE_REFERENCE = "unresolvable_reference"
    UNUSABLE_PARAMETER = "unusable_parameter"
    UNUSABLE_BODY = "unusable_body"
    MISSING_BODY = "missing_body"
    SEVERAL_BODIES = "several_bodies"
    LEFT_OUT = "left_out"
    DICTIONARY_MISMATCH = "dictionary_mismatch"
    UNKNOWN_METHOD = "unknown_method"
    REPEATED_KEY = "repeated_key"
    UNUSABLE_MEDIA_TYPE = "unusable_media_type"
    UNVALIDATED_RESPONSE = "unvalidated_response"
    MISSING_DESERIALIZER = "missing_deserializer"
    MALFORMED_PART = "malformed_part"
    MALFORMED_KEYWORD = "malformed_keyword"
    UNSUPPORTED_REGEX = "unsupported_regex"
    INVALID_EXAMPLE = "invalid_example"
    BROKEN_LINK = "broken_link"
    OTHER_SERVER = "other_server"
    UNDECLARED_SECURITY = "undeclared_security"
    SUBSCRIPTION = "subscription"
    FEDERATION = "federation"
    LOOSE_SCHEMA = "loose_schema"
    UNKNOWN_SCALAR = "unknown_scalar"
    UNUSED_OPENAPI_AUTH = "unused_openapi_auth"


class SchemaWarning(Struct, frozen=True):
    """One fault of a description and its consequence."""

    kind: WarningKind
    label: str  # Label of the operation that is affected.
    pointer: str  # The place in the description.
    message: str  # One sentence: the fault, its place and its consequence.


SHOWN_WIDTH: Final = 80


def shown(value: Any) -> str:
    """Return a value as JSON, cut to `SHOWN_WIDTH` characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = repr(value)
    return cut(text, SHOWN_WIDTH)


def cut(text: str, width: int) -> str:
    """Return a text of at most `width` characters; three dots stand for the rest."""
    return text if len(text) <= width else text[: width - 3] + "..."


def unescaped(token: str) -> str:
    """Return the name that a token of a pointer stands for: `a/b` for `a~1b`."""
    return token.replace("~1", "/").replace("~0", "~")


def tokens_of(pointer: str) -> tuple[str, ...]:
    """Return the names and numbers of a pointer; empty for the whole document."""
    return tuple(map(unescaped, pointer.split("/")[1:]))


def pointer_child(pointer: str, *tokens: str) -> str:
    """Return the pointer of a place below another one."""
    for token in tokens:
        if token.isidentifier() or token.isdecimal():
            # Nearly all tokens need no escape, and this function runs once for each schema of a document.
            pointer += "/" + token
        else:
            pointer += "/" + token.replace("%", "%25").replace("~", "~0").replace("/", "~1")
    return pointer


def target_of(document: Document, reference: str, at: str) -> tuple[object, str] | None:
    """Return the target of a reference and its place; None if it leads nowhere."""
    try:
        return document.resolve(reference, at=at)
    except UnresolvableReference:
        return None


def walked(value: object, path: str) -> tuple[bool, object]:
    """Return (True, value) at the end of a path like `/a/0`, or (False, None)."""
    for escaped in path.split("/")[1:]:
        token = unescaped(unquote(escaped))
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return False, None
    return True, value
