"""Automatic sign-up: create an account and log in, if the description has operations for both.

The account is derived from the seed, so every worker, and every run with this seed, uses the same account.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct

from checker.config.auth import REFRESH_S
from checker.config.overrides import Overrides
from checker.config.settings import RunSettings
from checker.core.case import Case
from checker.core.contract import Outcome as Judged
from checker.core.credentials import Credentials, CredentialSource, SignUpFlow
from checker.core.digests import digest, digest_int
from checker.core.errors import CheckerError, CredentialError
from checker.core.hooks import Hook, HookContext, HookSource
from checker.core.media_types import is_form, is_json
from checker.core.meta import PhaseInfo
from checker.core.operation import BrokenOperation, Label, Operation
from checker.core.request import Location, WireRequest
from checker.core.resource_names import normalised
from checker.core.response import Outcome, Response
from checker.core.security import UNAUTHORIZED, chosen_schemes
from checker.core.send import Send
from checker.corpus.records import Note
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Rejected
from checker.health import Safety
from checker.kinds.protocol import ApiOperation, ApiSchema
from checker.workers.authentication.logins import extracted, login_request, written
from checker.workers.authentication.schemes import carried_as

SIGNED_UP: Final = "signed_up"
SIGN_UP_FAILED: Final = "sign_up_failed"
_DRAWN: Final = 40  # Bodies that are drawn. The one with the most properties is used.
_MOST_SHOWN: Final = 200
_TAKEN: Final = (400, 409, 422)  # Statuses of a sign-up whose name belongs to an existing account.
Body = dict[str, Any]


class Accounts(Struct, frozen=True):
    """The accounts that a run creates at an API without configured credentials."""

    flow: SignUpFlow
    sign_up: ApiOperation
    login: ApiOperation
    seed: int
    tell: Callable[[Note], None]  # Records a note about the result.


def accounts_of(settings: RunSettings, schema: ApiSchema, tell: Callable[[Note], None]) -> Accounts | None:
    """Return None if the description has no sign-up, if the user configured credentials, or if the safety level forbids accounts."""
    if not settings.auth.auto_signup or settings.target.safety == Safety.READ_ONLY:
        return None
    schemes = schema.security_schemes.values()
    places = {(location, name.lower()) for location, name in (one.place for one in schemes)}
    places.add((Location.HEADER, "authorization"))
    given = {(Location.HEADER, name.lower()) for one in settings.operations.everywhere() for name, _ in one.headers}
    given |= {
        (one.location, one.path[0].lower())
        for one in settings.sources.overrides.parameters
        if one.location is not None and one.path
    }
    has_userinfo = any(
        "@" in (url or "").partition("://")[2].partition("/")[0]
        for url in (settings.target.base_url, settings.location)
    )
    has_own = any(one.authentication for one in settings.operations.everywhere())
    if has_own or has_userinfo or bool(places & given):
        return None
    flow = schema.sign_up_flow()
    if flow is None:
        return None
    sign_up, login = schema.find(flow.sign_up), schema.find(flow.login)
    if isinstance(sign_up, BrokenOperation | None) or isinstance(login, BrokenOperation | None):
        return None
    return Accounts(flow, sign_up, login, settings.seed, tell)


class SignUpSource(CredentialSource):
    """The token of an account that the run creates."""

    name = "automatic sign-up"
    refresh_s = REFRESH_S

    def __init__(self, accounts: Accounts, send: Send) -> None:
        self._accounts = accounts
        self._send = send
        self._sign_up: Body | None = None
        """The body of the sign-up; None before the sign-up and after a refused login."""
        self._tried: set[Label] = set()
        """Operations without declared security that refused a request and were then tried with the token."""
        self._needing: set[Label] = set()
        """Operations without declared security that accepted the token."""

    def key(self, case: Case) -> str | None:
        """Return one key for all operations that declare the token's scheme or have accepted the token; None for others."""
        scheme, operation = self._accounts.flow.scheme, case.operation
        # A valid login needs the account, so the account is created first.
        if operation.label in self._needing or operation.label == self._accounts.flow.login:
            return ""
        chosen = chosen_schemes(operation.security, (scheme.name,))
        return "" if scheme in chosen and not case.is_anonymous else None

    def carried(self, held: Credentials, case: Case) -> Credentials | None:
        """Return the token; None for a login, whose body contains the credentials."""
        return None if case.operation.label == self._accounts.flow.login else held

    def is_worth_a_try(self, case: Case, response: Response) -> bool:
        """Whether to send a refused request again with the token: once for each operation without declared security."""
        operation, flow = case.operation, self._accounts.flow
        is_known = operation.label in (flow.sign_up, flow.login, *self._tried)
        if operation.security or is_known or response.status_code not in UNAUTHORIZED:
            return False
        self._tried.add(operation.label)
        self._needing.add(operation.label)
        return True

    def learn(self, case: Case, response: Response) -> None:
        """Stop sending the token to an operation that refused it."""
        if response.status_code in UNAUTHORIZED and case.operation.label in self._tried:
            self._needing.discard(case.operation.label)

    def fetch(self, case: Case) -> Credentials:
        """Return the token. Without one, return empty credentials and note the reason, because the run continues."""
        flow = self._accounts.flow
        try:
            accounts, flow = self._accounts, self._accounts.flow
            refused = ""
            if self._sign_up is None:
                media_type, body = _sign_up_body(accounts)
                answer = self._answer(accounts.sign_up, media_type, body)
                if answer.status_code in _TAKEN:
                    # Another worker, or an earlier run with this seed, may have created the account, so the login decides.
                    refused = _refusal(accounts.sign_up, answer)
                elif not 200 <= answer.status_code < 400:
                    raise CredentialError(_refusal(accounts.sign_up, answer))
                self._sign_up = body
            media_type, bare = _fullest(accounts.login, accounts.seed)
            body = {**bare, **{name: self._sign_up[name] for name in flow.shared if name in self._sign_up}}
            granted = {**body, "grant_type": "password"}
            if "grant_type" in bare and _is_valid(accounts.login, media_type, granted):
                body = granted
            answer = self._answer(accounts.login, media_type, body)
            if not 200 <= answer.status_code < 400:
                self._sign_up = None
                raise CredentialError(refused or _refusal(accounts.login, answer))
            token = extracted(answer, "body", flow.token)
        except CredentialError as error:
            text = f"Auth: {error}; continuing without authentication"
            self._accounts.tell(Note(SIGN_UP_FAILED, "", "", text))
            return Credentials()
        text = f"Auth: signed up with {flow.sign_up} and logged in with {flow.login}"
        self._accounts.tell(Note(SIGNED_UP, "", "", text))
        return carried_as(flow.scheme, token)

    def _answer(self, operation: Operation, media_type: str, body: Body) -> Response:
        outcome: Outcome = self._send(_request(operation, media_type, body))
        if not isinstance(outcome, Response):
            raise CredentialError(f"{operation.label} was not answered: {outcome.message}")
        return outcome


