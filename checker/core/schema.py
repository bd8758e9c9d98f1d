"""A JSON Schema where it stands: raw value, place, dialect, and the document that resolves its references."""

from enum import StrEnum
from typing import Protocol

from msgspec import Struct


class Dialect(StrEnum):
    """The rules by which a schema is read."""

    DRAFT4 = "draft4"
    DRAFT6 = "draft6"
    DRAFT7 = "draft7"
    DRAFT2019 = "draft2019-09"
    DRAFT2020 = "draft2020-12"
    OPENAPI20 = "openapi-2.0"
    """Draft 4 subset; `x-nullable`; siblings of `$ref` are ignored; boolean exclusive bounds."""
    OPENAPI30 = "openapi-3.0"
    """Draft 4 subset with `nullable`, `readOnly`, `writeOnly`, `discriminator`; siblings of `$ref` ignored."""
    OPENAPI31 = "openapi-3.1"
    """Draft 2020-12 plus `discriminator`; also read for 3.2."""


class Direction(StrEnum):
    """The reader of the value: `readOnly` is left out of requests, `writeOnly` out of responses."""

    REQUEST = "request"
    RESPONSE = "response"


class UnresolvableReference(Exception):
    """A `$ref` points at nothing: the message names the reference, where it stands and the nearest name."""


class Document(Protocol):
    """The document that resolves references."""

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        """Target value and its JSON pointer. `at` is the pointer of the schema that holds the reference.

        Raises `UnresolvableReference`.
        """
        ...

    @property
    def root(self) -> object:
        """The whole parsed document."""
        ...


class Schema(Struct, frozen=True):
    """A JSON Schema where it stands in its document."""

    raw: object
    """A mapping, or a boolean where the dialect has boolean schemas."""
    pointer: str
    """JSON pointer from the document's root as a URI fragment: `#/components/schemas/User`."""
    dialect: Dialect
    document: Document
