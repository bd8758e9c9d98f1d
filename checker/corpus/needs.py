"""The earlier requests that a finding needs, because they created or removed the resources that its request uses.

On a fresh server, the printed command alone would get 404. Creations are matched by paths and names in requests, because a
finding may use a resource of another case by chance.
"""

import json
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.rules import says_taken
from checker.core import curl
from checker.core.resource_names import (
    ends_with_variable,
    identifier_in,
    is_identifier,
    normalised,
    segment_of,
    singular,
    words,
)
from checker.core.resources import SAFE
from checker.core.response import Response
from checker.core.schema import pointer_child
from checker.corpus.records import Exchange, Finding, ResourceMade

_CREATED, _CONFLICT = 201, 409
ANY_NAME = "*"
"""Stands for the unknown name of a resource that a request may have created although its response was a server error."""
_NOTHING_THERE = frozenset((401, 403, 404, 410))  # Statuses that do not show whether the resource exists.
_METHOD_REFUSED = frozenset((405, 501))
# `GET /basket/` of Django Oscar creates its caller's basket. When GET was ignored, six findings about `/baskets/1`
# named no request that creates it.
_LESS_SURE = frozenset(("PUT", "GET"))
_WITH, _MOST_NAMES = " with ", 3
LOCATION = "header:Location"
_UNMISTAKABLE = 8  # Length of names that are not equal by chance, such as UUIDs.
_MOST_LEAVES = 500
_ITEM = re.compile(r"body((?:\.[^.:\[\]\s]+|\[\d+\])*\[\d+\])")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
"""Matches the parts of the place in a message about an invalid value: `body.data[0].name: ...`."""


def creation_rank(made: ResourceMade) -> tuple[int, float, str]:
    """Return the sort key of requests that may have created the same resource: certain ones first, then by time."""
    return *creation_order(made.label, made.status, made.at), made.command


def creation_order(label: str, status: int, at: float) -> tuple[int, float]:
    """Return the sort key of creations: status 201, other successes, refusals, server errors; then by time.

    A success of PUT may be an update, and GET may only return an existing resource, so they come after other methods.
    """
    if status == _CREATED:
        return 0, at
    # Refusals count as well: a service that validates too late returns 422 and keeps the new resource.
    return status // 100 + (status < 400 and _method_of(label) in _LESS_SURE), at


class ResourceHistory(Struct):
    """The requests that created and removed resources, by path. Paths end in short names."""

    made: dict[str, ResourceMade] = field(default_factory=dict)
    removed: dict[str, ResourceMade] = field(default_factory=dict)

    def absorb(self, record: ResourceMade) -> None:
        by_path = self.removed if record.is_gone else self.made
        by_path[record.path] = min(by_path.get(record.path, record), record, key=creation_rank)


def needed_by(finding: Finding, resources: ResourceHistory) -> tuple[ResourceMade, ...]:
    """Return the requests without which a fresh target may not show a finding, outermost resource first.

    A resource that the run did not create, or that it removed, existed before the run. `is_surely_needed` tells which
    requests are certain. A sequence that creates its resources anew needs only those whose names it takes from a list that
    the run has filled.
    """
    made, removed = resources.made, resources.removed
    shown = {str(one.literal) for step in finding.steps for one in step.bindings if _method_of(one.producer) in SAFE}
    listed = shown if finding.investigation.is_anew else frozenset()
    is_whole = finding.investigation.is_anew and not listed
    if is_whole or not (made or removed) or not finding.interactions or is_of_method_alone(finding):
        return ()
    exchange = finding.interactions[-1].exchange
    if exchange.status in _NOTHING_THERE:
        # The failure needs a resource to be absent, so the request that removed it comes first. With other refusals the
        # resource may exist.
        for path in () if finding.investigation.is_anew else _named_paths(exchange):
            gone = None if _is_of_the_run(made.get(path)) else removed.get(path)
            if gone is not None and gone.label != finding.label:
                return (gone,) if _may_come_before(gone, finding) else ()
        return ()
    *earlier, _ = finding.interactions
    labels, paths = {str(step.label) for step in finding.steps[:-1]}, {_path_of(one.exchange) for one in earlier}
    search = _Search(made, {})
    named = (path for one in finding.interactions for path in search.named_in(one.exchange.body))
    elsewhere = search.made_elsewhere(_path_of(exchange))
    listed_paths = list(_listed_paths(finding))
    # Each value of an item may be its name. If a request surely created one of them, a server error created none of the
    # others: `patient_id` of a visit was once taken for the name of a visit.
    listed_paths = [path for path in listed_paths if path in made] or listed_paths
    for path in (*_named_paths(exchange), *elsewhere, *named, *listed_paths):
        known = _maker_of(path, made, finding, shown)
        # The sequence itself creates the resources at its own paths whose names clients choose.
        is_own = known is not None and known.label in labels and (not ends_with_variable(known.label) or path in paths)
        if (
            known is not None
            and not is_own
            and (not finding.investigation.is_anew or (name_in(path) in listed and _is_of_the_run(known)))
            and _may_come_before(known, finding)
            and not _makes_itself(finding, exchange, known)
        ):
            search.add(known)
    return tuple(search.found.values())


