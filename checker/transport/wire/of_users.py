"""Bodies that users write, or draw, themselves: what they registered for a media type."""

from dataclasses import replace
from functools import partial
from typing import Any

from checker.core.operation import Body
from checker.core.registry import (
    BODY_STRATEGIES,
    SERIALIZERS,
    BuiltIn,
    SerializationContext,
    Serializer,
)


def of_users(body: Body) -> Body:
    """The body as users registered that its media type is written, or drawn; the same one where they did not."""
    serializer = SERIALIZERS.find(body.media_type)
    strategy = BODY_STRATEGIES.find(body.media_type)
    if serializer is not None and not isinstance(serializer, BuiltIn):
        body = replace(body, write=partial(_alone, serializer), serializer=serializer)
    elif serializer is None and strategy is not None:
        body = replace(body, write=octets)
    return body if strategy is None else replace(body, strategy=strategy)


def _alone(serializer: Serializer, value: Any) -> bytes:
    return serializer(SerializationContext(), value) or b""


def octets(value: Any) -> bytes:
    """A value that is bytes already; text in UTF-8. Raises `ValueError` for any other."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, str):
        return value.encode()
    raise ValueError(f"bytes are wanted, got {type(value).__name__}")
