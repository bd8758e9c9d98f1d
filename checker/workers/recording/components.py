"""What records say of the parts of a case, worked out once for all cases that are alike."""

from collections.abc import Mapping

from msgspec import Struct, field

from checker.core.case import Case
from checker.core.meta import ANYTHING, CaseMetadata, ComponentProvenance, GenerationMode
from checker.core.request import Location
from checker.corpus.records import Component

# Reading the value of an enum member costs more than finding it here.
MODES = {mode: mode.value for mode in GenerationMode}
_PLACES = {place: place.value for place in Location}
_MOST_KNOWN = 1024
Fields = list[tuple[str, str, tuple[str, ...]]]
"""Those of a `Component` for each part."""


class Components(Struct):
    """The components of cases as they are written."""

    sends_as_made: bool = True
    """Whether nobody changes a case on its way: else anything in it may be from outside."""
    known: dict[int, tuple[Mapping[Location, ComponentProvenance], Fields]] = field(
        default_factory=dict
    )
    """By the `id` of the components, which cases that are alike share; they are kept alive here."""

    def of(self, case: Case) -> tuple[Component, ...]:
        """What a record says of a case."""
        if case.meta is None:
            return ()
        return tuple(Component(*one) for one in self.fields(case.meta))

    def fields(self, meta: CaseMetadata) -> Fields:
        """Components as fields: making objects that are only written costs more than packing."""
        known = self.known.get(id(meta.components))
        if known is not None and known[0] is meta.components:
            return known[1]
        if len(self.known) >= _MOST_KNOWN:
            self.known.clear()
        fields = [
            (_PLACES[place], MODES[part.mode], self._outside(meta, place))
            for place, part in meta.components.items()
        ]
        # Cases with bindings share theirs with no other.
        self.known[id(meta.components)] = meta.components, fields
        return fields

    def _outside(self, meta: CaseMetadata, place: Location) -> tuple[str, ...]:
        return meta.outside(place) if self.sends_as_made else (ANYTHING,)