class _Search(Struct):
    """The creations that a finding needs. Each comes after those that it needs itself."""

    made: Mapping[str, ResourceMade]
    found: dict[str, ResourceMade]  # Command -> creation.
    _begun: set[str] = field(default_factory=set)
    _paths: dict[str, list[str]] = field(default_factory=dict)  # Name -> paths of the resources of this name.

    def add(self, known: ResourceMade) -> None:
        """Add a creation after those of its parents and of the resources that its body names."""
        if known.command in self._begun:
            return
        self._begun.add(known.command)
        try:
            request, _ = curl.parse(known.command)
        except ValueError:
            request = None
        if request is not None and not is_taken_name(known.path):
            above = _paths_above(known.path)
            for path in (*above, *self.named_in(request.body)):
                if (other := self.made.get(path)) is not None and path != known.path:
                    self.add(other)
        self.found[known.command] = known

    def named_in(self, body: bytes | None) -> Iterator[str]:
        """Yield the paths of the resources that a JSON body names."""
        for place, value in leaves_of(document_in(body)):
            yield from (path for path in self._named(str(value)) if names_resource(place, value, path))

    def made_elsewhere(self, path: str) -> Iterator[str]:
        """Yield the paths of resources that a path names below other parents (`place_of_resource`); each is the path of the creation."""
        # Some services look up only the last name and accept any parents: 12 of 139 findings on a vector database named
        # no creation and got 404 on a fresh server.
        for own in (*_paths_above(path), path):
            others = (
                [] if own in self.made else [one for one in self._named(name_in(own)) if place_of_resource(own, one)]
            )
            if others:
                yield min(others, key=lambda one: creation_rank(self.made[one]))

    def _named(self, name: str) -> Sequence[str]:
        if not self._paths:
            for path in self.made:
                if not is_taken_name(path):
                    self._paths.setdefault(name_in(path), []).append(path)
        return self._paths.get(name, ())


def names_resource(place: Sequence[str | int], value: object, path: str) -> bool:
    """Whether a value in a body names the resource at a path: it is a long name, or its field is called like the resource."""
    name = name_in(path)
    if str(value) != name or is_taken_name(path):
        return False
    field_name = next((one for one in reversed(place) if isinstance(one, str)), "")
    collection = path.rpartition("/")[0].rpartition("/")[2]
    return singular(collection) in map(singular, words(field_name)) or _is_unmistakable(name)


def place_of_resource(path: str, resource: str) -> int | None:
    """Return the index of the segment in a path that names the resource at another path; None if none does.

    A long name also counts below other parents, because some services look up only the last name, and after other words:
    `/boxes/by-id/{id}`. Short names count if only words differ: a product of `/admin/products` is one of `/products`.
    """
    if path == resource or path.startswith(f"{resource}/"):
        return resource.count("/")
    segments, (*parents, name) = path.split("/"), resource.split("/")
    at = next((n for n, pair in enumerate(pairwise(segments), 1) if pair == (*parents[-1:], name)), None)
    if _is_unmistakable(unquote(name)):
        if at is None and name in segments:
            at = segments.index(name)
        return at if at is not None and parents and parents[-1] in segments[:at] else None
    if at is None:
        return None
    return at if all(one.isalpha() for one in {*segments[:at]} ^ {*parents}) else None


