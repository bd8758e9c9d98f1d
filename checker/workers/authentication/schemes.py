"""The configured credentials of security schemes, and which of them each operation gets."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import urljoin

from msgspec.structs import replace

from checker.config.auth import Authentication, StaticScheme
from checker.config.operation_settings import OperationResolver
from checker.config.value_kinds import did_you_mean_or_all
from checker.core.credentials import Credentials, DescribedLogin, basic_authorization
from checker.core.errors import ConfigError
from checker.core.operation import Label, Operation
from checker.core.request import BaseUrl, Location
from checker.core.security import SecurityScheme, chosen_schemes, met_alternatives

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")  # TOML keys that need no quotes.
_JSON: Final = "application/json"
_GRANTS: Final = {"grant_type": "password"}
"""Values of the other fields of a login with user and password (RFC 6749, 4.3.2)."""


class SchemeCredentials:
    """Credentials by security scheme. Raises `ConfigError` if they are configured for another kind of scheme."""

    def __init__(
        self,
        declared: Mapping[str, SecurityScheme],
        configured: Authentication,
        operations: OperationResolver | None = None,
    ) -> None:
        """`operations`: the settings of operations with their own authentication; None if all use the configured one."""
        self.declared = declared
        self.configured = configured
        self._operations = None if operations is None or operations.is_uniform else operations
        everywhere = () if self._operations is None else self._operations.layers.everywhere()
        self.everywhere = tuple(dict.fromkeys((configured, *(own.authentication for own in everywhere))))
        """The general authentication, then the authentication of single operations."""
        self._static = {
            own: {one.name: _of_scheme(declared[one.name], one) for one in own.static if one.name in declared}
            for own in self.everywhere
        }
        self._chosen: dict[tuple[Label, int | None], tuple[SecurityScheme, ...]] = {}
        """(operation, alternative) -> schemes."""
        self._needed: dict[Label, SecurityScheme] = {}
        """Operation without declared security -> the scheme that it accepts."""

    def __bool__(self) -> bool:
        return any(own.schemes for own in self.everywhere)

    @property
    def static(self) -> Mapping[str, Credentials]:
        """Return the credentials for all operations that need no login, by scheme."""
        return self._static[self.configured]

    def of(self, operation: Operation) -> Authentication:
        return self.configured if self._operations is None else self._operations.of(operation).authentication

    def need(self, label: Label, name: str) -> None:
        """Let requests to an operation without declared security carry the credentials of a scheme. Call this before the first case."""
        self._chosen.pop((label, None), None)
        self._needed[label] = self.declared[name]

    @property
    def unused(self) -> Iterator[tuple[str, str]]:
        """Yield (name, sentence) of configured schemes that the description does not declare."""
        for name in dict.fromkeys(name for own in self.everywhere for name in own.schemes):
            if name not in self.declared:
                hint = did_you_mean_or_all(name, self.declared)
                yield name, f"no security scheme is called {name!r}{hint}"

    @property
    def tokens(self) -> Iterator[tuple[str, str, str]]:
        """Yield (header, `cookie NAME` or `query NAME`, scheme, text before the credentials) of the configured schemes."""
        for name in dict.fromkeys(name for own in self.everywhere for name in own.schemes if name in self.declared):
            scheme = self.declared[name]
            place, parameter = scheme.place
            if place in (Location.COOKIE, Location.QUERY):
                yield f"{place.value} {parameter}", name, ""
            elif place is Location.HEADER:
                yield parameter, name, {"apiKey": "", "basic": "Basic ", "bearer": "Bearer "}[_kind(scheme)]

    def examples(self, described: Callable[[], DescribedLogin | None], origin: BaseUrl) -> tuple[str, ...]:
        """Return lines of `checker.toml` that configure the declared schemes; none if authentication is configured.

        `described` returns the login of the description. It reads operations, so it is called only if needed.
        """
        if self.configured or not self.declared:
            return ()
        login = described()
        return tuple(example_of(one, origin, login) for one in self.declared.values())

    def alternatives(self, operation: Operation) -> tuple[int, ...]:
        """Return the indices of the security alternatives that requests can meet, the usual one first."""
        return met_alternatives(operation.security, self.of(operation).schemes)

    def chosen(self, operation: Operation, alternative: int | None = None) -> tuple[SecurityScheme, ...]:
        """Return the schemes whose credentials a request carries for an alternative; None stands for usual requests."""
        key = operation.label, alternative
        found = self._chosen.get(key)
        if found is None:
            needed = self._needed.get(operation.label)
            found = (needed,) if needed is not None else ()
            if needed is None:
                found = chosen_schemes(operation.security, self.of(operation).schemes, alternative)
            self._chosen[key] = found
        return found

    def scopes(self, operation: Operation, alternative: int | None, scheme: SecurityScheme) -> frozenset[str]:
        """Return the scopes that a request needs from a scheme for an alternative; None stands for usual requests."""
        security = operation.security
        if alternative is None or alternative >= len(security):
            alternative = next(iter(self.alternatives(operation)), len(security))
        met = security[alternative] if alternative < len(security) else None
        pairs = zip(met.schemes, met.scopes, strict=False) if met is not None else ()
        return frozenset(scope for one, scopes in pairs if one == scheme for scope in scopes)

    def by_alternative(self, operation: Operation) -> Mapping[int | None, Credentials]:
        """Return the constant credentials of requests to an operation, by the security alternative that they meet.

        The key None stands for usual requests. It is the only key if all requests have the same credentials. Without
        credentials the result is empty.
        """
        places = (None, *self.alternatives(operation)[1:])
        static = self._static[self.of(operation)]
        chosen = {place: [one.name for one in self.chosen(operation, place) if one.name in static] for place in places}
        if not any(chosen.values()):
            return {}
        return {place: merged(static[name] for name in names) for place, names in chosen.items()}

    def places(self, operation: Operation) -> frozenset[tuple[Location, str]]:
        """Return the places of credentials in requests to an operation, including fetched ones. Headers are in lower case."""
        met = (None, *self.alternatives(operation)[1:])
        places = (scheme.place for place in met for scheme in self.chosen(operation, place))
        return frozenset((place, place.key(name)) for place, name in places)


def example_of(scheme: SecurityScheme, origin: BaseUrl, login: DescribedLogin | None = None) -> str:
    """Return a line of `checker.toml` that configures a scheme, with environment variables in place of secrets."""
    key = _toml_key(scheme.name)
    variable = re.sub("[^A-Z0-9]+", "_", scheme.name.upper()).strip("_") or "SECRET"
    if scheme.type == "mutualTLS":
        return 'request-cert = "client.pem"'
    user = f'username = "${{{variable}_USER}}", password = "${{{variable}_PASSWORD}}"'
    if scheme.scheme == "digest":
        # The response to a challenge is different each time, so no fixed header can be configured.
        return f'auth.basic = {{ type = "digest", {user} }}'
    if login is not None and login.scheme == scheme:
        # Other required fields of the body are `...`, which the user has to replace.
        payload = {login.user: f"${{{variable}_USER}}", login.password: f"${{{variable}_PASSWORD}}"}
        payload |= {name: _GRANTS.get(name, "...") for name in login.others}
        pairs = ", ".join(f"{_toml_key(name)} = {json.dumps(text)}" for name, text in payload.items())
        sent_as = "" if login.media_type == _JSON else f"payload_content_type = {json.dumps(login.media_type)}, "
        return (
            f"auth.dynamic.openapi.{key} = {{ path = {json.dumps(login.path)}, payload = {{ {pairs} }}, "
            f"{sent_as}extract_selector = {json.dumps(login.token)} }}"
        )
    if scheme.token_urls:
        grant, url = scheme.token_urls[0]
        fields = {
            "client_credentials": ("client_id", "client_secret"),
            "password": ("username", "password"),
            "refresh_token": ("client_id", "refresh_token"),
        }[grant]
        members = [f'{one} = "${{{variable}_{"USER" if one == "username" else one.upper()}}}"' for one in fields]
        # Credentials are sent to another server only if the user names it.
        target, is_foreign = token_target(url, origin)
        members += [f"token_url = {json.dumps(target)}"] if is_foreign else []
        return f"auth.oauth2.openapi.{key} = {{ {', '.join(members)} }}"
    given = {"apiKey": f'api_key = "${{{variable}}}"', "bearer": f'bearer = "${{{variable}}}"', "basic": user}[
        _kind(scheme)
    ]
    return f"auth.openapi.{key} = {{ {given} }}"


def token_target(url: str, origin: BaseUrl) -> tuple[str, bool]:
    """Return (declared token URL as an absolute URL, whether its server is not that of the API)."""
    target = urljoin(f"{origin.url}{origin.base_path}/", url)
    try:
        return target, BaseUrl.from_url(target).site != origin.site
    except ValueError:
        return target, True


def _toml_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def carried_as(scheme: SecurityScheme, value: str, refresh_s: float | None = None, data: object = None) -> Credentials:
    """Return a token as credentials for a scheme, with the age at which it is renewed and with data for its source."""
    place, name = scheme.place
    text = value if scheme.type == "apiKey" else f"Bearer {value}"
    return replace(credentials_at(place, {name: text}), refresh_s=refresh_s, data=data)


def credentials_at(place: Location, values: Mapping[str, str]) -> Credentials:
    """Return credentials in headers, in the query or in cookies."""
    match place:
        case Location.QUERY:
            return Credentials(query=values)
        case Location.COOKIE:
            return Credentials(cookies=values)
        case _:
            return Credentials(values)


def merged(parts: Iterable[Credentials]) -> Credentials:
    """Return one value with all headers, parameters and cookies."""
    found = list(parts)
    headers, query, cookies = (
        {name: value for one in found for name, value in getattr(one, part).items()}
        for part in ("headers", "query", "cookies")
    )
    return Credentials(headers, query, cookies)


def _of_scheme(scheme: SecurityScheme, given: StaticScheme) -> Credentials:
    if scheme.scheme == "digest":
        raise ConfigError(
            f"[auth.openapi.{scheme.name}]: the description declares this scheme as {_shown(scheme)}; "
            'give user and password in [auth.basic] with `type = "digest"`'
        )
    if given.kind != _kind(scheme):
        needed = {"apiKey": "'api_key'", "basic": "'username' and 'password'", "bearer": "'bearer'"}
        raise ConfigError(
            f"[auth.openapi.{scheme.name}]: the description declares this scheme as {_shown(scheme)}, "
            f"which needs {needed[_kind(scheme)]}"
        )
    if given.kind == "basic":
        return Credentials({"Authorization": basic_authorization(given.username, given.password)})
    return carried_as(scheme, given.api_key or given.bearer)


def _kind(scheme: SecurityScheme) -> str:
    if scheme.type == "apiKey":
        return "apiKey"
    return "basic" if scheme.scheme == "basic" else "bearer"


def _shown(scheme: SecurityScheme) -> str:
    return f"{scheme.type} {scheme.scheme}".rstrip()
