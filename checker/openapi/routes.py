"""Path templates: the templates that match a path, the texts of their variables, and their methods."""

import dataclasses
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from urllib.parse import unquote_to_bytes

from msgspec import Struct, field

_WAYS = 32
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_VARIABLE = re.compile(r"\{([^{}]*)\}")


class RequestTarget(Struct, frozen=True):
    """Path and query of a request, still encoded."""

    variables: tuple[dict[str, str], ...]
    """Texts of the template's variables, one for each way to split the path; empty if the path does not match."""
    query: str
    """The query, without the part that the template itself contains."""
    is_cut: bool = False
    """Whether there are more ways than are listed."""


class PathTemplate:
    """The path template of an operation."""

    def __init__(self, path: str) -> None:
        path, _, query = path.partition("?")
        self._own_pairs = [pair for pair in query.split("&") if pair]
        pieces = _VARIABLE.split(path)
        self.names: tuple[str, ...] = tuple(pieces[1::2])
        literals = pieces[0::2]
        self._literals = [re.compile(_literal(piece)) for piece in literals]
        self._begins_segment = [piece.startswith("/") for piece in literals]
        """For each literal, whether the variable before it extends to the end of its segment."""
        self._begins_segment[-1] = not literals[-1] or self._begins_segment[-1]
        self._base = re.compile("")
        self._base_path = ""

    def split(self, target: str, base_path: str) -> RequestTarget:
        """Return the texts of the variables, and the query."""
        path, _, query = target.partition("?")
        if base_path != self._base_path:
            self._base, self._base_path = re.compile(_literal(base_path)), base_path
        base = self._base.match(path)
        ways = iter(()) if base is None else self._ways(path, base.end())
        found = list(islice(ways, _WAYS + 1))
        is_cut = len(found) > _WAYS
        # An empty variable is the last resort.
        whole = [way for way in found[:_WAYS] if "" not in way] or found[:_WAYS]
        variables = tuple(dict(zip(self.names, way, strict=True)) for way in whole)
        pairs = [pair for pair in query.split("&") if pair]
        for own in self._own_pairs:
            if own in pairs:
                pairs.remove(own)
        return RequestTarget(variables, "&".join(pairs), is_cut)

    def _ways(self, path: str, start: int, number: int = 0) -> Iterator[tuple[str, ...]]:
        """Yield the texts of the variables from the literal `number` on, the longest first."""
        literal = self._literals[number].match(path, start)
        if literal is None:
            return
        if number == len(self.names):
            if literal.end() == len(path):
                yield ()
            return
        begin = literal.end()
        slash = path.find("/", begin)
        last = len(path) if slash < 0 else slash
        if self._begins_segment[number + 1]:
            for rest in self._ways(path, last, number + 1):
                yield (path[begin:last], *rest)
            return
        escapes = [escape.start() for escape in _ESCAPE.finditer(path, begin, last)]
        inside = {start + step for start in escapes for step in (1, 2)}
        for end in range(last, begin - 1, -1):
            if end not in inside:
                for rest in self._ways(path, end, number + 1):
                    yield (path[begin:end], *rest)


def has_dot_segment(path: str) -> bool:
    """Whether a client or server may remove segments of the path (RFC 3986, 5.2.4 and 6.2.2.2)."""
    return any(part.replace("%2E", ".").replace("%2e", ".") in (".", "..") for part in path.split("/"))


def _literal(text: str) -> str:
    return "".join(_octets(text))


def _octets(text: str) -> Iterator[str]:
    for octet in text.encode("utf-8", "surrogatepass"):
        character = chr(octet)
        encoded = f"%(?i:{octet:02x})"
        if character == "/":
            yield "/"
        elif character == "%":
            # Templates that are percent-encoded already are sent unchanged.
            yield f"(?:%|{encoded})"
        else:
            yield f"(?:{re.escape(character)}|{encoded})"


@dataclasses.dataclass
class _Route:
    """One path template."""

    number: int
    """Its index among all templates."""
    path: str
    methods: set[str] = dataclasses.field(default_factory=set)

    @cached_property
    def template(self) -> PathTemplate:
        """Compiled on the first possible match: few templates of a large document are ever needed."""
        return PathTemplate(self.path)


class _Node(Struct):
    """A tree of templates by segments. A variable ends at a slash, so a matching path has as many segments."""

    literal: dict[bytes, "_Node"] = field(default_factory=dict)
    """Keyed by segments without escapes."""
    other: "_Node | None" = None
    """The node of segments with variables, or with characters of several spellings."""
    routes: list[_Route] = field(default_factory=list)
    """Templates that end at this node."""

    def below(self, segment: str) -> "_Node":
        """Return the node of templates that have this segment next."""
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
        """Return the methods of each template that matches a sent path without base path and query."""
        return tuple(
            frozenset(route.methods)
            for route in sorted(self._candidates(path), key=lambda route: route.number)
            if route.template.split(path, "").variables
        )

    def _candidates(self, path: str) -> Iterator[_Route]:
        """Yield the templates whose segments without variables are those of a path."""
        nodes = [self._root]
        # Templates are compared octet by octet: a segment that is not text matches only variables.
        octets = path.partition("?")[0].encode("latin-1", "replace")
        for segment in octets.split(b"/"):
            plain = unquote_to_bytes(segment)
            nodes = [below for node in nodes for below in (node.literal.get(plain), node.other) if below is not None]
        for node in nodes:
            yield from node.routes