def _is_unmistakable(name: str) -> bool:
    return len(name) >= _UNMISTAKABLE and not name.isdecimal()


def place_of_name(path: str, sent_to: str, answer: Response) -> str:
    """Return the place of a new resource's name in the response to `POST sent_to`; empty if the response does not contain the name."""
    if path == sent_to:
        return ""
    if answer.headers.get("location"):
        return LOCATION
    try:
        document = answer.json()
    except (ValueError, RecursionError):
        return ""
    name = name_in(path)
    # The outermost place, preferably with a field that is called like a name, because responses repeat ids in nested objects.
    same = (place for place, value in leaves_of(document) if str(value) == name)
    places = sorted(same, key=lambda place: (len(place), not is_identifier(normalised(str(place[-1])))))
    return pointer_child("", *map(str, places[0])) if places else ""


def leaves_of(value: Any) -> Iterator[tuple[tuple[str | int, ...], str | int]]:
    """Yield (path, text or integer) of a document, outermost first, for at most 500 of its nodes."""
    waiting: deque[tuple[tuple[str | int, ...], Any]] = deque([((), value)])
    for _ in range(_MOST_LEAVES):
        if not waiting:
            return
        place, found = waiting.popleft()
        if isinstance(found, dict):
            waiting += [((*place, key), one) for key, one in found.items()]
        elif isinstance(found, list):
            waiting += [((*place, number), one) for number, one in enumerate(found)]
        elif isinstance(found, str | int) and not isinstance(found, bool) and place:
            yield place, found


def is_of_method_alone(finding: Finding) -> bool:
    """Whether the response rejects an undeclared method. Servers check the method before they look up a resource."""
    if len(finding.steps) > 1 or not finding.interactions:
        return False
    exchange = finding.interactions[-1].exchange
    is_other = not finding.label.startswith(f"{exchange.method} ")
    return is_other and exchange.status in _METHOD_REFUSED


def is_surely_needed(finding: Finding, made: ResourceMade) -> bool:
    """Whether the finding cannot show without this request.

    A resource left by a server error or a refusal, or an earlier PUT of the same resource, may change only the status, and a
    resource that GET returned may have existed before. A refusal that was not tried again may come before the resource is
    looked up, unless it says that the resource exists.
    """
    exchange = finding.interactions[-1].exchange
    status = exchange.status
    is_refused = status is not None and 400 <= status < 500
    if is_refused and finding.investigation.reproduced is None and not _is_of_names(exchange):
        return False
    is_status_alone = made.label == finding.label and status is not None and 200 <= status < 300
    return made.status < 400 and not is_status_alone and not made.label.startswith("GET ")


def taken_names(path: str, body: Any) -> Iterator[str]:
    """Return the values in a request that may have to be unique, apart from the path of the new resource, as in `/users with name bob`."""
    members = body.items() if isinstance(body, dict) else ()
    found = (
        f"{path}{_WITH}{segment_of(name)} {segment_of(value)}"
        for name, value in members
        if (parts := words(name)) and is_identifier(parts[-1]) and value != ""
        if isinstance(value, str | int) and not isinstance(value, bool)
    )
    return islice(found, _MOST_NAMES)


def is_taken_name(path: str) -> bool:
    """Whether a path is an entry of `taken_names`."""
    return _WITH in path


def name_in(path: str) -> str:
    """Return the name at the end of a path, or the value at the end of a `taken_names` entry."""
    path, _, taken = path.partition(_WITH)
    return unquote(taken.rpartition(" ")[2] if taken else path.rpartition("/")[2])


