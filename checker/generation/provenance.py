"""The origins of the parts of cases when nothing else is taken for them."""

from collections.abc import Iterable

from checker.core.meta import ANYTHING, ComponentProvenance, Origin
from checker.core.operation import Location
from checker.generation.components import PartCompiler
from checker.generation.hooks import ComponentHooks
from checker.generation.settings import GenerationSettings


def usual_parts(
    compiler: PartCompiler, hooks: ComponentHooks, present: Iterable[Location]
) -> dict[Location, ComponentProvenance]:
    """Return the known provenance of each part before a case is made, in the order of locations."""
    locations = set(present)
    return {place: _usual(compiler, hooks, place) for place in Location if place in locations}


def forced_parts(compiler: PartCompiler) -> dict[Location, tuple[str, ...]]:
    """Return the names of forced values in otherwise usual cases, by location."""
    found = {place: tuple(_fixed(place, compiler.settings)) for place in Location}
    for parameter in compiler.operation.parameters:
        if compiler.forced(parameter) is not None:
            found[parameter.location] += (parameter.name,)
    if compiler.has_forced_body:
        found[Location.BODY] = (ANYTHING,)
    return found


def _usual(
    compiler: PartCompiler, hooks: ComponentHooks, location: Location
) -> ComponentProvenance:
    names = compiler.forced_names.get(location, [])
    outside = (*names, *_fixed(location, compiler.settings))
    if hooks.case.changes or getattr(hooks, location.container).changes:
        outside = (ANYTHING,)
    return ComponentProvenance(origin=Origin.EXPLICIT if names else Origin.RANDOM, outside=outside)


def _fixed(location: Location, settings: GenerationSettings) -> Iterable[str]:
    """Return the names that are sent whatever a case has: headers, one of which may hold all cookies, and credentials."""
    if location is Location.HEADER:
        return sorted(settings.fixed_headers)
    if location is Location.COOKIE and "cookie" in settings.fixed_headers:
        return [ANYTHING]
    return sorted(name for place, name in settings.fixed_places if place is location)
