"""Which path templates of a document a path fits, and which methods they have."""

import dataclasses
from collections.abc import Iterable, Iterator
from functools import cached_property
from urllib.parse import unquote_to_bytes

from msgspec import Struct, field

from checker.openapi.referee.targets import PathTemplate


@dataclasses.dataclass
class _Route:
    """One path template."""

    number: int
    """Its place among all."""
    path: str
    methods: set[str] = dataclasses.field(default_factory=set)

    @cached_property
    def template(self) -> PathTemplate:
        """Compiled when a path may fit it for the first time: few of a large document are ever asked."""
        return PathTemplate(self.path)


class _Node(Struct):
    """Templates by their segments: a variable ends at a slash, so that both have as many as the path."""

    literal: dict[bytes, "_Node"] = field(default_factory=dict)
    """By segments without escapes."""
    other: "_Node | None" = None
    """For segments with variables, or with signs that more than one spelling stands for."""
    routes: list[_Route] = field(default_factory=list)
    """Those that end here."""

    def below(self, segment: str) -> "_Node":
        """Where templates go on that have this segment next."""
        if "{" in segment or "%" in segment:
            self.other = self.other or _Node()
            return self.other
        return self.literal.setdefault(segment.encode("utf-8", "surrogatepass"), _Node())


class Routes:
    """The path templates of a document with their methods."""

    def __init__(self, operations: Iterable[tuple[str, str]]) -> None:
        """`operations` are (path template, method) pairs."""
        routes: dict[str, _Route] = {}
        for path, method in operations:
            route = routes.setdefault(path, _Route(len(routes), path))
            route.methods.add(method.upper())
        self._root = _Node()
        for route in routes.values():
            node = self._root
            for segment in route.path.partition("?")[0].split("/"):
                node = node.below(segment)
            node.routes.append(route)

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        """Methods of each template that a path fits, as it is sent: without base path and query."""
        return tuple(
            frozenset(route.methods)
            for route in sorted(self._candidates(path), key=lambda route: route.number)
            if route.template.split(path, "").variables
        )

    def _candidates(self, path: str) -> Iterator[_Route]:
        """Templates whose segments without variables are those of a path."""
        nodes = [self._root]
        # Templates are compared octet by octet: what is none fits only variables.
        octets = path.partition("?")[0].encode("latin-1", "replace")
        for segment in octets.split(b"/"):
            plain = unquote_to_bytes(segment)
            nodes = [
                below
                for node in nodes
                for below in (node.literal.get(plain), node.other)
                if below is not None
            ]
        for node in nodes:
            yield from node.routes
