"""YAML as API descriptions mean it: the core schema of YAML 1.2, text keys, dates left as text."""

import re
from collections.abc import Callable
from typing import Any

import yaml

from checker.validation.depths import refuse_depth

_PLAIN = "?"
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_CONSTANTS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_MERGE = "<<"
_LARGEST = 10_000_000
"""Values and pieces of long texts of a description, counted as often as aliases name them."""
_LONG = 32
_TAG = "tag:yaml.org,2002:"
_NUMERIC_START = frozenset("+-.0123456789")


class _ComposingLoader(yaml.CSafeLoader):
    """Composes nodes in C and leaves their meaning to `_NodeReader`."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _TAG + "str"
        return _TAG + ("map" if kind is yaml.MappingNode else "seq")


class TooMuch(yaml.constructor.ConstructorError):
    """Aliases stand for more values than the reader of them bears."""


def parse_yaml(text: str) -> Any:
    """Value of the first document. Raises `yaml.YAMLError`."""
    node = compose(text)
    return None if node is None else value_of(node)


def compose(text: str) -> yaml.Node | None:
    """Nodes of the first document, None when there is none.

    Raises `yaml.YAMLError`, also for what follows the document and begins no other.
    """
    refuse_depth(text)
    loader = _ComposingLoader(text)
    try:
        node = loader.get_node() if loader.check_node() else None
        loader.check_node()
        return node
    finally:
        loader.dispose()


def value_of(
    node: yaml.Node,
    *,
    plain: Callable[[str], Any] | None = None,
    largest: int = _LARGEST,
) -> Any:
    """What nodes mean, plain scalars by the core schema of YAML 1.2 or as `plain` reads their text.

    `largest` bounds the values, counted as often as aliases name them. Raises `TooMuch`, `yaml.YAMLError`.
    """
    return _NodeReader(plain or _plain, largest).value(node)


class _NodeReader:
    """Values of nodes. A node that several aliases name is one value, as in YAML itself."""

    def __init__(self, plain: Callable[[str], Any], largest: int) -> None:
        self._plain = plain
        self._largest = largest
        self._containers: dict[int, Any] = {}
        self._sizes: dict[int, int] = {}
        self._size = 0

    def value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            text = node.value
            if len(text) > _LONG:
                # Said again and again by aliases, long texts fill the memory as well as many short ones.
                self._grow(len(text) // _LONG, node)
            return _scalar(node, self._plain)
        key = id(node)
        if key in self._containers:
            return self._again(node)
        before = self._size
        self._grow(len(node.value) + 1, node)
        container: list[Any] | dict[str, Any]
        if isinstance(node, yaml.SequenceNode):
            container = self._containers[key] = []
            container.extend(self.value(item) for item in node.value)
        else:
            container = self._containers[key] = {}
            self._fill(container, node)
        self._sizes[key] = self._size - before
        return container

    def _again(self, node: yaml.Node) -> Any:
        size = self._sizes.get(id(node))
        if size is None:
            raise yaml.constructor.ConstructorError(
                None, None, "an alias contains itself", node.start_mark
            )
        # A few lines of aliases of aliases can stand for more than any memory holds.
        self._grow(size, node)
        return self._containers[id(node)]

    def _grow(self, size: int, node: yaml.Node) -> None:
        self._size += size
        if self._size > self._largest:
            raise TooMuch(None, None, "its aliases stand for too much", node.start_mark)

    def _fill(self, mapping: dict[str, Any], node: yaml.Node) -> None:
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be text", key.start_mark
                )
            if key.value == _MERGE and key.tag in (_PLAIN, _TAG + "merge"):
                self._merge(merged, value)
            else:
                mapping[key.value] = self.value(value)
        for name, inherited in merged.items():
            mapping.setdefault(name, inherited)

    def _merge(self, merged: dict[str, Any], node: yaml.Node) -> None:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for source in sources:
            value = self.value(source)
            if not isinstance(value, dict):
                raise yaml.constructor.ConstructorError(
                    None, None, "`<<` must name a mapping", source.start_mark
                )
            # Chains of merges copy what the links before them copied.
            self._grow(len(value), source)
            for name, inherited in value.items():
                merged.setdefault(name, inherited)


def _scalar(node: yaml.ScalarNode, plain: Callable[[str], Any]) -> Any:
    text: str = node.value
    tag: str = node.tag
    if tag == _PLAIN:
        return plain(text)
    if tag in (_TAG + "int", _TAG + "float"):
        return _number(text)
    if tag in (_TAG + "bool", _TAG + "null"):
        return _CONSTANTS.get(text, text)
    return text


def _plain(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return _number(text) if text[0] in _NUMERIC_START else text


def _number(text: str) -> int | float | str:
    if _INTEGER.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        # Python refuses longer ones; no server means them as numbers.
        return int(text, base) if len(text) <= 4000 else text
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if value - value == 0 else text
    return text
