"""Cases of the Python API: the strategies that draw them, and the changes that users make to drawn cases.

The metadata of a changed case are determined again from its bytes. Values from user code are masked in reports like
other external values.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote_plus

from hypothesis import strategies as st
from msgspec.structs import replace

from checker import __version__
from checker.config.operation_settings import OperationSettings
from checker.config.overrides import Overrides
from checker.config.settings import Sanitization
from checker.core.case import Case
from checker.core.contract import Outcome
from checker.core.errors import CheckerError
from checker.core.hooks import HookChain, HookContext
from checker.core.meta import ANYTHING, CaseMetadata, ComponentProvenance, GenerationMode
from checker.core.registry import FORMATS
from checker.core.request import BaseUrl, Location, WireRequest, latin_fields
from checker.core.scenarios import standing
from checker.generation.hooks import ComponentHooks
from checker.generation.settings import GenerationSettings, mode_of
from checker.kinds.protocol import ApiOperation
from checker.transport.prepare import RequestMaker

if TYPE_CHECKING:
    # The compiler imports the writer of requests, which collecting tests does without.
    from checker.generation.program import OperationProgram

_NOWHERE: Final = BaseUrl.from_url("http://localhost")


_SLOT: Final[Any] = Case.__dict__["meta"]


class DrawnCase(Case):
    """A case of a strategy. The metadata follow the changes of users."""

    __slots__ = ()

    @property
    def meta(self) -> CaseMetadata | None:
        """Return provenance and modes of the current parts."""
        found: CaseMetadata | None = _SLOT.__get__(self)
        if found is None:
            return found
        listed = found.phase.data.get("scenario")
        is_as_listed = standing(listed, is_other_method=self.is_of_other_method) == listed
        if is_as_listed and is_as_drawn(self):
            return found
        schema = getattr(self.engine, "schema", None)
        own: CaseMetadata | None = judged_anew(self, found) if schema is None else schema.revalidate_case_metadata(self)
        return own

    @meta.setter
    def meta(self, value: CaseMetadata | None) -> None:
        _SLOT.__set__(self, value)


def is_as_drawn(case: Case) -> bool:
    """Whether all parts of a case are as drawn."""
    if case.given:
        with case.bare() as changed:
            return not changed and is_as_drawn(case)
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
    places = {parameter.location for parameter in case.operation.parameters}
    places |= {Location.BODY} if case.operation.bodies else set()
    for location in (one for one in Location if one in places):
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


def transport_kwargs(request: WireRequest, base_url: BaseUrl) -> dict[str, Any]:
    """Return the arguments of `requests.request` for a request."""
    found: dict[str, Any] = {
        "method": request.method,
        "url": request.url_at(base_url.plain),
        "headers": {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers},
    }
    return found if request.body is None else {**found, "data": request.body}


def changed(sent: WireRequest, drawn: WireRequest) -> Mapping[str, Collection[str]]:
    """Return the names of changed headers and query parameters, by location.

    Cookies and bodies count as a whole: if they differ, any value in them may come from the user.
    """
    has_other_cookies = sent.header(b"cookie") != drawn.header(b"cookie")
    fields, pairs = {(name.lower(), value) for name, value in drawn.headers}, set(_pairs(drawn))
    return {
        Location.HEADER: tuple(
            name.decode("latin-1") for name, value in sent.headers if (name.lower(), value) not in fields
        ),
        Location.COOKIE: (ANYTHING,) if has_other_cookies else (),
        Location.QUERY: tuple(unquote_plus(one.partition("=")[0]) for one in _pairs(sent) if one not in pairs),
        Location.BODY: () if sent.body == drawn.body else (ANYTHING,),
    }


def _pairs(request: WireRequest) -> list[str]:
    return request.target.decode("latin-1").partition("?")[2].split("&")


def from_outside(case: Case, request: WireRequest) -> Mapping[str, Collection[str]]:
    """Return the parts that differ from the drawn case, by location; empty for a case made by hand."""
    meta = case.meta
    if meta is None or case.drawn is None:
        return {}
    drawn = Case.of_parts(case.operation, case.id, case.drawn, meta)
    try:
        as_drawn = RequestMaker(_NOWHERE, version=__version__).make(drawn)
    except CheckerError:
        return {}
    others = changed(request, as_drawn)
    return {place: (*meta.outside(place), *others.get(place, ())) for place in meta.components}


def masked(case: Case, request: WireRequest, wanted: Sanitization, credentials: Iterable[str]) -> WireRequest:
    """Return a request with masked values, for output; `credentials` are the places of security schemes."""
    if not wanted.enabled:
        return request
    rules = dataclasses.replace(wanted.redaction, credentials=frozenset(credentials))
    return rules.knowing(from_outside(case, request)).request(request)


Place = tuple[BaseUrl, bool]  # (default target of requests, whether its certificates are verified).


def with_headers(request: WireRequest | None, headers: Mapping[str, Any]) -> WireRequest | None:
    """Return a request with those given headers that it does not have yet."""
    if request is None or not headers:
        return request
    given = ((name, value) for name, value in headers.items() if value is not None)
    more = [field for field in latin_fields(given) if request.header(field[0]) is None]
    return dataclasses.replace(request, headers=[*request.headers, *more])


_PARTS = ("path_parameters", "query", "headers", "cookies", "body")


def with_parts(cases: Any, parts: Mapping[str, Any]) -> Any:
    """Return the strategy of cases with other parts, each a strategy or a value. Raises `TypeError` for an unknown part."""
    unknown = [name for name in parts if name not in _PARTS]
    if unknown:
        raise TypeError(f"as_strategy() takes {', '.join(_PARTS)}, got {', '.join(unknown)}")

    def put(case: Case, values: dict[str, Any]) -> Case:
        for name, value in values.items():
            setattr(case, name, value)
        return case

    return st.builds(put, cases, _drawn(parts))


def _drawn(given: Any) -> "st.SearchStrategy[Any]":
    """Return the strategy of a part: of a dict, which may have strategies as values, a new one in each draw."""
    if isinstance(given, st.SearchStrategy):
        return given
    if isinstance(given, Mapping):
        return st.fixed_dictionaries({name: _drawn(one) for name, one in given.items()})
    return st.just(given)


def generation_settings(
    overrides: Overrides,
    own: OperationSettings,
    mode: GenerationMode | None,
    schema: Any = None,
    *,
    in_test: bool = False,
) -> GenerationSettings:
    """Return the generation settings of an operation; `mode` takes precedence over the configuration.

    `overrides` are values in place of generated ones.

    `schema` may add formats and values for cases. Tests of an API use data of all configured kinds, as runs do. Strategies
    without a `generation_mode` yield valid data unless a kind is configured.
    """
    usual = own.cases.modes if in_test else own.modes_in_python
    more = {}
    if schema is not None:
        more = schema.get_custom_format_strategies(schema.config.generation, mode)
    has_values = schema is not None and schema.engine.extra_data is not None
    return replace(
        GenerationSettings.of(own, mode or mode_of(usual)),
        overrides=overrides,
        formats={**FORMATS, **more},
        reuse=has_values,
    )


class Programs:
    """A compiled operation, compiled again after a change of its settings or hooks."""

    def __init__(self, operation: ApiOperation, settings: Callable[[], GenerationSettings], hooks: HookChain) -> None:
        """`settings` returns the current settings."""
        self.operation = operation
        self._settings = settings
        self._hooks = hooks
        self._compiled: tuple[GenerationSettings, object, OperationProgram] | None = None

    def current(self) -> "OperationProgram":
        """Return the program. Raises `Unsatisfiable`, `SerializationError`, `BudgetSpent` and `HookError`."""
        settings, entries = self._settings(), self._hooks.entries
        if self._compiled is None or self._compiled[:2] != (settings, entries):
            hooks = ComponentHooks.from_registry(self._hooks, HookContext(self.operation))
            self._compiled = (settings, entries, self.operation.compile(settings, hooks=hooks))
        return self._compiled[2]
