"""JSON pointers in the form of URI fragments, as `Schema.pointer` spells them."""

import re
from typing import Any, Final
from urllib.parse import unquote

import yaml

from checker.core.schema import unescaped


def pointer_child(pointer: str, *tokens: str) -> str:
    """Pointer of something below."""
    for token in tokens:
        if token.isidentifier() or token.isdecimal():
            # Nearly all of them.
            pointer += "/" + token
        else:
            pointer += "/" + token.replace("%", "%25").replace("~", "~0").replace("/", "~1")
    return pointer


def walked(value: object, path: str) -> tuple[bool, object]:
    """Whether there is something at the end of a path like `/a/0`, and what."""
    for escaped in path.split("/")[1:]:
        token = unescaped(unquote(escaped))
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return False, None
    return True, value


_DEEPEST: Final = 200
_LIMIT_OF_PARSER: Final = "nesting depth"
"""What it says of what is too deep for itself."""
# Deep block nesting needs deep indentation, or many markers on one line.
_MAYBE_DEEP: Final = re.compile(r"^ {200}|(?:[-?:] +){100}", re.MULTILINE)


def refuse_depth(text: str) -> None:
    """Raise `yaml.YAMLError` for nesting on which the composer, which is C and recursive, would crash."""
    if text.count("[") + text.count("{") <= _DEEPEST and not _MAYBE_DEEP.search(text):
        return
    try:
        _refuse_deep_events(text)
    except yaml.scanner.ScannerError as error:
        # Newer parsers look ahead, and have a limit of their own.
        if _LIMIT_OF_PARSER not in str(error.problem):
            raise
        raise _too_deep(error.problem_mark) from None


def _refuse_deep_events(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEEPEST:
                raise _too_deep(event.start_mark)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _too_deep(mark: Any) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, "it is nested too deeply", mark)
