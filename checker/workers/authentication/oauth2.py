"""OAuth 2 tokens (`[auth.oauth2.openapi.<scheme>]`), by the grants that need no browser (RFC 6749, 4.3, 4.4 and 6)."""

import json
from typing import Any
from urllib.parse import urlencode

from checker.config.auth import FORM, OAuth2Scheme
from checker.core.case import Case
from checker.core.credentials import Credentials, CredentialSource
from checker.core.errors import ConfigError
from checker.core.operation import Label
from checker.core.response import Response
from checker.core.security import SecurityScheme
from checker.transport.settings import Headers
from checker.workers.authentication.logins import LoginTransport, accepted, extracted, lifetime_s, path_of, send_login
from checker.workers.authentication.schemes import SchemeCredentials, carried_as, token_target

_REFRESH: str = "refresh_token"


class OAuth2Source(CredentialSource):
    """The tokens of one client, one for each set of scopes. A token is renewed before it expires and when it is refused."""

    def __init__(
        self, asked: OAuth2Scheme, scheme: SecurityScheme, schemes: SchemeCredentials, wiring: LoginTransport
    ) -> None:
        """Raises `ConfigError` if the token URL is unknown, or is on a server that only the description names."""
        self.name = f"auth.oauth2.openapi.{asked.name}"
        self._asked, self._scheme, self._schemes, self._wiring = asked, scheme, schemes, wiring
        self._url = asked.token_url or scheme.token_url(asked.grant)
        if not self._url:
            raise ConfigError(f"[{self.name}]: the description declares no tokenUrl for this scheme; give 'token_url'")
        if not asked.token_url:
            self._url, is_foreign = token_target(self._url, wiring.origin.plain)
            if is_foreign:
                raise ConfigError(
                    f"[{self.name}]: credentials are not sent to {self._url}, which only the description names; "
                    f'confirm it by `token_url = "{self._url}"`'
                )
        self._keys: dict[tuple[Label, int | None], str | None] = {}

    def key(self, case: Case) -> str | None:
        """Return the scopes that a case needs; None if its request does not carry the scheme.

        With a refresh token there is only one key, because the server may replace the refresh token at each use, and a
        second key would invalidate the first.
        """
        place = case.operation.label, case.alternative
        if place not in self._keys:
            operation, schemes, asked = case.operation, self._schemes, self._asked
            if (
                self._scheme not in schemes.chosen(operation, case.alternative)
                or asked not in schemes.of(operation).oauth2
            ):
                self._keys[place] = None
            elif asked.scopes is not None or asked.grant == _REFRESH:
                self._keys[place] = " ".join(asked.scopes or ())
            else:
                self._keys[place] = " ".join(sorted(schemes.scopes(operation, case.alternative, self._scheme)))
        return self._keys[place]

    def fetch(self, case: Case) -> Credentials:
        """Return a token for the scopes of a case. Raises `CredentialError`."""
        return self._token(case, self._asked.refresh_token)

    def renewed(self, held: Credentials, case: Case) -> Credentials:
        """Return the next token, using the refresh token of the last one. Raises `CredentialError`."""
        return self._token(case, held.data or self._asked.refresh_token)

    def is_refused(self, response: Response) -> bool:
        """Whether the response refuses the token (RFC 6750, 3.1): 401."""
        return response.status_code == 401

    def _token(self, case: Case, refresh_token: str) -> Credentials:
        asked = self._asked
        fields = {"grant_type": asked.grant}
        if asked.grant == "password":
            fields |= {"username": asked.username, "password": asked.password}
        if asked.grant == _REFRESH:
            fields[_REFRESH] = refresh_token
        if scope := self.key(case):
            fields["scope"] = scope
        headers: Headers = ()
        if asked.client_auth == "basic":
            headers = (("Authorization", asked.header),)
        else:
            pairs = {"client_id": asked.client_id, "client_secret": asked.client_secret}
            fields |= {name: value for name, value in pairs.items() if value}
        body = urlencode(fields | dict(asked.parameters))
        outcome = send_login(self._wiring, "POST", self._url, body, FORM, headers)
        response = accepted(outcome, f"POST {path_of(self._url)}")
        token = extracted(response, "body", "/access_token")
        following: Any = json.loads(response.content).get(_REFRESH)
        kept = following if isinstance(following, str) and following else refresh_token
        return carried_as(self._scheme, token, lifetime_s(response), kept if asked.grant == _REFRESH else None)
