"""Values of JSON and YAML bodies, read within limits, and the opinions of two validators on them.

The limits are for the nesting of values and the digits of numbers (RFC 8259, 6 and 9); a few lines of YAML aliases
can expand to gigabytes.
"""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import yaml

from checker.core.contract import BodyOpinions
from checker.core.schema import Direction, Schema
from checker.core.system import later
from checker.openapi.documents.parsing import TooMuch, compose, value_of
from checker.transport.wire.readings import NoConstant, refuse_constant
from checker.validation.compiled import compile_schema

if TYPE_CHECKING:
    import checker.validation.referee as opinions
    from checker.validation.referee import Referee
else:
    # Asked first when a value is wrong: jsonschema is a sixth of the imports of a worker.
    opinions = later("checker.validation.referee", by_all=False)

DEEPEST: Final = 500
"""Levels of nested arrays and objects. Python's own limit depends on its version and on the depth of the caller."""


class BeyondLimits(ValueError):
    """A text that may be JSON but exceeds a limit; the message says which."""


def json_of_text(text: str, *, strict: bool = False) -> Any:
    """Return the value of a JSON text. Raises `ValueError` for any other, `BeyondLimits` above a limit.

    `strict` refuses `NaN` and the infinities, which are no JSON.
    """
    try:
        value = json.loads(text, parse_constant=refuse_constant if strict else None)
    except (json.JSONDecodeError, NoConstant):
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
        parts = (each.values() if isinstance(each, dict) else each for each in level)
        level = [inner for each in parts for inner in each if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


_MOST_VALUES: Final = 100_000
"""Values of a YAML body, counted as often as aliases repeat them, because every alias is validated again."""
_MOST_MARKS: Final = 200_000
"""Line ends, commas and colons: each part between them becomes a node, at some 5 microseconds each."""
_MARKS: Final = "\n,:"
_TOO_MUCH: Final = "is YAML with more values than are read"
_TAG: Final = "tag:yaml.org,2002:"


def yaml_readings(text: str) -> list[Any]:
    """Return the value by YAML 1.2, and by 1.1 if that differs. Raises `ValueError`, and its subclass `BeyondLimits`."""
    if sum(map(text.count, _MARKS)) > _MOST_MARKS:
        raise BeyondLimits(_TOO_MUCH)
    try:
        node = compose(text)
        if node is None:
            return [None]
        value = value_of(node, largest=_MOST_VALUES)
        old = value_of(node, plain=_OldScalars("").read, largest=_MOST_VALUES)
    except TooMuch:
        raise BeyondLimits(_TOO_MUCH) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from None
    is_same = type(value) is type(old) and repr(value) == repr(old)
    return [value] if is_same else [value, old]


class _OldScalars(yaml.SafeLoader):
    """Plain scalars of YAML 1.1, dates left as text."""

    def read(self, text: str) -> Any:
        """Return the value of a text; the text itself if YAML 1.1 gives it an impossible meaning."""
        resolve: Callable[..., str] = self.resolve
        tag = resolve(yaml.ScalarNode, text, (True, False))
        if tag == f"{_TAG}timestamp":
            return text
        try:
            return self.construct_object(yaml.ScalarNode(tag, text))
        except (yaml.YAMLError, ValueError):
            return text


class TwoOpinions:
    """A compiled schema of responses; the second validator is made on demand."""

    def __init__(self, schema: Schema, *, validate_formats: bool) -> None:
        """Raises `UnresolvableReference` and `UnusableSchema`."""
        self.schema = schema
        self._validate_formats = validate_formats
        compiled = compile_schema(schema, Direction.RESPONSE, validate_formats=validate_formats)
        self.is_valid = compiled.is_valid
        self._referee: Referee | None = None

    def any_valid(self, values: Sequence[Any]) -> bool:
        """Whether one of several readings fits."""
        return any(map(self.is_valid, values))

    def on(self, values: Sequence[Any]) -> BodyOpinions:
        """Return the opinions of both validators on a body with these readings, most likely first."""
        if self.any_valid(values):
            return BodyOpinions()
        if self._referee is None:
            self._referee = opinions.referee(self.schema, Direction.RESPONSE, validate_formats=self._validate_formats)
        found = [self._referee.errors(value) for value in values]
        if all(found):
            return BodyOpinions(tuple(found[0]))
        return BodyOpinions(
            disagreement=f"the schema at {self.schema.pointer}: the compiled validator rejects what the second one accepts"
        )
