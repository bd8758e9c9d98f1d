"""Tokens that a request of the configuration gets: `[auth.dynamic.openapi.<scheme>]`."""

import json
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from checker.config.auth import REFRESH_S, DynamicScheme, is_form
from checker.core.case import Case
from checker.core.credentials import Credentials, CredentialSource
from checker.core.errors import CredentialError
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response
from checker.core.security import SecurityScheme
from checker.schema.pointers import walked
from checker.transport.settings import Headers
from checker.workers.authentication.schemes import SchemeCredentials, carried_as

Send = Callable[[WireRequest], Outcome]
"""Sends a request that is no test to where tests go; its path stands below the base path."""

_REJECTED: Final = "the credentials were rejected; correct them in the configuration"
_NOT_UNDERSTOOD: Final = (
    "the login does not take what was sent; correct names of its fields and its media type in the configuration"
)
_NOT_THERE: Final = "nothing logs in there; correct path and method in the configuration"
_ADVICE: Final = {
    400: f"{_REJECTED}, or how they are sent",
    **dict.fromkeys((401, 403), _REJECTED),
    **dict.fromkeys((404, 405), _NOT_THERE),
    **dict.fromkeys((415, 422), _NOT_UNDERSTOOD),
}
"""By status of a login."""
_MOST_BYTES: Final = 16_384
"""Of a token: longer headers are refused nearly everywhere."""


class TokenSource(CredentialSource):
    """The token for one security scheme: fetched as configured, carried by the operations that ask for the scheme."""

    refresh_s = REFRESH_S

    def __init__(self, asked: DynamicScheme, scheme: SecurityScheme, schemes: SchemeCredentials, send: Send) -> None:
        self.name = f"auth.dynamic.openapi.{asked.name}"
        self._asked = asked
        self._scheme = scheme
        self._schemes = schemes
        self._send = send

    def key(self, case: Case) -> str | None:
        """One token for all cases that carry the scheme."""
        chosen = self._schemes.chosen(case.operation, case.alternative)
        return "" if self._scheme in chosen else None

    def fetch(self, case: Case) -> Credentials:
        """The token of a new answer. Raises `CredentialError`."""
        asked = self._asked
        media_type = asked.payload_content_type
        payload = written(json.loads(asked.payload), media_type) if asked.payload else ""
        request = login_request(asked.method, asked.path, payload, media_type)
        response = answered(self._send(request), f"{asked.method} {asked.path}")
        token = extracted(response, asked.extract_from, asked.extract_selector)
        return carried_as(self._scheme, token)

    def is_refused(self, response: Response) -> bool:
        """Whether it has a status of `retry_on`."""
        return response.status_code in self._asked.retry_on


def written(payload: Any, media_type: str) -> str:
    """Return a JSON value as the text of a media type: JSON, or a form, which writes numbers and booleans as JSON does."""
    if not is_form(media_type):
        return json.dumps(payload)
    texts = ((name, one if isinstance(one, str) else json.dumps(one)) for name, one in payload.items())
    return urlencode(list(texts))


def login_request(method: str, path: str, payload: str, media_type: str, headers: Headers = ()) -> WireRequest:
    """Return a request for a token; an empty payload sends no body."""
    body: bytes | None = None
    fields = [(b"Accept", b"*/*"), *((n.encode(), v.encode("latin-1")) for n, v in headers)]
    if payload:
        body = payload.encode()
        fields.append((b"Content-Type", media_type.encode("latin-1")))
    elif method not in ("GET", "DELETE"):
        body = b""
    # Kept connections may have died since the last token.
    return WireRequest(method, path.encode(), fields, body, fresh=True)


def answered(outcome: Outcome, label: str) -> Response:
    """The answer to a login. Raises `CredentialError` for what is none, and for a refusal."""
    if not isinstance(outcome, Response):
        raise CredentialError(f"{label} was not answered: {outcome.kind}: {outcome.message}")
    status = outcome.status_code
    if not 200 <= status < 400:
        advice = _ADVICE.get(status)
        raise CredentialError(f"{label} answered {status}" + (f": {advice}" if advice else ""))
    return outcome


def extracted(response: Response, source: str, selector: str) -> str:
    """The token in an answer: a text, or what is written for another scalar. Raises `CredentialError`."""
    found: Any = None
    if source == "header":
        found = response.headers.get(selector.lower(), [None])[0]
    elif source == "cookie":
        found = cookies_of(response).get(selector)
    else:
        try:
            is_there, value = walked(json.loads(response.content), selector)
        except (ValueError, RecursionError):
            raise CredentialError("the answer to the login is not JSON") from None
        found = value if is_there else None
    if found is None or isinstance(found, dict | list) or found == "":
        raise CredentialError(f"the answer to the login has no token at {source} {selector!r}")
    token = found if isinstance(found, str) else json.dumps(found)
    if len(token) > _MOST_BYTES or any(char in token for char in "\r\n\0"):
        raise CredentialError(f"what stands at {source} {selector!r} of the login cannot be sent")
    return token


def cookies_of(response: Response) -> dict[str, str]:
    """Cookies that an answer sets, without their attributes (RFC 6265, 5.2)."""
    pairs = (text.partition(";")[0] for text in response.headers.get("set-cookie", []))
    split = (pair.partition("=") for pair in pairs)
    return {name.strip(): value.strip() for name, sign, value in split if sign and name.strip()}
