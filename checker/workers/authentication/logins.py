"""Logins: requests that fetch tokens (`[auth.dynamic.openapi.<scheme>]`), or that log in users of an authentication document.

Logins are recorded without the credentials that they send and receive.
"""

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import Struct

from checker.config.auth import REFRESH_S, RETRY_ON, DynamicScheme, WfcLogin, WfcUser
from checker.core.case import Case
from checker.core.credentials import RUNNING_SOURCES, Credentials, CredentialSource
from checker.core.errors import CredentialError
from checker.core.media_types import is_form, is_json
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, Location, WireRequest
from checker.core.response import Outcome, Response
from checker.core.schema import walked
from checker.core.security import UNAUTHORIZED, SecurityScheme
from checker.core.send import Purpose, Send
from checker.transport.settings import Headers
from checker.workers.authentication.csrf import WANTS_TOKEN, CsrfToken, echoed, is_csrf_cookie, token_of
from checker.workers.authentication.schemes import SchemeCredentials, carried_as, credentials_at
from checker.workers.recording.traffic import Answered, Traffic, answered

_REJECTED: Final = "the credentials were rejected; correct them in the configuration"
_REJECTIONS: Final = frozenset(("invalid_client", "invalid_grant", "unauthorized_client", "access_denied"))
"""OAuth 2 errors that mean wrong credentials (RFC 6749, 5.2)."""
_UNCLEAR: Final = "correct the credentials, or the way they are sent, in the configuration"
_NOT_UNDERSTOOD: Final = (
    "the login does not understand the request; correct the names of its fields and its media type in the configuration"
)
_NOT_THERE: Final = "there is no login at this place; correct path and method in the configuration"
_ADVICE: Final = {
    400: _UNCLEAR,
    401: _REJECTED,
    403: f"{_UNCLEAR}; the login may want a CSRF token",
    **dict.fromkeys((404, 405), _NOT_THERE),
    **dict.fromkeys((415, 422), _NOT_UNDERSTOOD),
}
"""Status of a failed login -> advice."""
_TITLE: Final = re.compile(r"<title[^>]*>([^<]*)", re.IGNORECASE)
_REASONS: Final = ("error", "error_description", "title", "detail", "message")
"""Members of an error body that give the reason (RFC 6749, 5.2; RFC 9457; frameworks)."""
_MOST_SHOWN: Final = 200
_LEAD_S: Final = 30.0  # Seconds before its expiry at which a token is renewed.
_MOST_BYTES: Final = 16_384  # Longest token: nearly every server rejects longer headers.


class TokenSource(CredentialSource):
    """The token of one security scheme. Requests to operations that require the scheme carry it."""

    refresh_s = REFRESH_S

    def __init__(
        self, asked: DynamicScheme, scheme: SecurityScheme, schemes: SchemeCredentials, wiring: "LoginTransport"
    ) -> None:
        self.name = f"auth.dynamic.openapi.{asked.name}"
        self._asked, self._scheme, self._schemes, self._wiring = asked, scheme, schemes, wiring

    def key(self, case: Case) -> str | None:
        """Return the same key for all cases that carry the scheme; None for other cases."""
        chosen = self._schemes.chosen(case.operation, case.alternative)
        return "" if self._scheme in chosen and self._asked in self._schemes.of(case.operation).dynamic else None

    def fetch(self, case: Case) -> Credentials:
        """Log in and return the token. Raises `CredentialError`."""
        asked = self._asked
        media_type = asked.payload_content_type
        payload = written(json.loads(asked.payload), media_type) if asked.payload else ""
        outcome = send_login(
            self._wiring,
            asked.method,
            asked.endpoint,
            payload,
            media_type,
            asked.headers,
            is_redirect_kept=asked.extract_from != "body",
        )
        response = accepted(outcome, f"{asked.method} {path_of(asked.endpoint)}")
        token = extracted(response, asked.extract_from, asked.extract_selector)
        return carried_as(self._scheme, token, lifetime_s(response))

    def is_refused(self, response: Response) -> bool:
        """Whether the status is in `retry_on`."""
        return response.status_code in self._asked.retry_on


