"""What schemas say of the properties of an object: by name, by pattern, and of all the others."""

from typing import Any

from checker.generation.normalization.forms import Canonical, Facet, Properties
from checker.generation.patterns.matching import matcher


def properties_of(facet: Facet, raw: dict[str, Any]) -> Properties:
    """What is said in one schema."""
    named = {
        name: facet.below(value, "properties", name)
        for name, value in (raw.get("properties") or {}).items()
    }
    patterns = tuple(
        (pattern, matcher(pattern), facet.below(value, "patternProperties", pattern))
        for pattern, value in (raw.get("patternProperties") or {}).items()
    )
    rest = raw.get("additionalProperties")
    place = None if rest is None else facet.below(rest, "additionalProperties")
    return Properties(named, patterns, place, facet.is_made and not facet.annotates)


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
    if "propertyNames" in raw:
        found.names += (facet.below(raw["propertyNames"], "propertyNames"),)
    if "unevaluatedProperties" in raw:
        # Whether what is said elsewhere counts is known by the validator alone.
        found.needs_check = True
        found.unevaluated += (facet.below(raw["unevaluatedProperties"], "unevaluatedProperties"),)


def read_unevaluated(found: Canonical) -> None:
    """Let `unevaluatedProperties` speak of all that no facet speaks of."""
    if not found.unevaluated or any(rule.rest is not None for rule in found.rules):
        return
    found.says_additional = True
    for facet in found.unevaluated:
        if facet.raw is False:
            found.no_additional = found.no_additional or facet.pointer
    found.additional += found.unevaluated
