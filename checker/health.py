"""The effects of a run on its target: safety levels, created resources, and signs of a wrong setup in the first responses."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from itertools import pairwise
from typing import Final, Protocol
from urllib.parse import urlsplit

from msgspec import Struct, field

from checker.core.case import Case
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.core.resource_names import Resource, identifier_in, segment_of, singular, words
from checker.core.resources import REMOVING, SAFE
from checker.core.response import Outcome, Response
from checker.core.security import UNAUTHORIZED, named_ways

HEALTH_CHECK: Final = "target_health"  # The check of findings about a target that stopped answering.
TARGET: Final = "Target"  # Label for findings and errors of the run as a whole.
RUN_CHECKS: Final = "Run checks"  # Label for findings and errors of checks that judge the whole run.
NO_OPERATIONS: Final = frozenset((TARGET, RUN_CHECKS))  # Labels that stand in place of the label of an operation.
TOO_MANY: Final = 429
TURNED_AWAY: Final = frozenset((401, 403, TOO_MANY, 503))
"""Statuses of a target that refuses all requests: no session, no permission, too many requests, maintenance."""
GATEWAY: Final = frozenset((502, 504))  # Statuses of a gateway before a target that does not respond.
REFUSALS: Final = TURNED_AWAY | GATEWAY

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ENDING = frozenset((
    "deactivate", "disable", "flush", "halt", "invalidate", "lock", "lockout", "logoff", "logout", "maintenance",
    "poweroff", "purge", "quit", "reboot", "reset", "restart", "revoke", "rotate", "shutdown", "signoff",
    "signout", "suspend", "terminate", "truncate", "wipe",
))  # fmt: skip
_PAIRS = frozenset(
    (("log", "out"), ("log", "off"), ("sign", "out"), ("sign", "off"), ("shut", "down"), ("power", "off"))
)
_EMPTYING = frozenset(
    [*((many, "delete") for many in ("batch", "bulk", "mass", "multi")), *(("delete", many) for many in ("all", "batch", "bulk", "many")),
     ("clear", "all"), ("remove", "all")]
)  # fmt: skip
"""Words of operations that remove many resources with one request."""
_LAST_SEGMENTS = 2  # Segments of a path that may name an action. Earlier ones name the resource.
_ACCESS = frozenset((
    "account", "auth", "authentication", "credential", "key", "login", "me", "member", "membership", "password",
    "permission", "profile", "role", "self", "session", "token", "user",
))  # fmt: skip
"""Resources that may include the account or credentials of the run, as singular nouns."""
_SETTINGS = frozenset(("config", "configuration", "option", "policy", "setting"))
_GATES = frozenset((
    "access", "auth", "authentication", "credential", "jwt", "login", "oauth", "password", "permission", "saml",
    "security", "session", "sso", "token",
))  # fmt: skip


def looks_dangerous(path: str, operation_id: str | None = None) -> bool:
    """Whether the name of an operation suggests that it ends sessions, empties stores or stops the target: `/auth/logout`, `flushAll`.

    `path` is a template, or a label if all operations share a path.
    """
    return _is_named(path, operation_id, _PAIRS | _EMPTYING)


def ends_access(path: str, operation_id: str | None = None) -> bool:
    """Whether an operation that looks dangerous may end the access of the run or the service as a whole.

    An action on one member, such as `/orders/{id}/suspend`, ends neither, nor does the removal of many orders, unless the resource
    may be the caller: `/users/{id}/lock`.
    """
    is_of_access = any(singular(word) in _ACCESS for one in _static(path) for word in words(one))
    return looks_dangerous(path, operation_id) and (
        is_of_access or ("{" not in path and _is_named(path, operation_id, _PAIRS))
    )


def switches_access(method: str, path: str) -> bool:
    """Whether an operation changes how the whole service admits its callers: `POST /settings/access`, `PUT /auth/config`.

    The request may switch off the kind of token that the run has, and no other request can undo this.
    """
    nouns = {singular(word) for one in path.split("/")[-_LAST_SEGMENTS:] for word in words(one)}
    return method not in SAFE and "{" not in path and not (_SETTINGS.isdisjoint(nouns) or _GATES.isdisjoint(nouns))


def may_change_caller(method: str, collection: Resource) -> bool:
    """Whether a request on a member of a collection may change the account or credentials of the run: `/users`, `/api-keys`."""
    return method not in SAFE and any(
        singular(word) in _ACCESS for segment in collection[-1:] for word in words(segment)
    )


def _static(path: str) -> list[str]:
    return [one for one in path.split("/") if one and "{" not in one]


def _is_named(path: str, operation_id: str | None, pairs: frozenset[tuple[str, str]]) -> bool:
    """Whether the name of an operation has one of the words of an end, or one of these pairs of words."""
    for text in (*_static(path)[-_LAST_SEGMENTS:], operation_id or ""):
        found = [word.lower() for word in _WORDS.findall(text)]
        if not (_ENDING.isdisjoint(found) and pairs.isdisjoint(pairwise(found))):
            return True
    return False


_LONGEST = 1024


class MadeResources:
    """Paths of resources that this run or an earlier one has created and not removed. Subclasses share them between processes."""

    def __init__(self) -> None:
        self.paths: dict[str, str] = {}
        """Path -> label of the creating operation, oldest first."""

    def write(self, path: str, label: str) -> None:
        """Record the operation that created a path; an empty label for a removed resource. Raises `StorageError`."""

    def news(self) -> Iterable[tuple[str, str]]:
        """Return the (path, label) pairs that all processes have recorded since the last call, oldest first."""
        return ()

    def add(self, path: str, label: Label) -> None:
        """Record a created resource."""
        if path and path not in self.paths and len(path) <= _LONGEST:
            self.paths[path] = label
            self.write(path, label)

    def remove(self, path: str) -> None:
        """Record a removed resource."""
        if self.paths.pop(path, None) is not None:
            self.write(path, "")

    def owns(self, path: str) -> bool:
        """Whether a path belongs to a created resource, or is below one."""
        return self._has(path) or (self.catch_up() and self._has(path))

    def catch_up(self) -> bool:
        """Read what other workers have recorded. Return whether there were new records."""
        found = False
        for path, label in self.news():
            found = True
            if label:
                self.paths.setdefault(path, label)
            else:
                self.paths.pop(path, None)
        return found

    def _has(self, path: str) -> bool:
        while path:
            if path in self.paths:
                return True
            path = path.rpartition("/")[0]
        return False


def made_paths(collection: str, answer: Response, names: Sequence[str]) -> Iterator[str]:
    """Yield the path of the resource that a response to `POST collection` reports. `names`: variables right below the collection.

    `Location` comes first (RFC 9110, 10.2.2). A 200 or 202 without it counts if paths below the collection are described.
    """
    location = next(iter(answer.headers.get("location", ())), "")
    if location:
        # Servers send invalid URLs, and URLs of the collection, which holds resources of others.
        with suppress(ValueError):
            path = urlsplit(location).path.rstrip("/")
            if not (path == collection and names) and not collection.startswith(f"{path}/"):
                yield path
                return
    if not names:
        return
    with suppress(ValueError, RecursionError):
        value = identifier_in(answer.json(), names)
        if value is not None:
            yield f"{collection}/{segment_of(value)}"


_CREATING: Final = "POST"


class Safety(StrEnum):
    """The safety level of a run."""

    READ_ONLY = "read-only"  # No request changes anything.
    CREATE_OWN = "create-own"  # Requests create resources, and change and delete only those.
    FULL = "full"  # All requests are allowed.


class Described(Protocol):
    """The facts about an operation that decide whether it takes part."""

    @property
    def path(self) -> str: ...
    @property
    def operation_id(self) -> str | None: ...
    @property
    def resource_method(self) -> str: ...
    @property
    def resource_path(self) -> str: ...


def leaves_out(level: Safety, operation: Described) -> bool:
    """Whether no request to an operation is allowed."""
    if level is Safety.FULL:
        return False
    if looks_dangerous(operation.path, operation.operation_id):
        return True
    if operation.resource_method in SAFE:
        return False
    # Without a path that names the resource, only requests that create one are known to be safe.
    is_told = operation.path == operation.resource_path
    return level is Safety.READ_ONLY or not (is_told or operation.resource_method == _CREATING)


class SafetyGate(Struct):
    """Refuses requests that the level forbids. Every case passes it before it is sent."""

    level: Safety = Safety.FULL
    made: MadeResources = field(default_factory=MadeResources)
    children: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Path template without a slash at its end -> variables of the templates right below it: `/users` -> `id`."""

    def refuses(self, case: Case, request: WireRequest) -> bool:
        """Whether a request must not be sent."""
        operation = case.operation
        is_declared = case.method == operation.method
        # A request that only reads passes, by its method or by the effect of its operation on its resource.
        if self.level is Safety.FULL or (operation.resource_method if is_declared else case.method) in SAFE:
            return False
        if self.level is Safety.READ_ONLY:
            return True
        if is_declared:
            if operation.path != operation.resource_path:
                # `leaves_out` has excluded everything but creating operations.
                return False
            if case.method == _CREATING and "{" not in operation.path:
                return False
        return not self.made.owns(path_of(request))

    def observe(self, case: Case, request: WireRequest, outcome: Outcome) -> None:
        """Record the resources that the responses to a request, and to its twin, report as created or removed."""
        if self.level is not Safety.CREATE_OWN:
            return
        for sent, other, _ in outcome.earlier:
            self.observe(case, sent, other)
        if not isinstance(outcome, Response):
            return
        is_done = 200 <= outcome.status_code < 300
        if is_done and request.method == _CREATING:
            names = self.children.get(case.operation.path.rstrip("/"), ())
            for path in made_paths(path_of(request), outcome, names):
                self.made.add(path, Label(case.operation.label))
        elif request.method == REMOVING and (is_done or outcome.status_code in (404, 410)):
            self.made.remove(path_of(request))


