"""YAML as API descriptions mean it: the core schema of YAML 1.2, text keys, dates left as text."""

import re
from typing import Any

import yaml

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
_TAG = "tag:yaml.org,2002:"
_NUMERIC_START = frozenset("+-.0123456789")


class _Loader(yaml.CSafeLoader):
    """Composes nodes in C and leaves their meaning to `_Reader`."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _TAG + "str"
        return _TAG + ("map" if kind is yaml.MappingNode else "seq")


def parse_yaml(text: str) -> Any:
    """Value of the first document. Raises `yaml.YAMLError`."""
    loader = _Loader(text)
    try:
        node = loader.get_node() if loader.check_node() else None
        return None if node is None else _Reader().value(node)
    finally:
        loader.dispose()


class _Reader:
    """Values of nodes. A node that several aliases name is one value, as in YAML itself."""

    def __init__(self) -> None:
        self._containers: dict[int, Any] = {}

    def value(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        known = self._containers.get(id(node))
        if known is not None:
            return known
        if isinstance(node, yaml.SequenceNode):
            items: list[Any] = []
            self._containers[id(node)] = items
            items.extend(self.value(item) for item in node.value)
            return items
        mapping: dict[str, Any] = {}
        self._containers[id(node)] = mapping
        self._fill(mapping, node)
        return mapping

    def _fill(self, mapping: dict[str, Any], node: yaml.Node) -> None:
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key must be text", key.start_mark
                )
            if key.value == _MERGE and key.tag == _PLAIN:
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
            for name, inherited in value.items():
                merged.setdefault(name, inherited)


def _scalar(node: yaml.ScalarNode) -> Any:
    text: str = node.value
    tag: str = node.tag
    if tag == _PLAIN:
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        return _number(text) if text[0] in _NUMERIC_START else text
    if tag in (_TAG + "int", _TAG + "float"):
        return _number(text)
    if tag in (_TAG + "bool", _TAG + "null"):
        return _CONSTANTS.get(text, text)
    return text


def _number(text: str) -> int | float | str:
    if _INTEGER.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        # Python refuses longer ones; no server means them as numbers.
        return int(text, base) if len(text) <= 4000 else text
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if value - value == 0 else text
    return text
