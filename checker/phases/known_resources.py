"""The values in the steps of a sequence, for the parameters of later steps."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct, field

from checker.checks.resources import scope_places
from checker.config.table import ALGORITHMS
from checker.core.case import NOT_SET
from checker.core.operation import Label, Operation, Place
from checker.core.request import Location, host_of
from checker.core.resource_names import Resource, affinity, is_identifier, normalised
from checker.core.resources import CREATING, REMOVING, SAFE, ResourceModel, ResourceUse, Transition, place_of, sent_at
from checker.core.response import Response
from checker.phases.bindings import SentCase, evaluated
from checker.values.consumers import variable_kinds
from checker.values.harvest import DEEP, Places
from checker.values.locations import DescribedPaths, may_be_url, urls_in_headers

DECLARED, LOCATED, SAME_PATH, SENT = 2.0, 1.5, 1.0, 0.35
"""Certainty of a value from a link, from a URL, from the path of an earlier request, from the body of one."""
_BY_URL, _BY_NAME = ALGORITHMS
_IF_CHANGED: Final = {"if-none-match": "ETag", "if-modified-since": "Last-Modified"}
_IF_UNCHANGED: Final = {"if-match": "ETag", "if-unmodified-since": "Last-Modified"}
"""Conditional header -> response header with its value (RFC 9110, 8.8 and 13.1), for reading and for changing requests."""
_EACH: Final = re.compile(r"/\*(?=[/#]|$)")
"""The token of a JSON pointer that stands for every element."""
_LIKELY: Final = 0.3
_STRANGE: Final = 0.3
_LONGEST_NAME: Final = 64
_MOST_URLS: Final = 20


class ValueOrigin(Struct, frozen=True):
    """One way to a value."""

    step: int
    expression: Any
    """Runtime expression of a link."""
    score: float


class LinkTargets(Struct, frozen=True):
    """The links of a response, by its operation and status."""

    transitions: Mapping[Label, Sequence[Transition]]
    """Target operation -> transitions."""
    declared: Sequence[Label]
    """Targets of declared links, in document order."""


NOWHERE: Final = LinkTargets({}, ())


class ShownStep(Struct):
    """The values of one step, each read once: all later steps need them."""

    sent: SentCase
    use: ResourceUse
    """The place of its operation in the resource model."""
    succeeded: bool
    """Whether its response has a status of 2xx or 3xx."""
    leaves: dict[str, list[tuple[str, Any]]] | None = None
    """Field -> (pointer, value) of the scalars of its response; None until they are read."""
    urls: list[tuple[str, str]] | None = None
    """(expression, URL) of the URLs of this API in its response; None until they are read."""
    targets: Sequence[Label] | None = None
    """Operations whose paths its URLs match; None until they are read."""
    leads: "LinkTargets | None" = None
    """Links of its response; None until they are read."""
    origins: dict[tuple[Label, str], ValueOrigin | None] = field(default_factory=dict)
    """(operation, path variable) -> the surest source of a value in this step."""

    @classmethod
    def of(cls, sent: SentCase, model: ResourceModel) -> "ShownStep":
        """Return a step of which nothing is read yet."""
        outcome, operation = sent.outcome, sent.case.operation
        succeeded = isinstance(outcome, Response) and 200 <= operation.status_of(outcome) < 400
        return cls(sent, model.uses[operation.label], succeeded)


class KnownResources(Struct):
    """Values of the responses of one sequence, by their meaning. Lives as long as its sequence."""

    model: ResourceModel
    algorithms: Collection[str]
    """Algorithms that infer undeclared links."""
    host: str
    """Host of the API: URLs of other hosts are ignored."""
    places: dict[Label, Places]
    """Shared by all sequences of a worker, and so are `leads` and `scoped`."""
    described: DescribedPaths
    leads: dict[tuple[Label, int, bool], LinkTargets]
    """(operation, status, whether it is a success) -> links."""
    scoped: dict[tuple[Label, Label], Sequence[Place]]
    """Two operations -> the places by which both may select a part of the API."""
    turn: int = 0
    """Index of the element whose values are taken from a list that has it."""
    steps: list[ShownStep] = field(default_factory=list)

    def read(self, sequence: Sequence[SentCase]) -> None:
        """Add the new steps; another sequence replaces the known one."""
        steps = self.steps
        if len(steps) > len(sequence) or any(
            step.sent is not sent for step, sent in zip(steps, sequence, strict=False)
        ):
            steps.clear()
        steps += [ShownStep.of(sent, self.model) for sent in sequence[len(steps) :]]

    def transitions(self, target: Label) -> Iterator[tuple[int, Transition]]:
        """Yield (step, transition) of all responses that lead to an operation."""
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
                    operation = shown.sent.case.operation
                    responses = operation.definition.get("responses")
                    documented = tuple(map(str, responses)) if isinstance(responses, Mapping) else ()
                    is_guessed = _BY_NAME in self.algorithms and shown.succeeded
                    found: dict[Label, Sequence[Transition]] = {}
                    for target in self.model.followers(operation.label):
                        ways = [
                            one
                            for one in self.model.transitions_to(target, operation.label)
                            if (is_guessed if one.is_inferred else one.is_for(outcome.status_code, documented))
                        ]
                        if ways:
                            found[target] = ways
                    declared = (label for label, ways in found.items() if not all(w.is_inferred for w in ways))
                    self.leads[key] = LinkTargets(found, tuple(declared))
                shown.leads = self.leads[key]
        return shown.leads

    def value(self, source: ValueOrigin) -> Any:
        """Return the value of a source, of a list that of the element whose turn it is; `NOT_SET` if there is none."""
        sent, expression = self.steps[source.step].sent, source.expression
        if self.turn and isinstance(expression, str):
            value = evaluated(_EACH.sub(f"/{self.turn}", expression, count=1), sent)
            if value is not NOT_SET:
                return value
        return evaluated(expression, sent)

    def sources(self, target: Operation, name: str, owner: Resource) -> list[ValueOrigin]:
        """Return the sources of a path variable of the target, the surest of each step."""
        key, found = (target.label, name), []
        for step, shown in enumerate(self.steps):
            if key not in shown.origins:
                # A value that only shares the name is surer than none of the others, except values of request bodies.
                ways = list(self._sources_of(step, target, name))
                if all(way.score == SENT for way in ways):
                    ways += self._named(step, target, name, owner)
                shown.origins[key] = max(ways, key=lambda way: way.score, default=None)
            surest = shown.origins[key]
            if surest is not None:
                found.append(surest)
        return found

    def validators(self, target: Operation) -> Iterator[tuple[Place, ValueOrigin]]:
        """Yield (conditional header, source of its value) for the resource of an operation, from the latest step that shows it."""
        asked = _IF_CHANGED if target.resource_method in SAFE else _IF_UNCHANGED
        conditions = [one for one in target.parameters if one.location is Location.HEADER and one.name.lower() in asked]
        use = self.model.uses[target.label]
        for one in conditions:
            name = asked[one.name.lower()]
            for step in range(len(self.steps) - 1, -1, -1):
                outcome = self.steps[step].sent.outcome
                has_header = isinstance(outcome, Response) and name.lower() in outcome.headers
                if has_header and self._shows_state(step, use):
                    place = (Location.HEADER, one.name)
                    yield place, ValueOrigin(step, f"$response.header.{name}", SAME_PATH)
                    break

    def scopes(self, target: Operation) -> Iterator[tuple[Place, ValueOrigin]]:
        """Yield (parameter, source of its value) of the parameters that select the tenant or workspace."""
        found: dict[Place, ValueOrigin] = {}
        for step, shown in enumerate(self.steps):
            earlier = shown.sent.case
            key = (target.label, shown.use.label)
            if key not in self.scoped:
                self.scoped[key] = list(scope_places(target, earlier.operation))
            for place in self.scoped[key] if shown.succeeded else ():
                if sent_at(earlier, place) is not None:
                    found.setdefault(place, ValueOrigin(step, request_place(*place), SENT))
        yield from found.items()

    def _shows_state(self, step: int, use: ResourceUse) -> bool:
        """Whether a step used the resource of an operation without removing it."""
        shown = self.steps[step]
        is_maker = shown.use.method in CREATING and shown.use.resource == use.resource
        is_same = shown.use.path == use.path and shown.use.method != REMOVING
        return shown.succeeded and (is_same or (is_maker and use.is_member))

    def _sources_of(self, step: int, target: Operation, name: str) -> Iterator[ValueOrigin]:
        """Yield the sources of one step, without values that only share the name."""
        for one in self.leads_of(step).transitions.get(target.label, ()):
            for value in one.values:
                if (value.location, value.name) == place_of(target, name):
                    certainty = SAME_PATH if value.sent_pointer is None else SENT
                    yield ValueOrigin(step, value.value, certainty if one.is_inferred else DECLARED)
        shown = self.steps[step]
        if not shown.succeeded:
            yield from self._located(step, target, name)
            return
        for variable in shown.use.variables_for(self.model.uses[target.label], name):
            place = place_of(shown.sent.case.operation, variable)
            yield ValueOrigin(step, request_place(*place), SAME_PATH)
        if shown.use.method != REMOVING:
            yield from self._located(step, target, name)

    def _located(self, step: int, target: Operation, name: str) -> Iterator[ValueOrigin]:
        """Yield sources in `Location` and in URLs of the body that contain a resource of the target path."""
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
            if not isinstance(outcome, Response):
                shown.urls = []
                return shown.urls
            places = [(f"$response.header.{name.title()}", url) for name, url in urls_in_headers(outcome)]
            known = {url for _, url in places}
            # Most responses hold no URL: searching for a slash costs less than reading all leaves.
            leaves = self._leaves_of(step) if b"/" in outcome.readable.content else {}
            urls = [
                (f"$response.body#{pointer}", value)
                for pointer, value in chain.from_iterable(leaves.values())
                # Refusals repeat the URL of the request.
                if may_be_url(value)
                and value not in known
                and (shown.succeeded or self.described.template(value) != shown.use.path)
            ]
            found = [*places, *urls[:_MOST_URLS]]
            shown.urls = [(place, value) for place, value in found if self._is_own(value)]
        return shown.urls

    def located_targets(self, step: int) -> Sequence[Label]:
        """Return the operations whose paths the URLs of a step match, but for those of its own path."""
        shown = self.steps[step]
        if shown.targets is None:
            is_read = _BY_URL in self.algorithms and shown.use.method != REMOVING
            templates = {self.described.template(url) for _, url in (self._urls_of(step) if is_read else ())}
            others = templates - {shown.use.path, ""}
            shown.targets = [use.label for use in self.model.uses.values() if use.path in others] if others else []
        return shown.targets

    def _is_own(self, url: str) -> bool:
        try:
            host = urlsplit(url).hostname
        except ValueError:
            # Servers also send malformed URLs.
            return False
        return host is None or host_of(host) == host_of(self.host)

    def _named(self, step: int, target: Operation, name: str, owner: Resource) -> Iterator[ValueOrigin]:
        shown = self.steps[step]
        if _BY_NAME not in self.algorithms or not shown.succeeded or shown.use.method == REMOVING:
            return
        kinds, _ = variable_kinds(target, name)
        for field_name, found in self._leaves_of(step).items():
            likely = affinity(name, owner, field_name, shown.use.resource)
            if likely < _LIKELY:
                continue
            is_telling = is_identifier(field_name) or normalised(name) == field_name
            for pointer, value in found:
                if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                    continue
                score = likely if is_telling else likely * _looks(value)
                if score >= _LIKELY:
                    yield ValueOrigin(step, f"$response.body#{pointer}", score)

    def _leaves_of(self, step: int) -> dict[str, list[tuple[str, Any]]]:
        shown = self.steps[step]
        if shown.leaves is None:
            operation, outcome = shown.sent.case.operation, shown.sent.outcome
            assert isinstance(outcome, Response)
            places = self.places.get(operation.label)
            if places is None:
                places = self.places[operation.label] = Places(operation.label)
            shown.leaves = {}
            for place, value in places.leaves(outcome, DEEP, operation.read_answer):
                if not place.origin[1].startswith("header:"):
                    shown.leaves.setdefault(place.name, []).append((place.origin[1], value))
        return shown.leaves


def request_place(location: Location, name: str) -> str:
    """Return the runtime expression of a part of a request."""
    return f"$request.body#{name}" if location is Location.BODY else f"$request.{location}.{name}"


def _looks(value: Any) -> float:
    """Return how much a value looks like an identifier: 1, or less for long texts, texts with spaces, booleans, fractions."""
    if isinstance(value, bool | float):
        return 0.1
    if isinstance(value, str) and (not value or len(value) > _LONGEST_NAME or any(sign in value for sign in " /\n")):
        return _STRANGE
    return 1.0


@lru_cache(maxsize=4096)
def located_patterns(path: str, name: str) -> tuple[str, ...]:
    """Return regular expressions with one group for a variable: URLs of the path and of its parents, longest first."""
    segments = [segment for segment in path.split("/") if segment]
    variable, found = "{" + name + "}", []
    for end in range(len(segments), 0, -1):
        above = segments[:end]
        if any(variable in one for one in above) and (end == len(segments) or variable in above[-1]):
            whole = "/".join(_segment_pattern(one, name) for one in above)
            # In a header `Link` a URL ends at `>`.
            pattern = f"(?:^|/){whole}/?(?:[?#{{][^>]*)?(?:>|$)"
            if re.compile(pattern).groups == 1:
                found.append(pattern)
    return tuple(found)


def _segment_pattern(segment: str, name: str) -> str:
    parts = re.split(r"(\{[^{}]*\})", segment)
    return "".join(
        ("([^/?#{>]+)" if part == "{" + name + "}" else "[^/?#{>]+") if part.startswith("{") else re.escape(part)
        for part in parts
    )
