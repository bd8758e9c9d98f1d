"""Cases that users change, and what their metadata say afterwards; cases in the words of clients."""

from itertools import chain
from typing import Any, Final

from msgspec.structs import replace

from checker import __version__
from checker.core.case import Case
from checker.core.contract import Outcome
from checker.core.errors import CheckerError
from checker.core.meta import CaseMetadata, ComponentProvenance, GenerationMode
from checker.core.request import BaseUrl, Location, WireRequest
from checker.core.scenarios import standing
from checker.transport.prepare import RequestMaker

_NOWHERE: Final = BaseUrl.from_url("http://localhost")


_SLOT: Final[Any] = Case.__dict__["meta"]


class DrawnCase(Case):
    """A case of a strategy: its metadata follow what users make of it."""

    __slots__ = ()

    @property
    def meta(self) -> CaseMetadata | None:
        """Provenance and modes of its parts as they are now."""
        found: CaseMetadata | None = _SLOT.__get__(self)
        if found is None:
            return found
        listed = found.phase.data.get("scenario")
        is_as_listed = standing(listed, is_other_method=self.is_of_other_method) == listed
        if is_as_listed and is_as_drawn(self):
            return found
        schema = getattr(self.engine, "schema", None)
        anew: CaseMetadata | None = (
            judged_anew(self, found) if schema is None else schema.revalidate_case_metadata(self)
        )
        return anew

    @meta.setter
    def meta(self, value: CaseMetadata | None) -> None:
        _SLOT.__set__(self, value)


def is_as_drawn(case: Case) -> bool:
    """Whether no part of a case is another than it was drawn."""
    parts = (case.path_parameters, case.headers, case.cookies, case.query)
    return case.drawn is None or (*parts, (case.body, case.media_type)) == case.drawn


def judged_anew(case: Case, meta: CaseMetadata) -> CaseMetadata:
    """Return metadata with the modes that the final bytes of a case prove; unknown modes stay as they were."""
    try:
        request = RequestMaker(_NOWHERE, version=__version__).make(case)
    except CheckerError:
        return meta
    verdict = case.operation.judge_request(request)
    components = dict(meta.components)
    for location in _locations(case):
        modes = {part.outcome for part in verdict.parts if part.location is location}
        known = components.get(location, ComponentProvenance())
        if Outcome.INVALID in modes:
            components[location] = replace(known, mode=GenerationMode.NEGATIVE)
        elif Outcome.AMBIGUOUS not in modes:
            components[location] = replace(known, mode=GenerationMode.POSITIVE, violation=None)
    declared = (case.operation.method, *chain(*case.operation.methods_at(case.path)))
    is_negative = case.method not in declared
    is_negative |= any(part.mode.is_negative for part in components.values())
    mode = GenerationMode.NEGATIVE if is_negative else GenerationMode.POSITIVE
    return replace(meta, mode=mode, components=components)


def _locations(case: Case) -> list[Location]:
    """Return the locations at which a case has a value, or should have one."""
    declared = {parameter.location for parameter in case.operation.parameters}
    if case.operation.bodies:
        declared.add(Location.BODY)
    return [place for place in Location if place in declared]


def transport_kwargs(request: WireRequest, base_url: BaseUrl) -> dict[str, Any]:
    """A request in the words of `requests.request`."""
    found: dict[str, Any] = {
        "method": request.method,
        "url": request.url_at(base_url.plain),
        "headers": {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers},
    }
    return found if request.body is None else {**found, "data": request.body}
