"""How bodies of one media type of an operation are written."""

from msgspec import Struct
from msgspec.structs import replace

from checker.core.case import Case
from checker.core.operation import PropertyEncoding
from checker.core.registry import SerializationContext, Serializer
from checker.core.schema import Schema
from checker.transport.wire.bodies import Encoder, Encoding


class KnownBody(Struct, frozen=True):
    """How bodies of one media type are written."""

    encoder: Encoder | None
    """None where each body has a `Content-Type` of its own: multipart."""
    media_type: str
    content_type: bytes
    encoding: Encoding
    schema: Schema | None
    serializer: Serializer | None = None
    """Of a user."""


def by_user(serializer: Serializer, case: Case) -> bytes | None:
    """What a serializer gives. Raises `ValueError` for whatever goes wrong in it."""
    try:
        written = serializer(SerializationContext(case), case.body)
    except Exception as error:
        raise ValueError(f"the serializer raised {type(error).__name__}: {error}") from error
    if written is not None and not isinstance(written, bytes | bytearray):
        raise ValueError(f"the serializer must give bytes or None, got {type(written).__name__}")
    return None if written is None else bytes(written)


def typed(encoding: Encoding, content_types: dict[str, str]) -> Encoding:
    """The encoding with the content types that a case gives its parts."""
    usual = PropertyEncoding()
    return dict(encoding) | {
        name: replace(encoding.get(name, usual), content_type=content_type)
        for name, content_type in content_types.items()
    }
