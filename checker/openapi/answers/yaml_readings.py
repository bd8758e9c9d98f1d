"""YAML answers: read by 1.2 and by 1.1, within bounds of their own; a few lines of aliases can stand for gigabytes."""

from collections.abc import Callable
from typing import Any, Final

import yaml

from checker.openapi.answers.texts import BeyondLimits
from checker.openapi.documents.yamls import TooMuch, compose, value_of

_MOST_VALUES: Final = 100_000
"""Counted as often as aliases name them: what is read is validated, and every alias again."""
_MOST_MARKS: Final = 200_000
"""Line ends, commas and colons: what stands between them becomes a node, at some 5 microseconds each."""
_MARKS: Final = "\n,:"
_TOO_MUCH: Final = "is YAML that stands for more values than are read"
_TAG: Final = "tag:yaml.org,2002:"


def yaml_readings(text: str) -> list[Any]:
    """Value by YAML 1.2, and by 1.1 where that differs. Raises `ValueError`, `BeyondLimits` of its kind."""
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
    return [value] if _is_same(value, old) else [value, old]


class _OldScalars(yaml.SafeLoader):
    """Plain scalars of YAML 1.1, dates left as text."""

    def read(self, text: str) -> Any:
        """What a text means; the text itself where 1.1 gives it a meaning that it cannot have."""
        resolve: Callable[..., str] = self.resolve
        tag = resolve(yaml.ScalarNode, text, (True, False))
        if tag == f"{_TAG}timestamp":
            return text
        try:
            return self.construct_object(yaml.ScalarNode(tag, text))
        except (yaml.YAMLError, ValueError):
            return text


def _is_same(one: object, other: object) -> bool:
    return type(one) is type(other) and repr(one) == repr(other)
