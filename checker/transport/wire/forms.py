"""`application/x-www-form-urlencoded`: each property as its Encoding Object says."""

from collections.abc import Callable, Mapping
from typing import Any

from checker.core.media_types import is_json
from checker.core.operation import PropertyEncoding
from checker.transport.wire.json_text import json_bytes
from checker.transport.wire.styles import (
    escape,
    is_unreserved,
    joined_inside,
    percent_encoded,
    query_pairs,
    text_of,
)

TextEncoder = Callable[[Any], str]
_USUAL = PropertyEncoding()
_MANY_NAMES = 1024


def pairs_encoder(
    name: str, style: str = "form", *, explode: bool = True, allow_reserved: bool = False
) -> TextEncoder:
    """Pairs of one parameter or property, joined by `&`; empty for a value that travels as nothing."""
    prefix = f"{escape(name)}="
    is_repeated = explode and not allow_reserved

    def encoded(value: Any) -> str:
        if isinstance(value, str) and not allow_reserved:
            return prefix + (value if is_unreserved(value) else percent_encoded(value))
        if is_repeated and isinstance(value, list):
            return "&".join([prefix + escape(text_of(item)) for item in value])
        if not isinstance(value, list | dict) and not allow_reserved:
            return prefix + escape(text_of(value))
        pairs = query_pairs(name, value, style, explode=explode, allow_reserved=allow_reserved)
        return "&".join([f"{one}={text}" for one, text in pairs])

    return encoded


def form_encoder(encoding: Mapping[str, PropertyEncoding]) -> Callable[[Any], bytes]:
    """Writes forms. What is no object goes out as text, and bytes as they are."""
    encoders: dict[str, TextEncoder] = {}

    def encoded(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        if not isinstance(value, dict):
            return text_of(value).encode("utf-8", "surrogatepass")
        found: list[str] = []
        for name, item in value.items():
            encode = encoders.get(name)
            if encode is None:
                if len(encoders) >= _MANY_NAMES:
                    encoders.clear()
                encode = encoders[name] = _property_encoder(str(name), encoding.get(name, _USUAL))
            text = encode(item)
            if text:
                found.append(text)
        return "&".join(found).encode("ascii")

    return encoded


def _property_encoder(name: str, how: PropertyEncoding) -> TextEncoder:
    """An object without a declared style is JSON, which keeps its name (OpenAPI 3.0.4 and 3.1.1, Encoding Object)."""
    prefix = f"{escape(name)}="
    if how.content_type is not None and is_json(how.content_type.partition(",")[0]):
        return lambda value: prefix + escape(json_bytes(value).decode("utf-8"))
    styled = pairs_encoder(name, how.style, explode=how.explode, allow_reserved=how.allow_reserved)
    if how.inner:
        return lambda value: styled(joined_inside(value, how.inner))
    if how.is_styled:
        return styled
    return lambda value: (
        prefix + escape(text_of(value)) if isinstance(value, dict) else styled(value)
    )
