"""The credentials of one worker: added to requests, renewed after a refusal, fetched when the supervisor orders it."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.case import Case
from checker.core.credentials import RUNNING_SOURCES, Credentials, CredentialSource, put
from checker.core.errors import CredentialError
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.core.system import Clock
from checker.corpus.records import Note
from checker.corpus.secrets import Secrets
from checker.phases.case_factory import FilteredOut
from checker.transport.prepare import RequestMaker, plain_maker
from checker.workers.authentication.logins import Identities, LoginTraffic, source_name, user_of
from checker.workers.authentication.signup import SignUpSource
from checker.workers.messages import CredentialAction, CredentialMessage
from checker.workers.recording.recorder import Recorder

_CONTENT_TYPE: Final = b"content-type"
_BODY: Final = "body"  # Name of a value without a name of its own.


def rewrite_body(case: Case, changed: Case, request: WireRequest, made: WireRequest) -> None:
    """Replace the body of a finished request by the body of `made`, the request of the changed case."""
    request.body, request.lines = made.body, None
    said = request.header(_CONTENT_TYPE)
    usual = (case.media_type or "").encode("latin-1", "replace")
    is_ours = said is None or _essence(said) == _essence(usual)
    if not is_ours and case.media_type == changed.media_type:
        # The user's Content-Type for all requests stays. The default one is replaced, because its multipart boundary
        # has changed.
        return
    kept = [pair for pair in request.headers if pair[0].lower() != _CONTENT_TYPE]
    written = [pair for pair in made.headers if pair[0].lower() == _CONTENT_TYPE]
    request.headers = kept + written


def _essence(media_type: bytes) -> bytes:
    return media_type.partition(b";")[0].strip().lower()


def new_texts(before: Any, after: Any, name: str = _BODY) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of texts in `after` that `before` does not have at the same place."""
    match after:
        case str():
            if after and after != before:
                yield name, after
        case Mapping():
            members = before if isinstance(before, Mapping) else {}
            for key, value in after.items():
                yield from new_texts(members.get(key), value, str(key))
        case list() | tuple():
            items = before if isinstance(before, list | tuple) else ()
            for number, value in enumerate(after):
                yield from new_texts(items[number] if number < len(items) else None, value, name)
        case _:
            # Numbers, booleans and bytes are not masked in texts.
            pass


MOST_IN_VAIN = 3
"""Renewals in a row after which credentials are no longer renewed for an operation, because it may refuse every caller."""

_MOST_IN_FLIGHT = 256  # Requests of which a copy without credentials is kept, to be authenticated anew.

Address = tuple[str, str]  # (source, key of its credentials).


class RequestSigner(Protocol):
    """Signs requests whose bytes are final."""

    def sign(self, case: Case, request: WireRequest) -> Credentials | None:
        """Return headers for the request of a case; None if it is not signed. Raises `CredentialError`."""
        ...

    def is_challenged(self, request: WireRequest, response: Response) -> bool:
        """Whether the response is a challenge, so that the same request may be accepted if it is signed again."""
        ...


