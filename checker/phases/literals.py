"""Cases as the values of their parts: what no program draws and no phase lists."""

import copy

from checker.core.case import NOT_SET, Case
from checker.core.meta import CaseMetadata, ComponentProvenance, GenerationMode, Literal, Origin, PhaseData, PhaseInfo
from checker.core.operation import Location, Operation

_GIVEN = ComponentProvenance(origin=Origin.EXPLICIT)


def literal_case(operation: Operation, recipe: Literal, case_id: str, phase: str) -> Case:
    """A new case that shares nothing with the recipe."""
    parts = copy.deepcopy(recipe)
    containers = {
        Location.PATH: parts.path_parameters,
        Location.HEADER: parts.headers,
        Location.COOKIE: parts.cookies,
        Location.QUERY: parts.query,
    }
    components = {location: _GIVEN for location, container in containers.items() if container}
    if parts.body:
        components[Location.BODY] = _GIVEN
    mode = GenerationMode(parts.mode)
    case = Case(
        operation,
        case_id,
        path_parameters=parts.path_parameters,
        headers=parts.headers,
        cookies=parts.cookies,
        query=parts.query,
        body=parts.body[0] if parts.body else NOT_SET,
        media_type=parts.media_type,
        meta=CaseMetadata(mode, components, PhaseInfo(phase, PhaseData(parts.data))),
    )
    case.other_method, case.alternative = parts.method, parts.alternative
    return case


def literal_of(case: Case) -> Literal:
    """The recipe of a case by its values, which have to be plain ones: JSON and bytes."""
    meta = case.meta
    parts = copy.deepcopy((case.path_parameters, case.query, case.headers, case.cookies))
    return Literal(
        *parts,
        body=() if case.body is NOT_SET else (copy.deepcopy(case.body),),
        media_type=case.media_type,
        mode=str(GenerationMode.POSITIVE if meta is None else meta.mode),
        data=() if meta is None else tuple(meta.phase.data.items()),
        method=case.other_method,
        alternative=case.alternative,
    )
