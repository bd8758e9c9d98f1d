"""How deep YAML may be nested before anything is made of it."""

import re
from typing import Any, Final

import yaml

_DEEPEST: Final = 200
# Deep block nesting needs deep indentation, or many markers on one line.
_MAYBE_DEEP: Final = re.compile(r"^ {200}|(?:[-?:] +){100}", re.MULTILINE)


def refuse_depth(text: str) -> None:
    """Raise `yaml.YAMLError` for nesting on which the composer, which is C and recursive, would crash."""
    if text.count("[") + text.count("{") <= _DEEPEST and not _MAYBE_DEEP.search(text):
        return
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                mark: Any = event.start_mark
                raise yaml.constructor.ConstructorError(None, None, "it is nested too deeply", mark)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
