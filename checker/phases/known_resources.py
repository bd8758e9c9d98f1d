"""The values that the steps of a sequence have shown, for the parameters of later steps."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct, field

from checker.checks.resources import scope_places
from checker.config.table import ALGORITHMS
from checker.core.operation import Label, Operation, Place
from checker.core.request import Location, host_of
from checker.core.resource_names import Resource, affinity, is_identifier, normalised
from checker.core.resources import (
    CREATING,
    REMOVING,
    SAFE,
    ResourceModel,
    ResourceUse,
    TakenValue,
    Transition,
    place_of,
    sent_at,
    status_of,
)
from checker.core.response import Response
from checker.phases.bindings import SentCase
from checker.values.consumers import variable_kinds
from checker.values.harvest import DEEP, Places

DECLARED, LOCATED, SAME_PATH, SENT = 2.0, 1.5, 1.0, 0.35
"""How sure a value is that a link gives, that a URL names, that stood in the path of an earlier request, or in its body."""
_BY_URL, _BY_NAME = ALGORITHMS
_IF_CHANGED: Final = {"if-none-match": "ETag", "if-modified-since": "Last-Modified"}
_IF_UNCHANGED: Final = {"if-match": "ETag", "if-unmodified-since": "Last-Modified"}
"""Conditions of requests -> what servers say for them of a state (RFC 9110, 8.8 and 13.1); one for reading, one for changing."""
_LIKELY: Final = 0.3
_STRANGE: Final = 0.3
_LONGEST_NAME: Final = 64
_MOST_URLS: Final = 20
_URL = re.compile(r"(?:https?://[^/\s]+)?(/[^\s?#]*)")


class ValueOrigin(Struct, frozen=True):
    """One way to a value."""

    step: int
    expression: Any
    """As it stands in a link."""
    score: float


class LinkTargets(Struct, frozen=True):
    """The links of a response, by its operation and status."""

    transitions: Mapping[Label, Sequence[Transition]]
    """By the operation that they lead to."""
    declared: Sequence[Label]
    """Those that a link of the description leads to, in document order."""


NOWHERE: Final = LinkTargets({}, ())


class ShownStep(Struct):
    """The content of one step. Immutable: the steps that follow read it again and again."""

    sent: SentCase
    use: ResourceUse
    """Where its operation stands."""
    succeeded: bool
    """Whether it has an answer of 2xx or 3xx."""
    leaves: list[tuple[str, str, Any]] | None = None
    """(field, pointer, value) of the scalars in its answer; None: nobody asked yet."""
    urls: list[tuple[str, str]] | None = None
    """(expression, URL) of what it says of the API itself."""
    leads: "LinkTargets | None" = None
    """Where its answer leads; None: nobody asked yet."""
    origins: dict[tuple[Label, str], ValueOrigin | None] = field(default_factory=dict)
    """(operation, variable of its path) -> the surest way to a value that it shows, as far as asked."""

    @classmethod
    def of(cls, sent: SentCase, model: ResourceModel) -> "ShownStep":
        """A step of which nothing was read yet."""
        outcome, operation = sent.outcome, sent.case.operation
        succeeded = isinstance(outcome, Response) and 200 <= status_of(operation, outcome) < 400
        return cls(sent, model.uses[operation.label], succeeded)


class KnownResources(Struct):
    """Values of the answers of one sequence, by what they mean. Lives as long as its sequence."""

    model: ResourceModel
    algorithms: Collection[str]
    """Ways to links that nobody declared."""
    host: str
    """Of the API: other hosts' URLs name nothing of it."""
    places: dict[Label, Places]
    """Shared by all sequences of a worker, and so are `leads`."""
    leads: dict[tuple[Label, int, bool], LinkTargets] = field(default_factory=dict)
    """By operation, status, and whether that is a success."""
    steps: list[ShownStep] = field(default_factory=list)

    def read(self, sequence: Sequence[SentCase]) -> None:
        """Take in the steps that are new; what is another sequence takes the place of what was known."""
        steps = self.steps
        if len(steps) > len(sequence) or any(
            step.sent is not sent for step, sent in zip(steps, sequence, strict=False)
        ):
            steps.clear()
        steps += [ShownStep.of(sent, self.model) for sent in sequence[len(steps) :]]

    def transitions(self, target: Label) -> Iterator[tuple[int, Transition]]:
        """(step, transition) of all that lead to an operation from an answer that was given."""
        for step in range(len(self.steps)):
            for one in self.leads_of(step).transitions.get(target, ()):
                yield step, one

    def leads_of(self, step: int) -> LinkTargets:
        """Return the links of the response of one step."""
        shown = self.steps[step]
        if shown.leads is None:
            outcome = shown.sent.outcome
            if not isinstance(outcome, Response):
                shown.leads = NOWHERE
            else:
                key = (shown.use.label, outcome.status_code, shown.succeeded)
                if key not in self.leads:
                    self.leads[key] = self._leads_of(shown, outcome.status_code)
                shown.leads = self.leads[key]
        return shown.leads

    def _leads_of(self, shown: ShownStep, status: int) -> LinkTargets:
        operation = shown.sent.case.operation
        responses = operation.definition.get("responses")
        documented = tuple(map(str, responses)) if isinstance(responses, Mapping) else ()
        is_guessed = _BY_NAME in self.algorithms and shown.succeeded
        found: dict[Label, Sequence[Transition]] = {}
        for target in self.model.followers(operation.label):
            ways = [
                one
                for one in self.model.transitions_to(target, operation.label)
                if (is_guessed if one.is_inferred else one.is_for(status, documented))
            ]
            if ways:
                found[target] = ways
        declared = (label for label, ways in found.items() if not all(w.is_inferred for w in ways))
        return LinkTargets(found, tuple(declared))

    def sources(self, target: Operation, name: str, owner: Resource) -> list[ValueOrigin]:
        """Ways to a value of a variable of the target's path, the surest of each step."""
        key, found = (target.label, name), []
        for step, shown in enumerate(self.steps):
            if key not in shown.origins:
                # What is only called alike is never surer than the others, but for what the request said itself.
                ways = list(self._sources_of(step, target, name))
                if all(way.score == SENT for way in ways):
                    ways += self._named(step, target, name, owner)
                shown.origins[key] = max(ways, key=lambda way: way.score, default=None)
            surest = shown.origins[key]
            if surest is not None:
                found.append(surest)
        return found

    def validators(self, target: Operation) -> Iterator[tuple[Place, ValueOrigin]]:
        """(header of a condition, way to its value) of what an operation is about, as the sequence showed that last."""
        asked = _IF_CHANGED if target.resource_method in SAFE else _IF_UNCHANGED
        conditions = [one for one in target.parameters if one.location is Location.HEADER and one.name.lower() in asked]
        use = self.model.uses[target.label]
        for one in conditions:
            name = asked[one.name.lower()]
            for step in range(len(self.steps) - 1, -1, -1):
                if self._shows_state(step, use) and self._says(step, name):
                    place = (Location.HEADER, one.name)
                    yield place, ValueOrigin(step, f"$response.header.{name}", SAME_PATH)
                    break

    def scopes(self, target: Operation) -> Iterator[tuple[Place, ValueOrigin]]:
        """(parameter, way to its value) of all by which the first step that had them says in whose part of the API it is."""
        found: dict[Place, ValueOrigin] = {}
        for step, shown in enumerate(self.steps):
            earlier = shown.sent.case
            for place in scope_places(target, earlier.operation) if shown.succeeded else ():
                if sent_at(earlier, place) is not None:
                    found.setdefault(place, ValueOrigin(step, request_place(*place), SENT))
        yield from found.items()

    def _shows_state(self, step: int, use: ResourceUse) -> bool:
        """Whether a step was about what an operation is about, and left it there."""
        shown = self.steps[step]
        is_maker = shown.use.method in CREATING and shown.use.resource == use.resource
        is_same = shown.use.path == use.path and shown.use.method != REMOVING
        return shown.succeeded and (is_same or (is_maker and use.is_member))

    def _says(self, step: int, header: str) -> bool:
        outcome = self.steps[step].sent.outcome
        return isinstance(outcome, Response) and header.lower() in outcome.headers

    def _sources_of(self, step: int, target: Operation, name: str) -> Iterator[ValueOrigin]:
        """Yield the sources of one step, without values that only share the name."""
        for one in self.leads_of(step).transitions.get(target.label, ()):
            for value in one.values:
                if (value.location, value.name) == place_of(target, name):
                    yield ValueOrigin(step, value.value, _sureness(one, value))
        shown = self.steps[step]
        if not shown.succeeded:
            return
        for variable in shown.use.variables_for(self.model.uses[target.label], name):
            yield ValueOrigin(step, _said(shown.sent.case.operation, variable), SAME_PATH)
        if shown.use.method != REMOVING:
            yield from self._located(step, target, name)

    def _located(self, step: int, target: Operation, name: str) -> Iterator[ValueOrigin]:
        """From `Location` and from URLs in the body: they name a member of the target's path, or what stands above it."""
        if _BY_URL not in self.algorithms:
            return
        for place, value in self._urls_of(step):
            for pattern in located_patterns(target.resource_path, name):
                if re.search(pattern, value):
                    yield ValueOrigin(step, f"{place}#regex:{pattern}", LOCATED)
                    break

    def _urls_of(self, step: int) -> list[tuple[str, str]]:
        shown = self.steps[step]
        if shown.urls is None:
            outcome = shown.sent.outcome
            assert isinstance(outcome, Response)
            locations = outcome.headers.get("location", ())
            places = [("$response.header.Location", value) for value in locations]
            # Most answers hold no URL, and most texts are none: a look costs less than to read all of an answer.
            leaves = self._leaves_of(step) if b"/" in outcome.readable.content else ()
            urls = [
                (f"$response.body#{pointer}", value)
                for _, pointer, value in leaves
                if value.__class__ is str and "/" in value and _URL.fullmatch(value) and "*" not in pointer
            ]
            found = [*places, *urls[:_MOST_URLS]]
            shown.urls = [(place, value) for place, value in found if self._is_own(value)]
        return shown.urls

    def _is_own(self, url: str) -> bool:
        try:
            host = urlsplit(url).hostname
        except ValueError:
            # Servers write what is no URL.
            return False
        return host is None or host_of(host) == host_of(self.host)

    def _named(self, step: int, target: Operation, name: str, owner: Resource) -> Iterator[ValueOrigin]:
        shown = self.steps[step]
        if _BY_NAME not in self.algorithms or not shown.succeeded or shown.use.method == REMOVING:
            return
        kinds, _ = variable_kinds(target, name)
        resource = shown.use.resource
        for field_name, pointer, value in self._leaves_of(step):
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                continue
            score = affinity(name, owner, field_name, resource)
            if score < _LIKELY:
                continue
            if not is_identifier(field_name) and normalised(name) != field_name:
                score *= _looks(value)
            if score >= _LIKELY:
                yield ValueOrigin(step, f"$response.body#{pointer}", score)

    def _leaves_of(self, step: int) -> list[tuple[str, str, Any]]:
        shown = self.steps[step]
        if shown.leaves is None:
            operation, outcome = shown.sent.case.operation, shown.sent.outcome
            assert isinstance(outcome, Response)
            places = self.places.get(operation.label)
            if places is None:
                places = self.places[operation.label] = Places(operation.label)
            shown.leaves = [
                (place.name, place.origin[1], value)
                for place, value in places.leaves(outcome, DEEP, operation.read_answer)
                if not place.origin[1].startswith("header:")
            ]
        return shown.leaves


