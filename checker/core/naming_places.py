"""Places in bodies that name resources which other operations make or show, by the resource model. Pure."""

from collections.abc import Iterator, Mapping

from checker.core.locations import Location
from checker.core.operation import Label
from checker.core.resource_names import (
    IDENTIFIERS,
    Resource,
    normalised,
    noun_of,
    place_word,
    singular,
    spellings,
)
from checker.core.resources import ResourceModel


def telling_variables(model: ResourceModel) -> frozenset[str]:
    """Normalised variables of paths that say by themselves what they name, wherever they stand: `vin`, `sku`; not `id`."""
    names = {normalised(name) for use in model.uses.values() for name, _ in use.owners}
    return frozenset(names) - IDENTIFIERS


def naming_places(model: ResourceModel) -> Mapping[Label, tuple[str, ...]]:
    """Operation -> pointers into its body, where `*` is every item of a list: `/customer_id`, `/lines/*/productId`, `/vin` of `/cars/{vin}`."""
    found: dict[Label, dict[str, None]] = {}
    for target, pointer, _ in _named(model):
        found.setdefault(target, {})[pointer] = None
    return {label: tuple(places) for label, places in found.items()}


def named_collections(model: ResourceModel) -> Mapping[Label, tuple[Resource, ...]]:
    """Operation -> collections of whose members its body names some: customers and products of an order."""
    found: dict[Label, dict[Resource, None]] = {}
    for target, _, collection in _named(model):
        found.setdefault(target, {})[collection] = None
    return {label: tuple(collections) for label, collections in found.items()}


def _named(model: ResourceModel) -> Iterator[tuple[Label, str, Resource]]:
    """(operation, pointer into its body, collection) of all places that name a member."""
    variables: dict[Resource, set[str]] = {}
    for use in model.uses.values():
        for variable, owner in use.owners:
            variables.setdefault(owner, set()).add(normalised(variable))
    telling = telling_variables(model)
    for one in model.transitions:
        shown = model.uses[one.source].resource
        for value in one.values:
            if value.location is not Location.BODY or not value.name or one.source == one.target:
                continue
            word = place_word(value.name, telling)
            nouns = {singular(word), *(noun for noun, _ in spellings(word, ()))}
            if noun_of(shown) in nouns or normalised(word) in variables.get(shown, ()):
                yield one.target, value.name, shown
