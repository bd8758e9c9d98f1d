"""What the target demands beyond its description, put to the schemas that valid parts are drawn from."""

from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from checker.core.constraints import FORBIDDEN, REQUIRED, SELDOM, Constraint, as_schema
from checker.core.operation import Location, Parameter
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace
from checker.generation.normalization.forms import Conjunction, Facet
from checker.transport.wire.outline import Outline


class SchemaPart(NamedTuple):
    """What is known of the schema of one part: what `compile` takes."""

    compiler: Compiler
    conjunction: Conjunction
    place: TextPlace


class Narrowing(Struct, frozen=True):
    """Demands as further schemas: what is drawn is valid by the description as well. Wrong data is made without them."""

    constraints: tuple[Constraint, ...]

    def requires(self, location: Location, name: str = "") -> bool:
        """Whether a parameter, or the body, has to be there."""
        path = (name,) if name else ()
        return any(
            one.keyword == REQUIRED and one.location == location and one.path == path
            for one in self.constraints
        )

    def is_seldom(self, parameter: Parameter) -> bool:
        """Whether a parameter is mostly left out."""
        place = parameter.location, (parameter.name,)
        return any(
            one.keyword == SELDOM and (one.location, one.path) == place for one in self.constraints
        )

    @property
    def without_seldom(self) -> "Narrowing | None":
        """The demands on a body without what is mostly left out; None where that is nothing."""
        seldom = [
            one
            for one in self.constraints
            if one.keyword == SELDOM and one.location == Location.BODY
        ]
        left_out = (replace(one, keyword=FORBIDDEN) for one in seldom)
        return Narrowing((*self.constraints, *left_out)) if seldom else None

    def narrowed(
        self, part: SchemaPart, location: Location, name: str = "", outline: Outline | None = None
    ) -> SchemaPart:
        """A part whose values respect the demands on it: a parameter by its name, or the body."""
        mine = [
            Constraint(one.location, one.path[1:] if name else one.path, one.keyword, one.value)
            for one in self.constraints
            if one.location == location and (not name or one.path[:1] == (name,))
            if one.keyword != SELDOM
        ]
        if not mine:
            return part
        declared = () if outline is None else tuple(sorted(outline.names))
        pointer = part.conjunction[0].pointer
        facets = [
            Facet(raw, f"{pointer}/learned/{number}", is_made=True)
            for number, raw in enumerate(as_schema(mine, declared))
            if raw
        ]
        return part._replace(conjunction=(*part.conjunction, *facets))
