"""Where bodies name things that other operations make or show, as a resource model says. Pure."""

from collections.abc import Mapping

from checker.core.locations import Location
from checker.core.operation import Label
from checker.core.resource_names import (
    Resource,
    normalised,
    noun_of,
    place_word,
    singular,
    spellings,
)
from checker.core.resources import ResourceModel


def naming_places(model: ResourceModel) -> Mapping[Label, tuple[str, ...]]:
    """Operation -> pointers into its body, where `*` is every item of a list: `/customer_id`, `/lines/*/productId`, `/vin` of `/cars/{vin}`."""
    variables: dict[Resource, set[str]] = {}
    for use in model.uses.values():
        for variable, owner in use.owners:
            variables.setdefault(owner, set()).add(normalised(variable))
    found: dict[Label, dict[str, None]] = {}
    for one in model.transitions:
        shown = model.uses[one.source].resource
        for value in one.values:
            if value.location is not Location.BODY or not value.name or one.source == one.target:
                continue
            word = place_word(value.name)
            nouns = {singular(word), *(noun for noun, _ in spellings(word, ()))}
            if noun_of(shown) in nouns or normalised(word) in variables.get(shown, ()):
                found.setdefault(one.target, {})[value.name] = None
    return {label: tuple(places) for label, places in found.items()}