def path_of(request: WireRequest) -> str:
    """Return the path of a sent request, including the base path, without its query."""
    return request.path.decode("latin-1").rstrip("/")


ENOUGH: Final = 25  # Number of first responses that are judged.
KIND: Final = "first_answers"  # Kind of the note with the sentence.
_GATEWAY = frozenset((502, 503, 504))


class FirstAnswers(Struct):
    """The statuses of the first responses."""

    base_url: str  # The masked base URL.
    missing_path: str = ""  # The base path of the description, if the given base URL lacks it.
    has_credentials: bool = False  # Whether any credentials are configured.
    given_header: str = ""  # Name of a header with credentials that the user wrote for all requests.
    ways_in: Sequence[str] = ()  # Options that give the credentials of the description, for messages.
    _statuses: Counter[int] = field(default_factory=Counter)

    def note(self, status: int) -> bool:
        """Count a response. Return whether there are enough."""
        self._statuses[status] += 1
        return self._statuses.total() >= ENOUGH

    @property
    def sentence(self) -> str:
        """Return the problem and the advice; empty if there is no problem."""
        found = self._statuses.keys()
        if not found:
            return ""
        said = f"all of the first {self._statuses.total()} responses were {'/'.join(map(str, sorted(found)))}"
        if found == {404}:
            advice = "check the address of the API: its base URL may lack a path"
            if self.missing_path:
                wanted = f"{self.base_url.rstrip('/')}{self.missing_path}"
                advice = f"the description says {self.missing_path}: try `--url {wanted}`"
            return f"{said}: {advice}"
        if found <= UNAUTHORIZED:
            advice = f"give credentials with {named_ways(self.ways_in)} or `[auth]`"
            if self.has_credentials:
                advice = "the credentials are refused; correct them (`checker auth check` tries each of them)"
            elif self.given_header:
                advice = f"the `{self.given_header}` header that was given (`-H`, `headers`) is refused; correct it"
            return f"{said}: {advice}"
        if found <= _GATEWAY:
            return f"{said}: a proxy responds instead of the API; check that the API runs, and where the proxy sends requests"
        return ""
