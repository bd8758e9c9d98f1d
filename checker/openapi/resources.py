"""The resource model of an OpenAPI document: declared links between operations, and links that field names suggest.

Declared links: OpenAPI 3.1, 4.8.20; `x-links` in 2.0.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.graphs import grouped, reached
from checker.core.operation import BrokenOperation, Label, Parameter
from checker.core.request import Location
from checker.core.resource_names import (
    IDENTIFIERS,
    OF_USERS,
    URLS,
    WRAPPERS,
    Resource,
    affinity,
    ends_among,
    is_carried,
    is_identifier,
    is_qualified,
    looked_up,
    marks_among,
    next_mark,
    normalised,
    noun_of,
    qualified_noun,
    shared_format,
    singular,
    spellings,
    words,
)
from checker.core.resources import (
    CREATING,
    READING,
    REMOVING,
    ResourceModel,
    ResourceUse,
    TakenValue,
    Transition,
    sent_expression,
)
from checker.core.runtime_expressions import InvalidExpression, parse_value
from checker.core.schema import UnresolvableReference, tokens_of, unescaped
from checker.kinds.protocol import ApiLink
from checker.openapi.documents.dialects import items_of, members
from checker.openapi.operation import OpenApiOperation, Owner
from checker.openapi.response_fields import (
    AnswerField,
    AnswerFields,
    Shapes,
    answer_fields,
    body_fields,
    leads_elsewhere,
    may_show_urls,
    type_of_values,
)
from checker.schema.views import Outline, outline_of
from checker.values.locations import segments_of

_LOCATIONS = {location.value: location for location in Location if location is not Location.BODY}


class _Problem(ValueError):
    """A link that cannot be followed; the message is the reason."""


def links_of(operation: OpenApiOperation) -> Iterator[ApiLink]:
    """Yield the links of all responses of an operation in document order; a link that cannot be followed carries its error."""
    document = operation.owner.document
    for status, raw, at in members(operation.definition.raw, operation.entry.pointer, "responses"):
        # A lost response has its own warning.
        response, place = document.object_at(raw, at)
        for key in ("links", "x-links"):
            for name, link, pointer in members(response, place, key):
                try:
                    target, values, pointer = _followed(operation.owner, link, pointer)
                    yield ApiLink(name, pointer, operation.label, status, target, values)
                except (_Problem, InvalidExpression, UnresolvableReference) as error:
                    sentence = f"the link `{name}` at {pointer} cannot be followed: {error}"
                    yield ApiLink(name, pointer, operation.label, status, error=sentence)


def _followed(owner: Owner, raw: object, at: str) -> tuple[Label, tuple[TakenValue, ...], str]:
    """Return the target of a link, its values and its place. Raises an exception for a link that cannot be followed."""
    value, at = owner.document.dereferenced(raw, at)
    if not isinstance(value, dict):
        raise _Problem("it is not an object; correct it")
    identifier, reference = value.get("operationId"), value.get("operationRef")
    if isinstance(identifier, str):
        entry = owner.entry_of_id(identifier)
        if isinstance(entry, str):
            advice = f"did you mean `{entry}`?" if entry else "add it or correct the name"
            raise _Problem(f"no operation has the id `{identifier}`; {advice}")
    elif isinstance(reference, str):
        tokens = list(map(unescaped, unquote(reference.partition("#")[2]).split("/")))
        if reference.startswith("#") and len(tokens) == 4 and tokens[1] == "paths":
            # The path item may be elsewhere: its operations are found by path and method.
            found = owner.entry_at(f"{tokens[3].upper()} {tokens[2]}")
        else:
            found = owner.entry_at(owner.document.resolve(reference, at=at)[1])
        if found is None:
            raise _Problem(f"`{reference}` is not an operation; point it at one like `#/paths/~1users/get`")
        entry = found
    else:
        raise _Problem("it names no operation; add `operationId` or `operationRef`")
    operation = owner.find(entry.label)
    if not isinstance(operation, OpenApiOperation):
        raise _Problem(f"{entry.label} cannot be read")
    target = operation
    values = [_parameter(target, key, item) for key, item in items_of(value.get("parameters"))]
    if "requestBody" in value:
        if not target.bodies and not target.unusable_bodies:
            raise _Problem(f"{target.label} has no request body; remove `requestBody`")
        values.append(TakenValue(Location.BODY, "", value["requestBody"]))
    for taken in values:
        parse_value(taken.value)
    return target.label, tuple(values), at


def _parameter(target: OpenApiOperation, key: str, raw: Any) -> TakenValue:
    prefix, _, rest = key.partition(".")
    location = _LOCATIONS.get(prefix)
    fitting = [p for p in target.parameters if _is_named(p, key, None)]
    if location is not None and rest:
        fitting = [p for p in target.parameters if _is_named(p, rest, location)] or fitting
    if not fitting:
        names = [p.name for p in target.parameters]
        near = get_close_matches(rest if location else key, names, n=1)
        advice = f"did you mean `{near[0]}`?" if near else f"it has {', '.join(names) or 'none'}"
        raise _Problem(f"{target.label} has no parameter `{key}`; {advice}")
    return TakenValue(fitting[0].location, fitting[0].name, raw)


def _is_named(parameter: Parameter, name: str, location: Location | None) -> bool:
    own = parameter.location
    return location in (None, own) and own.key(parameter.name) == own.key(name)


_NAMED: Final = 0.8  # From this affinity on, a name is certain; below it, only a value may match.
_LIKELY: Final = 0.5
_SURE: Final = 0.95  # The greatest affinity.
_MOST_SOURCES: Final = 4  # Most operations from which one value is taken.
_MOST_PRECEDING: Final = 32
"""Most operations with URLs for which an operation waits, and most operations with fields of its formats. Each pair is an edge."""
_MOST_NAMELESS: Final = 3  # Most resources that `source` and `target` may refer to, if no prose names one.
_VERBS: Final = {"POST": "Create", "PUT": "Replace", "PATCH": "Update", "DELETE": "Delete"}
_KNOWN_BY: Final = {"id": 0.84, "uuid": 0.83, "guid": 0.83, "code": 0.82, "slug": 0.82, "key": 0.81}
"""Fields that identify an object if a parameter has the noun of the object as its name. Each has an affinity; the best is first."""
_SHOWN: Final = 3  # Rank of operations that show one resource, among those that create or show resources.
_URL: Final = shared_format("uri")
# Five planted errors were never reached because a parameter has another name than the field with its value, which only
# the description states: "`payment_token` of the invoice".
_TOLD: Final = re.compile(r"`(\w+)` (?:of|from) (?:the|an?|its|your) (\w+)")
"""Matches the field and the resource that hold a value, in the description of a parameter."""
_AMBIGUOUS: Final = IDENTIFIERS - OF_USERS  # Identifiers whose meaning depends on the object around them.
_ENDINGS: Final = tuple(sorted(IDENTIFIERS))
_TEXT = "string"
_WHOLE = "integer"


class _Slot(Struct, frozen=True):
    location: Location
    name: str
    owner: Resource
    kind: str  # Type of the schema of the slot; empty if there is none.
    is_url: bool = False
    noun: str = ""  # Noun of the resource that the name of the slot does not state.
    beside: frozenset[str] = frozenset()
    """For a URL, the nouns that are field names of the body: the stock record of a `product` is below products."""
    told: str = ""  # The field that holds the value of the slot, according to the description.

    @property
    def word(self) -> str:
        """Return the name of the slot. A bare `id` gets the noun of the object around it."""
        if self.told:
            return self.told
        if self.noun and self.location is not Location.PATH:
            return self.noun if self.is_url else f"{self.noun}_id"
        if self.noun and is_identifier(normalised(self.name)):
            return f"{self.noun}_{self.name}"
        tokens = self.name.split("/")
        parts = [part for part in tokens if part and part != "*" and not part.isdigit()] or [""]
        if tokens[-1] == "*":
            # Each item of `productIds` is a product.
            parts[-1] = parts[-1].removesuffix("s")
        return "_".join(parts[-2:] if is_identifier(normalised(parts[-1])) else parts[-1:])


def resource_model(operations: Iterable[OpenApiOperation | BrokenOperation]) -> ResourceModel:
    """Return the resources that the readable operations create and use."""
    read = [one for one in operations if isinstance(one, OpenApiOperation)]
    # Transitions are found from the consumer: for a slot of a request, its holders are looked up by noun. To compare
    # each pair of operations would take quadratic time, and large descriptions have a thousand operations.
    uses = {one.label: ResourceUse.of(one.label, one.method, one.path) for one in read}
    declared = [
        Transition(link.name, link.source, link.status, link.target, link.values, is_inferred=False)
        for one in read
        for link in links_of(one)
        if link.target is not None
    ]
    known = {(one.source, one.target) for one in declared}
    inference = _Inference.of(read, uses)
    rest = [one for one in inference.transitions() if (one.source, one.target) not in known]
    asked = inference.formats_asked()
    formatted = inference.formatted(asked)
    model = ResourceModel(uses.values(), [*declared, *rest], formatted, inference.preceding())
    # References come before formats, which are less certain. Both add only edges that close no circle: otherwise most
    # operations of Oscar's API were in one layer, where no operation can use values of another.
    model = model.following(inference.lists_of_references(model))
    # A new model computes its facts again, so it is made only if there are pairs to add.
    alike = list(inference.of_same_format(model, asked))
    return model.following(alike) if alike else model


class _Inference(Struct):
    """Finds responses that hold inputs of other requests."""

    operations: Sequence[OpenApiOperation]
    uses: Mapping[Label, ResourceUse]
    answers: Mapping[Label, AnswerFields]
    bodies: Mapping[Label, tuple[AnswerField, ...]]
    by_noun: Mapping[str, Sequence[Label]]  # Operations that create or show resources of a noun, creators first.
    held: Mapping[str, Sequence[Label]]
    """Singular name of inner resources -> operations that show their identifiers inside other resources: `line` of the lines of an order."""
    made: Mapping[str, Sequence[Label]]
    """Field -> operations that create its values: their responses contain the field, their requests do not."""
    creators: Mapping[Resource, Mapping[Label, AnswerFields]]
    """Collection -> operations that add members by POST, with the fields of their bodies."""
    variables: Mapping[str, Resource]
    """Distinctive variables of paths -> the collection whose members they name: `vin` -> cars."""
    known: dict[tuple[object, ...], tuple[tuple[Label, str], ...]] = field(default_factory=dict)
    """(operation, expression) pairs of responses that may hold the value of a slot; kept because many slots are alike."""
    read: dict[Label, tuple[_Slot, ...]] = field(default_factory=dict)  # The slots of each operation.
    outlines: dict[str, Outline] = field(default_factory=dict)  # Place of the schema of a parameter -> its outline.
    foreign: dict[tuple[str, str, Resource], bool] = field(default_factory=dict)
    """(name, type, collection) -> whether the name refers to another resource: operations of a collection have the same bodies."""

    @classmethod
    def of(cls, operations: Sequence[OpenApiOperation], uses: Mapping[Label, ResourceUse]) -> "_Inference":
        shapes: Shapes = {}
        answers = {one.label: answer_fields(one, shapes) for one in operations}
        bodies = {one.label: body_fields(one, shapes) for one in operations}
        by_noun: dict[str, list[Label]] = {}
        for label in sorted(uses, key=lambda label: _maker_rank(uses[label])):
            use = uses[label]
            if use.method == REMOVING or not answers[label].fields:
                continue
            for noun in dict.fromkeys((noun_of(use.resource), answers[label].noun)):
                if noun:
                    by_noun.setdefault(noun, []).append(label)
        made: dict[str, list[Label]] = {}
        creators: dict[Resource, dict[Label, AnswerFields]] = {}
        for one in operations:
            use = uses[one.label]
            if use.method == "POST":
                body = bodies[one.label]
                if body and not use.is_member:
                    outermost = tuple(each for each in body if each.depth == 1)
                    creators.setdefault(use.resource, {})[one.label] = AnswerFields("", outermost)
                sent = {taken.name for taken in body}
                fields = (found.name for found in answers[one.label].fields)
                for name in dict.fromkeys(name for name in fields if name not in sent):
                    made.setdefault(name, []).append(one.label)
        variables = _variables(uses.values())
        held = _held(uses, answers, by_noun)
        return cls(operations, uses, answers, bodies, by_noun, held, made, creators, variables)

    def transitions(self) -> Iterator[Transition]:
        """Yield a transition for each pair of operations in which the second can use values of the first."""
        for target in self.operations:
            found: dict[Label, list[TakenValue]] = {}
            for slot in self._slots(target):
                answered = dict(self._sources(target.label, slot))
                # Some resources are named by the client that creates them, and responses do not contain these names.
                sent: dict[Label, str] = {}
                creators = self.creators.get(slot.owner, {}) if slot.location is Location.PATH else {}
                for label, body in creators.items():
                    best = None
                    if label != target.label and label not in answered:
                        best = self._compared(slot, slot.word, body, (slot.owner,))
                    if best is not None:
                        sent[label] = sent_expression(best.pointer)
                for source, value in (answered | sent).items():
                    found.setdefault(source, []).append(TakenValue(slot.location, slot.name, value))
            use = self.uses[target.label]
            many = "" if use.is_member or use.method in CREATING else "All"
            name = f"{_VERBS.get(use.method, 'Get')}{many}{noun_of(use.resource).capitalize()}"
            for source, values in found.items():
                whole = (*values, *self._parents(source, target.label, values))
                yield Transition(name, source, self.answers[source].status, target.label, whole)
            answer, taken = self.answers[target.label], []
            parameters = {one.name: one for one in target.parameters if one.location is Location.QUERY}
            fields = reversed(answer.fields) if parameters else ()
            shown = {one.name: one.pointer for one in fields if "*" not in one.pointer}
            marks = marks_among(parameters)
            for mark, parameter in parameters.items():
                told = normalised("".join(_told(parameter)[-1:]))
                field = told if told in shown else next_mark(mark, shown) if mark in marks else None
                if field is not None:
                    taken.append(TakenValue(Location.QUERY, mark, f"$response.body#{shown[field]}"))
            if taken:
                yield Transition("NextPage", target.label, answer.status, target.label, tuple(taken))

    def formatted(self, asked: Mapping[str, set[Label]]) -> dict[Label, dict[str, str]]:
        """Return operation -> pointer into its responses -> format, for formats that fields of other requests have."""
        found: dict[Label, dict[str, str]] = {}
        for label, answer in self.answers.items():
            for one in answer.fields if self.uses[label].method != REMOVING else ():
                form = one.format and shared_format(one.format)
                if form in asked and asked[form] != {label}:
                    found.setdefault(label, {})[one.pointer] = form
        return found

    def formats_asked(self) -> dict[str, set[Label]]:
        """Return format -> operations whose requests have a field of that format, except URLs of resources that other operations show."""
        asked: dict[str, set[Label]] = {}
        for target in self.operations:
            raws = [self._outline(each).first("format") for each in target.parameters]
            named = {one.name for one in self._slots(target) if one.is_url and any(self._sources(target.label, one))}
            raws += [one.format for one in self.bodies[target.label] if one.pointer not in named]
            for raw in raws:
                if shared_format(raw):
                    asked.setdefault(shared_format(raw), set()).add(target.label)
        return asked

    def preceding(self) -> dict[Label, Sequence[Label]]:
        """Return operation -> operations that may show URLs with its path. This covers variables whose collections no operation lists or fills."""
        known = {use.resource for use in self.uses.values() if use.lists or use.method in CREATING}
        lost = {label for label, use in self.uses.items() if any(owner not in known for _, owner in use.owners)}
        kept = [one for one in self.operations if self.uses[one.label].method != REMOVING]
        leading = {one.label for one in kept if leads_elsewhere(one)}
        showing = [one.label for one in kept if one.label in leading or may_show_urls(self.answers[one.label])]
        # Described URLs come first, so that the limit leaves out responses of which nothing is known.
        showing.sort(key=lambda label: (label not in leading, not self.answers[label].fields))
        # Jobs are found before their results, to which described redirects lead.
        first = [label for label in showing if label not in lost]
        second = [label for label in showing if label in lost and label in leading]
        return {label: (first if label in leading else [*first, *second])[:_MOST_PRECEDING] for label in lost}

    def lists_of_references(self, model: ResourceModel) -> Iterator[tuple[Label, Label]]:
        """Yield (operation, list with resources that its body names). No such pair closes a circle."""
        # The search starts at the resource, because few operations need a resource with references.
        needing = grouped((before, label) for label, needed in model.needed.items() for before in needed)
        for target in self.operations:
            label = target.label
            slots = [slot for slot in self._slots(target) if slot.location is Location.BODY]
            sources = dict.fromkeys(source for slot in slots for source, _ in self._sources(label, slot))
            lists = [one for one in sources if self.uses[one].lists and one != label]
            after = reached([label], needing) if lists and label in needing else set()
            for source in lists:
                if source not in after:
                    needing.setdefault(source, []).append(label)
                    yield label, source

    def of_same_format(self, model: ResourceModel, asked: Mapping[str, set[Label]]) -> Iterator[tuple[Label, Label]]:
        """Yield (operation, operation that shows a field of a wanted format). No such pair closes a circle."""
        asking: set[Label] = set().union(*asked.values())
        count: Counter[Label] = Counter()
        for source, formats in model.formatted.items():
            for target in sorted(set().union(*(asked[form] for form in formats.values())) - {source}):
                rank, other = model.layers[source], model.layers[target]
                if (rank < other or (rank == other and source not in asking)) and count[target] < _MOST_PRECEDING:
                    count[target] += 1
                    yield target, source

    def _slots(self, target: OpenApiOperation) -> Sequence[_Slot]:
        if target.label not in self.read:
            self.read[target.label] = tuple(self._slots_of(target))
        return self.read[target.label]

    def _slots_of(self, target: OpenApiOperation) -> Iterator[_Slot]:
        use = self.uses[target.label]
        for parameter in target.parameters:
            kind = type_of_values(self._outline(parameter))
            if parameter.location is Location.PATH:
                owner = use.owner(parameter.name)
                yield _Slot(Location.PATH, parameter.name, owner, kind, noun=looked_up(owner, parameter.name))
            elif self._is_foreign((told := "_".join(_told(parameter))) or parameter.name, kind, use.resource):
                yield _Slot(parameter.location, parameter.name, use.resource, kind, told=told)
        beside = self.by_noun.keys() & {singular(one.name) for one in self.bodies[target.label]}
        for one in self.bodies[target.label]:
            is_url = shared_format(one.format) == _URL
            slot = _Slot(
                Location.BODY, one.pointer, use.resource, one.kind, is_url, beside=frozenset(beside if is_url else ())
            )
            is_below = any(owner != use.resource for _, owner in use.owners)
            shown = dict.fromkeys(self._nouns_of_urls(target, one.pointer)) if is_url and one.name in URLS else {}
            if shown:
                yield from (replace(slot, noun=noun) for noun in shown)
            elif self._is_foreign(slot.word, one.kind, use.resource) or (is_below and is_carried(one.name, one.name)):
                yield slot
        fields = [one for one in self.bodies[target.label] if one.kind == _WHOLE or one.format == "uuid"]
        ends = ends_among(one.pointer.rpartition("/")[2] for one in fields if one.depth == 1)
        if not ends:
            nouns: Sequence[str] = ()
        else:
            # Nouns of collections that others add to: those in the prose of the operation, or all if they are few.
            named_in_paths = {owner for use in self.uses.values() for _, owner in use.owners}
            others = named_in_paths - {self.uses[target.label].resource}
            makers = {noun: self.uses[labels[0]] for noun, labels in self.by_noun.items()}
            made = {noun for noun, use in makers.items() if use.method == "POST" and use.resource in others}
            prose = " ".join(f"{target.definition.get(key)}" for key in ("summary", "description"))
            named = made.intersection(singular(word) for word in words(prose))
            nouns = sorted(named) or (sorted(made) if len(made) <= _MOST_NAMELESS else ())
        # Integers and UUIDs that refer to members of a collection without naming it, such as `source` and `target`.
        for one in fields if nouns else ():
            if one.pointer.removeprefix("/") in ends:
                yield from (_Slot(Location.BODY, one.pointer, use.resource, one.kind, noun=noun) for noun in nouns)

    def _nouns_of_urls(self, target: OpenApiOperation, pointer: str) -> Iterator[str]:
        """Yield the nouns of resources whose URLs (`/api/products/209/`) the examples of a body have at a place without a noun."""
        for example in target.bodies[0].examples:
            text = example.value
            for token in tokens_of(pointer):
                text = text.get(token) if isinstance(text, dict) else next(iter(text or ()), None)
            segments = segments_of(text)[-2:] if isinstance(text, str) else []
            if len(segments) == 2 and singular(segments[0]) in self.by_noun:
                yield singular(segments[0])

    def _outline(self, parameter: Parameter) -> Outline:
        """Return the outline of the values of a parameter, which many operations have."""
        pointer = parameter.schema.pointer
        if pointer not in self.outlines:
            self.outlines[pointer] = outline_of(parameter.schema)
        return self.outlines[pointer]

    def _is_foreign(self, name: str, kind: str, own: Resource) -> bool:
        key = name, kind, own
        known = self.foreign.get(key)
        if known is None:
            known = self.foreign[key] = self._refers_elsewhere(name, kind, own)
        return known

    def _refers_elsewhere(self, name: str, kind: str, own: Resource) -> bool:
        """Whether a name refers to another resource (`customer`, `customer_id`, `vin`), or to a value that other operations create."""
        if self.variables.get(normalised(name), own) != own:
            return True
        if kind in (_TEXT, _WHOLE) and singular(name) in self.by_noun:
            return True
        # All creations make an `id`, so it is no evidence.
        if normalised(name) in self.made and not is_identifier(normalised(name)):
            return True
        nouns = [noun for noun, _ in spellings(name, own) if noun and len(words(name)) > 1]
        nouns.append(qualified_noun(name))
        return any(noun in self.by_noun or noun in self.held for noun in nouns)

    def _sources(self, target: Label, slot: _Slot) -> Iterator[tuple[Label, str]]:
        """Yield (operation, expression) pairs that may give a value."""
        word = slot.word
        key = (word, slot.owner, slot.kind, slot.is_url, slot.location, slot.noun, slot.beside)
        known = self.known.get(key)
        if known is None:
            # One more is read, because the target itself may be among them.
            known = self.known[key] = tuple(islice(self._holders(slot, word), _MOST_SOURCES + 1))
        # `parentId` names a member of the own collection, so that the operation itself is a source of it.
        others = [one for one in known if one[0] != target or is_qualified(word)]
        yield from others[:_MOST_SOURCES] or self._carried(target, slot)

    def _holders(self, slot: _Slot, word: str) -> Iterator[tuple[Label, str]]:
        """Yield (operation, expression) pairs of all responses that may hold a value, the target's own included."""
        nouns = dict.fromkeys(noun for noun, _ in spellings(word, slot.owner) if noun)
        if slot.location is Location.PATH:
            nouns[noun_of(slot.owner)] = nouns[slot.noun] = None
        else:
            nouns[singular(word)] = nouns[qualified_noun(word)] = None
            nouns[noun_of(self.variables.get(normalised(word), ()))] = None
        known = [label for noun in nouns for label in self.by_noun.get(noun, ())]
        if slot.location is Location.PATH and normalised(word) in OF_USERS:
            nouns[normalised(word)] = None
        known += [label for noun in nouns for label in self.held.get(noun, ())]
        if not is_identifier(normalised(word)):
            known += self.made.get(normalised(word), ())
        if slot.is_url and known:
            # A URL of another collection with the same noun is refused: `/products/1` and `/admin/products/1`.
            near = {*map(singular, slot.owner), *slot.beside, "{}"}
            apart = {label: len({*map(singular, self.uses[label].resource)} - near) for label in known}
            nearest = min(apart.values())
            known = [label for label in known if apart[label] == nearest]
        # Most operations of a collection show the same fields.
        alike: dict[tuple[int, Resource, str], AnswerField | None] = {}
        for label in dict.fromkeys(known):
            answer, home = self.answers[label], self.uses[label].resource
            key = id(answer.fields), home, answer.noun
            if key not in alike:
                # Schema and path may use different nouns: `Account` of `/users`, `Order` of `/cart/checkout`.
                homes = (home, (answer.noun,)) if answer.noun not in ("", noun_of(home)) else (home,)
                alike[key] = self._compared(slot, word, answer, homes)
            best = alike[key]
            if best is not None:
                yield label, f"$response.body#{best.pointer}"

    def _carried(self, target: Label, slot: _Slot) -> Iterator[tuple[Label, str]]:
        """Yield the fields of the resources above an operation that its request repeats under another name."""
        word, use = normalised(slot.name.rpartition("/")[2]), self.uses[target]
        for _, owner in use.owners if slot.location is Location.BODY else ():
            for label in self.by_noun.get(noun_of(owner), ()):
                # The checkout of a cart shows an order, whose schema has another noun than the path.
                is_shown = self.uses[label].resource == owner or self.answers[label].noun == noun_of(owner)
                fields = self.answers[label].fields if is_shown and owner not in (use.resource, ()) else ()
                likely = [one for one in fields if _fits(slot, one) and is_carried(word, one.name)]
                if label != target and likely:
                    nearest = min(likely, key=lambda one: (not one.name.endswith(word), one.depth))
                    yield label, f"$response.body#{nearest.pointer}"

    def _compared(self, slot: _Slot, word: str, answer: AnswerFields, homes: Sequence[Resource]) -> AnswerField | None:
        # Most fields have other names and stay below both bounds.
        spelled = {name for _, name in spellings(word, slot.owner)}
        # A variable of a path takes identifiers of other names only from responses about its own resource.
        is_away = slot.location is Location.PATH and len(slot.owner) > 1 and slot.owner not in homes
        others = frozenset[str]() if is_away else URLS if slot.is_url else IDENTIFIERS
        best: tuple[float, int, int] = (0.0, 0, 0)
        found = None
        for likely in (spelled, others - spelled):
            if best[0] > _KNOWN_BY["id"]:
                break
            for place, one in answer.named(likely):
                # Of equally good fields the outermost counts, then the first. After a sure one, others are not compared.
                if (best[0] < _SURE or (-one.depth, -place) > best[1:]) and _fits(slot, one):
                    rank = _closest(slot, word, one.name, self._homes_of(one, homes)), -one.depth, -place
                    if found is None or rank > best:
                        best, found = rank, one
        least = _LIKELY if slot.location is Location.PATH else _NAMED
        return found if best[0] >= least else None

    def _homes_of(self, one: AnswerField, homes: Sequence[Resource]) -> Sequence[Resource]:
        """Return the resources that a field may belong to, given those of its response.

        An ambiguous identifier in a nested object with the noun of another collection is that object's own: `/user/id` identifies
        no order.
        """
        if one.name in _AMBIGUOUS:
            if not one.holder:
                return homes
            if one.holder in self.by_noun and one.holder not in (*WRAPPERS, *map(noun_of, homes)):
                return ((one.holder,),)
        return (*homes, (one.holder,))

    def _parents(self, source: Label, target: Label, values: Sequence[TakenValue]) -> Iterator[TakenValue]:
        """Yield the values of common parents: `/owners/{owner}` of the pet that was created there."""
        given = {value.name for value in values if value.location is Location.PATH}
        asked = self.uses[target]
        for name in (name for name, _ in asked.owners if name not in given):
            for variable in self.uses[source].variables_for(asked, name)[-1:]:
                yield TakenValue(Location.PATH, name, f"$request.path.{variable}")


