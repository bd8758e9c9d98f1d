"""Users of an authentication document: what each of them carries, and whom each operation lets in."""

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from checker.config.auth import RETRY_ON, WfcLogin, WfcUser
from checker.core.case import Case
from checker.core.credentials import Credentials, CredentialSource
from checker.core.request import BaseUrl
from checker.core.response import Response
from checker.core.security import UNAUTHORIZED
from checker.workers.authentication.tokens import Send, answered, cookies_of, extracted, login_request, written

_NOBODY: Final = ""
"""In place of a name: no credentials."""

_ECHOED: Final = {"csrftoken": "X-CSRFToken", "XSRF-TOKEN": "X-XSRF-TOKEN"}
"""Cookie that guards a session against forged requests -> header that repeats it: of Django; of Angular, Laravel, Spring and ASP.NET."""

SendTo = Callable[[str], Send]
"""From an absolute URL to what sends requests to its host."""


class LoginTransport(Struct, frozen=True):
    """The transport of login requests."""

    origin: BaseUrl
    send: Send
    """To the API, below its base path."""
    send_to: SendTo
    """To any other host."""


class Identities:
    """The caller of each operation: the first user, then anonymous, then the other users, until one is accepted."""

    def __init__(self, names: Sequence[str]) -> None:
        first, *others = names
        self._ladder = (first, _NOBODY, *others) if others else (first,)
        self._tried: dict[str, list[int]] = {}
        """Operation -> statuses that refused, in the order of the ladder."""
        self._settled: dict[str, str] = {}

    def current(self, label: str) -> str:
        """Return the user that calls an operation now; empty for anonymous calls."""
        known = self._settled.get(label)
        return self._ladder[len(self._tried.get(label, ()))] if known is None else known

    def is_settled(self, label: str) -> bool:
        """Whether it stays with whom it has."""
        return len(self._ladder) == 1 or label in self._settled

    def is_another_tried(self, label: str, who: str, status: int) -> bool:
        """Record a response to a user; return whether the same request is to be sent again as another user."""
        is_refusal = status in UNAUTHORIZED
        if self.is_settled(label) or who != self.current(label):
            # The answer to another request has said more meanwhile.
            return is_refusal and who != self.current(label)
        if 200 <= status < 400:
            self._settled[label] = who
        if not is_refusal:
            return False
        tried = self._tried.setdefault(label, [])
        tried.append(status)
        if len(tried) < len(self._ladder):
            return True
        # Nobody is let in. Known but not allowed is further than not known.
        furthest = tried.index(403) if 403 in tried else 0
        self._settled[label] = self._ladder[furthest]
        return self._settled[label] != who


def source_name(user: str) -> str:
    """Return the name of the source of a user's credentials."""
    return f"auth.wfc user {user}"


class UserSource(CredentialSource):
    """One user as a source of credentials."""

    def __init__(self, identities: Identities, refresh_s: float | None, wiring: LoginTransport, user: WfcUser) -> None:
        self.name = source_name(user.name)
        self.refresh_s = refresh_s or None
        self._user = user
        self._identities = identities
        self._wiring = wiring

    def key(self, case: Case) -> str | None:
        """Return the key of the user; None if another user calls."""
        is_mine = self._identities.current(case.operation.label) == self._user.name
        return "" if is_mine else None

    def fetch(self, case: Case) -> Credentials:
        """Return the credentials that the user carries from now on. Raises `CredentialError`."""
        return self.log_in()

    def log_in(self) -> Credentials:
        """Fixed headers, and what the answer to a login gives. Raises `CredentialError`."""
        login, fixed = self._user.login, dict(self._user.headers)
        if login is None:
            return Credentials(fixed)
        response = self._answer(login)
        token = login.token
        if token is None:
            cookies = cookies_of(response)
            echoed = {_ECHOED[name]: cookies[name] for name in cookies if name in _ECHOED}
            return Credentials(echoed | fixed, cookies=cookies)
        found = extracted(response, token.extract_from, token.extract_selector)
        sent = {token.send_name: token.template.replace("{token}", found)}
        if token.send_in == "query":
            return Credentials(fixed, query=sent)
        if token.send_in == "cookie":
            return Credentials(fixed, cookies=sent)
        return Credentials(fixed | sent)

    def is_refused(self, response: Response) -> bool:
        """Whether a login may help: fixed headers stay what they are."""
        return self._user.login is not None and response.status_code in RETRY_ON

    def _answer(self, login: WfcLogin) -> Response:
        target, send = login.endpoint, self._wiring.send
        if login.is_external:
            parts = urlsplit(login.endpoint)
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            send = self._wiring.send_to(login.endpoint)
        media_type, payload = login.content_type, login.payload
        if not isinstance(payload, str):
            payload = written(dict(payload), media_type)
        request = login_request(login.method, target, payload, media_type, login.headers)
        label = f"{login.method} {target.partition('?')[0]}"
        return answered(send(request), f"the login of {self._user.name!r} ({label})")
