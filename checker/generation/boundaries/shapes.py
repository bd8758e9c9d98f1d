"""Requests whose values are usual and whose form is not: another method, another content type, credentials that are missing."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from checker.core.case import NOT_SET
from checker.core.idempotency import is_idempotency_key
from checker.core.media_types import is_multipart
from checker.core.meta import GenerationMode, Violation
from checker.core.operation import Location, Operation, Parameter
from checker.core.scenarios import Scenario
from checker.core.security import SecurityRequirement
from checker.generation.boundaries.cases import BoundaryCase, Parts, content_type_case
from checker.generation.security import Alternative, SecurityParameter

_NEGATIVE = GenerationMode.NEGATIVE


def other_methods(methods: Iterable[str], template: Parts) -> Iterator[BoundaryCase]:
    """The usual request with each of the methods."""
    for method in methods:
        text = f"Unspecified HTTP method: {method}"
        case = BoundaryCase(template, _NEGATIVE, text, Scenario.UNSPECIFIED_METHOD)
        yield replace(case, method=method)


def content_types(operation: Operation, template: Parts) -> Iterator[BoundaryCase]:
    """Content types that are not well-formed, or not declared; none where the kind of the description writes bodies itself."""
    if any(body.write is not None for body in operation.bodies):
        return
    malformed = "multipart/form-data"
    parts = template
    if template.media_type is not None and is_multipart(template.media_type):
        parts = template.with_body(NOT_SET, None)
    text = f"Malformed Content-Type: {malformed} without boundary"
    yield content_type_case(parts, malformed, text, Scenario.MALFORMED_CONTENT_TYPE)
    if template.body is NOT_SET:
        return
    declared = {body.media_type.partition(";")[0].strip() for body in operation.bodies}
    declared |= {body.media_type for body in operation.unusable_bodies}
    if "*/*" in declared:
        return
    other = "application/xml" if declared & {"text/plain", "text/*"} else "text/plain"
    if other not in declared and "application/*" not in declared:
        text = f"Unsupported Content-Type: {other}"
        yield content_type_case(template, other, text, Scenario.UNSUPPORTED_CONTENT_TYPE)


def forms_of_body(operation: Operation, template: Parts, *, costly: bool) -> Iterator[BoundaryCase]:
    """The usual body as its kind also writes it, once for each path."""
    for body in operation.bodies:
        if body.forms is None or template.media_type != body.media_type:
            continue
        for form in body.forms(template.body, costly=costly):
            parts = template.with_body(
                form.body, body.media_type if form.body is not NOT_SET else None
            )
            for name, value in form.query.items():
                parts = parts.with_value(Location.QUERY, name, value)
            case = BoundaryCase(parts, _NEGATIVE, form.description, form.scenario)
            yield replace(case, method=form.method)


def empty_lists(parameters: Iterable[Parameter], template: Parts) -> Iterator[BoundaryCase]:
    """The usual request with the name of a list in the query and nothing behind it, `ids=`, as forms send it that nobody filled in."""
    for parameter in parameters:
        raw = parameter.schema.raw
        is_list = isinstance(raw, dict) and raw.get("type") == "array"
        if parameter.location is Location.QUERY and is_list and parameter.media_type is None:
            yield BoundaryCase(
                template.with_value(Location.QUERY, parameter.name, [""]),
                _NEGATIVE,
                "Name of a list without items",
                Scenario.EMPTY_LIST,
                parameter.pointer,
                parameter.name,
                Location.QUERY,
            )


def sent_again(case: BoundaryCase) -> Iterator[BoundaryCase]:
    """The case; where it is about an idempotency key that is right, once more: servers look up what they answered to that key."""
    yield case
    is_header, is_right = case.location is Location.HEADER, case.mode is GenerationMode.POSITIVE
    if is_header and is_right and is_idempotency_key(case.parameter or ""):
        yield replace(case, description=f"{case.description}, again", is_again=True)


def repeated_parameters(
    parameters: Iterable[Parameter], template: Parts, full: Parts
) -> Iterator[BoundaryCase]:
    """Yield the usual request with one parameter of the query twice, as `full` has it."""
    query = full.containers.get(Location.QUERY, {})
    for parameter in parameters:
        if parameter.location is not Location.QUERY or parameter.name not in query:
            continue
        value = query[parameter.name]
        is_plain = parameter.explode and parameter.style == "form" and parameter.media_type is None
        if is_plain and not isinstance(value, list | dict):
            # A list of two is sent as the parameter twice.
            yield BoundaryCase(
                template.with_value(Location.QUERY, parameter.name, [value, value]),
                _NEGATIVE,
                f"Duplicate `{parameter.name}` query parameter",
                Scenario.DUPLICATE_PARAMETER,
                parameter.pointer,
                parameter.name,
                Location.QUERY,
            )


def other_credentials(
    security: Sequence[SecurityRequirement],
    usual: Alternative | None,
    others: Iterable[Alternative],
    template: Parts,
) -> Iterator[BoundaryCase]:
    """The usual request with each of the other alternatives of what says who sends it, in place of the `usual` one."""
    for one in usual.made_up if usual is not None else ():
        template = template.without(one.location, one.name)
    for other in others:
        parts = template
        for one in other.made_up:
            parts = parts.with_value(one.location, one.name, one.usual)
        names = " and ".join(scheme.name for scheme in security[other.place].schemes)
        text = f"Credentials of {names}" if names else "No credentials, which are optional"
        yield BoundaryCase(
            parts,
            GenerationMode.POSITIVE,
            text,
            Scenario.OTHER_CREDENTIALS,
            alternative=other.place,
        )


def missing_credentials(
    needed: Iterable[SecurityParameter], template: Parts
) -> Iterator[BoundaryCase]:
    """The usual request without one of the things that say who sends it."""
    for one in needed:
        yield BoundaryCase(
            template.without(one.location, one.name),
            _NEGATIVE,
            f"Missing `{one.name}` at {one.location}",
            Scenario.MISSING_PARAMETER,
            one.pointer,
            one.name,
            one.location,
            violation=Violation(one.pointer, "required", True, None),
        )