class AccountHooks:
    """Implements `checker.core.hooks.HookSource`: half of the valid logins use the account of the run."""

    def __init__(self, inner: HookSource, accounts: Accounts) -> None:
        self._inner = inner
        self._accounts = accounts
        self._account: Body | None = None

    def named(self, name: str, context: HookContext | None = None) -> tuple[Hook, ...]:
        """Return the hooks of users, and the hook of the login."""
        found = self._inner.named(name, context)
        operation = None if context is None else context.operation
        is_login = operation is not None and operation.label == self._accounts.flow.login
        return (*found, self._as_account) if name == "map_case" and is_login else found

    def _as_account(self, context: HookContext, case: Case) -> Case:
        """Return a login case with the account of the run, in half of the cases.

        The drawn values determine the account, so the same case gets the same account in every worker.
        """
        is_valid = case.meta is not None and not case.meta.mode.is_negative
        if not is_valid or not isinstance(case.body, dict):
            return case
        if digest_int("login", case.operation.label, repr(case.body)) % 2:
            return case
        if self._account is None:
            try:
                _, self._account = _sign_up_body(self._accounts)
            except CredentialError:
                self._account = {}
        given = self._account
        body = {**case.body, **{name: given[name] for name in self._accounts.flow.shared if name in given}}
        if _is_valid(self._accounts.login, case.media_type or "", body):
            case.body = body
        return case


def _refusal(operation: Operation, answer: Response) -> str:
    said = answer.content[:_MOST_SHOWN].decode("utf-8", "replace").strip()
    return f"{operation.label} failed: {answer.status_code} {said}".rstrip()


def _sign_up_body(accounts: Accounts) -> tuple[str, Body]:
    """Return (media type, value) of the sign-up body: every property filled, unused credentials, an administrator if possible."""
    flow = accounts.flow
    media_type, body = _fullest(accounts.sign_up, accounts.seed)
    mine = digest("account", str(accounts.seed))[:10]
    wanted = [*flow.preferred]
    for name in flow.shared:
        # An unused value of the type that the name suggests.
        value = f"checker-{mine}@example.com" if "mail" in normalised(name) else f"checker{mine}"
        wanted.append((name, f"Chk-{mine}-9z" if name in flow.passwords else value))
    for name, value in wanted:
        trial = {**body, name: value}
        # If the schema rejects the value, the drawn one stays.
        if _is_valid(accounts.sign_up, media_type, trial):
            body = trial
    return media_type, body


def _fullest(operation: ApiOperation, seed: int) -> tuple[str, Body]:
    """Return (media type, value) of the valid body with the most properties. Raises `CredentialError`."""
    bodies: list[tuple[str, Body]] = []
    settings = GenerationSettings(allow_extra_parameters=False, allow_x00=False, overrides=Overrides())
    with suppress(CheckerError):
        program = operation.compile(settings)
        for index in range(_DRAWN):
            source = RandomSource(digest_int("sign-up", operation.label, str(seed), str(index)))
            try:
                case = program.draw(source, f"signup-{index}", PhaseInfo("signup"))
            except (CheckerError, Rejected):
                continue
            kind = case.media_type or ""
            if isinstance(case.body, dict) and (is_json(kind) or is_form(kind)):
                bodies.append((kind, case.body))
    if not bodies:
        raise CredentialError(f"{operation.label} failed: no body for it can be made")
    media_type, body = max(bodies, key=lambda one: len(_filled(one[1])))
    whole = dict(body)
    for kind, other in bodies:
        if kind == media_type:
            whole |= {name: other[name] for name in _filled(other) - _filled(whole)}
    return media_type, whole if _is_valid(operation, media_type, whole) else body


def _filled(body: Body) -> set[str]:
    return {name for name, value in body.items() if value is not None}


def _request(operation: Operation, media_type: str, body: Body) -> WireRequest:
    has_null = not is_form(media_type)
    plain = {name: value for name, value in body.items() if has_null or value is not None}
    payload = written(plain, media_type) if plain else ""
    return login_request(operation.method, operation.path, payload, media_type)


def _is_valid(operation: Operation, media_type: str, body: Body) -> bool:
    request = _request(operation, media_type, body)
    return operation.judge_request(request).outcome is not Judged.INVALID