def written(payload: Any, media_type: str) -> str:
    """Return a JSON value as the text of a media type: JSON, or a form with numbers and booleans in JSON's spelling.

    If the media type is not JSON, a string is the whole body.
    """
    if isinstance(payload, str) and not is_json(media_type):
        return payload
    if not is_form(media_type):
        return json.dumps(payload)
    texts = ((name, one if isinstance(one, str) else json.dumps(one)) for name, one in payload.items())
    return urlencode(list(texts))


def login_request(method: str, path: str, payload: str, media_type: str, headers: Headers = ()) -> WireRequest:
    """Return a request for a token. With an empty payload it has no body."""
    body: bytes | None = None
    fields = [(b"Accept", b"*/*"), *((n.encode(), v.encode("latin-1")) for n, v in headers)]
    if payload:
        body = payload.encode()
        fields.append((b"Content-Type", media_type.encode("latin-1")))
    elif method not in ("GET", "DELETE"):
        body = b""
    # The last login may be minutes ago, and the server may have closed a kept connection since.
    return WireRequest(method, path.encode(), fields, body, fresh=True)


def send_login(
    wiring: "LoginTransport",
    method: str,
    endpoint: str,
    payload: str,
    media_type: str,
    headers: Headers = (),
    *,
    is_redirect_kept: bool = False,
) -> Outcome:
    """Send a login, or request its page. `endpoint` is a path below the base URL, or a URL.

    Redirects are followed unless `is_redirect_kept`, for cookies and headers of the redirect itself.
    """
    target, send = endpoint, wiring.send
    if not endpoint.startswith("/"):
        parts = urlsplit(endpoint)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        send = wiring.send_to(endpoint)
    request = login_request(method, target, payload, media_type, headers)
    request.is_kept = (lambda: True) if is_redirect_kept else None
    return send(request)


def path_of(endpoint: str) -> str:
    """Return the path of a login, for messages."""
    return (endpoint if endpoint.startswith("/") else urlsplit(endpoint).path or "/").partition("?")[0]


def lifetime_s(response: Response) -> float | None:
    """Return the age in seconds at which a token is renewed, by the `expires_in` of its response (RFC 6749, 5.1).

    This is 30 seconds before it expires, or after half of a shorter life, because requests with it may be in flight.
    None if the response does not state it.
    """
    try:
        document = json.loads(response.content)
        seconds = float(document["expires_in"])
    except (ValueError, RecursionError, TypeError, KeyError, IndexError):
        return None
    return max(seconds - _LEAD_S, seconds / 2) if 0 < seconds < inf else None


def accepted(outcome: Outcome, label: str) -> Response:
    """Return the response to a login. Raises `CredentialError` for a network failure and for a refusal."""
    if not isinstance(outcome, Response):
        raise CredentialError(f"{label} was not answered: {outcome.kind}: {outcome.message}")
    status = outcome.status_code
    if not 200 <= status < 400:
        # OAuth 2's `error` and the reason in the body, in one short line.
        text = outcome.content[:_MOST_BYTES].decode("utf-8", "replace")
        error = ""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            title = _TITLE.search(text)
            said = title[1] if title else "" if text.lstrip().startswith("<") else text
        else:
            error = str(document.get("error", "")) if isinstance(document, dict) else ""
            named = (document.get(name) for name in _REASONS) if isinstance(document, dict) else ()
            texts = [one for one in named if isinstance(one, str) and one]
            said = ": ".join(dict.fromkeys(texts)) or ("" if document in ({}, [], None) else text)
        said = " ".join(said.split())
        said = said if len(said) <= _MOST_SHOWN else f"{said[:_MOST_SHOWN]}..."
        advice = _REJECTED if error in _REJECTIONS else _ADVICE.get(status)
        shown = f" ({said})" if said else ""
        raise CredentialError(f"{label} answered {status}{shown}" + (f": {advice}" if advice else ""))
    return outcome


def _cookie_header(cookies: Mapping[str, str]) -> Headers:
    return (("Cookie", "; ".join(f"{name}={value}" for name, value in cookies.items())),) if cookies else ()


