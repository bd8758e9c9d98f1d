"""What the target demands beyond its description, put to the schemas that valid parts are drawn from."""

from typing import NamedTuple

from msgspec import Struct

from checker.core.constraints import REQUIRED, Constraint, as_schema
from checker.core.operation import Location
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

    def narrowed(
        self, part: SchemaPart, location: Location, name: str = "", outline: Outline | None = None
    ) -> SchemaPart:
        """A part whose values respect the demands on it: a parameter by its name, or the body."""
        mine = [
            Constraint(one.location, one.path[1:] if name else one.path, one.keyword, one.value)
            for one in self.constraints
            if one.location == location and (not name or one.path[:1] == (name,))
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
