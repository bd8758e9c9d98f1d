"""The reader of JSON Schema for generation: a form has all constraints on a value, from references, `allOf` and siblings.

Children of a form are conjunctions and are read on demand, so that recursive schemas need no special case.
"""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from msgspec.structs import replace

from checker.core.digests import digest
from checker.core.schema import Dialect, Direction, Document, UnresolvableReference, pointer_child, target_of
from checker.generation.normalization.complements import COINED, complement
from checker.generation.normalization.forms import (
    Branches,
    Canonical,
    Conjunction,
    Facet,
    FacetKey,
    Properties,
    Reason,
    inverse,
    made,
    pointer_of,
)
from checker.generation.normalization.reading import (
    ARRAY_KEYWORDS,
    SCALAR_KEYWORDS,
    finish_arrays,
    read_arrays,
    read_content,
    read_examples,
    read_scalars,
    read_types,
    says_content,
)
from checker.generation.regexes import matcher
from checker.generation.sources.context import Budget
from checker.schema.discriminators import Family, family_of, has_bases, is_heir
from checker.schema.keywords import keywords_of, understood
from checker.schema.scopes import HAS_SIBLINGS, Scope, dialect_at, entered, resolve_dynamic
from checker.validation.compiled import Compiled

_SMALL: Final = 200  # Values that are searched for references; larger schemas count as having some.
SchemaKey = tuple[Scope, str, str]
"""Scope of a schema, and its pointer or the digest of its text. Equal schemas have a key in common."""
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef", "$id", "id")


def _schema_keys(facet: Facet) -> tuple[SchemaKey, ...]:
    raw = facet.raw
    if not isinstance(raw, dict) or not facet.without.isdisjoint(raw):
        return ()
    place = (facet.scope, facet.pointer, "")
    # In another document, an equal reference may have a different target.
    if _refers(raw):
        return (place,)
    # A digest, because in Python 1, 1.0 and true are equal, and because a default may have ten megabytes.
    return place, (facet.scope, "", digest(json.dumps(raw, sort_keys=True, default=repr)))


def _refers(raw: Any) -> bool:
    """Whether a schema contains references, or is too large to search."""
    todo = [raw]
    for _ in range(_SMALL):
        if not todo:
            return False
        one = todo.pop()
        if isinstance(one, dict):
            if any(isinstance(one.get(name), str) for name in _REFERENCES):
                return True
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
    return True


def properties_of(facet: Facet, raw: dict[str, Any]) -> Properties:
    """Return the constraints of one schema on properties."""
    named = {name: facet.below(value, "properties", name) for name, value in (raw.get("properties") or {}).items()}
    patterns = tuple(
        (pattern, matcher(pattern), facet.below(value, "patternProperties", pattern))
        for pattern, value in (raw.get("patternProperties") or {}).items()
    )
    rest = raw.get("additionalProperties")
    place = None if rest is None else facet.below(rest, "additionalProperties")
    return Properties(named, patterns, place, facet.is_made and not facet.annotates)


def read_rest(said: Properties, raw: dict[str, Any], facet: Facet, found: Canonical) -> None:
    """Add the constraints of a schema on undeclared properties."""
    if said.rest is not None:
        found.objects.declares_additional = True
        if said.rest.raw is False:
            found.objects.closed_at = found.objects.closed_at or said.rest.pointer
        else:
            found.objects.additional += (said.rest,)
    for pattern, _, schema in said.patterns:
        found.objects.pattern_properties.append((pattern, schema))
    if "propertyNames" in raw:
        found.objects.names += (facet.below(raw["propertyNames"], "propertyNames"),)
    if "unevaluatedProperties" in raw:
        # Only the validator knows which properties other keywords evaluate.
        found.needs_check = True
        found.objects.unevaluated += (facet.below(raw["unevaluatedProperties"], "unevaluatedProperties"),)


def read_unevaluated(found: Canonical) -> None:
    """Apply `unevaluatedProperties` to properties that no facet constrains."""
    if not found.objects.unevaluated or any(rule.rest is not None for rule in found.objects.rules):
        return
    found.objects.declares_additional = True
    for facet in found.objects.unevaluated:
        if facet.raw is False:
            found.objects.closed_at = found.objects.closed_at or facet.pointer
    found.objects.additional += found.objects.unevaluated


_WAYS: Final = 24  # Ways to break a schema that are listed individually.
_BOTH: Final = "the schema is required and forbidden"
_INNER: Final = frozenset({"items", "prefixItems", "contains", "propertyNames", "not"})