def extracted(response: Response, source: str, selector: str) -> str:
    """Return the token in a response as text; numbers and booleans as in JSON. Raises `CredentialError`."""
    found: Any = None
    if source == "header":
        found = response.headers.get(selector.lower(), [None])[0]
    elif source == "cookie":
        found = cookies_of(response).get(selector)
    else:
        try:
            is_there, value = walked(json.loads(response.content), selector)
        except (ValueError, RecursionError):
            raise CredentialError("the response to the login is not JSON") from None
        found = value if is_there else None
    if found is None or isinstance(found, dict | list) or found == "":
        raise CredentialError(f"the response to the login has no token at {source} {selector!r}")
    token = found if isinstance(found, str) else json.dumps(found)
    if len(token) > _MOST_BYTES or any(char in token for char in "\r\n\0"):
        raise CredentialError(f"the value at {source} {selector!r} of the login cannot be sent")
    return token


def cookies_of(response: Response) -> dict[str, str]:
    """Return the cookies that a response sets, without attributes (RFC 6265, 5.2)."""
    pairs = (text.partition(";")[0] for text in response.headers.get("set-cookie", []))
    split = (pair.partition("=") for pair in pairs)
    return {name.strip(): value.strip() for name, sign, value in split if sign and name.strip()}


_ANONYMOUS: Final = ""  # Name for calls without credentials.

SendTo = Callable[[str], Send]  # Returns a function that sends requests to the host of an absolute URL.


class LoginTransport(Struct, frozen=True):
    """The transport of login requests."""

    origin: BaseUrl
    send: Send  # To the API, below its base path.
    send_to: SendTo  # To any other host.


_MOST_INCONCLUSIVE: Final = 8
"""Most requests of an operation that are sent as other users while the responses do not show which user may call it."""


class Identities:
    """The caller of each operation: the first user, then no user, then the other users, until one is accepted.

    A 404 or 400 for another user proves nothing, because the 403 may have had other reasons, such as a wrong code. The
    next request of the operation comes from the first user again.
    """

    def __init__(self, names: Sequence[str], peers: Collection[str] = ()) -> None:
        """`peers` have the same permissions as the first user, so they are not tried after a refusal."""
        first, *others = names
        others = [one for one in others if first not in peers or one not in peers]
        self._ladder = (first, _ANONYMOUS, *others) if others else (first,)
        self._tried: dict[str, list[int]] = {}
        """Operation -> statuses of the refusals, in the order of `_ladder`."""
        self._inconclusive: Counter[str] = Counter()
        self._settled: dict[str, str] = {}

    def current(self, label: str) -> str:
        """Return the user that currently calls an operation; empty for calls without credentials."""
        known = self._settled.get(label)
        return self._ladder[len(self._tried.get(label, ()))] if known is None else known

    def is_settled(self, label: str) -> bool:
        """Whether the caller of an operation is final."""
        return len(self._ladder) == 1 or label in self._settled

    def is_another_tried(self, label: str, who: str, status: int) -> bool:
        """Record a response to a user. Return whether to send the same request again as another user."""
        is_refusal = status in UNAUTHORIZED
        if self.is_settled(label) or who != self.current(label):
            # The response to a concurrent request has already changed the caller of the operation.
            return is_refusal and who != self.current(label)
        if 200 <= status < 400:
            self._settled[label] = who
        if not is_refusal:
            if label not in self._settled and self._tried.pop(label, []):
                self._inconclusive[label] += 1
                if self._inconclusive[label] >= _MOST_INCONCLUSIVE:
                    self._settled[label] = self._ladder[0]
            return False
        tried = self._tried.setdefault(label, [])
        tried.append(status)
        if len(tried) < len(self._ladder):
            return True
        # Every caller was refused. 403 means "known but not allowed", which is closer to success than 401.
        furthest = tried.index(403) if 403 in tried else 0
        self._settled[label] = self._ladder[furthest]
        return self._settled[label] != who


_OF_USER: Final = "auth.wfc user "


def source_name(user: str) -> str:
    """Return the name of the source for a user's credentials."""
    return f"{_OF_USER}{user}"


def user_of(source: str) -> str:
    """Return the user whose credentials a source fetches; empty for other sources."""
    return source.removeprefix(_OF_USER) if source.startswith(_OF_USER) else ""


