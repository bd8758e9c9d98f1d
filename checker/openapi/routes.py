"""Path templates: the templates that match a path, the texts of their variables, and their methods."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from urllib.parse import unquote_to_bytes

from msgspec import Struct

_WAYS = 32
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_VARIABLE = re.compile(r"\{([^{}]*)\}")


class RequestTarget(Struct, frozen=True):
    """Path and query of a request, still encoded."""

    variables: tuple[dict[str, str], ...]
    """Texts of the template's variables, one for each way to split the path; empty if the path does not match."""
    query: str  # The query, without the part that the template itself contains.
    is_cut: bool = False  # Whether there are more ways than are listed.


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
    octets = []
    for octet in text.encode("utf-8", "surrogatepass"):
        character = chr(octet)
        encoded = f"%(?i:{octet:02x})"
        if character == "/":
            octets.append("/")
        elif character == "%":
            # Templates that are percent-encoded already are sent unchanged.
            octets.append(f"(?:%|{encoded})")
        else:
            octets.append(f"(?:{re.escape(character)}|{encoded})")
    return "".join(octets)


_Segments = tuple[bytes | None, ...]
"""Segments of a path; None for those with variables, or with characters of several spellings."""


class Routes:
    """The path templates of a document with their methods."""

    def __init__(self, operations: Iterable[tuple[str, str]]) -> None:
        """`operations` are (path template, method) pairs."""
        methods: dict[str, set[str]] = {}
        for path, method in operations:
            methods.setdefault(path, set()).add(method.upper())
        self._routes: dict[_Segments, list[tuple[int, str, frozenset[str]]]] = {}
        """(index among all templates, template, methods) of the templates with the same segments."""
        for number, (path, known) in enumerate(methods.items()):
            pieces = path.partition("?")[0].split("/")
            self._routes.setdefault(
                tuple(None if "{" in one or "%" in one else one.encode("utf-8", "surrogatepass") for one in pieces), []
            ).append((number, path, frozenset(known)))
        self._masks = {tuple(segment is None for segment in segments) for segments in self._routes}
        self._template = cache(PathTemplate)
        """Compiled on the first possible match, because few templates of a large document are ever needed."""

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        """Return the methods of each template that matches a sent path without base path and query."""
        # Templates are compared octet by octet: a segment that is not text matches only variables.
        octets = path.partition("?")[0].encode("latin-1", "replace")
        sent = [unquote_to_bytes(segment) for segment in octets.split(b"/")]
        # A variable ends at a slash, so a matching path has as many segments.
        masks = (mask for mask in self._masks if len(mask) == len(sent))
        keys = (tuple(None if is_any else own for is_any, own in zip(mask, sent, strict=True)) for mask in masks)
        routes = sorted(route for key in keys for route in self._routes.get(key, ()))
        return tuple(methods for _, template, methods in routes if self._template(template).split(path, "").variables)
