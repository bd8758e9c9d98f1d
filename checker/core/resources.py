"""The resource model of a description: producers, consumers, the names that connect them, and nesting.

Built once by the kind of the description and kept beside it. Used for the order of operations, the pool of values,
sequences, and checks that need to know whether two requests are about the same resource.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final, Self

from msgspec import Struct, convert, to_builtins

from checker.core.case import Case
from checker.core.graphs import grouped, layers_of, reached
from checker.core.operation import Label, Operation, Place
from checker.core.request import Location
from checker.core.resource_names import (
    IDENTIFIERS,
    URLS,
    Resource,
    ends_with_variable,
    is_given_out,
    normalised,
    noun_of,
    owner_of,
    place_word,
    resource_of,
    singular,
    spellings,
    variables_of,
)

CREATING: Final = frozenset(("POST", "PUT"))
READING: Final = frozenset(("GET", "QUERY"))
REMOVING: Final = "DELETE"
ACCEPTED: Final = 202  # Status of a request that is accepted but not completed (RFC 9110, 15.3.3).
SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS", "QUERY", "TRACE"))  # Methods that change nothing (RFC 9110, 9.2.1).
_SENT: Final = "$request.body#"
_SHOWN: Final = "$response.body#"
_RANKS: Final = {"POST": 0, "PUT": 0, REMOVING: 2}


def method_rank(method: str) -> int:
    """Return the sort key of a method: creating before reading and changing, removing last."""
    return _RANKS.get(method, 1)


class ResourceUse(Struct, frozen=True, array_like=True):
    """The effects of one operation on resources."""

    label: Label
    method: str
    path: str  # Template: `/users/{id}`.
    resource: Resource  # The path of the collection: the path without variables at the end.
    is_member: bool  # Whether it works on one member of the collection.
    owners: tuple[tuple[str, Resource], ...]
    """(variable of the path, the collection that it chooses from), outermost first."""

    @classmethod
    def of(cls, label: Label, method: str, path: str) -> Self:
        """Return the use that follows from a path template."""
        owners = tuple((name, owner_of(path, name)) for name in variables_of(path))
        return cls(label, method, path, resource_of(path), ends_with_variable(path), owners)

    @property
    def lists(self) -> bool:
        """Whether it shows the members of its collection."""
        return self.method in READING and not self.is_member

    def owner(self, name: str) -> Resource:
        """Return the collection that a path variable chooses from; the collection of the operation for other names."""
        for found, owner in self.owners:
            if found == name:
                return owner
        return self.resource

    def variables_for(self, asked: Self, name: str) -> list[str]:
        """Return the variables of this path that name the same resource as a variable of another path.

        If several choose from that collection, only those with the same name are returned.
        """
        owner = asked.owner(name)
        mine = [found for found, above in self.owners if above == owner]
        is_one = len(mine) == 1 and [above for _, above in asked.owners].count(owner) == 1
        return mine if is_one else [one for one in mine if normalised(one) == normalised(name)]


class TakenValue(Struct, frozen=True, array_like=True):
    """A value of a request that is taken from an earlier response."""

    location: Location
    name: str
    """Name of the parameter; in a body a JSON pointer, empty for the whole body."""
    value: Any
    """JSON in which texts may hold runtime expressions (OpenAPI 3.1, 4.8.20.4)."""

    @property
    def sent_pointer(self) -> str | None:
        """Return the place in the body of the earlier request; None for values from elsewhere."""
        return self._after(_SENT)

    @property
    def shown_pointer(self) -> str | None:
        """Return the place in the body of the earlier response; None for values from elsewhere."""
        return self._after(_SHOWN)

    def _after(self, prefix: str) -> str | None:
        text = self.value
        return text.removeprefix(prefix) if isinstance(text, str) and text.startswith(prefix) else None


class Transition(Struct, frozen=True, array_like=True):
    """A step from a response of one operation to a request to another."""

    name: str
    source: Label
    status: str
    """Statuses of the responses from which the transition starts: `201`, `4XX`, `default`."""
    target: Label
    values: tuple[TakenValue, ...]
    is_inferred: bool = True
    """Whether the transition is inferred and not declared. If so, a missing value is no fault."""

    @property
    def title(self) -> str:
        """`POST /users -> [201] DeleteUser -> DELETE /users/{id}`."""
        return f"{self.source} -> [{self.status}] {self.name} -> {self.target}"

    def is_for(self, status: int, documented: Collection[str]) -> bool:
        """Whether the transition can start at a response with this status; `documented`: keys of all responses of the source."""
        if self.status == "default":
            return f"{status}" not in documented and f"{status // 100}XX" not in documented
        wanted = self.status.upper()
        if f"{status}" == wanted:
            return True
        return wanted == f"{status // 100}XX" and f"{status}" not in documented


class ResourceModel:
    """The resources of a description."""

    def __init__(
        self,
        uses: Iterable[ResourceUse],
        transitions: Iterable[Transition] = (),
        formatted: Mapping[Label, Mapping[str, str]] | None = None,
        preceding: Mapping[Label, Sequence[Label]] | None = None,
    ) -> None:
        self.formatted: Mapping[Label, Mapping[str, str]] = formatted or {}
        """Operation -> pointer into its responses -> format that fields of other requests have, too."""
        self.preceding: Mapping[Label, Sequence[Label]] = preceding or {}
        """Operation -> operations that may show its values although no name suggests it: in URLs, or in fields of the same format."""
        self.uses: Mapping[Label, ResourceUse] = {use.label: use for use in uses}
        self.transitions = tuple(transitions)

    @classmethod
    def of_plain(cls, plain: Any) -> Self:
        """Return the model of which these are the plain values."""
        parts = tuple[list[ResourceUse], list[Transition], dict[Label, dict[str, str]], dict[Label, list[Label]]]
        return cls(*convert(plain, parts))

    def plain(self) -> Any:
        """Return the model as plain values, for the cache of descriptions."""
        return to_builtins((list(self.uses.values()), self.transitions, self.formatted, self.preceding))

    def joined(self, transitions: Iterable[Transition]) -> "ResourceModel":
        """Return the model with further transitions."""
        return ResourceModel(self.uses.values(), (*self.transitions, *transitions), self.formatted, self.preceding)

    def following(self, pairs: Iterable[tuple[Label, Label]]) -> "ResourceModel":
        """Return the model with operations that wait for others. `pairs`: (operation, operation that comes before it)."""
        found = {label: dict.fromkeys(before) for label, before in self.preceding.items()}
        for label, before in pairs:
            found.setdefault(label, {})[before] = None
        ordered = {label: tuple(sorted(before)) for label, before in sorted(found.items())}
        model = ResourceModel(self.uses.values(), self.transitions, self.formatted, ordered)
        model._stated = self._stated
        return model

    def restricted(self, labels: Collection[Label]) -> "ResourceModel":
        """Return the part of the model with only these operations."""
        if all(label in labels for label in self.uses):
            return self
        return ResourceModel(
            (use for label, use in self.uses.items() if label in labels),
            (one for one in self.transitions if one.source in labels and one.target in labels),
            {label: one for label, one in self.formatted.items() if label in labels},
            {
                label: [one for one in before if one in labels]
                for label, before in self.preceding.items()
                if label in labels
            },
        )

    def followers(self, label: Label) -> Sequence[Label]:
        """Return the operations that can use responses of an operation, in document order: members of its collection, nested ones, links."""
        return self._followers.get(label, ())

    def transitions_to(self, target: Label, source: Label) -> Sequence[Transition]:
        """Return the transitions between two operations, declared ones first."""
        return self._by_ends.get((source, target), ())

    def on(self, resource: Resource) -> Sequence[Label]:
        """Return the operations on a resource, members or not."""
        uses = self.uses.items()
        return [label for label, use in uses if use.resource == resource] if resource else []

    def makers(self, owner: Resource) -> Sequence[Label]:
        """Return the operations that create members of a collection, or list them if none creates any."""
        return self._makers.get(owner, ())

    def is_removal_of_all(self, label: Label) -> bool:
        """Whether an operation removes all members of a collection that is not below another resource, by its path: `DELETE /users`."""
        use = self.uses[label]
        return use.method == REMOVING and not use.owners and bool(self.makers(use.resource))

    @cached_property
    def producers(self) -> frozenset[Label]:
        """Operations whose responses other operations need."""
        makers = {label for labels in self._makers.values() for label in labels}
        return frozenset(makers.union(*self.needed.values(), self.formatted, *self.preceding.values()))

    @cached_property
    def roots(self) -> Sequence[Label]:
        """Return the operations that sequences begin with: they may lead to others, and need no resource of other operations."""
        found, leading = [], {label for labels in self.preceding.values() for label in labels}
        for label, use in self.uses.items():
            asks = any(set(self.makers(owner)) - {label} for _, owner in use.owners)
            leads = self.followers(label) or (label in leading and not use.owners)
            if use.method != REMOVING and leads and not asks:
                found.append(label)
        return found

    @cached_property
    def layers(self) -> Mapping[Label, int]:
        """Operation -> layer. Operations need only resources of earlier layers. Deletions come last, nested resources first."""
        kept = [label for label, use in self.uses.items() if use.method != REMOVING]
        found = dict(layers_of(kept, lambda label: self.needed.get(label, ())))
        last = max(found.values(), default=-1) + 1
        sizes = {label: use.path.count("/") for label, use in self.uses.items()}
        removing = [label for label in self.uses if label not in found]
        order = sorted({sizes[label] for label in removing}, reverse=True)
        return found | {label: last + order.index(sizes[label]) for label in removing}

    @cached_property
    def groups(self) -> Sequence[Sequence[Label]]:
        """Groups of operations that depend on each other: they share a collection, need each other's resources, or are linked."""
        return self._connected(lambda label: (*self.needed[label], *self.followers(label)))

    @cached_property
    def families(self) -> Sequence[Sequence[Label]]:
        """The parts of the groups that paths and declared links connect, without needs that are inferred from names."""
        links = grouped((one.source, one.target) for one in self.transitions if not one.is_inferred)
        return self._connected(lambda label: links.get(label, ()))

    @cached_property
    def naming_places(self) -> Mapping[Label, tuple[str, ...]]:
        """Operation -> pointers into its body, where `*` is every item of a list: `/customer_id`, `/lines/*/productId`, `/vin` of `/cars/{vin}`."""
        # Cached for investigations: going through all transitions of a large description takes tens of milliseconds.
        pairs = grouped((target, pointer) for target, pointer, _ in self._named)
        for one in self.transitions:
            for value in one.values if one.source != one.target else ():
                if value.location is not Location.BODY:
                    continue
                asked, shown = (normalised((at or "").rpartition("/")[2]) for at in (value.name, value.shown_pointer))
                # A confirmation code of another order is refused like an unknown name.
                if is_given_out(asked, shown):
                    pairs.setdefault(one.target, []).append(value.name)
        return {label: tuple(dict.fromkeys(places)) for label, places in pairs.items()}

    @cached_property
    def named_collections(self) -> Mapping[Label, tuple[Resource, ...]]:
        """Operation -> collections whose members its body names: customers and products of an order."""
        pairs = grouped((target, collection) for target, _, collection in self._named)
        return {label: tuple(dict.fromkeys(collections)) for label, collections in pairs.items()}

    @cached_property
    def _named(self) -> Sequence[tuple[Label, str, Resource]]:
        """(operation, pointer into its body, collection) of all places that name a member."""
        return tuple(_named(self))

    def needed_by(self, labels: Iterable[Label]) -> set[Label]:
        """Return the other operations that make resources for these, directly or indirectly."""
        return reached(labels, self.needed)

    def dependents_of(self, labels: Iterable[Label]) -> set[Label]:
        """Return the other operations that need resources of these, directly or indirectly."""
        users = grouped((maker, label) for label, makers in self.needed.items() for maker in makers)
        return reached(labels, users)

    def _connected(self, related: Callable[[Label], Iterable[Label]]) -> Sequence[Sequence[Label]]:
        """Return the operations in groups: those of a collection, those that nested paths connect, and related ones."""
        # Union-find with path halving: a search from each operation would compare every pair in a large collection.
        above = {label: label for label in self.uses}

        def top(label: Label) -> Label:
            while above[label] != label:
                above[label] = label = above[above[label]]
            return label

        first: dict[Resource, Label] = {}
        for label, use in self.uses.items():
            # Operations of one collection see each other's resources, even if none of them names a member.
            joined = [first.setdefault(use.resource, label)] if use.resource else []
            joined += [maker for _, owner in use.owners for maker in self.makers(owner)]
            root = top(label)
            for other in (*joined, *related(label)):
                if other in above:
                    above[top(other)] = root
        return list(grouped((top(label), label) for label in self.uses).values())

    @cached_property
    def creating_near(self) -> Mapping[Label, Sequence[Label]]:
        """Operation -> operations of its group that create resources without needing resources of others."""
        found: dict[Label, Sequence[Label]] = {}
        roots = {label for label in self.roots if self.uses[label].method in CREATING}
        for group in self.groups:
            found |= dict.fromkeys(group, tuple(label for label in group if label in roots))
        return found

    @cached_property
    def ordered(self) -> Sequence[Label]:
        """All operations by layer. In each layer, creating operations come before reading ones."""
        place = {label: number for number, label in enumerate(self.uses)}
        return sorted(
            self.uses, key=lambda label: (self.layers[label], method_rank(self.uses[label].method), place[label])
        )

    @cached_property
    def _stated(self) -> Mapping[Label, dict[Label, None]]:
        """Operation -> operations that make the resources it needs, as paths and transitions state."""
        needed: dict[Label, dict[Label, None]] = {label: {} for label in self.uses}
        for label, use in self.uses.items():
            for _, owner in use.owners:
                makers = self.makers(owner)
                # Makers whose requests name the resource wait for makers whose responses name it.
                first = [maker for maker in makers if not self.uses[maker].is_member]
                needed[label].update(dict.fromkeys(first or makers))
        for one in self.transitions:
            if not one.is_inferred or self._is_need(one) or self._is_shown_alone(one):
                needed[one.target][one.source] = None
        return needed

    @cached_property
    def needed(self) -> Mapping[Label, Collection[Label]]:
        """Operation -> operations that make the resources it needs."""
        needed = {label: found | dict.fromkeys(self.preceding.get(label, ())) for label, found in self._stated.items()}
        for label, found in needed.items():
            # An operation that removes resources yields none, and no operation waits for itself.
            found.pop(label, None)
            for other in [other for other in found if self.uses[other].method == REMOVING]:
                del found[other]
        return needed

    def _is_need(self, one: Transition) -> bool:
        """Whether the target of an inferred transition has to wait for its source."""
        if not self.makes(one.source):
            return False
        # Nested resources wait for their parent: payments of orders wait for orders, not the other way round.
        is_below = any(one.target in self.makers(owner) for _, owner in self.uses[one.source].owners)
        if is_below:
            return False
        # A target need not wait for the name of a resource that it creates itself.
        target = self.uses[one.target]
        if not target.is_member or target.method not in CREATING:
            is_own = False
        else:
            own = {normalised(name) for name, owner in target.owners if owner == target.resource}
            is_own = {normalised(value.name.rpartition("/")[2]) for value in one.values} <= own
        return not is_own

    def _is_shown_alone(self, one: Transition) -> bool:
        """Whether a response to GET shows a value of the target's path, and no operation creates or lists it in its own collection."""
        if self.uses[one.source].method not in READING:
            return False
        names = {value.name for value in one.values if value.location is Location.PATH}
        owners = (owner for name, owner in self.uses[one.target].owners if name in names)
        return not all(map(self.makers, owners))

    def makes(self, label: Label) -> bool:
        """Whether an operation makes resources that others need.

        An operation whose requests name the resources (PUT) counts only if no other operation makes any.
        """
        use = self.uses[label]
        if not use.is_member or use.method not in CREATING:
            return use.method in CREATING
        makers = self.makers(use.resource)
        return label in makers and all(self.uses[maker].is_member for maker in makers)

    @cached_property
    def _makers(self) -> Mapping[Resource, Sequence[Label]]:
        wanted = {owner for use in self.uses.values() for _, owner in use.owners}
        creators: dict[Resource, list[Label]] = {}
        lists: dict[Resource, list[Label]] = {}
        for label, use in self.uses.items():
            if use.resource not in wanted:
                continue
            if use.method in CREATING:
                creators.setdefault(use.resource, []).append(label)
            elif use.lists:
                lists.setdefault(use.resource, []).append(label)
        return lists | creators

    @cached_property
    def _followers(self) -> Mapping[Label, Sequence[Label]]:
        below: dict[Resource, dict[Label, None]] = {}
        linked: dict[Label, dict[Label, None]] = {}
        for label, use in self.uses.items():
            for _, owner in use.owners:
                below.setdefault(owner, {})[label] = None
        for one in self.transitions:
            linked.setdefault(one.source, {})[one.target] = None
        place = {label: number for number, label in enumerate(self.uses)}
        found = {}
        for label, use in self.uses.items():
            others = below.get(use.resource, {}) | linked.get(label, {})
            found[label] = sorted(others, key=place.__getitem__)
        return found

    @cached_property
    def sources(self) -> Mapping[Label, Collection[Label]]:
        """Operation -> operations from whose responses a transition leads to it; operations without any are left out."""
        found: dict[Label, set[Label]] = {}
        for one in self.transitions:
            found.setdefault(one.target, set()).add(one.source)
        return found

    @cached_property
    def _by_ends(self) -> Mapping[tuple[Label, Label], Sequence[Transition]]:
        return grouped(
            ((one.source, one.target), one) for one in sorted(self.transitions, key=lambda one: one.is_inferred)
        )