class ReauthState(Struct):
    """Counts credentials that were refused after a renewal, to decide whether to renew again."""

    most_in_vain: int = MOST_IN_VAIN
    """Renewals in a row for one operation."""
    renewals: int = 0
    """Number of renewals for all operations."""
    in_vain: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(operation, source) -> refusals in a row."""
    useful: set[str] = field(default_factory=set)
    """Sources whose credentials were accepted at least once."""
    told: set[tuple[str, str]] = field(default_factory=set)
    """(operation, source) of the warnings that were recorded; the operation is empty for all operations."""

    @property
    def is_broken(self) -> bool:
        """Whether some credentials are no longer renewed, for one operation or for all."""
        return any(self._refusals(place) >= self.most_in_vain for place in self.in_vain)

    def renew(self, place: tuple[str, str]) -> bool:
        """Count a renewal.

        Return False if there were too many in a row, for the operation or, if the source was never accepted, for all
        operations.
        """
        if self._refusals(place) >= self.most_in_vain:
            return False
        self.in_vain[place] += 1
        self.renewals += 1
        return True

    def stopped(self, place: tuple[str, str]) -> Note | None:
        """Return the warning that a source is not used again; None if it was returned before."""
        label, source = place
        about = label if source in self.useful else ""
        if (about, source) in self.told:
            return None
        self.told.add((about, source))
        times = f"{self.most_in_vain} renewals in a row were refused"
        return Note("refresh_stopped", about, "", f"{source}: {times}; it is not renewed again in this run")

    def accepted(self, place: tuple[str, str]) -> None:
        """Reset the count of an operation that accepted the credentials."""
        self.useful.add(place[1])
        self.in_vain.pop(place, None)

    def _refusals(self, place: tuple[str, str]) -> int:
        """Return the refusals in a row of an operation, or of all operations if none ever accepted credentials of the source."""
        source = place[1]
        if source in self.useful:
            return self.in_vain[place]
        return sum(count for (_, name), count in self.in_vain.items() if name == source)


class _Held(Struct, frozen=True):
    """Credentials with their number and age."""

    number: int
    credentials: Credentials
    error: str
    since: float  # Time when the credentials arrived, on the keeper's clock.


class KnownPeers(Struct, frozen=True):
    """Implements `checker.checks.context.Peers` with the users of an authentication document."""

    keeper: "CredentialKeeper"
    names: Sequence[str]

    def caller_of(self, request: WireRequest | None) -> str | None:
        """Return the peer whose credentials a request carries; None if it carries none."""
        carried = {name for name, _ in request.proofs} if request is not None else set()
        return next((one for one in self.names if source_name(one) in carried), None)

    def lend(self, case: Case, request: WireRequest, who: str) -> None:
        """Give a request the credentials of a peer. Raises `CredentialError`."""
        self.keeper.lend(case, request, source_name(who))


class SupervisorLine(Protocol):
    """The connection of a worker to its supervisor."""

    def send(self, message: CredentialMessage) -> None: ...

    def wait_for_orders(self) -> bool:
        """Wait for orders to `fetch` or `take`, while the loop of the worker is blocked. Return whether the run ends."""
        ...


class CredentialKeeper(Struct):
    """The current credentials of all sources, and how to renew them."""

    sources: Mapping[str, CredentialSource]
    secrets: Secrets  # Every value is registered here before a request carries it, so that no output contains it.
    line: SupervisorLine | None = None
    """None before the loop begins, and without a supervisor."""
    is_alone: bool = False  # Whether this process fetches credentials itself.
    signers: Sequence[RequestSigner] = ()  # Called last: a signature covers all other parts of a request.
    identities: Identities | None = None  # The caller of each operation; None without configured users.
    first: str = ""  # Source that comes before all others. If it has credentials for a case, no other source is used.
    peer_names: Sequence[str] = ()  # Users whose access is compared.
    clock: Clock = time.monotonic  # Clock for the age of credentials, in seconds.
    trial: SignUpSource | None = None  # Source of credentials to try at operations that declare no security.
    recorder: Recorder | None = None  # Records warnings; None in a process without a run.
    logins: LoginTraffic | None = None  # Logins that are recorded once their values are registered as secrets.
    _held: dict[Address, _Held] = field(default_factory=dict)
    _wanted_for: dict[Address, Case] = field(default_factory=dict)
    """The case that needs the credentials. User code that fetches them may read it."""
    _callers: dict[int, tuple[WireRequest, str, bytes, tuple[tuple[bytes, bytes], ...]]] = field(default_factory=dict)
    """`id` of a request in flight -> the request, its caller, its target and headers without credentials."""
    _maker: RequestMaker = field(default_factory=plain_maker)  # Writes bodies that contain credentials.
    reauth: ReauthState = field(default_factory=ReauthState)

    def apply(self, case: Case, request: WireRequest) -> None:
        """Add the current credentials to the request of a case. Raises `CredentialError`."""
        if self.identities is not None:
            # The request may carry credentials of another user, so it is first restored to its form without credentials.
            who = self.identities.current(case.operation.label)
            known = self._callers.get(id(request))
            if known is not None:
                _, _, target, headers = known
                request.target, request.headers, request.lines = target, list(headers), None
                request.proofs = ()
            while len(self._callers) >= _MOST_IN_FLIGHT:
                self._callers.pop(next(iter(self._callers)))
            self._callers[id(request)] = (request, who, request.target, tuple(request.headers))
        for name, number, carried in self._carried(case, of_request=True):
            self.secrets.add_credentials(replace(carried, case=None))
            if carried.case is not None:
                for member, value in new_texts(case.body, carried.case.body):
                    self.secrets.add_credentials(Credentials(query={member: value}))
                rewrite_body(case, carried.case, request, self._maker.make(carried.case))
            put(request, carried)
            others = (one for one in request.proofs if one[0] != name)
            request.proofs = (*others, (name, number))
            if name == self.first:
                return
        for signer in self.signers:
            signed = signer.sign(case, request)
            if signed is not None:
                self.secrets.add_credentials(signed)
                put(request, signed)

    def headers_of(self, case: Case, *, fetches: bool) -> dict[str, str]:
        """Return the headers with the current credentials of a case. Credentials are only fetched if `fetches`.

        Credentials for a single request and signatures are unknown before the request is sent. Raises `CredentialError`.
        """
        found: dict[str, str] = {}
        for name, _, carried in self._carried(case, of_request=False, fetches=fetches):
            self.secrets.add_credentials(replace(carried, case=None))
            found |= carried.headers
            if name == self.first:
                break
        return found

    def _carried(self, case: Case, *, of_request: bool, fetches: bool = True) -> Iterator[tuple[str, int, Credentials]]:
        """Yield (source, number, credentials) of a case; with `of_request` also credentials that are fetched for one request."""
        for name, source in self.sources.items():
            key = None if source in RUNNING_SOURCES or not (of_request or source.is_kept) else source.key(case)
            if key is None:
                continue
            if not source.is_kept:
                # These are fetched only for this request.
                try:
                    with RUNNING_SOURCES.adding(source):
                        fetched = source.fetch(case)
                    self.secrets.add_credentials(fetched)
                finally:
                    self._record_logins()
                held: _Held | None = _Held(0, fetched, "", self.clock())
            else:
                held = self._current((name, key), source, case) if fetches else self._held.get((name, key))
            carried = None if held is None or held.error else source.carried(held.credentials, case)
            if held is not None and carried is not None:
                yield name, held.number, carried

    @property
    def peers(self) -> "KnownPeers | None":
        """Return the peers for checks; None if none are configured."""
        return KnownPeers(self, self.peer_names) if self.peer_names else None

    def lend(self, case: Case, request: WireRequest, name: str) -> None:
        """Give a request the credentials of the named source in place of the operation's. Raises `CredentialError`."""
        held = self._current((name, ""), self.sources[name], case)
        if held is not None:
            self.secrets.add_credentials(held.credentials, owner=user_of(name))
            put(request, held.credentials)
            request.proofs = ((name, held.number),)

    def is_refused(self, case: Case, request: WireRequest, outcome: Outcome, *, is_again: bool = False) -> bool:
        """Whether to send a refused request again, because newer or other credentials are available.

        `is_again`: the response is to a repetition. After `MOST_IN_VAIN` renewals in a row, credentials are not renewed for
        an operation. Raises `CredentialError`.
        """
        if not isinstance(outcome, Response):
            return False
        if self.identities is not None:
            _, who, *_ = self._callers.get(id(request), (request, ""))
            if self.identities.is_another_tried(case.operation.label, who, outcome.status_code):
                return True
            self._callers.pop(id(request), None)
        if is_again:
            return False
        is_hopeful = any(one.is_challenged(request, outcome) for one in self.signers)
        for name, number in request.proofs:
            source, place = self.sources[name], (case.operation.label, name)
            address = (name, source.key(case) or "")
            if not source.is_refused(outcome):
                self.reauth.accepted(place)
            elif source.is_kept and self._held[address].number > number:
                # Several requests were in flight when their credentials expired. One renewal counts once for all of them.
                is_hopeful = True
            elif self.reauth.renew(place):
                is_hopeful = True
                if source.is_kept:
                    self._newer(address, number, case)
            elif (note := self.reauth.stopped(place)) is not None and self.recorder is not None:
                self.recorder.note(note)
        is_tried = self.trial is not None and self.trial.is_worth_a_try(case, outcome)
        return is_tried or is_hopeful

    def observe(self, case: Case, request: WireRequest, outcome: Outcome) -> None:
        """Record the response to a repeated request."""
        if self.trial is not None and isinstance(outcome, Response):
            self.trial.learn(case, outcome)
        for name, _ in request.proofs:
            if isinstance(outcome, Response) and not self.sources[name].is_refused(outcome):
                self.reauth.accepted((case.operation.label, name))

    def renew(self, case: Case, request: WireRequest) -> bool:
        """Renew the credentials of a request, whatever its response was. Return whether there was a source.

        A service may answer 403 to a revoked token; `is_refused` treats 403 as a decision of the operation. Raises
        `CredentialError`.
        """
        kept = [(name, number) for name, number in request.proofs if self.sources[name].is_kept]
        for name, number in kept:
            address = (name, self.sources[name].key(case) or "")
            if self._held[address].number <= number:
                self._newer(address, number, case)
        self.apply(case, request)
        return bool(kept)

    def take(self, given: CredentialMessage) -> bool:
        """Take newer credentials, or the reason why there are none. Return whether they replace refused ones."""
        found = given.credentials
        self.secrets.add_credentials(found, owner=user_of(given.source))
        held = _Held(given.number, found, given.error, self.clock())
        self._held[given.source, given.key] = held
        return given.number > 1 and not given.error

    def fetch(self, order: CredentialMessage) -> CredentialMessage:
        """Return the message with fetched credentials, or with the error."""
        address = order.source, order.key
        held = self._held.get(address)
        last = None if held is None else held.credentials
        try:
            case = self._wanted_for[address]
            source = self.sources[order.source]
            with RUNNING_SOURCES.adding(source):
                found = source.fetch(case) if last is None else source.renewed(last, case)
            self.secrets.add_credentials(found, owner=user_of(order.source))
            return order.fetched(found)
        except CredentialError as error:
            return order.failed(str(error), last)
        except Exception as error:  # noqa: BLE001 - user code, so only operations that need these credentials fail
            return order.failed(f"{type(error).__name__}: {error}", last)
        finally:
            self._record_logins()

    def _record_logins(self) -> None:
        if self.logins is not None:
            self.logins.write()

    def _current(self, address: Address, source: CredentialSource, case: Case) -> _Held | None:
        """Return the current credentials. If they are renewed only because of their age and the renewal fails, they stay in use."""
        held = self._held.get(address)
        if held is None or held.error:
            return self._newer(address, 0 if held is None else held.number, case)
        own = held.credentials.refresh_s
        refresh_s = source.refresh_s if own is None else own
        if refresh_s is None or self.clock() - held.since < refresh_s:
            return held
        try:
            return self._newer(address, held.number, case)
        except (CredentialError, FilteredOut):
            known = _Held(self._held[address].number, held.credentials, "", self.clock())
            self._held[address] = known
            return known

    def _newer(self, address: Address, refused: int, case: Case) -> _Held | None:
        """Return the credentials with a higher number than `refused`; None before the loop of the worker begins.

        Raises `FilteredOut` if the run ends first: without its credentials, the request would be refused.
        """
        name, key = address
        self._wanted_for[address] = case
        if self.is_alone:
            self.take(self.fetch(CredentialMessage(CredentialAction.FETCH, name, refused + 1, key)))
        elif self.line is not None:
            self.line.send(CredentialMessage(CredentialAction.WANTED, name, refused, key))
        # The number counts the fetches of all workers, so a higher number is newer, whichever worker fetched it.
        while (held := self._held.get(address)) is None or held.number <= refused:
            if self.line is None:
                return held
            if self.line.wait_for_orders():
                raise FilteredOut(f"the run ends before credentials of {name!r} have arrived")
        if held.error:
            raise CredentialError(f"credentials of {name!r} cannot be fetched: {held.error}")
        return held