def _maker_of(
    path: str, made: Mapping[str, ResourceMade], finding: Finding, shown: Collection[str]
) -> ResourceMade | None:
    """Return the request that created the resource at a path, or may have created it.

    A refusal does not need an uncertain resource. A name in `shown` was returned by a safe request, so it existed before.
    """
    known, exchange = made.get(path), finding.interactions[-1].exchange
    is_refused = exchange.status is not None and 400 <= exchange.status < 500
    # A path names no member if its last segment is a literal in the description: `/todos/count`.
    template = finding.steps[-1].label.rstrip("/").split("/") if finding.steps else []
    at = path.count("/") - _path_of(exchange).count("/") - 1
    # `count` was once taken for a name, and `GET /todos/count` was said to need a `POST /todos` that had returned 500.
    is_word = -len(template) < at < 0 and "{" not in template[at]
    if known is not None or is_refused or _WITH in path or is_word or name_in(path) in shown:
        return known
    perhaps = made.get(f"{path.rpartition('/')[0]}/{ANY_NAME}")
    return None if perhaps is None else replace(perhaps, path=path)


def _named_paths(exchange: Exchange) -> Iterator[str]:
    """Yield the paths above the path of a request, outermost first, then its own, then the path of a resource that it could not create twice."""
    path = _path_of(exchange)
    yield from _paths_above(path)
    yield path
    if exchange.method == "POST" and _is_of_names(exchange):
        body = document_in(exchange.body)
        name = identifier_in(body, ())
        if name is not None:
            yield f"{path}/{segment_of(name)}"
        yield from taken_names(path, body)


def document_in(body: bytes | None) -> Any:
    """Return the JSON of a body; None if it is no JSON, because then it names nothing."""
    try:
        return json.loads(body or b"")
    except (ValueError, RecursionError):
        return None


def _path_of(exchange: Exchange) -> str:
    return exchange.target.partition(b"?")[0].decode("latin-1").rstrip("/")


def _listed_paths(finding: Finding) -> Iterator[str]:
    """Yield the paths that an invalid item of a list may have: `/accounts/anna` for `anna` in the list of `GET /accounts`."""
    item = _ITEM.match(finding.message)
    exchange = finding.interactions[-1].exchange
    if item is None or finding.check != "response_schema_conformance":
        return
    try:
        found = json.loads(exchange.response_body)
        for name, index in _PART.findall(item[1]):
            found = found[int(index) if index else name]
    except (ValueError, RecursionError, LookupError, TypeError):
        return
    yield from (f"{_path_of(exchange)}/{segment_of(value)}" for _, value in leaves_of([found]))


def _paths_above(path: str) -> Iterator[str]:
    at = path.find("/", 1)
    while at > 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _is_of_names(exchange: Exchange) -> bool:
    """Whether the status or the text of a response says that the resource exists already."""
    if exchange.status == _CONFLICT:
        return True
    is_refused = exchange.status is not None and exchange.status >= 400
    return is_refused and says_taken(exchange.response_body)


def _is_of_the_run(maker: ResourceMade | None) -> bool:
    """Whether the run created the resource.

    A PUT with another status than 201 may have replaced an older one, and GET may have returned an existing one.
    """
    return maker is not None and (maker.status == _CREATED or _method_of(maker.label) not in _LESS_SURE)


def _makes_itself(finding: Finding, exchange: Exchange, known: ResourceMade) -> bool:
    """Whether the request of a finding creates the resource itself if it does not exist, with the same status."""
    is_done = exchange.status is not None and 200 <= exchange.status < 300
    is_replacing = known.status == _CREATED != exchange.status and exchange.method == "PUT"
    return is_done and known.label == finding.label and not is_replacing


def _may_come_before(known: ResourceMade, finding: Finding) -> bool:
    """Whether a creation or a removal came before a finding.

    Times are those of the verdicts. Within a phase, the response to a later request may be judged first, so times do not
    decide there.
    """
    # Between phases, the time decides instead of the order of phases, because phases take turns if there is a time limit.
    return known.phase == finding.phase or known.at <= (finding.interactions[-1].at or finding.at)


def _method_of(label: str) -> str:
    return label.partition(" ")[0]
