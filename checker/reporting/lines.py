"""At which lines of a description its operations stand."""

from collections.abc import Iterator, Mapping

import yaml

from checker.core.errors import CheckerError
from checker.core.system import read_local

_MOST_BYTES = 4 << 20
"""A larger file takes longer to look through than its lines are worth."""
_METHODS = frozenset(("get", "put", "post", "delete", "options", "head", "patch", "trace", "query"))


def operation_lines(location: str) -> Mapping[str, int]:
    """Label -> line, from 1, of each operation in a local file of JSON or YAML; nothing where that cannot be told."""
    try:
        text = read_local(location, "an API description", most_bytes=_MOST_BYTES).decode()
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (CheckerError, OSError, ValueError, yaml.YAMLError, RecursionError):
        # A URL, a file that is gone, JSON that is no YAML: a report without lines is still one.
        return {}
    return dict(_lines(root))


def _lines(root: yaml.Node | None) -> Iterator[tuple[str, int]]:
    for name, paths, _ in _entries(root):
        if name != "paths":
            continue
        for path, item, _ in _entries(paths):
            for method, _, line in _entries(item):
                if method in _METHODS:
                    yield f"{method.upper()} {path}", line


def _entries(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node, int]]:
    """(key, value, line of the key) of a mapping; nothing of anything else."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield str(key.value), value, key.start_mark.line + 1