class UserSource(CredentialSource):
    """The credentials of one user, as a source."""

    def __init__(self, identities: Identities, refresh_s: float | None, wiring: LoginTransport, user: WfcUser) -> None:
        self.name = source_name(user.name)
        self.refresh_s = refresh_s or None
        self._user = user
        self._identities = identities
        self._wiring = wiring

    def key(self, case: Case) -> str | None:
        """Return the key of the user; None if another user calls the operation."""
        is_mine = self._identities.current(case.operation.label) == self._user.name
        return "" if is_mine else None

    def fetch(self, case: Case | None = None) -> Credentials:
        """Return the configured headers, or the credentials in the response to the login. Raises `CredentialError`."""
        login = self._user.login
        if login is None:
            return Credentials(dict(self._user.headers))
        token = login.token
        if token is None:
            return self._session(login)
        response = accepted(self._sent(login), self._label(login))
        found = extracted(response, token.extract_from, token.extract_selector)
        sent = {token.send_name: token.template.replace("{token}", found)}
        return credentials_at(Location(token.send_in), sent)

    def _session(self, login: WfcLogin) -> Credentials:
        """Return the cookies of a session, and the headers that repeat its CSRF token. Raises `CredentialError`.

        If the login is refused and its page contains a token, the login is sent once more with the token.
        """
        outcome, token = self._sent(login), CsrfToken({}, {})
        cookies: dict[str, str] = {}
        if isinstance(outcome, Response) and outcome.status_code in WANTS_TOKEN:
            page = self._page(login.endpoint, {})
            if page is not None:
                cookies = cookies_of(page)
                token = token_of(page, cookies)
            if token:
                outcome = self._sent(login, token, cookies)
        response = accepted(outcome, self._label(login))
        # A login may give the session a new identifier and a new token, or keep those of the page.
        cookies = {name: value for name, value in (cookies | cookies_of(response)).items() if value}
        if not cookies:
            raise CredentialError(
                f"the response to the login of {self._user.name!r} sets no cookie, which 'expectCookies' promises; "
                "give the place of the credentials in the response with 'token'"
            )
        if all(map(is_csrf_cookie, cookies)):
            raise CredentialError(
                f"{self._label(login)} answered {response.status_code} without the cookie of a session; "
                "correct the credentials, or the path and the fields of the login"
            )
        headers: Mapping[str, str] = echoed(cookies)
        if token and not headers:
            place = response.headers.get("location", [""])[0]
            is_path = place.startswith("/") and not login.is_external
            page = self._page(f"{self._wiring.origin.plain.url}{place}" if is_path else login.endpoint, cookies)
            headers = (page is not None and token_of(page, cookies).headers) or token.headers
        return Credentials(dict(headers), cookies=cookies)

    def _sent(
        self, login: WfcLogin, token: CsrfToken | None = None, cookies: Mapping[str, str] | None = None
    ) -> Outcome:
        payload, headers = login.payload, login.headers
        if not isinstance(payload, str):
            fields = token.fields if token is not None and is_form(login.content_type) else {}
            payload = written({**dict(payload), **fields}, login.content_type)
        if token is not None:
            page = login.endpoint if login.is_external else f"{self._wiring.origin.plain.url}{login.endpoint}"
            # Django requires it on HTTPS requests.
            headers = (*headers, *token.headers.items(), *_cookie_header(cookies or {}), ("Referer", page))
        return send_login(
            self._wiring,
            login.method,
            login.endpoint,
            payload,
            login.content_type,
            headers,
            is_redirect_kept=login.token is None or login.token.extract_from != "body",
        )

    def _page(self, endpoint: str, cookies: Mapping[str, str]) -> Response | None:
        outcome = send_login(self._wiring, "GET", endpoint, "", "", _cookie_header(cookies))
        return outcome if isinstance(outcome, Response) and outcome.status_code < 400 else None

    def _label(self, login: WfcLogin) -> str:
        return f"the login of {self._user.name!r} ({login.method} {path_of(login.endpoint)})"

    def is_refused(self, response: Response) -> bool:
        """Whether a new login may help. Configured headers never change."""
        return self._user.login is not None and response.status_code in RETRY_ON


