"""The requests that a finding needs on a fresh server, and what has to come of all its requests before "fixed" can be said."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from checker.checks.state_refusals import says_taken
from checker.checks.table import BUILT_IN
from checker.core import curl
from checker.core.request import WireRequest
from checker.core.resource_names import variables_of
from checker.core.response import Response
from checker.core.security import UNAUTHORIZED
from checker.corpus.needs import ANY_NAME
from checker.corpus.records import Finding, ResourceMade
from checker.health.made import made_paths
from checker.reporting.findings import DEPENDENT, kinds_of

CONFLICT: Final = 409
ABSENT: Final = (404, 410, 412)
"""Statuses by which a server says that the resource of a request is not there, or not in the state that the request expects."""
TRANSIENT: Final = (429, 503)


class Prerequisite(Struct, frozen=True):
    """A request that made, or removed, the resource of a finding."""

    number: int
    """Its place in `Finding.needs`."""
    made: ResourceMade
    request: WireRequest
    """As it was sent, headers that curl adds included."""
    names: tuple[str, ...]
    """Variables of the path of the finding: what the new resource may call its identifier."""

    @property
    def is_creation(self) -> bool:
        """Whether the server chose the name of the resource, so that another one may come of it now."""
        return not self.made.is_gone and self.target != self.made.path and " " not in self.made.path

    @property
    def target(self) -> str:
        """The path of the request, as it was sent."""
        return self.request.target.partition(b"?")[0].decode("latin-1").rstrip("/")

    def fault(self, status: int) -> str:
        """Return why the situation of the finding is not reached after this status; empty if it is reached.

        A conflict says that the resource is there already. A removal leaves nothing, whatever it answers.
        """
        then = self.made.status
        if self.made.is_gone or status // 100 == then // 100 or status == CONFLICT:
            return ""
        return f"the request that makes {self.made.path} was answered {status} (then {then})"

    def path_now(self, response: Response, sent_to: str) -> str:
        """Return the path of the resource that a response says was made; the recorded path if it says nothing.

        `sent_to` is the path that the request went to.
        """
        if not self.is_creation or response.status_code == CONFLICT:
            return self.made.path
        return next(made_paths(sent_to, response, self.names or ("id",)), self.made.path)


def prerequisites_of(finding: Finding) -> Iterator[Prerequisite]:
    """Yield the requests that have to be sent before those of a finding, in order. Those that cannot be read are left out."""
    names = tuple(variables_of(finding.label.partition(" ")[2]))
    for number, made in enumerate(finding.needs):
        if made.path.endswith(f"/{ANY_NAME}"):
            continue
        try:
            yield Prerequisite(number, made, curl.as_sent(made.command), names)
        except ValueError:
            continue


def moved(target: str, paths: Mapping[str, str]) -> str:
    """Return a target with the path of each resource as it is now. `paths`: recorded path to present path."""
    for then in sorted(paths, key=len, reverse=True):
        rest = target[len(then) :]
        if target.startswith(then) and (not rest or rest[0] in "/?"):
            return paths[then] + rest
    return target


def unproving_statuses(finding: Finding) -> frozenset[int]:
    """Return the statuses of the last response that prove nothing about a finding, once its prerequisites were met.

    Its own status counts as well: the callers look at it first. With each of these statuses the request was refused before it was handled: for its credentials, a rate limit, or a resource that is not there. A check
    that wants a refusal is satisfied by each of them but the last, which counts if other requests had made the resource.
    """
    found: set[int] = set()
    count = len(list(prerequisites_of(finding)))
    has_all_resources = 0 < count == len(finding.needs)
    if DEPENDENT in kinds_of(finding) and not has_all_resources:
        found.update(ABSENT)
    check = BUILT_IN.get(finding.check)
    if check is None or not check.wants_refusal:
        found.update((*UNAUTHORIZED, CONFLICT, *TRANSIENT))
    return frozenset(found)


def not_reached(finding: Finding, statuses: Sequence[int], body: bytes) -> str:
    """Return why a finding that does not show proves nothing; empty if its situation was reached, so that it is fixed.

    `statuses` are those of its own requests, `body` is that of the last response. The situation is reached when each earlier
    request of the sequence was answered as it was, and the last one was handled.
    """
    *earlier, last = statuses
    for number, now in enumerate(earlier):
        then = finding.interactions[number].exchange.status or 0
        if now // 100 != then // 100:
            return f"request {number + 1} was answered {now} (then {then})"
    then = finding.interactions[-1].exchange.status or 0
    unproving = unproving_statuses(finding)
    is_taken = CONFLICT in unproving and 400 <= last < 500 and says_taken(body)
    if last == then or not (last in unproving or is_taken):
        return ""
    at = f"request {len(statuses)}" if earlier else "the request"
    return f"{at} was answered {last} (then {then}), {_reason(last)}"


def _reason(status: int) -> str:
    if status in UNAUTHORIZED:
        return "perhaps for its credentials: give others with `-a` or `-H`"
    if status in TRANSIENT:
        return "which may pass: try again later"
    if status in ABSENT:
        return "for a resource that other requests of the run had made"
    return "perhaps for what is there now: try it on a fresh target"
