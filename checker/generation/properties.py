"""What schemas say of the properties of an object: by name, by pattern, and of all the others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from checker.generation.forms import Canonical, Conjunction, Facet
from checker.generation.patterns import matcher
from checker.validation.pointers import pointer_child


@dataclass(frozen=True, slots=True)
class Properties:
    """What one facet says."""

    named: dict[str, Facet]
    patterns: tuple[tuple[str, Callable[[str], bool], Facet], ...]
    """Pattern, does a name match it, schema."""
    rest: Facet | None

    @classmethod
    def of(cls, facet: Facet, raw: dict[str, Any]) -> "Properties":
        """What is said in a schema."""
        at = pointer_child(facet.pointer, "properties")
        named = {
            name: Facet(value, pointer_child(at, name))
            for name, value in (raw.get("properties") or {}).items()
        }
        at = pointer_child(facet.pointer, "patternProperties")
        patterns = tuple(
            (pattern, matcher(pattern), Facet(value, pointer_child(at, pattern)))
            for pattern, value in (raw.get("patternProperties") or {}).items()
        )
        rest = raw.get("additionalProperties")
        place = pointer_child(facet.pointer, "additionalProperties")
        return cls(named, patterns, None if rest is None else Facet(rest, place))

    def facets(self, name: str) -> Conjunction:
        """Schemas of a property; none when anything goes."""
        found = tuple(facet for _, matches, facet in self.patterns if matches(name))
        if name in self.named:
            found = (self.named[name], *found)
        if not found and self.rest is not None:
            return (self.rest,)
        return found


def read_rest(said: Properties, raw: dict[str, Any], facet: Facet, found: Canonical) -> None:
    """What is said of properties without a name."""
    if said.rest is not None:
        found.says_additional = True
        if said.rest.raw is False:
            found.no_additional = found.no_additional or said.rest.pointer
        else:
            found.additional += (said.rest,)
    for pattern, _, schema in said.patterns:
        found.pattern_properties.append((pattern, schema))
        # A name may match several patterns; which it does is known when it is drawn.
        found.needs_check = True
    if "propertyNames" in raw:
        place = pointer_child(facet.pointer, "propertyNames")
        found.names += (Facet(raw["propertyNames"], place),)
    if "unevaluatedProperties" in raw:
        found.needs_check = True
        if raw["unevaluatedProperties"] is False and said.rest is None:
            found.no_additional = found.no_additional or pointer_child(
                facet.pointer, "unevaluatedProperties"
            )