def place_of(operation: Operation, variable: str) -> Place:
    """Return the place where a case names the value of a variable of a resource."""
    return operation.resource_places.get(variable, (Location.PATH, variable))


def variable_at(operation: Operation, place: Place) -> str | None:
    """Return the variable of a resource that a case names at a place; None if there is none at this place."""
    if place[0] is Location.PATH:
        return place[1]
    return next((name for name, at in operation.resource_places.items() if at == place), None)


def named_values(case: Case) -> Mapping[str, Any]:
    """Return variable of the resource of a case -> value."""
    places = case.operation.resource_places
    if not places:
        return case.path_parameters
    found = {name: sent_at(case, place) for name, place in places.items()}
    return {name: value for name, value in found.items() if value is not None}


def sent_at(case: Case, place: Place) -> Any:
    """Return the value of a case at a place; None if there is none."""
    location, name = place
    if location is not Location.BODY:
        return getattr(case, location.container).get(name)
    value = case.body
    for token in name.split("/")[1:]:
        value = value.get(token) if isinstance(value, dict) else None
    return value


def sent_expression(pointer: str) -> str:
    """Return the runtime expression of a part of a request's body."""
    return _SENT + pointer


def telling_variables(model: ResourceModel) -> frozenset[str]:
    """Return normalised path variables that identify a resource at any place: `vin`, `sku`; not `id`."""
    names = {normalised(name) for use in model.uses.values() for name, _ in use.owners}
    return frozenset(names) - IDENTIFIERS


def _named(model: ResourceModel) -> Iterator[tuple[Label, str, Resource]]:
    """(operation, pointer into its body, collection) of all places that name a member."""
    variables: dict[Resource, set[str]] = {}
    for use in model.uses.values():
        for variable, owner in use.owners:
            variables.setdefault(owner, set()).add(normalised(variable))
    telling = telling_variables(model)

    @cache
    def meant(name: str) -> tuple[str, set[str]]:
        word = place_word(name, telling)
        return normalised(word), {singular(word), *(noun for noun, _ in spellings(word, ()))}

    for one in model.transitions:
        shown = model.uses[one.source].resource
        for value in one.values:
            if value.location is not Location.BODY or not value.name or one.source == one.target:
                continue
            word, nouns = meant(value.name)
            # The URL of a resource names it, regardless of the name of the place.
            is_url = normalised((value.shown_pointer or "").rpartition("/")[2]) in URLS
            if is_url or noun_of(shown) in nouns or word in variables.get(shown, ()):
                yield one.target, value.name, shown