def _denied(way: Conjunction) -> Facet | None:
    """Return the schema of a way that consists of one inverse; None if the way has other parts."""
    if len(way) != 1 or not isinstance(way[0].raw, dict):
        return None
    inner = way[0].raw.get("not")
    return inner if way[0].is_made and isinstance(inner, Facet) else None


def _depth(way: Conjunction) -> int:
    """Return the depth to which the parts of a way can be broken; 0 if all parts are derived and contain no other schema."""
    if _denied(way) is not None:
        return 2
    return int(any(not (one.is_made and isinstance(one.raw, dict) and _INNER.isdisjoint(one.raw)) for one in way))


_MOST = 3  # Properties with dependents. Each of them doubles the alternatives.
_DEPENDENT = ("dependentRequired", "dependentSchemas", "dependencies")


def conditions(facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
    """Add the alternatives that follow from the conditions of a schema."""
    if "if" in raw and ("then" in raw or "else" in raw):
        condition, then, other = (facet.below(raw.get(name, True), name) for name in ("if", "then", "else"))
        ways_of_if = ((condition, then), (inverse(condition), other))
        found.branches.append(Branches(condition.pointer, facet, "if", ways_of_if))
    for keyword in _DEPENDENT:
        dependents = raw.get(keyword)
        if not dependents:
            continue
        at = pointer_child(facet.pointer, keyword)
        if len(dependents) > _MOST:
            found.opaque[at] = keyword
            continue
        # Two alternatives for each: the property with its dependents, or no such property.
        ways: list[tuple[Conjunction, Conjunction]] = []
        for name, asked in dependents.items():
            names = asked if isinstance(asked, list) else []
            tag = f"{facet.tag}{keyword} {name}"
            there: Conjunction = (made(facet, f"{tag} there", {"required": [name, *names]}),)
            if not isinstance(asked, list):
                there += (facet.below(asked, keyword, name),)
            ways.append((there, (made(facet, f"{tag} absent", {"properties": {name: False}}),)))
        alternatives = tuple(sum(chosen, ()) for chosen in product(*ways))
        found.branches.append(Branches(at, facet, keyword, alternatives))


_ANNOTATIONS: Final = frozenset(
    {"description", "title", "$comment", "deprecated", "externalDocs", "xml", "readOnly", "writeOnly"}
)
_NULLABLE = {Dialect.OPENAPI20: "x-nullable", Dialect.OPENAPI30: "nullable"}
_NEWEST, _OLDEST = keywords_of(Dialect.DRAFT2020), keywords_of(Dialect.DRAFT4)
_HIDDEN_FLAG = {Direction.REQUEST: "readOnly", Direction.RESPONSE: "writeOnly"}
_RULES = 100  # Constraints on properties that cost one step of the budget.
_BRANCHING: Final = frozenset(("anyOf", "oneOf", "if", "dependentRequired", "dependentSchemas", "dependencies"))
Read = list[tuple[Facet, dict[str, Any]]]  # Facets with their valid keywords.


ValidatorKey = tuple[str, frozenset[str], str, Scope]
"""Pointer, omitted keywords, tag and scope of a facet: everything that determines the valid values."""


FormKey = tuple[FacetKey, ...]
Forms = dict[FormKey, tuple[Conjunction, Canonical, int]]
"""Forms of one document in one direction: conjunction -> (conjunction, form, steps that reading it took)."""
_MOST_FORMS: Final = 4_000  # Forms that are kept, about 16 MiB.


class Canon:
    """Reads the schemas of one document in one direction (requests or responses)."""

    def __init__(
        self, document: Document, dialect: Dialect, direction: Direction, budget: Budget | None = None
    ) -> None:
        self.document = document
        self.dialect = dialect
        self.direction = direction
        self.budget = budget or Budget()
        self.validators: dict[ValidatorKey, Compiled] = {}
        """Compiled validators of facets, built on first use."""
        self._schema_keys: dict[tuple[str, frozenset[str], Scope], tuple[SchemaKey, ...]] = {}
        # The operations of a document share forms: without sharing, compiling takes 1.1 to 1.2 times as long.
        self._forms: Forms = document.facts.setdefault((Canon, dialect, direction), {})
        self._read: dict[tuple[FacetKey, ...], Canonical] | None = {}
        """Forms of conjunctions; None after `settle`."""
        self._families: dict[str, Family | None] = {}
        """Pointer -> base schema with a discriminator."""
        self._heirs: dict[str, bool] = {}
        self._has_bases = has_bases(document)
        self._nullable = _NULLABLE.get(dialect)
        self._flag = _HIDDEN_FLAG[direction]

    def canonical(self, conjunction: Conjunction) -> Canonical:
        """Return the form of a conjunction; it is read once. Raises `UnresolvableReference` and `BudgetSpent`."""
        # The order is part of the key, because a form has the pointer of its first facet.
        key = tuple([facet.key for facet in conjunction])
        read = self._read
        found = read.get(key) if read is not None else None
        if found is None:
            # Another operation may have read the form. Tags of derived facets are unique only within one operation.
            forms = self._forms
            kept = forms.get(key)
            if kept is not None and kept[0] == conjunction:
                # The steps are charged anyway, so that what a budget omits does not depend on the order of operations.
                self.budget.spend(kept[1].pointer, kept[2])
                found = kept[1]
            else:
                before = self.budget.steps
                form = self._canonical(conjunction)
                if len(forms) >= _MOST_FORMS:
                    forms.clear()
                forms[key] = conjunction, form, before - self.budget.steps
                found = form
            if read is not None:
                # A body with three media types asks three times, and negation repeats that.
                read[key] = found
        return found

    def settle(self) -> None:
        """Drop the forms that are not shared. A compiled operation needs few of them and is kept for long."""
        self._read = None
        self._schema_keys.clear()

    def _canonical(self, conjunction: Conjunction) -> Canonical:
        """Read a form. References and `allOf` are flattened first, because keywords of all facets restrict each other."""
        found = Canonical(pointer_of(conjunction))
        seen: set[FacetKey] = set()
        for facet in conjunction:
            self._flatten(facet, seen, found)
        read = [(facet, self.said(facet)) for facet in found.facets]
        if found.forbidden:
            self._drop_contradictions(found)
        self._read_objects(read, found)
        for facet, raw in read:
            whole: Any = facet.raw
            nullable = self._nullable is not None and whole.get(self._nullable) is True
            read_types(facet, raw, found, nullable=nullable)
            said = raw.keys()
            if not said.isdisjoint(SCALAR_KEYWORDS):
                read_scalars(facet, raw, found)
            if not said.isdisjoint(ARRAY_KEYWORDS):
                read_arrays(facet, raw, found, self._dialect_at(facet))
            if not said.isdisjoint(_BRANCHING):
                self._read_branches(facet, raw, found)
            read_examples(self.document, facet, found)
            if says_content(facet):
                read_content(facet, found, self._dialect_at(facet))
        finish_arrays(found)
        if self.direction is Direction.REQUEST:
            self._read_heirs(found)
        if len(found.branches) > 1:
            # Decide each `not` last, those with the most ways at the end, because they restrict the others least: earlier
            # choices may already have decided them.
            found.branches.sort(key=lambda one: len(one.alternatives) if one.keyword == "not" else 0)
        return found

    def _read_heirs(self, found: Canonical) -> None:
        """Add the schemas that extend a base schema with a discriminator as its alternatives.

        A base is skipped if one of its heirs applies to the value as well, because the choice is made then. It is also
        skipped if it lacks keywords, because one of them is being broken.
        """
        places = {facet.pointer for facet in found.facets}
        for base in found.facets:
            raw: Any = base.raw
            if "discriminator" not in raw or base.is_made or base.without or "discriminator" in base.taken:
                continue
            if base.pointer not in self._families:
                self._families[base.pointer] = family_of(raw, base.pointer, self.document.root, self.lookup)
            family = self._families[base.pointer]
            if family is None or not places.isdisjoint(heir.where for heir in family.heirs):
                continue
            name, ways = family.property_name, []
            for names, heir in (*((one.names, one) for one in family.heirs), (family.own_names, None)):
                if heir is None and not names:
                    continue
                self.budget.spend(base.pointer)
                pinned = {"required": [name]} | ({"properties": {name: {"enum": list(names)}}} if names else {})
                pin = made(base, f"discriminator {heir.where if heir else ''}", pinned)
                # Some services accept only the heirs. Such targets refused every request drawn from the base, and the
                # refusals were reported as failures.
                ways.append((pin,) if heir is None else (self._referred(base, heir.raw, heir.where), pin))
            at = pointer_child(base.pointer, "discriminator")
            found.branches.append(Branches(at, base, "discriminator", tuple(ways)))

    def lookup(self, reference: str, at: str) -> tuple[object, str] | None:
        """Return the target of a reference and its pointer; None if there is no target."""
        return target_of(self.document, reference, at)

    def target(self, facet: Facet) -> Facet:
        """Return the target of a facet that consists of one reference, or the facet itself. Raises `UnresolvableReference`."""
        seen = set()
        while facet.key not in seen and not facet.is_partial and isinstance(facet.raw, dict):
            seen.add(facet.key)
            raw, at = facet.raw, facet.pointer
            said = [name for name in raw if name not in _ANNOTATIONS]
            parts = raw.get("allOf")
            if isinstance(raw.get("$ref"), str) and (len(said) == 1 or not self._has_siblings(facet)):
                facet = self._referred(facet, *self.document.resolve(raw["$ref"], at=at))
            elif said == ["allOf"] and isinstance(parts, list) and len(parts) == 1 and not self._is_heir(facet):
                facet = facet.below(parts[0], "allOf", "0")
            else:
                break
        return facet

    def parts(self, conjunction: Conjunction) -> Conjunction:
        """Return a conjunction in which each schema that consists of `allOf` is replaced by its parts.

        Schemas that contain each other then form a limited number of sets, and each set is read once.
        """
        if all(not self._is_sum(facet) for facet in conjunction):
            return conjunction
        found: dict[FacetKey, Facet] = {}
        # Ten schemas that contain each other by `allOf` were refused at depth 90 when each path through them counted as
        # a new schema.
        todo = list(reversed(conjunction))
        seen: set[FacetKey] = set()
        while todo:
            facet = todo.pop()
            if facet.key in seen:
                continue
            seen.add(facet.key)
            if not self._is_sum(facet):
                found[facet.key] = facet
                continue
            raw: Any = facet.raw
            for index, part in reversed(list(enumerate(raw["allOf"]))):
                try:
                    todo.append(self.target(facet.below(part, "allOf", str(index))))
                except UnresolvableReference:
                    return conjunction
        return tuple(found.values())

    def _is_sum(self, facet: Facet) -> bool:
        raw = facet.raw
        return (
            isinstance(raw, dict)
            and isinstance(raw.get("allOf"), list)
            and not facet.is_partial
            and all(name == "allOf" or name in _ANNOTATIONS for name in raw)
            and not self._is_heir(facet)
        )

    def _is_heir(self, facet: Facet) -> bool:
        """Whether a discriminator selects a schema by its name, so that the schema is more than its parts."""
        at = facet.pointer
        if self._has_bases and at not in self._heirs:
            self._heirs[at] = is_heir(facet.raw, at, self.lookup)
        return self._has_bases and self._heirs[at]

    def _referred(self, facet: Facet, value: object, place: str) -> Facet:
        scope = entered(self.document, facet.scope, facet.pointer)
        return Facet(value, place, scope=entered(self.document, scope, place))

    def _dialect_at(self, facet: Facet) -> Dialect:
        return dialect_at(self.document, facet.pointer, self.dialect)

    def _has_siblings(self, facet: Facet) -> bool:
        return self._dialect_at(facet) in HAS_SIBLINGS

    def _flatten(self, facet: Facet, seen: set[FacetKey], found: Canonical) -> None:
        """Add a facet, the targets of its references and the parts of its `allOf`. All of them constrain the same value."""
        if facet.raw is False:
            found.impossible = Reason(facet.pointer, "the schema `false` admits nothing")
        raw = facet.raw
        if not isinstance(raw, dict):
            return
        facet = self._entered(facet)
        if facet.key in seen:
            return
        seen.add(facet.key)
        # Work is counted and not nodes: a node that combines thirty alternatives costs a hundred times more than a plain one.
        self.budget.spend(facet.pointer)
        for target in self._references(facet, raw):
            self._flatten(target, seen, found)
        if isinstance(raw.get("$ref"), str) and not self._has_siblings(facet):
            return
        found.facets.append(facet)
        parts = raw.get("allOf")
        if isinstance(parts, list) and "allOf" not in facet.unread:
            for index, part in enumerate(parts):
                self._flatten(facet.below(part, "allOf", str(index)), seen, found)
        inner = raw.get("not")
        if isinstance(inner, dict | bool | Facet) and "not" not in facet.unread:
            self._push_in(facet, facet.below(inner, "not"), seen, found)

    def _entered(self, facet: Facet) -> Facet:
        scope = entered(self.document, facet.scope, facet.pointer)
        return facet if scope == facet.scope else replace(facet, scope=scope)

    def _references(self, facet: Facet, raw: dict[str, Any]) -> Iterator[Facet]:
        reference = raw.get("$ref")
        if isinstance(reference, str) and "$ref" not in facet.unread:
            yield self._referred(facet, *self.document.resolve(reference, at=facet.pointer))
        if "$dynamicRef" not in facet.unread:
            dynamic = resolve_dynamic(self.document, raw, facet.pointer, facet.scope)
            if dynamic is not None:
                yield self._referred(facet, *dynamic)

    def _push_in(self, facet: Facet, inner: Facet, seen: set[FacetKey], found: Canonical) -> None:
        """Replace a `not` by its complement: one more facet if the inner schema can be broken in one way, alternatives if in several."""
        at = pointer_child(facet.pointer, "not")
        found.forbidden.append((self.target(inner), at))
        alternatives, is_whole = self.broken(inner)
        if alternatives and not is_whole:
            # Unlisted ways are left to random draws and the validator.
            alternatives = (*alternatives, ())
            found.opaque[at] = "not"
        if len(alternatives) == 1:
            found.pushed.add(facet.key)
            for other in alternatives[0]:
                self._flatten(other, seen, found)
        elif alternatives:
            found.branches.append(Branches(at, facet, "not", alternatives))
        elif is_whole:
            found.impossible = Reason(at, "everything satisfies the schema under `not`")
        else:
            found.opaque[at] = "not"

    def broken(self, facet: Facet) -> tuple[tuple[Conjunction, ...], bool]:
        """Return the ways to break a schema, and whether the list is complete. Raises `UnresolvableReference`."""
        raw = facet.raw
        if not isinstance(raw, dict):
            return ((),) if raw is False else (), True
        facet = self._entered(facet)
        alternatives: list[Conjunction] = [(inverse(target),) for target in self._references(facet, raw)]
        if isinstance(raw.get("$ref"), str) and not self._has_siblings(facet):
            return tuple(alternatives), True
        ways, is_whole = complement(facet, self.said(facet))
        return (*alternatives, *ways), is_whole

    def _drop_contradictions(self, found: Canonical) -> None:
        """Drop the ways to satisfy a `not` that contradict a required schema. Raises `UnresolvableReference`."""
        # Each inverse multiplies the ways of the next, dead ends included. Nested filters of five types (`gt`, `gte`,
        # `lt`, `lte` over a shared base) took the whole budget of 60,000 steps; with this order they take 900.
        required: set[SchemaKey] = set()
        if found.forbidden or any(_denied(way) for one in found.branches for way in one.alternatives):
            required.update(key for facet in found.facets for key in self._keys_of(facet))
        for inner, at in found.forbidden:
            if not required.isdisjoint(self._keys_of(inner)):
                found.impossible = found.impossible or Reason(at, _BOTH)
        found.branches = [self._unfolded(branches, found, required) for branches in found.branches]

    def _unfolded(self, branches: Branches, found: Canonical, required: set[SchemaKey]) -> Branches:
        """Return alternatives of a `not` in which references are replaced by the ways to break their targets."""
        ways: list[Conjunction] = []
        todo = list(reversed(branches.alternatives))
        seen: set[FacetKey] = set()
        while todo:
            way = todo.pop()
            inner = _denied(way)
            if inner is None or len(ways) + len(todo) >= _WAYS:
                ways.append(way)
                continue
            inner = self.target(inner)
            if inner.key in seen or not required.isdisjoint(self._keys_of(inner)):
                continue
            seen.add(inner.key)
            more, is_whole = self.broken(inner)
            if is_whole:
                todo.extend(reversed(more))
            else:
                ways.append(way)
        if not ways:
            found.impossible = found.impossible or Reason(branches.pointer, _BOTH)
        # The way that is decided first comes first.
        return replace(branches, alternatives=tuple(sorted(ways, key=_depth)))

    def _keys_of(self, facet: Facet) -> tuple[SchemaKey, ...]:
        """Return the keys of a schema of the document; they are computed once."""
        if facet.is_made:
            return ()
        key = (facet.pointer, facet.without, facet.scope)
        found = self._schema_keys.get(key)
        if found is None:
            found = self._schema_keys[key] = _schema_keys(facet)
        return found

    def said(self, facet: Facet) -> dict[str, Any]:
        """Return the keywords of a schema that are defined in its dialect and have valid values."""
        raw: Any = facet.raw
        unread = facet.unread
        if facet.is_made:
            kept = {}
            for name, value in raw.items():
                if name in unread:
                    continue
                # In a derived schema, keywords of any dialect and internal keywords are allowed.
                keywords = (_NEWEST.get(name), _OLDEST.get(name))
                is_meant = isinstance(value, Facet) or name in COINED
                if is_meant or any(one is not None and one.is_well_formed(value) for one in keywords):
                    kept[name] = value
            return kept
        said = understood(raw, keywords_of(self._dialect_at(facet)))
        return {name: value for name, value in said.items() if name not in unread} if unread else said

    def _read_objects(self, read: Read, found: Canonical) -> None:
        said = found.objects.rules = [properties_of(facet, raw) for facet, raw in read]
        named = [item for properties in said for item in properties.named.items()]
        # Demands of the target are derived facets: some services accept a property that their description calls read-only.
        demanded = {name for facet, raw in read if facet.is_made for name in raw.get("required") or ()}
        found.objects.hidden = {name for name, facet in named if name not in demanded and self._is_hidden(facet)}
        names = [name for name, _ in named]
        for (facet, raw), properties in zip(read, said, strict=True):
            for name in raw.get("required") or ():
                if name not in found.objects.hidden:
                    found.objects.required.setdefault(name, pointer_child(facet.pointer, "required"))
            found.objects.count.read(raw, facet.pointer)
            read_rest(properties, raw, facet, found)
        read_unevaluated(found)
        if found.objects.pattern_properties:
            # A required name may match a name pattern. Without patterns, a name is an additional property.
            names += [name for _, raw in read for name in raw.get("required") or ()]
        # Each name is looked up in each schema.
        self.budget.spend(found.pointer, len(names) * len(said) // _RULES)
        for name in dict.fromkeys(names):
            if name not in found.objects.hidden:
                found.objects.properties[name] = found.objects.of_name(name)

    def _is_hidden(self, facet: Facet) -> bool:
        raw, at = facet.raw, facet.pointer
        for _ in range(8):
            if not isinstance(raw, dict):
                return False
            if raw.get(self._flag) is True:
                return True
            reference = raw.get("$ref")
            if isinstance(reference, str):
                found = self.lookup(reference, at)
                if found is None:
                    return False
                raw, at = found
            elif isinstance(raw.get("allOf"), list) and len(raw["allOf"]) == 1:
                raw, at = raw["allOf"][0], pointer_child(at, "allOf", "0")
            else:
                return False
        return False

    def _read_branches(self, facet: Facet, raw: dict[str, Any], found: Canonical) -> None:
        for keyword in ("anyOf", "oneOf"):
            if keyword in raw:
                at = pointer_child(facet.pointer, keyword)
                alternatives = tuple(
                    (facet.below(part, keyword, str(index)),) for index, part in enumerate(raw[keyword])
                )
                found.branches.append(Branches(at, facet, keyword, alternatives))
        whole: Any = facet.raw
        # A discriminator distinguishes even equal alternatives.
        listed = () if "discriminator" in whole else raw.get("oneOf") or ()
        # In nearly all schemas the first alternative is unique, and then no others are compared.
        if 2 <= len(listed) <= _MANY and all(
            any(_equal(one, other) for at, other in enumerate(listed) if at != index)
            for index, one in enumerate(listed)
        ):
            text = "every alternative occurs twice, so no value satisfies exactly one"
            found.impossible = Reason(pointer_child(facet.pointer, "oneOf"), text)
        conditions(facet, raw, found)


_MANY: Final = 256  # Alternatives that are compared with each other.
_MOST_NODES: Final = 50_000  # Nodes that are compared. YAML aliases expand to trees with far more.


def _equal(left: Any, right: Any) -> bool:
    """Whether two schemas are equal; False if the comparison would take too long."""
    todo = [(left, right)]
    for _ in range(_MOST_NODES):
        if not todo:
            return True
        one, other = todo.pop()
        if one is other:
            continue
        if type(one) is not type(other):
            return False
        if isinstance(one, dict) and one.keys() == other.keys():
            todo.extend((one[name], other[name]) for name in one)
        elif isinstance(one, list) and len(one) == len(other):
            todo.extend(zip(one, other, strict=True))
        elif isinstance(one, dict | list) or one != other:
            return False
    return not todo
