"""JSON of a response, as the corpus reads it: fast, and lenient about integers beyond 64 bits."""

from enum import Enum
from typing import Any, Final

import orjson

from checker.core.response import Response


class Absent(Enum):
    """No JSON: different from `null`."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


def json_of(response: Response) -> Any:
    """Return the parsed body, or `ABSENT` if it is no JSON. Integers beyond 64 bits come as floats: no identifier is that long."""
    content = response.content
    if not content:
        return ABSENT
    try:
        return orjson.loads(content)
    except ValueError:
        # Compressed content is no JSON: headers are looked at only then.
        plain = response.readable.content
    return ABSENT if plain is content else _value(plain)


def _value(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except ValueError:
        return ABSENT
