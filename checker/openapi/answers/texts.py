"""JSON texts of answers, with limits on how deeply they are nested and on their numbers (RFC 8259, 6 and 9)."""

import json
from collections.abc import Iterable
from typing import Any, Final, NoReturn

DEEPEST: Final = 500
"""Levels of arrays and objects in each other. Python alone would stop sooner or later, by its version and by who asks."""


class BeyondLimits(ValueError):
    """A text that may be JSON, but is more than is read: what it `is` or `has`."""


class _NoConstant(ValueError):
    pass


def json_of_text(text: str, *, strict: bool = False) -> Any:
    """Value of a JSON text. Raises `ValueError` for any other, `BeyondLimits` for one of which nobody can say.

    `strict` refuses `NaN` and the infinities, which are no JSON.
    """
    try:
        value = json.loads(text, parse_constant=_refuse if strict else None)
    except (json.JSONDecodeError, _NoConstant):
        raise
    except RecursionError:
        raise BeyondLimits(_TOO_DEEP) from None
    except ValueError:
        raise BeyondLimits("has a number of more digits than are read") from None
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(value):
        raise BeyondLimits(_TOO_DEEP)
    return value


_TOO_DEEP = f"is nested more than {DEEPEST} levels deep: no more of it is read"


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner for outer in level for inner in _parts(outer) if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _parts(outer: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return outer.values() if isinstance(outer, dict) else outer


def _refuse(constant: str) -> NoReturn:
    raise _NoConstant(f"{constant} is not JSON")
