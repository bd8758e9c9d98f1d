"""Records requests that created resources which other cases may use by chance. Findings about these resources need the requests."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from checker.checks.rules import says_taken
from checker.core.case import Case
from checker.core.curl import Rendering
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.resource_names import identifier_in, segment_of, singular
from checker.core.resources import CREATING, REMOVING, ResourceModel
from checker.core.response import Response
from checker.corpus.needs import (
    ANY_NAME,
    creation_order,
    creation_rank,
    document_in,
    is_taken_name,
    name_in,
    place_of_name,
    taken_names,
)
from checker.corpus.records import ResourceMade
from checker.health import made_paths, path_of
from checker.phases.attempt import Verdict
from checker.workers.recording.task_state import InFlight
from checker.workers.recording.traffic import Components

_LONGEST_NAME = 256
"""Length of names that other cases may send: small numbers, texts at a limit, examples of the description, and UUIDs that a list contains."""
_MOST_LOOKS = 200
"""Successes of one operation in one phase that are read. Simple names come early, and reading bodies takes time."""
_MOST_ABSENT = 4096
_LONGEST_COMMAND = 4096
_LONGEST_EMPTY = 256
"""Longest response that may be a list without items, in bytes: `{"count": 0, "next": null, "results": []}`."""
_CREATED = 201
_ABSENT = frozenset((404, 410))
_INVALID = frozenset((400, 422))
_MAKING = CREATING | {REMOVING}


class CreationHistory(Struct):
    """The resources that the cases of one worker have created and removed."""

    model: ResourceModel
    children: Mapping[str, Sequence[str]]
    """Path template without a trailing slash -> variables of the templates directly below it: `/users` -> `id`."""
    render: Rendering
    components: Components
    _known: dict[tuple[str, bool], ResourceMade] = field(default_factory=dict)
    _looks: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    """(operation, phase, whether they are refusals) -> responses that were read."""
    _single: dict[str, str] = field(default_factory=dict)
    """Path that returns one member of a collection without naming it -> the collection: `/basket` -> `/baskets`."""
    _absent: set[str] = field(default_factory=set)  # Paths at which a request other than `PUT` found no resource.
    lists_filled: set[Label] = field(default_factory=set)
    """Lists without parameters that were empty once, so that requests of the run created the members that they contain now."""

    def __post_init__(self) -> None:
        for collection in self.children:
            parent, _, noun = collection.rpartition("/")
            single = f"{parent}/{singular(noun)}"
            if single != collection:
                self._single[single] = collection

    def saw(self, flight: InFlight, verdict: Verdict) -> Iterator[ResourceMade]:
        """Yield the resources that requests of any purpose created or removed."""
        for request, outcome, at in verdict.answers or ((verdict.request, verdict.outcome, verdict.at),):
            if request is None or not isinstance(outcome, Response):
                continue
            status = outcome.status_code
            if status in _ABSENT and request.method != "PUT" and len(self._absent) < _MOST_ABSENT:
                self._absent.add(path_of(request))
            if not (status // 100 in (2, 5) or status in _INVALID) or request.method != verdict.case.method:
                continue
            label = verdict.case.operation.label
            is_new = request.method == "GET" and status // 100 == 2 and label not in self.lists_filled
            # A query parameter may have filtered the list, so the absence of a name proves nothing.
            content, is_whole = outcome.content, b"?" not in request.target
            if is_new and is_whole and b"[]" in content and len(content) <= _LONGEST_EMPTY:
                document = document_in(content)
                if document == [] or (isinstance(document, dict) and [] in document.values()):
                    self.lists_filled.add(label)
            if request.method in _MAKING or (request.method == "GET" and self._collection_of(verdict.case)):
                yield from self.observe(verdict.case, request, outcome, (flight.task.lease.phase, at))

    def observe(
        self, case: Case, request: WireRequest, answer: Response, place: tuple[str, float]
    ) -> Sequence[ResourceMade]:
        """Return the resource that a request created, unless a better record is known. `place`: phase of the case and time of the response.

        A server error may leave a resource with an unknown name. A refusal may come after the resource was created, so the
        names in the request count as used.
        """
        label, of_phase = case.operation.label, (case.operation.label, place[0], answer.status_code in _INVALID)
        if self._looks[of_phase] >= _MOST_LOOKS:
            return ()
        self._looks[of_phase] += 1
        # The body of a check's request may contain other names than the case.
        body = document_in(request.body) if request.is_of_check else case.body
        found: list[ResourceMade] = []
        command, is_gone = "", request.method == REMOVING
        order = creation_order(label, answer.status_code, place[1])
        for path in self._paths(case, body, request, answer):
            if len(name_in(path)) > _LONGEST_NAME:
                continue
            known = self._known.get((path, is_gone))
            if known is not None and order > creation_rank(known)[: len(order)]:
                # Most names are the same few small numbers, so they are compared before the command is rendered.
                continue
            command = command or self.render(request)
            made = ResourceMade(
                *(path, label, *place, answer.status_code, command, self.components.of(case, answer)),
                is_gone=is_gone,
                pointer="" if is_gone or is_taken_name(path) else place_of_name(path, path_of(request), answer),
            )
            is_better = known is None or creation_rank(made) < creation_rank(known)
            if is_better and len(command) <= _LONGEST_COMMAND:
                self._known[path, is_gone] = made
                found.append(made)
        return found

    def _paths(self, case: Case, body: Any, request: WireRequest, answer: Response) -> Iterator[str]:
        template, path = case.operation.path.rstrip("/"), path_of(request)
        if request.method == "GET":
            if answer.status_code // 100 == 2:
                # Some services create a basket or a session when it is first requested.
                collection = self._collection_of(case)
                above = path.rpartition("/")[0]
                yield from made_paths(
                    f"{above}/{collection.rpartition('/')[2]}", answer, self.children.get(collection, ())
                )
            return
        if answer.status_code >= 500:
            if request.method == "POST" and self.children.get(template):
                yield f"{path}/{ANY_NAME}"
            return
        if answer.status_code in _INVALID:
            if request.method == "POST" and not says_taken(answer.readable.content):
                yield from taken_names(path, body)
            return
        # The request created the resource at its own path: `PUT /accounts/{name}`, or `POST` to the same path. Another
        # status than 201 means an update (RFC 9110, 9.3.4), but services also use it for creations. It counts as one if
        # the resource did not exist before, or if no other operation can create it.
        is_named_by_client = answer.status_code == _CREATED or (
            case.method == "PUT" and (path in self._absent or self.model.makes(case.operation.label))
        )
        if template.endswith("}") and (request.method == REMOVING or is_named_by_client):
            yield path
            return
        names = self.children.get(template, ())
        if request.method == REMOVING or (request.method == "PUT" and not names):
            return
        found = list(made_paths(path, answer, names))
        if not found and names and isinstance(body, dict):
            # The request chose the name, so the response need not contain it.
            name = identifier_in(body, names)
            found = [] if name is None else [f"{path}/{segment_of(name)}"]
        yield from found
        if found or answer.status_code == _CREATED:
            yield from taken_names(path, body)

    def _collection_of(self, case: Case) -> str:
        """Return the collection whose only member an operation returns without naming it; empty for other operations."""
        return self._single.get(case.operation.path.rstrip("/"), "")
