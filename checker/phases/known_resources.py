"""The values in the steps of a sequence, for the parameters of later steps."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct, field

from checker.checks.context import JudgedInteraction
from checker.checks.resources import scope_places
from checker.config.table import ALGORITHMS
from checker.core.case import NOT_SET
from checker.core.operation import Label, Operation, Place
from checker.core.request import Location, host_of
from checker.core.resource_names import Resource, affinity, is_identifier, normalised
from checker.core.resources import (
    CREATING,
    READING,
    REMOVING,
    SAFE,
    ResourceModel,
    ResourceUse,
    Transition,
    place_of,
    sent_at,
)
from checker.core.response import Response
from checker.health import may_change_caller
from checker.phases.bindings import expression_of, value_of
from checker.values.consumers import variable_kinds
from checker.values.harvest import DEEP, Places, ResponsePlace, json_of
from checker.values.locations import DescribedPaths, may_be_url, urls_in_headers

DECLARED, LOCATED, SAME_PATH, SENT = 2.0, 1.5, 1.0, 0.35
"""Certainty of values from links, from URLs, from the path and from the body of an earlier request."""
_BY_URL, _BY_NAME = ALGORITHMS
_IF_CHANGED: Final = {"if-none-match": "ETag", "if-modified-since": "Last-Modified"}
_IF_UNCHANGED: Final = {"if-match": "ETag", "if-unmodified-since": "Last-Modified"}
"""Conditional header -> response header with its value (RFC 9110, 8.8 and 13.1), for reading and for changing requests."""
_EACH: Final = re.compile(r"/\*(?=[/#]|$)")
"""The token of a JSON pointer that stands for every element."""
_LIKELY: Final = 0.3
# The fields beside a list were tried as names as well: `/collections/obs/items/FeatureCollection` was behind 60 of 891
# refusals on pygeoapi.
_NAMED: Final = 0.5
"""From this certainty on, the name of a field points to the variable, and not only its place."""
_STRANGE: Final = 0.3
# If a list is empty, the only texts in its response may be those of its links: on pygeoapi 153 steps asked for
# `/jobs/alternate` and `/jobs/self`, a sixth of all refusals.
_LINKS: Final = frozenset(("links", "_links"))
"""Members with descriptions of links (HAL, JSON:API, OGC API): `rel`, `type` and `title` name no resource, and the URL is read as one."""
_LONGEST_NAME: Final = 64
_MOST_URLS: Final = 20
_MISSING: Final = (404, 410)


class ValueOrigin(Struct, frozen=True):
    """One way to a value."""

    step: int
    expression: str  # Runtime expression of a link, as JSON.
    score: float


class PathVariable(Struct):
    """A variable of the path of a target."""

    name: str
    owner: Resource  # The collection that it chooses from.
    place: Place  # The place where a case names its value.
    kinds: tuple[type, ...]  # Kinds of values that fit.
    as_text: bool  # Whether an integer must be given as text.
    patterns: tuple[str, ...]  # Regular expressions with one group for the value.
    is_careful: bool
    """Whether the operation may remove resources that others need, so that it takes members that its own sequence created."""


class StepTarget(Struct):
    """The facts about one operation that steps to it need, computed once."""

    operation: Operation
    use: ResourceUse
    variables: tuple[PathVariable, ...]  # Innermost first.
    conditions: tuple[tuple[Place, str, bool], ...]
    """(conditional header, response header with its value, whether it is required)."""

    @classmethod
    def of(cls, operation: Operation, use: ResourceUse) -> "StepTarget":
        variables, is_removal = [], use.method == REMOVING and use.is_member
        for name, owner in reversed(use.owners):
            patterns = located_patterns(operation.resource_path, name)
            place, kinds = place_of(operation, name), variable_kinds(operation, name)
            is_careful = is_removal or may_change_caller(use.method, owner)
            variables.append(PathVariable(name, owner, place, *kinds, patterns, is_careful))
        asked = _IF_CHANGED if operation.resource_method in SAFE else _IF_UNCHANGED
        conditions = tuple(
            ((Location.HEADER, one.name), asked[one.name.lower()], one.required)
            for one in operation.parameters
            if one.location is Location.HEADER and one.name.lower() in asked
        )
        return cls(operation, use, tuple(variables), conditions)


class ResponseKind(Struct, eq=False):
    """The facts that all responses of one operation and status have in common, computed when they are first needed."""

    operation: Operation
    use: ResourceUse
    succeeded: bool  # Whether they are successes.
    transitions: Mapping[Label, Sequence[Transition]]  # Target operation -> transitions.
    declared: Sequence[Label]  # Targets of declared links, in document order.
    ways: dict[tuple[Label, str], Sequence[tuple[str, float]]] = field(default_factory=dict)
    """(target operation, variable of its path) -> (expression, certainty) of links and of the path of the request."""
    beside: dict[Label, Sequence[tuple[bool, Place, str]]] = field(default_factory=dict)
    """Target operation -> (whether it is inferred, place, expression) of the values of links outside of its path."""
    scopes: dict[Label, Sequence[Place]] = field(default_factory=dict)
    """Target operation -> places by which both operations may select a part of the API."""


class ShownStep(Struct):
    """The values of one step, each read once: all later steps need them."""

    sent: JudgedInteraction
    kind: ResponseKind
    use: ResourceUse  # The effect of the operation in the resource model.
    succeeded: bool  # Whether its response has a status of 2xx or 3xx.
    passed: Mapping[str, tuple[int, str]]
    """Expression of a part of the request that an earlier response gave -> (step, expression) of the origin."""
    used: Set[tuple[int, str]]  # (step, expression) of the values of a request that was refused.
    is_missing: bool  # Whether the request was refused because something does not exist.
    leaves: list[tuple[ResponsePlace, Any]] | None = None
    """The scalars of the body of its response; None until they are read."""
    is_list: bool | None = None  # Whether it lists the members of a collection; None until that is asked.
    urls: list[tuple[str, str]] | None = None
    """(expression, URL) of the URLs of this API in its response; None until they are read."""
    targets: tuple[Label, ...] | None = None  # Operations whose paths its URLs match; None until they are read.
    origins: dict[tuple[Label, str], ValueOrigin | None] = field(default_factory=dict)
    """(operation, path variable) -> the surest source of a value in this step."""


class SequenceModel(Struct):
    """The facts that the sequences of one worker share: they follow from the description and the statuses of responses."""

    model: ResourceModel
    operations: Mapping[Label, Operation]
    algorithms: Collection[str]  # Algorithms that infer undeclared links.
    host: str  # Host of the API: URLs of other hosts are ignored.
    described: DescribedPaths
    places: dict[Label, Places] = field(default_factory=dict)
    _kinds: dict[tuple[Label, int, bool], ResponseKind] = field(default_factory=dict)
    """(operation, status or 0 without a response, whether it is a success) -> the common facts of such responses."""
    _targets: dict[Label, StepTarget] = field(default_factory=dict)

    def target(self, label: Label) -> StepTarget:
        """Return the facts about an operation that steps to it need."""
        found = self._targets.get(label)
        if found is None:
            found = self._targets[label] = StepTarget.of(self.operations[label], self.model.uses[label])
        return found

    def shown(self, sent: JudgedInteraction) -> ShownStep:
        """Return a step of which nothing is read yet."""
        outcome, operation, meta = sent.outcome, sent.case.operation, sent.case.meta
        passed: dict[str, tuple[int, str]] = {}
        for binding in () if meta is None else meta.bindings:
            if binding.expression:
                place = request_place(binding.location, binding.name)
                passed.setdefault(place, (binding.step, binding.expression))
        status, succeeded = 0, False
        if isinstance(outcome, Response):
            status, succeeded = outcome.status_code, 200 <= operation.status_of(outcome) < 400
        key = (operation.label, status, succeeded)
        kind = self._kinds.get(key)
        if kind is None:
            responses, label = operation.definition.get("responses"), operation.label
            documented = tuple(map(str, responses)) if isinstance(responses, Mapping) else ()
            is_guessed = _BY_NAME in self.algorithms and succeeded
            found: dict[Label, Sequence[Transition]] = {}
            for target in self.model.followers(label) if status else ():
                ways = [
                    one
                    for one in self.model.transitions_to(target, label)
                    if (is_guessed if one.is_inferred else one.is_for(status, documented))
                ]
                if ways:
                    found[target] = ways
            declared = tuple(label for label, ways in found.items() if not all(one.is_inferred for one in ways))
            kind = ResponseKind(operation, self.model.uses[label], succeeded, found, declared)
            self._kinds[key] = kind
        used = frozenset(passed.values() if status and not succeeded else ())
        return ShownStep(sent, kind, kind.use, succeeded, passed, used, status in _MISSING)


class KnownResources(Struct):
    """Values of the responses of one sequence, by their meaning. Lives as long as its sequence."""

    shared: SequenceModel
    turn: int = 0  # Index of the element whose values are taken from a list that has it.
    steps: list[ShownStep] = field(default_factory=list)

    def read(self, sequence: Sequence[JudgedInteraction]) -> None:
        """Add the new steps. Steps that another sequence has in common with the known one are kept."""
        steps = self.steps
        del steps[len(sequence) :]
        # Two sequences that differ in a step differ in all later steps.
        while steps and steps[-1].sent is not sequence[len(steps) - 1]:
            steps.pop()
        steps += map(self.shared.shown, sequence[len(steps) :])

    def beside(self, target: Label) -> Iterator[tuple[int, bool, Place, str]]:
        """Yield (step, whether it is inferred, place, expression) of the values of links outside of the path of an operation."""
        for step, shown in enumerate(self.steps):
            kind = shown.kind
            values = kind.beside.get(target)
            if values is None:
                values = kind.beside[target] = [
                    (one.is_inferred, (value.location, value.name), json.dumps(value.value))
                    for one in kind.transitions.get(target, ())
                    for value in one.values
                    if value.location is not Location.PATH
                ]
            for value in values:
                yield step, *value

    def value(self, source: ValueOrigin) -> Any:
        """Return the value of a source; for a list, the value of the next element in turn; `NOT_SET` if there is none."""
        sent = self.steps[source.step].sent
        if self.turn:
            value = value_of(of_element(source.expression, self.turn), sent)
            if value is not NOT_SET:
                return value
        return value_of(source.expression, sent)

    def first_place(self, source: ValueOrigin) -> tuple[int, str]:
        """Return the step and expression that first gave a value, and not those of a request that only passed the value on.

        If the passing request were the source, it could not be removed from a sequence.
        """
        return self.steps[source.step].passed.get(source.expression) or (source.step, source.expression)

    def sources(self, target: StepTarget, variable: PathVariable) -> list[ValueOrigin]:
        """Return the sources of a path variable of the target, the surest of each step."""
        key, found = (target.use.label, variable.name), []
        for step, shown in enumerate(self.steps):
            if key in shown.origins:
                surest = shown.origins[key]
            else:
                surest = shown.origins[key] = self._surest(step, target, variable)
            if surest is not None:
                found.append(surest)
        return found

    def _surest(self, step: int, target: StepTarget, variable: PathVariable) -> ValueOrigin | None:
        """Return the surest source of one step, the first of equally sure ones; None if it has none."""
        shown = self.steps[step]
        kind = shown.kind
        key = (target.use.label, variable.name)
        ways = kind.ways.get(key)
        if ways is None:
            # These are the same for all responses of a kind.
            ways = []
            for one in kind.transitions.get(target.use.label, ()):
                for way in one.values:
                    if (way.location, way.name) == variable.place:
                        certainty = SAME_PATH if way.sent_pointer is None else SENT
                        ways.append((json.dumps(way.value), certainty if one.is_inferred else DECLARED))
            for name in kind.use.variables_for(target.use, variable.name) if kind.succeeded else ():
                ways.append((request_place(*place_of(kind.operation, name)), SAME_PATH))
            kind.ways[key] = ways
        found = [ValueOrigin(step, *way) for way in ways]
        if not kind.succeeded or kind.use.method != REMOVING:
            # Sources in `Location` and in URLs of the body that contain a resource of the target path.
            for place, value in self._urls_of(step):
                pattern = next((one for one in variable.patterns if re.search(one, value)), None)
                if pattern is not None:
                    found.append(ValueOrigin(step, json.dumps(f"{place}#regex:{pattern}"), LOCATED))
        # A value that only shares the name is less sure than all others, except values of request bodies.
        if all(way.score == SENT for way in found):
            found += self._named(step, variable)
        return max(found, key=lambda way: way.score, default=None)

    def validators(self, target: StepTarget) -> Iterator[tuple[Place, bool, ValueOrigin]]:
        """Yield (conditional header, whether it is required, source of its value), from the latest step that shows the resource."""
        for place, name, is_required in target.conditions:
            for step in range(len(self.steps) - 1, -1, -1):
                shown, use = self.steps[step], target.use
                has_header = isinstance(shown.sent.outcome, Response) and name.lower() in shown.sent.outcome.headers
                # The step has to have used the resource without removing it.
                is_maker = shown.use.method in CREATING and shown.use.resource == use.resource and use.is_member
                is_same = shown.use.path == use.path and shown.use.method != REMOVING
                if has_header and shown.succeeded and (is_same or is_maker):
                    yield place, is_required, ValueOrigin(step, json.dumps(f"$response.header.{name}"), SAME_PATH)
                    break

    def scopes(self, target: StepTarget) -> Iterator[tuple[Place, ValueOrigin]]:
        """Yield (parameter, source of its value) of the parameters that select the tenant or workspace."""
        found: dict[Place, ValueOrigin] = {}
        for step, shown in enumerate(self.steps):
            kind = shown.kind
            places = kind.scopes.get(target.use.label)
            if places is None:
                places = kind.scopes[target.use.label] = tuple(scope_places(target.operation, kind.operation))
            for place in places if kind.succeeded else ():
                if sent_at(shown.sent.case, place) is not None:
                    found.setdefault(place, ValueOrigin(step, request_place(*place), SENT))
        yield from found.items()

    def _urls_of(self, step: int) -> list[tuple[str, str]]:
        """Return (expression, URL) of the URLs of this API in a response; none if links are not inferred from them."""
        shown = self.steps[step]
        if shown.urls is None:
            outcome, shared = shown.sent.outcome, self.shared
            if not isinstance(outcome, Response) or _BY_URL not in shared.algorithms:
                shown.urls = []
                return shown.urls
            found = [(f"$response.header.{name.title()}", url) for name, url in urls_in_headers(outcome)]
            known, most = {url for _, url in found}, len(found) + _MOST_URLS
            # Most responses hold no such URL: searching for the first segments of paths costs less than reading all leaves.
            is_read = shared.described.may_be_in(outcome.readable.content)
            for place, value in self._leaves_of(step) if is_read else ():
                if value.__class__ is str and "/" in value and may_be_url(value) and value not in known:
                    # Refusals often repeat the URL of the request.
                    if shown.succeeded or shared.described.template(value) != shown.use.path:
                        found.append((f"$response.body#{place.origin[1]}", value))
                    if len(found) == most:
                        break
            shown.urls = []
            for expression, url in found:
                # Servers also send malformed URLs.
                with suppress(ValueError):
                    host = urlsplit(url).hostname
                    if host is None or host_of(host) == host_of(shared.host):
                        shown.urls.append((expression, url))
        return shown.urls

    def located_targets(self, step: int) -> tuple[Label, ...]:
        """Return the operations whose paths the URLs of a step match, but for those of its own path."""
        shown = self.steps[step]
        if shown.targets is None:
            shown.targets, use, shared = (), shown.use, self.shared
            if use.method != REMOVING and (urls := self._urls_of(step)):
                others = {shared.described.template(url) for _, url in urls} - {use.path, ""}
                if others:
                    shown.targets = tuple(one.label for one in shared.model.uses.values() if one.path in others)
        return shown.targets

    def _named(self, step: int, variable: PathVariable) -> Iterator[ValueOrigin]:
        shown = self.steps[step]
        if _BY_NAME not in self.shared.algorithms or not shown.succeeded or shown.use.method == REMOVING:
            return
        kinds = variable.kinds
        for place, value in self._leaves_of(step):
            likely = affinity(variable.name, variable.owner, place.name, shown.use.resource)
            if likely < _LIKELY or not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                continue
            if not _LINKS.isdisjoint(place.origin[1].split("/")):
                continue
            is_telling = is_identifier(place.name) or normalised(variable.name) == place.name
            score = likely
            if not is_telling and isinstance(value, bool | float):
                score *= 0.1
            elif not is_telling and isinstance(value, str):
                # Identifiers are neither empty nor long, and have no spaces in them.
                is_strange = not value or len(value) > _LONGEST_NAME or any(sign in value for sign in " /\n")
                score *= _STRANGE if is_strange else 1.0
            is_around = score < _NAMED and place.origin[1].count("/") == 1
            if is_around and shown.is_list is None:
                # Fields beside a list, such as `type` and `count`, are not about its members.
                body = json_of(shown.sent.outcome) if isinstance(shown.sent.outcome, Response) else None
                parts = body.values() if isinstance(body, dict) else ()
                is_of_all = shown.use.method in READING and not shown.use.is_member
                shown.is_list = is_of_all and any(isinstance(part, list) for part in parts)
            if score >= _LIKELY and not (is_around and shown.is_list):
                yield ValueOrigin(step, json.dumps(f"$response.body#{place.origin[1]}"), score)

    def _leaves_of(self, step: int) -> list[tuple[ResponsePlace, Any]]:
        shown = self.steps[step]
        if shown.leaves is None:
            operation, outcome = shown.sent.case.operation, shown.sent.outcome
            assert isinstance(outcome, Response)
            places = self.shared.places.get(operation.label)
            if places is None:
                places = self.shared.places[operation.label] = Places(operation.label)
            leaves = places.leaves(outcome, DEEP, operation.read_answer)
            shown.leaves = [one for one in leaves if not one[0].origin[1].startswith("header:")]
        return shown.leaves


@lru_cache(maxsize=4096)
def request_place(location: Location, name: str) -> str:
    """Return the runtime expression of a part of a request, as JSON."""
    return json.dumps(f"$request.body#{name}" if location is Location.BODY else f"$request.{location}.{name}")


@lru_cache(maxsize=4096)
def of_element(expression: str, turn: int) -> str:
    """Return the expression for one element of a list, in place of all of them; both as JSON."""
    raw = expression_of(expression)
    return json.dumps(_EACH.sub(f"/{turn}", raw, count=1)) if isinstance(raw, str) else expression


@lru_cache(maxsize=4096)
def located_patterns(path: str, name: str) -> tuple[str, ...]:
    """Return regular expressions with one group for a variable: URLs of the path and of its parents, longest first."""
    segments = [segment for segment in path.split("/") if segment]
    variable, found = "{" + name + "}", []
    for end in range(len(segments), 0, -1):
        above = segments[:end]
        if any(variable in one for one in above) and (end == len(segments) or variable in above[-1]):
            # The variable is the group; other variables match any segment.
            pieces = [piece for one in above for piece in ("/", *re.split(r"(\{[^{}]*\})", one))][1:]
            whole = "".join(
                ("([^/?#{>]+)" if one == variable else "[^/?#{>]+") if one.startswith("{") else re.escape(one)
                for one in pieces
            )
            # In a header `Link` a URL ends at `>`.
            pattern = f"(?:^|/){whole}/?(?:[?#{{][^>]*)?(?:>|$)"
            if re.compile(pattern).groups == 1:
                found.append(pattern)
    return tuple(found)