def _told(parameter: Parameter) -> tuple[str, ...]:
    """Return the noun and the field that a description names as the source of a value: "`token` of the session". Empty without one.

    The noun is returned only with an identifier: many resources have an `id`, so the field alone would be ambiguous.
    """
    about = parameter.definition.get("description") if parameter.pointer else None
    found = _TOLD.search(about) if isinstance(about, str) else None
    if found is None:
        return ()
    return (found[2], found[1]) if is_identifier(normalised(found[1])) else (found[1],)


def _held(
    uses: Mapping[Label, ResourceUse], answers: Mapping[Label, AnswerFields], by_noun: Mapping[str, Sequence[Label]]
) -> dict[str, Sequence[Label]]:
    """Return noun -> operations whose responses show identifiers of such resources inside others, also for names such as `username`.

    A reference, such as `line_id`, counts if no operation creates or lists its resource. The response to an unsafe
    method may only repeat an invented reference.
    """
    # `GET /orders` shows `{data: [{id, lines: [{id}]}]}`. When ids of lines counted as ids of orders, no request to
    # `GET /lines/{lineId}` had a real id, and a planted error there was missed in four of four runs.
    found: dict[str, dict[Label, None]] = {}
    # Resources that operations return, and that no operation creates or lists.
    shown = {noun for noun, labels in by_noun.items() if all(_maker_rank(uses[label]) >= _SHOWN for label in labels)}
    for label, use in uses.items():
        for one in answers[label].fields if use.method != REMOVING else ():
            if one.name in IDENTIFIERS:
                nouns = {one.holder, *OF_USERS.intersection((one.name,))} - {""}
            elif use.method in READING and one.name.endswith(_ENDINGS):
                nouns = {noun for noun, _ in spellings(one.pointer.rpartition("/")[2], ())} & shown
            else:
                continue
            for noun in nouns:
                found.setdefault(noun, {})[label] = None
    return {noun: tuple(labels) for noun, labels in found.items()}


