"""The settings of single operations for making, sending, judging and printing their cases."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from checker.checks.check import Check
from checker.checks.context import CheckTools
from checker.checks.custom import ClassCheck
from checker.checks.judge import Judge, JudgeSettings
from checker.checks.table import BUILT_IN
from checker.checks.to_run import Needs, needs_of, selected_checks
from checker.config.operation_settings import HttpSettings, OperationResolver, OperationSettings
from checker.config.settings import RunSettings
from checker.core import curl
from checker.core.blocks import Truncation
from checker.core.case import Case
from checker.core.credentials import Credentials
from checker.core.curl import Rendering
from checker.core.operation import Label, Operation
from checker.core.request import BaseUrl, Location, WireRequest
from checker.generation.program import GenerationSettings
from checker.generation.settings import mode_of
from checker.phases.case_factory import GenerationRules
from checker.transport.settings import Dispatch, Headers, time_limit_s, travelling
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.users import ALL_SCHEMAS, UsersCode


def settings_of_case(resolver: OperationResolver, case: Case) -> OperationSettings:
    """Return the settings of the operation of a case, in its phase."""
    if case.meta is None:
        return resolver.of(case.operation)
    return resolver.of(case.operation, case.meta.phase.name)


NO_REFERENCES: Final[Mapping[Label, tuple[str, ...]]] = {}


def generation_rules(
    resolver: OperationResolver,
    settings: RunSettings,
    schemes: SchemeCredentials,
    *,
    reuse: bool,
    users: UsersCode = ALL_SCHEMAS,
    references: Mapping[Label, tuple[str, ...]] = NO_REFERENCES,
) -> GenerationRules:
    """Return the generation rules of each operation; with `reuse`, its cases may use values of earlier responses.

    Credentials that `schemes` adds to requests are not drawn. `references`: where bodies name resources of other operations.
    """
    known: dict[tuple[Label, tuple[str, ...]], Needs] = {}

    def of(operation: Operation, phase: str) -> GenerationSettings:
        own = resolver.of(operation, phase)
        places = schemes.places(operation)
        headers = {name for place, name in places if place is Location.HEADER}
        # A dry run has no checks, and shows the cases that the built-in checks would judge.
        key = operation.label, tuple(BUILT_IN) if settings.is_dry else own.checks
        # Each list and program of an operation calls this. With fifty checks it took 2 % of a short run of 700 operations.
        needs = known.get(key) or known.setdefault(key, needs_of(key[1], operation))
        # If request shapes are judged, listed cases are selected individually, so all modes stay.
        modes = own.cases.modes if needs.shapes else tuple(m for m in own.cases.modes if m in needs.modes)
        mode = mode_of(modes or own.cases.modes)
        found = GenerationSettings.of(own, mode)
        return replace(
            found,
            listing=replace(found.listing, judged_modes=needs.modes, judged_shapes=needs.shapes),
            formats=users.formats(mode),
            overrides=settings.sources.overrides,
            reuse=reuse,
            fixed_headers=frozenset(name.lower() for name, _ in own.headers) | headers,
            fixed_places=frozenset(one for one in places if one[0] is not Location.HEADER),
            met_alternatives=schemes.alternatives(operation),
            references=references.get(operation.label, ()),
        )

    some_unique = any(own.cases.unique_inputs for own in resolver.layers.everywhere())
    return GenerationRules(
        of, by_phase=resolver.layers.has_phases, some_unique=some_unique, overrides=settings.sources.overrides
    )


def judges(
    resolver: OperationResolver,
    truncation: Truncation,
    tools: CheckTools,
    classes: Iterable[ClassCheck],
    replaced: Mapping[str, Check],
) -> Callable[[Case], Judge]:
    """Return a function from a case to its judge: one judge for all cases, or one for each set of operation settings.

    `classes` are shared by all judges. `replaced` are users' checks in place of built-in ones, by name. Raises `UsageError`
    for unknown checks.
    """

    def judge(settings: OperationSettings) -> Judge:
        chosen = [replaced.get(one.name, one) for one in selected_checks(settings.checks, classes)]
        asked = JudgeSettings(settings.check_settings, truncation, settings.beside)
        return Judge(chosen, asked, tools)

    common = judge(resolver.common)
    if resolver.is_uniform:
        return lambda _: common
    # An unknown check is reported here, before the first response.
    selected_checks(sorted(resolver.layers.checks_somewhere()), classes)
    known = {id(resolver.common): common}
    """By the `id` of settings, which the resolver keeps and shares."""

    def judge_of(case: Case) -> Judge:
        settings = settings_of_case(resolver, case)
        found = known.get(id(settings))
        if found is None:
            found = known[id(settings)] = judge(settings)
        return found

    return judge_of


def checks_by_case(resolver: OperationResolver) -> Callable[[Case], Sequence[str]] | None:
    """Return the names of the checks that judge a case; None if all cases have the same ones."""
    if resolver.is_uniform:
        return None
    return lambda case: settings_of_case(resolver, case).checks


def dispatching(
    resolver: OperationResolver,
    schemes: SchemeCredentials | None,
    carried: Callable[[Headers], Headers] = lambda headers: headers,
) -> Callable[[Operation], Dispatch] | None:
    """Return the headers and HTTP settings of requests to each operation; None if they are the same for all operations.

    `schemes` contains the credentials of security schemes.
    """
    if resolver.is_uniform and not schemes:
        return None
    usual = resolver.common.http
    known: dict[HttpSettings, HttpSettings] = {}
    """One object for equal settings, because lanes compare by identity."""

    def dispatch(operation: Operation) -> Dispatch:
        own = resolver.of(operation)
        http = own.http
        given = schemes.by_alternative(operation) if schemes else {}
        via = None if http == usual else known.setdefault(http, http)
        return dispatched(carried(own.headers), given, via)

    return dispatch


def dispatched(headers: Headers, given: Mapping[int | None, Credentials], via: HttpSettings | None = None) -> Dispatch:
    """Return the headers of every request and the credentials of its security schemes. Users' headers have precedence.

    `given`: by the security alternative that a case meets.
    """
    taken = {name.lower() for name, _ in headers}
    beside = {
        place: Credentials(
            {name: value for name, value in one.headers.items() if name.lower() not in taken}, one.query, one.cookies
        )
        for place, one in given.items()
    }
    if len(beside) == 1:
        # Headers that are the same for every request are written in half the time.
        (everywhere,) = beside.values()
        headers = (*headers, *everywhere.headers.items())
        rest = Credentials(query=everywhere.query, cookies=everywhere.cookies)
        beside = {None: rest} if rest.query or rest.cookies else {}
    return Dispatch(headers, via, beside)


def rendering(origin: BaseUrl, resolver: OperationResolver) -> Rendering:
    """Return a function that returns the curl command for a request."""
    usual = resolver.common.http

    def render(request: WireRequest, *, is_timed: bool = False) -> str:
        http = travelling(request, usual)
        command = curl.render(request, origin, verify=http.verify is not False)
        if is_timed:
            command = curl.with_options(command, f"--max-time {time_limit_s(request, usual):g}")
        return curl.with_certificates(command, http.verify, http.cert, http.cert_key)

    return render
