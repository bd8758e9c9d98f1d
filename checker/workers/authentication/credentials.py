"""Credentials in one worker: put into requests, found to be refused, waited for, fetched when it is its turn."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.case import Case
from checker.core.credentials import RUNNING_SOURCES, Credentials, CredentialSource
from checker.core.errors import CredentialError
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.corpus.secrets import Secrets
from checker.transport.prepare import put
from checker.workers.authentication.bodies import BodyRewriter, new_texts
from checker.workers.authentication.identities import Identities, source_name
from checker.workers.messages import CredentialAction, CredentialMessage, Up

MOST_IN_VAIN = 3
"""Times in a row that newer credentials are fetched for an operation and refused."""

_MOST_IN_THE_AIR = 256
"""Requests that are remembered without their credentials."""

Address = tuple[str, str]
"""Name of a source, and a key of its."""


class RequestSigner(Protocol):
    """Says what a request carries once its bytes are known."""

    def sign(self, case: Case, request: WireRequest) -> Credentials | None:
        """Headers for the request of a case; None for one that it does not sign. Raises `CredentialError`."""
        ...

    def is_challenged(self, request: WireRequest, response: Response) -> bool:
        """Whether the same request, signed anew, may be let in: an answer told what was missing."""
        ...


class ReauthState(Struct):
    """The count of newer credentials that were refused as well, which decides whether to fetch again."""

    most_in_vain: int = MOST_IN_VAIN
    """Times in a row for one operation."""
    renewals: int = 0
    """How often newer ones were asked for, by all operations."""
    in_vain: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(operation, source): refused again, in a row."""

    @property
    def is_broken(self) -> bool:
        """Whether some operation refuses whatever is fetched."""
        return any(count >= self.most_in_vain for count in self.in_vain.values())

    def renew(self, place: tuple[str, str]) -> bool:
        """Whether newer ones are worth a try, which is counted."""
        if self.in_vain[place] >= self.most_in_vain:
            return False
        self.in_vain[place] += 1
        self.renewals += 1
        return True

    def accepted(self, place: tuple[str, str]) -> None:
        """An operation took what it was given."""
        self.in_vain.pop(place, None)


class _Held(Struct, frozen=True):
    """Credentials as a worker has them."""

    number: int
    credentials: Credentials
    error: str
    since: float
    """Of the clock: when they came."""


class TrialSource(Protocol):
    """A source that operations may need which do not say so."""

    def is_worth_a_try(self, case: Case, response: Response) -> bool:
        """Whether a request that was refused is sent again with what it gives."""
        ...

    def learn(self, case: Case, response: Response) -> None:
        """Take note of what came of it."""
        ...


class KnownPeers(Struct, frozen=True):
    """Implements `checker.checks.context.Peers` with users of an authentication document."""

    keeper: "CredentialKeeper"
    names: Sequence[str]

    def caller_of(self, request: WireRequest | None) -> str | None:
        """The peer whose credentials a request carries."""
        carried = {name for name, _ in request.proofs} if request is not None else set()
        return next((one for one in self.names if source_name(one) in carried), None)

    def lend(self, case: Case, request: WireRequest, who: str) -> None:
        """Have a request carry those of a peer. Raises `CredentialError`."""
        self.keeper.lend(case, request, source_name(who))