def _variables(uses: Iterable[ResourceUse]) -> dict[str, Resource]:
    """Return normalised variables of paths -> the first collection with creators whose members they name."""
    found: dict[str, Resource] = {}
    made = {use.resource for use in uses if use.method in CREATING}
    for use in uses:
        for variable, owner in use.owners:
            if owner in made and not is_identifier(normalised(variable)):
                found.setdefault(normalised(variable), owner)
    return found


def _closest(slot: _Slot, word: str, name: str, homes: Collection[Resource]) -> float:
    best = max([affinity(word, slot.owner, name, home) for home in homes])
    if best >= _NAMED or slot.location is Location.PATH or not (slot.is_url or is_identifier(name)):
        return best
    # `customer` may hold any identifier of a customer, or its URL.
    is_noun = not {singular(word), qualified_noun(word)}.isdisjoint(filter(None, map(noun_of, homes)))
    known_by = _SURE if name == normalised(word) else _KNOWN_BY.get(name, _NAMED)
    return known_by if is_noun else best


def _maker_rank(use: ResourceUse) -> int:
    if use.method in CREATING:
        return int(use.is_member)
    if use.method in READING:
        return _SHOWN if use.is_member else 2
    return 4


def _fits(slot: _Slot, one: AnswerField) -> bool:
    """Whether values of a field have the wanted type; outside of bodies, a number is valid for a text, because both are sent as text."""
    if slot.is_url:
        return shared_format(one.format) == _URL
    if not slot.kind or not one.kind or slot.kind == one.kind:
        return True
    if slot.location is not Location.BODY:
        return {slot.kind, one.kind} == {_TEXT, _WHOLE} and is_identifier(one.name)
    return False