_MASK: Final = Redaction().replacement
_PLAIN_OF_LOGINS: Final = frozenset((b"content-type", b"content-length", b"accept", b"host", b"user-agent"))
"""Headers of logins that contain no credentials."""
_PLAIN_OF_RESPONSES: Final = frozenset(("content-type", "content-length", "date", "server"))
"""Headers of responses that contain no credentials."""


class LoginTraffic(msgspec.Struct):
    """Collects logins, and records them once their values are registered as secrets."""

    traffic: Traffic
    _sent: list[Answered] = msgspec.field(default_factory=list)

    def over(self, wiring: LoginTransport) -> LoginTransport:
        """Return a transport that also collects the logins that it sends."""
        return msgspec.structs.replace(
            wiring,
            send=self._noted(wiring.send, wiring.origin.base_path),
            send_to=lambda url: self._noted(wiring.send_to(url), BaseUrl.from_url(url).url),
        )

    def _noted(self, send: Send, above: str) -> Send:
        """Return a sender that collects its requests. `above` is put before their paths: a base path, or the URL of another host."""

        def noted(request: WireRequest) -> Outcome:
            outcome = send(request)
            sent = dataclasses.replace(request, target=above.encode() + request.target)
            self._sent.append(answered(sent, outcome))
            return outcome

        return noted

    def add(self, one: Answered) -> None:
        self._sent.append(one)

    def write(self) -> None:
        """Record the logins since the last call."""
        for request, outcome, at in self._sent:
            # All values of a login are masked, because users choose the names of its fields.
            headers = [(n, v if n.lower() in _PLAIN_OF_LOGINS else _MASK.encode()) for n, v in request.headers]
            target = Redaction().url(request.target.decode("latin-1")).encode("latin-1")
            body = request.body
            if body:
                media_type = (request.header(b"content-type") or b"").decode("latin-1")
                if is_form(media_type):
                    body = b"&".join(b"%b=%b" % (one.partition(b"=")[0], _MASK.encode()) for one in body.split(b"&"))
                else:
                    body = _json_of_masks(body)
            bare = dataclasses.replace(request, target=target, headers=headers, body=body)
            self.traffic.beside(Answered(bare, _without_credentials(outcome), at), Purpose.LOGIN)
        self._sent.clear()


class UserTraffic(Struct):
    """Records the requests of user code. Requests of its credential sources count as logins."""

    logins: LoginTraffic
    places: Collection[str]  # Places of credentials that the description declares.

    def record(self, request: WireRequest, outcome: Outcome) -> None:
        traffic, one = self.logins.traffic, answered(request, outcome)
        # A provider sends logins, whose fields are unknown.
        if RUNNING_SOURCES:
            self.logins.add(one)
        else:
            # Its credentials may differ from those of the run.
            given = (field for field in request.headers if field not in request.drawn)
            headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in given)
            redaction = traffic.secrets.redaction
            sensitive = {
                name: value
                for name, value in headers
                if redaction.is_sensitive(name) or f"header {name.lower()}" in self.places
            }
            traffic.secrets.add_credentials(Credentials(sensitive), owner="call")
            traffic.beside(one, Purpose.USER)


def _without_credentials(outcome: Outcome) -> Outcome:
    """Return a response without credentials. A refusal is returned unchanged, because it gives the reason and contains no credentials."""
    if not isinstance(outcome, Response) or outcome.status_code >= 400:
        return outcome
    headers = [(name, value if name.lower() in _PLAIN_OF_RESPONSES else _MASK) for name, value in outcome.raw_headers]
    return Response(
        outcome.status_code,
        headers,
        _json_of_masks(outcome.content) if outcome.content else b"",
        elapsed=outcome.elapsed,
        message=outcome.message,
        http_version=outcome.http_version,
    )


def _json_of_masks(body: bytes) -> bytes:
    """Return JSON with masked values. The names stay, because users need them to write the pointer to the token."""
    try:
        return json.dumps(_of_masks(json.loads(body))).encode()
    except (ValueError, RecursionError):
        return _MASK.encode()


def _of_masks(value: Any) -> Any:
    match value:
        case dict():
            return {name: _of_masks(item) for name, item in value.items()}
        case list():
            return [_of_masks(item) for item in value]
        case bool() | None:
            return value
        case _:
            return _MASK
