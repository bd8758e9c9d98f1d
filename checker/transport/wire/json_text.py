"""JSON as bytes: quick for what orjson knows, exact for the rest."""

import json
import math
from typing import Any

import orjson


def json_bytes(value: Any) -> bytes:
    """JSON as bytes; bytes go out as they are. Raises `ValueError` for what JSON cannot say, NaN included."""
    if isinstance(value, bytes):
        return value
    try:
        text = orjson.dumps(value, _octets)
    except TypeError:
        # Integers beyond 64 bits and lone surrogates: slower, but exact.
        return _exact_json(value)
    if text.find(b"null") >= 0 and _has_nonfinite(value):
        # orjson writes null for them, without a word.
        raise ValueError("JSON has no NaN and no infinity")
    return text


def _exact_json(value: Any) -> bytes:
    try:
        text = json.dumps(
            value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_octets
        )
    except (TypeError, RecursionError) as error:
        raise ValueError(f"JSON cannot say it: {error}") from error
    return text.encode("ascii")


def _octets(value: Any) -> str:
    """Octets inside a JSON value: one character each."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    raise TypeError(f"{type(value).__name__} is no JSON type")


def _has_nonfinite(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nonfinite, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_nonfinite, value))
    return isinstance(value, float) and not math.isfinite(value)
