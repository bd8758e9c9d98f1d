"""The configured credentials of security schemes, and their choice for each operation."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from checker.config.auth import FORM, Authentication, StaticScheme, basic_value
from checker.config.value_kinds import did_you_mean_or_all
from checker.core.credentials import Credentials, DescribedLogin
from checker.core.errors import ConfigError
from checker.core.operation import Label, Operation
from checker.core.request import Location
from checker.core.security import SecurityScheme, chosen_schemes, met_alternatives

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
"""Keys of TOML that need no quotes."""
_JSON: Final = "application/json"
_GRANTS: Final = {"grant_type": "password"}
"""What the login of a user requires beside who it is (RFC 6749, 4.3.2)."""


class SchemeCredentials:
    """Credentials by security scheme. Raises `ConfigError` for those that are for another kind of scheme."""

    def __init__(self, declared: Mapping[str, SecurityScheme], configured: Authentication) -> None:
        self.declared = declared
        self.configured = configured
        self._names = frozenset(configured.schemes)
        self._static = {
            one.name: _of_scheme(declared[one.name], one) for one in configured.static if one.name in declared
        }
        self._chosen: dict[tuple[Label, int | None], tuple[SecurityScheme, ...]] = {}
        """By operation and alternative."""
        self._needed: dict[Label, SecurityScheme] = {}
        """Of operations for which the description declares none."""

    def __bool__(self) -> bool:
        return bool(self._names)

    @property
    def static(self) -> Mapping[str, Credentials]:
        """By scheme: credentials that stand from the beginning."""
        return self._static

    def need(self, label: Label, name: str) -> None:
        """Have requests of an operation that declares no scheme carry the credentials of this one; before any is made."""
        self._chosen.pop((label, None), None)
        self._needed[label] = self.declared[name]

    @property
    def unused(self) -> Iterator[tuple[str, str]]:
        """(name, sentence) of schemes that something is configured for and that the description does not have."""
        for name in self.configured.schemes:
            if name not in self.declared:
                hint = did_you_mean_or_all(name, self.declared)
                yield name, f"no security scheme is called {name!r}{hint}"

    def examples(self, described: Callable[[], DescribedLogin | None]) -> tuple[str, ...]:
        """Lines of `checker.toml` that would configure what is declared; none where something is configured.

        `described` gives the login of the description; it is asked only if it matters.
        """
        if self.configured or not self.declared:
            return ()
        login = described()
        return tuple(example_of(one, login) for one in self.declared.values())

    def alternatives(self, operation: Operation) -> tuple[int, ...]:
        """Places of the alternatives of an operation that its requests may meet, that of usual requests first; none without credentials."""
        return met_alternatives(operation.security, self._names)

    def chosen(self, operation: Operation, alternative: int | None = None) -> tuple[SecurityScheme, ...]:
        """Schemes of an operation that requests carry credentials for which meet an alternative; None: usual requests."""
        key = operation.label, alternative
        found = self._chosen.get(key)
        if found is None:
            needed = self._needed.get(operation.label)
            found = (needed,) if needed is not None else ()
            if needed is None:
                found = chosen_schemes(operation.security, self._names, alternative)
            self._chosen[key] = found
        return found

    def by_alternative(self, operation: Operation) -> Mapping[int | None, Credentials]:
        """Return the credentials of requests to an operation for the whole run, by the security alternative that they meet.

        None stands for usual requests; alone where all are alike, and empty for nothing.
        """
        places = (None, *self.alternatives(operation)[1:])
        chosen = {
            place: [one.name for one in self.chosen(operation, place) if one.name in self._static] for place in places
        }
        if not any(chosen.values()):
            return {}
        return {place: merged(self._static[name] for name in names) for place, names in chosen.items()}

    def places(self, operation: Operation) -> frozenset[tuple[Location, str]]:
        """Return the places of credentials in requests to an operation, fetched ones included; headers in lower case."""
        met = (None, *self.alternatives(operation)[1:])
        places = (scheme.place for place in met for scheme in self.chosen(operation, place))
        return frozenset((place, name.lower() if place is Location.HEADER else name) for place, name in places)


def example_of(scheme: SecurityScheme, login: DescribedLogin | None = None) -> str:
    """A line of `checker.toml` that configures a scheme, with variables of the environment for what is secret."""
    key = _toml_key(scheme.name)
    variable = re.sub("[^A-Z0-9]+", "_", scheme.name.upper()).strip("_") or "SECRET"
    if scheme.type == "mutualTLS":
        return 'request-cert = "client.pem"'
    user = f'username = "${{{variable}_USER}}", password = "${{{variable}_PASSWORD}}"'
    if scheme.scheme == "digest":
        # It answers challenges: no header says it once for all.
        return f'auth.basic = {{ type = "digest", {user} }}'
    if login is None and scheme.token_path:
        # As OAuth 2 has it (RFC 6749, 4.3.2).
        login = DescribedLogin(*(scheme.token_path, FORM, "username", "password", (), "/access_token", scheme))
    if login is not None and login.scheme == scheme:
        return f"auth.dynamic.openapi.{key} = {_login_example(login, variable)}"
    given = {"apiKey": f'api_key = "${{{variable}}}"', "bearer": f'bearer = "${{{variable}}}"', "basic": user}[
        _kind(scheme)
    ]
    return f"auth.openapi.{key} = {{ {given} }}"


def _login_example(login: DescribedLogin, variable: str) -> str:
    """The request for a token, as an inline table; what else its body requires is for the user to fill in."""
    payload = {login.user: f"${{{variable}_USER}}", login.password: f"${{{variable}_PASSWORD}}"}
    payload |= {name: _GRANTS.get(name, "...") for name in login.others}
    pairs = ", ".join(f"{_toml_key(name)} = {json.dumps(text)}" for name, text in payload.items())
    is_plain = login.media_type == _JSON
    sent_as = "" if is_plain else f"payload_content_type = {json.dumps(login.media_type)}, "
    return (
        f"{{ path = {json.dumps(login.path)}, payload = {{ {pairs} }}, "
        f"{sent_as}extract_selector = {json.dumps(login.token)} }}"
    )


def _toml_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def carried_as(scheme: SecurityScheme, value: str) -> Credentials:
    """A token as requests carry it for a scheme."""
    place, name = scheme.place
    if place is Location.QUERY:
        return Credentials(query={name: value})
    if place is Location.COOKIE:
        return Credentials(cookies={name: value})
    if scheme.type == "apiKey":
        return Credentials(headers={name: value})
    return Credentials(headers={name: f"Bearer {value}"})


def merged(parts: Iterable[Credentials]) -> Credentials:
    """All of them in one."""
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    cookies: dict[str, str] = {}
    for one in parts:
        headers |= one.headers
        query |= one.query
        cookies |= one.cookies
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
        return Credentials({"Authorization": basic_value(given.username, given.password)})
    return carried_as(scheme, given.api_key or given.bearer)


def _kind(scheme: SecurityScheme) -> str:
    if scheme.type == "apiKey":
        return "apiKey"
    return "basic" if scheme.scheme == "basic" else "bearer"


def _shown(scheme: SecurityScheme) -> str:
    return f"{scheme.type} {scheme.scheme}".rstrip()