class CredentialKeeper(Struct):
    """The credentials that sources have given so far, and the way to newer ones."""

    sources: Mapping[str, CredentialSource]
    secrets: Secrets
    """Told of every value before anything can carry it."""
    ask: Callable[[CredentialMessage], None] = lambda wanted: None
    """Says that they are wanted; set by whoever has a supervisor."""
    listen: Callable[[], bool] = lambda: True
    """Waits for messages, which come back through `take` and `fetch`; whether there is no time for more."""
    signers: Sequence[RequestSigner] = ()
    """Asked last: what they give depends on all else of a request."""
    identities: Identities | None = None
    """Who calls which operation, where there are several users."""
    first: str = ""
    """Source that is asked before all others: where it gives something, nobody else is asked."""
    peer_names: Sequence[str] = ()
    """Users that are held against each other."""
    clock: Callable[[], float] = time.monotonic
    """Seconds, for the age of what was given."""
    trial: "TrialSource | None" = None
    """What may open operations that declare no security."""
    fetched: Callable[[], None] = lambda: None
    """Called when what a login gave is known to be secret."""
    _held: dict[Address, _Held] = field(default_factory=dict)
    _wanted_for: dict[Address, Case] = field(default_factory=dict)
    """The case that needs them: who fetches may look at it."""
    _callers: dict[int, tuple[WireRequest, str, bytes, tuple[tuple[bytes, bytes], ...]]] = field(default_factory=dict)
    """By the `id` of requests in the air: who calls, and target and headers without credentials."""
    reauth: ReauthState = field(default_factory=ReauthState)
    _rewriter: BodyRewriter = field(default_factory=BodyRewriter)

    @classmethod
    def alone(cls, sources: Mapping[str, CredentialSource], secrets: Secrets) -> "CredentialKeeper":
        """One that has no supervisor, and fetches for itself."""
        keeper = cls(sources, secrets)
        keeper.fetch_alone()
        return keeper

    def fetch_alone(self) -> None:
        """Fetch in this worker from now on: there is no other one."""

        def fetch(wanted: CredentialMessage) -> None:
            order = CredentialMessage(CredentialAction.FETCH, wanted.source, wanted.number + 1, wanted.key)
            self.take(self.fetch(order))

        self.ask = fetch

    def apply(self, case: Case, request: WireRequest) -> None:
        """Have the request of a case carry what its sources hold now. Raises `CredentialError`."""
        if self.identities is not None:
            self._bare(request, self.identities.current(case.operation.label))
        for name, source in self.sources.items():
            if source in RUNNING_SOURCES:
                continue
            key = source.key(case)
            if key is None:
                continue
            held = self._current((name, key), source, case) if source.is_kept else self._own(case, source)
            if held is None:
                continue
            carried = source.carried(held.credentials, case)
            if carried is not None:
                self._give(case, request, carried)
                others = (one for one in request.proofs if one[0] != name)
                request.proofs = (*others, (name, held.number))
                if name == self.first:
                    return
        for signer in self.signers:
            signed = signer.sign(case, request)
            if signed is not None:
                self.secrets.add_credentials(signed)
                put(request, signed)

    def _give(self, case: Case, request: WireRequest, carried: Credentials) -> None:
        self.secrets.add_credentials(replace(carried, case=None))
        if carried.case is not None:
            for name, value in new_texts(case.body, carried.case.body):
                self.secrets.add_credentials(Credentials(query={name: value}))
            self._rewriter.rewrite(case, carried.case, request)
        put(request, carried)

    @property
    def peers(self) -> "KnownPeers | None":
        """Return the peers for checks; None if none are configured."""
        return KnownPeers(self, self.peer_names) if self.peer_names else None

    def lend(self, case: Case, request: WireRequest, name: str) -> None:
        """Let a request carry the credentials of the named source, in place of those of the operation. Raises `CredentialError`."""
        held = self._current((name, ""), self.sources[name], case)
        if held is not None:
            self.secrets.add_credentials(held.credentials)
            put(request, held.credentials)

    def is_refused(self, case: Case, request: WireRequest, outcome: Outcome, *, is_again: bool = False) -> bool:
        """Whether to send (again, for the second time and more) with other credentials, which are there then.

        Operations that refuse whatever is fetched are left alone after a while. Raises `CredentialError`.
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
            if not source.is_refused(outcome):
                self.reauth.accepted(place)
            elif self.reauth.renew(place):
                is_hopeful = True
                address = (name, source.key(case) or "")
                if source.is_kept and self._held[address].number <= number:
                    self._newer(address, number, case)
        is_tried = self.trial is not None and self.trial.is_worth_a_try(case, outcome)
        return is_tried or is_hopeful

    def observe(self, case: Case, request: WireRequest, outcome: Outcome) -> None:
        """Take note of the answer to what was sent again."""
        if self.trial is not None and isinstance(outcome, Response):
            self.trial.learn(case, outcome)
        for name, _ in request.proofs:
            if isinstance(outcome, Response) and not self.sources[name].is_refused(outcome):
                self.reauth.accepted((case.operation.label, name))

    def obey(self, order: CredentialMessage, up: Callable[[Up], object]) -> bool:
        """Fetch credentials, or take what was fetched; whether those before did not count any more."""
        if order.action is CredentialAction.FETCH:
            up(self.fetch(order))
            return False
        self.take(order)
        return order.number > 1 and not order.error

    def take(self, given: CredentialMessage) -> None:
        """Newer credentials, or the reason why there are none."""
        found = given.credentials
        self.secrets.add_credentials(found)
        held = _Held(given.number, found, given.error, self.clock())
        self._held[given.source, given.key] = held

    def fetch(self, order: CredentialMessage) -> CredentialMessage:
        """Fetch credentials for all workers, as messages."""
        try:
            case = self._wanted_for[order.source, order.key]
            source = self.sources[order.source]
            with RUNNING_SOURCES.adding(source):
                found = source.fetch(case)
            self.secrets.add_credentials(found)
            return order.fetched(found)
        except CredentialError as error:
            return order.failed(str(error))
        except Exception as error:  # noqa: BLE001 - the wall: users' code; it costs the operations that need it
            return order.failed(f"{type(error).__name__}: {error}")
        finally:
            self.fetched()

    def _bare(self, request: WireRequest, who: str) -> None:
        """A request without what another user carried in it, to be sent as this one."""
        known = self._callers.get(id(request))
        if known is not None:
            _, _, target, headers = known
            request.target, request.headers, request.lines = target, list(headers), None
            request.proofs = ()
        while len(self._callers) >= _MOST_IN_THE_AIR:
            self._callers.pop(next(iter(self._callers)))
        self._callers[id(request)] = (request, who, request.target, tuple(request.headers))

    def _own(self, case: Case, source: CredentialSource) -> _Held:
        """Return the credentials that are fetched for one request alone. Raises `CredentialError`."""
        try:
            with RUNNING_SOURCES.adding(source):
                found = source.fetch(case)
            self.secrets.add_credentials(found)
        finally:
            self.fetched()
        return _Held(0, found, "", self.clock())

    def _current(self, address: Address, source: CredentialSource, case: Case) -> _Held | None:
        """Return the current credentials; old ones stay in use if newer ones are due only for their age and cannot be fetched."""
        held = self._held.get(address)
        if held is None or held.error:
            return self._newer(address, 0 if held is None else held.number, case)
        if source.refresh_s is None or self.clock() - held.since < source.refresh_s:
            return held
        try:
            return self._newer(address, held.number, case)
        except CredentialError:
            known = _Held(self._held[address].number, held.credentials, "", self.clock())
            self._held[address] = known
            return known

    def _newer(self, address: Address, refused: int, case: Case) -> _Held | None:
        """Return the credentials after those with that number; None if there is no time left to wait for them."""
        name, key = address
        self._wanted_for[address] = case
        self.ask(CredentialMessage(CredentialAction.WANTED, name, refused, key))
        while (held := self._held.get(address)) is None or held.number <= refused:
            if self.listen():
                return held
        if held.error:
            raise CredentialError(f"credentials of {name!r} cannot be fetched: {held.error}")
        return held
