"""Which path templates of a document a path fits, and which methods they have."""

from collections.abc import Iterable

from checker.openapi.referee.targets import PathTemplate


class Routes:
    """The path templates of a document with their methods."""

    def __init__(self, operations: Iterable[tuple[str, str]]) -> None:
        """`operations` are (path template, method) pairs."""
        methods: dict[str, set[str]] = {}
        for path, method in operations:
            methods.setdefault(path, set()).add(method.upper())
        self._templates = [
            (PathTemplate(path), frozenset(found)) for path, found in methods.items()
        ]

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        """Methods of each template that a path fits, as it is sent: without base path and query."""
        return tuple(
            methods for template, methods in self._templates if template.split(path, "").variables
        )
