"""An independent judge of requests: from the bytes on the wire and the declared operation to a verdict on every part.

It shares nothing with what makes requests but the tables of styles. Beside the keywords of JSON Schema, `keyword` of a
verdict is one of: `method`, `path` (the template does not fit), `required` (not there), `style`, `duplicate`,
`percent-encoding`, `utf-8`, `header-octets`, `cookie-octets`, `content-type`, `syntax`.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final

from checker.core.operation import Location, Operation, Parameter
from checker.core.request import WireRequest
from checker.core.verdicts import PartVerdict, RequestVerdict
from checker.openapi.referee.bodies import body_verdicts
from checker.openapi.referee.parameters import (
    cookie_verdicts,
    header_verdicts,
    path_verdicts,
    query_verdicts,
)
from checker.openapi.referee.rulings import Part, Rules
from checker.openapi.referee.targets import PathTemplate, has_dot_segment

_KEPT: Final = 64
"""Texts of parts of requests whose verdicts are kept."""
_LONGEST: Final = 4096
"""Octets of such a text."""


class RequestReferee:
    """Judge of the requests to one operation."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._template = PathTemplate(operation.path)
        self._rules = Rules()
        self._kept: OrderedDict[Hashable, tuple[PartVerdict, ...]] = OrderedDict()
        """Part and text -> verdicts: requests that test one thing have all their other parts in common."""
        self._parameters: dict[Location, list[Parameter]] = {place: [] for place in Location}
        for parameter in operation.parameters:
            self._parameters[parameter.location].append(parameter)

    def judge(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        """Verdicts on all parts; `base_path` is what stands before the path of every operation."""
        return RequestVerdict(tuple(self._verdicts(request, base_path)))

    def _verdicts(self, request: WireRequest, base_path: str) -> Iterator[PartVerdict]:
        target = request.target.decode("latin-1")
        headers = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers
        ]
        content_type = request.header(b"content-type")
        said = None if content_type is None else content_type.decode("latin-1")
        body, rules = request.body, self._rules
        if self._operation.method not in (request.method, request.method.upper()):
            whole = Part(Location.PATH, "")
            yield from whole.broken("method", "it is another operation's", request.method)
        yield from self._once(
            (Location.PATH, target, base_path), lambda: self._target_verdicts(target, base_path)
        )
        declared = self._parameters[Location.HEADER]
        yield from header_verdicts(declared, headers, rules)
        yield from cookie_verdicts(self._parameters[Location.COOKIE], headers, rules)
        yield from self._once(
            (Location.BODY, body, said),
            lambda: body_verdicts(self._operation, body, said, rules),
        )

    def _once(
        self, key: tuple[object, ...], judge: Callable[[], Iterable[PartVerdict]]
    ) -> tuple[PartVerdict, ...]:
        """Verdicts on a part, which are those of an equal text before."""
        found = self._kept.get(key)
        if found is None:
            found = tuple(judge())
            if sum(len(text) for text in key[1:] if isinstance(text, str | bytes)) <= _LONGEST:
                self._kept[key] = found
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return found

    def _target_verdicts(self, text: str, base_path: str) -> Iterator[PartVerdict]:
        whole = Part(Location.PATH, "")
        target = self._template.split(text, base_path)
        path = text.partition("?")[0]
        if not target.variables:
            yield from whole.broken("path", f"it is not of {self._operation.path}", path)
        elif has_dot_segment(path):
            yield from whole.ambiguous("dot segments may be removed on the way", path)
        else:
            yield from path_verdicts(self._parameters[Location.PATH], target, self._rules)
        yield from query_verdicts(self._parameters[Location.QUERY], target.query, self._rules)