def _sureness(one: Transition, value: TakenValue) -> float:
    if not one.is_inferred:
        return DECLARED
    return SAME_PATH if value.sent_pointer is None else SENT


def _said(operation: Operation, variable: str) -> str:
    """Return the place where an earlier request named a resource, as a runtime expression."""
    return request_place(*place_of(operation, variable))


def request_place(location: Location, name: str) -> str:
    """A part of a request as a runtime expression."""
    return f"$request.body#{name}" if location is Location.BODY else f"$request.{location}.{name}"


def _looks(value: Any) -> float:
    """Like what names a thing: 1, or less for what is long, has spaces, or is no text or number at all."""
    if isinstance(value, bool | float):
        return 0.1
    if isinstance(value, str) and (not value or len(value) > _LONGEST_NAME or any(sign in value for sign in " /\n")):
        return _STRANGE
    return 1.0


@lru_cache(maxsize=4096)
def located_patterns(path: str, name: str) -> tuple[str, ...]:
    """Regular expressions with one group for a variable: URLs of the path, and of what stands above it, longest first."""
    segments = [segment for segment in path.split("/") if segment]
    found = []
    for end in range(len(segments), 0, -1):
        above = segments[:end]
        if above[-1] in ("{" + name + "}",) or ("{" in above[-1] and any("{" + name + "}" in one for one in above)):
            whole = "/".join(_segment_pattern(one, name) for one in above)
            pattern = f"/{whole}/?(?:[?#].*)?$"
            if re.compile(pattern).groups == 1:
                found.append(pattern)
    return tuple(found)


def _segment_pattern(segment: str, name: str) -> str:
    parts = re.split(r"(\{[^{}]*\})", segment)
    return "".join(
        ("([^/?#]+)" if part == "{" + name + "}" else "[^/?#]+") if part.startswith("{") else re.escape(part)
        for part in parts
    )
