"""`[auth]`: how users configure authentication, checked, and as one value for each operation.

Authentication documents of the Web Fuzzing Commons list users and how each of them logs in. All values are literal.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, combinations
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from msgspec import Struct

from checker.config.value_kinds import Problem, header, http_url, invalid, type_name
from checker.core.credentials import basic_authorization
from checker.core.errors import ConfigError, UnreadableFile, did_you_mean
from checker.core.media_types import is_form, is_json
from checker.core.redact import Redaction
from checker.core.system import later, read_local

if TYPE_CHECKING:
    import yaml
else:
    # Few runs read credentials from YAML, and `--help` reads no file.
    yaml = later("yaml")

Layer = Mapping[tuple[str, ...], Mapping[str, Any]]
Pairs = tuple[tuple[str, str], ...]  # (name, value) of each.

BASIC: Final = ("auth", "basic")
OPENAPI: Final = ("auth", "openapi")
DYNAMIC: Final = ("auth", "dynamic", "openapi")
OAUTH2: Final = ("auth", "oauth2", "openapi")
WFC: Final = ("auth", "wfc")

REFRESH_S: Final = 300  # Age in seconds at which fetched credentials are renewed.
RETRY_ON: Final = (401,)  # Statuses after which credentials are renewed.
METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
FORM: Final = "application/x-www-form-urlencoded"
_FEWEST_PEERS: Final = 2
_SOURCES: Final = ("body", "header", "cookie")
_STATIC: Final = (("api_key",), ("username", "password"), ("bearer",))
"""Fields of `[auth.openapi.<scheme>]`, for each kind of scheme."""
_NEEDED: Final = ((BASIC, ("username", "password")), (WFC, ("path",)))  # (section, its required keys).
_DYNAMIC: Final = (
    "path", "url", "method", "headers", "payload", "payload_content_type", "extract_from", "extract_selector", "retry_on",
)  # fmt: skip
"""Fields of `[auth.dynamic.openapi.<scheme>]`."""
_GRANTS: Final = {
    "client_credentials": ("client_id", "client_secret"),
    "password": ("username", "password"),
    "refresh_token": ("refresh_token",),
}
"""Grant of `[auth.oauth2.openapi.<scheme>]` -> required fields (RFC 6749, 4.3, 4.4 and 6)."""
_OAUTH2_TEXTS: Final = (
    "grant", "client_id", "client_secret", "username", "password", "refresh_token", "token_url", "client_auth",
)  # fmt: skip
_OAUTH2: Final = (*_OAUTH2_TEXTS, "scopes", "parameters")
_OAUTH2_SECRETS: Final = ("client_secret", "password", "refresh_token")
_ASSERTION: Final = "assertion"  # Part of the names of signed statements that replace a password (RFC 7521, 4).
_PUBLIC: Final = re.compile(r"(?:type|expires_?(?:in|at))$|^(?:audience|resource|scopes?)$", re.IGNORECASE)
"""Names of OAuth 2 whose values are not credentials: if they were masked, a word such as `Bearer` would be hidden everywhere."""
_CLIENT_AUTH: Final = ("body", "basic")


class BasicAuth(Struct, frozen=True):
    """User and password for all operations."""

    username: str
    password: str
    type: str = "basic"  # `basic` (RFC 7617) or `digest` (RFC 7616).

    @property
    def header(self) -> str:
        return basic_authorization(self.username, self.password)


class StaticScheme(Struct, frozen=True):
    """Credentials for one security scheme of the description; either one value or user and password."""

    name: str
    api_key: str = ""
    username: str = ""
    password: str = ""
    bearer: str = ""

    @property
    def kind(self) -> str:
        """Return the kind of scheme: `apiKey`, `bearer` or `basic`."""
        return "apiKey" if self.api_key else "bearer" if self.bearer else "basic"


class DynamicScheme(Struct, frozen=True):
    """A request that gets the token for one security scheme of the description."""

    name: str
    endpoint: str  # A path below the base URL, or a URL.
    method: str
    payload: str  # JSON text of the payload; empty: the request has no body.
    payload_content_type: str
    extract_from: str  # `body`, `header` or `cookie`.
    extract_selector: str  # JSON pointer, name of a header or of a cookie.
    retry_on: tuple[int, ...]
    headers: tuple[tuple[str, str], ...] = ()


class OAuth2Scheme(Struct, frozen=True):
    """A client of a token endpoint (RFC 6749), for one security scheme of the description."""

    name: str
    grant: str  # `client_credentials`, `password` or `refresh_token`.
    client_id: str = ""
    client_secret: str = ""
    username: str = ""
    password: str = ""
    refresh_token: str = ""
    scopes: tuple[str, ...] | None = None
    """Scopes of every token; None: a token for each set of scopes that operations declare."""
    token_url: str = ""  # Empty: the declared URL.
    client_auth: str = "body"
    """Place of the identifier and the secret of the client: `body`, or `basic` for the header `Authorization`."""
    parameters: tuple[tuple[str, str], ...] = ()  # Further fields of the request: `audience`, for example.

    @property
    def header(self) -> str:
        """Return the value of `Authorization` for the client. Both parts are encoded as in a form first (RFC 6749, 2.3.1)."""
        return basic_authorization(quote(self.client_id, safe=""), quote(self.client_secret, safe=""))


class WfcAuth(Struct, frozen=True):
    """An authentication document in the format of the Web Fuzzing Commons."""

    path: str
    user: str | None  # None: any user that an operation accepts.
    refresh_interval: int
    peers: tuple[str, ...] = ()  # Users that must not read the resources of each other.


class Authentication(Struct, frozen=True):
    """The configured authentication of an operation: one of the three methods."""

    basic: BasicAuth | None = None
    static: tuple[StaticScheme, ...] = ()
    dynamic: tuple[DynamicScheme, ...] = ()
    oauth2: tuple[OAuth2Scheme, ...] = ()
    wfc: WfcAuth | None = None

    def __bool__(self) -> bool:
        return bool(self.basic or self.schemes or self.wfc)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that messages use for the credentials. Basic authentication is not among them: it is a header."""
        found = [f"scheme {name}" for name in self.schemes]
        if self.wfc:
            found.append("auth.wfc")
        if self.basic and self.basic.type != "basic":
            found.append("auth.basic")
        return tuple(found)

    @property
    def secrets(self) -> Iterator[tuple[str, str]]:
        """Yield (name, value) of the secrets in a document. Basic authentication is treated as a header, except for the password."""
        if self.basic:
            yield "password", self.basic.password
        for one in self.static:
            if one.kind == "basic":
                sent = basic_authorization(one.username, one.password).partition(" ")[2]
                yield f"{one.name}.basic", sent
            yield one.name, one.api_key or one.bearer or one.password
        for fetched in self.dynamic:
            yield from secret_pairs(json.loads(fetched.payload or "null"))
        for client in self.oauth2:
            if client.client_secret:
                yield f"{client.name}.basic", client.header.partition(" ")[2]
            yield from ((f"{client.name}.{name}", getattr(client, name)) for name in _OAUTH2_SECRETS)
            yield from ((f"{client.name}.{name}", value) for name, value in client.parameters if not _is_public(name))

    @property
    def logins(self) -> Iterator[tuple[str, Pairs, str]]:
        """Yield (scheme, headers, path or URL) of logins. The headers and the URL may hold credentials."""
        yield from ((one.name, one.headers, one.endpoint) for one in self.dynamic)
        yield from ((one.name, (), one.token_url) for one in self.oauth2)

    @property
    def is_static(self) -> bool:
        """Whether there are credentials, and all of them are known before the first request."""
        return bool(self) and not (self.dynamic or self.oauth2 or self.wfc or self.is_digest)

    @property
    def is_digest(self) -> bool:
        """Whether user and password are sent in response to challenges."""
        return self.basic is not None and self.basic.type == "digest"

    @property
    def schemes(self) -> tuple[str, ...]:
        """Return the names of the security schemes that have credentials."""
        names = (one.name for one in self.static), (one.name for one in self.dynamic), (one.name for one in self.oauth2)
        return tuple(chain(*names))


def secret_pairs(payload: Any) -> tuple[tuple[str, str], ...]:
    """Return (path of names, text) of the texts and numbers of a login, or of fetched data, that must not be written anywhere.

    These are the values below a sensitive name, or all values if no name is sensitive, but never values with public names.
    """
    names = Redaction()
    leaves = [one for one in _leaves(payload, ()) if not (one[0] and _is_public(one[0][-1]))]
    found = [
        one for one in leaves if any(names.is_sensitive(name) or _ASSERTION in name.lower() for name in one[0])
    ] or leaves
    return tuple((".".join(path) or "payload", text) for path, text in found)


def _is_public(name: str) -> bool:
    return _PUBLIC.search(name) is not None


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    match value:
        case str():
            yield path, value
        case bytes():
            yield path, value.decode("utf-8", "surrogateescape")
        case Mapping():
            for name, member in value.items():
                yield from _leaves(member, (*path, str(name)))
        case list() | tuple():
            for number, item in enumerate(value):
                yield from _leaves(item, (*path, str(number)))
        case int() | float() if not isinstance(value, bool):
            yield path, json.dumps(value)
        case _:
            # Booleans and null are not secrets.
            pass


def authentication_in(layers: Sequence[Layer]) -> Authentication:
    """Return the authentication of the nearest layer that has any."""
    place = next((index for index, one in enumerate(layers) if _methods(one)), len(layers))
    layer: Layer = layers[place] if place < len(layers) else {}
    if layer.get(BASIC):
        # A password of a lower layer may belong to another user. A nearer layer may replace the password of the same user.
        said = [one.get(BASIC, {}) for one in layers[: place + 1]]
        known = [one.get(BASIC, {}) for one in layers]
        user = layer[BASIC]["username"], _nearest(said, "password", "")
        return Authentication(BasicAuth(*user, _nearest(known, "type", "basic")))
    if layer.get(WFC):
        # Users in a lower layer belong to another document. A nearer layer may choose among the users of this document.
        said = [one.get(WFC, {}) for one in layers[: place + 1]]
        known = [one.get(WFC, {}) for one in layers]
        return Authentication(
            wfc=WfcAuth(
                layer[WFC]["path"],
                _nearest(said, "user", None),
                _nearest(known, "refresh_interval", REFRESH_S),
                tuple(_nearest(said, "peers", ())),
            )
        )
    return Authentication(
        static=tuple(StaticScheme(name, **given) for name, given in _tables(layer, OPENAPI)),
        dynamic=tuple(_dynamic(name, given) for name, given in _tables(layer, DYNAMIC)),
        oauth2=tuple(_oauth2(name, given) for name, given in _tables(layer, OAUTH2)),
    )


def layer_problems(layer: Layer) -> Iterator[tuple[tuple[str, ...], Problem]]:
    """Yield (section, problem) for keys that contradict each other."""
    if {"base-url", "origin"} <= layer.get((), {}).keys():
        yield (), invalid("'base-url' and 'origin' say where the API is; choose one")
    methods = _methods(layer)
    if len(methods) > 1:
        listed = " and ".join(methods)
        text = f"Cannot use multiple authentication methods simultaneously: {listed}; choose one"
        yield ("auth",), Problem("Invalid value", text)
    headers = layer.get((), {}).get("headers", {})
    if "username" in layer.get(BASIC, {}) and any(name.lower() == "authorization" for name in headers):
        text = "[auth.basic] and the header Authorization exclude each other; choose one"
        yield ("auth",), invalid(text)
    if len(layer.get(WFC, {}).get("peers", ("", ""))) < _FEWEST_PEERS:
        yield WFC, invalid("'peers' must name two users or more: each tries to read the resources of the others")
    for one, other in combinations((OPENAPI, DYNAMIC, OAUTH2), 2):
        known = dict(_tables(layer, other))
        for name in (name for name, _ in _tables(layer, one) if name in known):
            yield ("auth",), invalid(f"{name!r} stands in {_shown(one)} and in {_shown(other)}; choose one")


def missing_keys(layers: Sequence[Layer]) -> Iterator[tuple[tuple[str, ...], Problem]]:
    """Yield (section, problem) for keys that a section of the first layer needs and that no layer has."""
    for path, needed in _NEEDED:
        for name in needed if path in layers[0] else ():
            if not any(name in one.get(path, {}) for one in layers):
                yield path, Problem("Missing required property", repr(name))


def static_rule(name: str, given: object) -> str | None:
    """Return what is wrong with `[auth.openapi.<scheme>]`; None if nothing is. No value is shown."""
    if not isinstance(given, Mapping):
        return f"{name!r} must be a table"
    if tuple(given) not in _STATIC and tuple(reversed(tuple(given))) not in _STATIC:
        shown = " or ".join(" and ".join(map(repr, fields)) for fields in _STATIC)
        return f"{name!r} must have {shown}, but has {', '.join(map(repr, given)) or 'nothing'}"
    for field, value in given.items():
        if broken := sendable(value):
            return f"{name!r}: {field!r} {broken}"
        if not value and field != "password":
            return f"{name!r}: {field!r} must not be empty"
    return None


def dynamic_rule(name: str, given: object) -> str | None:
    """Return what is wrong with `[auth.dynamic.openapi.<scheme>]`; None if nothing is. No value of the payload is shown."""
    if not isinstance(given, Mapping):
        return f"{name!r} must be a table"
    problems = chain(_unknown(given, _DYNAMIC), _missing(given, ("extract_selector",)), _dynamic_problems(given))
    broken = next(filter(None, problems), None)
    return f"{name!r}: {broken}" if broken else None


def oauth2_rule(name: str, given: object) -> str | None:
    """Return what is wrong with `[auth.oauth2.openapi.<scheme>]`; None if nothing is. No value of a credential is shown."""
    if not isinstance(given, Mapping):
        return f"{name!r} must be a table"
    broken = next(chain(_unknown(given, _OAUTH2), _oauth2_problems(given)), None)
    return f"{name!r}: {broken}" if broken else None


def _unknown(given: Mapping[str, Any], known: Sequence[str]) -> Iterator[str]:
    for field in given:
        if field not in known:
            listed = ", ".join(map(repr, known))
            yield f"unknown property {field!r}{did_you_mean(field, known)}; the following are valid: {listed}"


def _missing(given: Mapping[str, Any], needed: Iterable[str]) -> Iterator[str]:
    yield from (f"{field!r} is missing" for field in needed if field not in given)


def _oauth2_problems(given: Mapping[str, Any]) -> Iterator[str]:
    for field in _OAUTH2_TEXTS:
        if field in given:
            broken = sendable(given[field]) or (None if given[field] else "must not be empty")
            yield from (f"{field!r} {one}" for one in (broken,) if one)
    grant = grant_of(given)
    if grant not in _GRANTS:
        yield f"'grant' must be one of {', '.join(_GRANTS)}, but got {grant!r}"
        return
    foreign = {field for fields in _GRANTS.values() for field in fields} - set(_GRANTS[grant])
    foreign -= {"client_id", "client_secret"}
    yield from (f"{field!r} does not belong to the grant {grant!r}" for field in given if field in foreign)
    yield from (f"{text} (the grant is {grant!r})" for text in _missing(given, _GRANTS[grant]))
    if "client_secret" in given or given.get("client_auth") == "basic":
        yield from _missing(given, ("client_id",))
    if given.get("client_auth", "body") not in _CLIENT_AUTH:
        yield f"'client_auth' must be one of {', '.join(_CLIENT_AUTH)}, but got {given['client_auth']!r}"
    url = given.get("token_url", "/")
    if not url.startswith("/") and (broken := http_url(url)):
        yield f"'token_url': {broken}"
    scopes = given.get("scopes", [])
    if not isinstance(scopes, list | tuple) or not all(isinstance(one, str) and one.split() == [one] for one in scopes):
        yield "'scopes' must be an array of texts without spaces"
    yield from _pair_problems(given, "parameters")


def grant_of(given: Mapping[str, Any]) -> Any:
    """Return the grant of a table: the value of `grant`, or else the grant of its credentials."""
    likely = {"username": "password", "refresh_token": "refresh_token"}
    return given.get("grant", next((likely[field] for field in given if field in likely), "client_credentials"))


def _pair_problems(given: Mapping[str, Any], field: str) -> Iterator[str]:
    """Yield the reasons why a table cannot be sent as names and texts. No value is shown."""
    pairs = given.get(field, {})
    if not isinstance(pairs, Mapping):
        yield f"{field!r} must be a table"
        return
    for name, value in pairs.items():
        if broken := sendable(value):
            yield f"{field!r} -> {name!r} {broken}"


def sendable(value: object) -> str | None:
    """Return why a value cannot be sent as a credential: a text that begins with `must`; None if it can."""
    if not isinstance(value, str):
        return "must be a string"
    if any(char in value for char in "\r\n\0"):
        return "must not hold CR, LF or NUL"
    return None


def _dynamic_problems(given: Mapping[str, Any]) -> Iterator[str | None]:
    texts = ("path", "url", "method", "payload_content_type", "extract_from", "extract_selector")
    yield from (
        f"{field!r} must be a string" for field in texts if field in given and not isinstance(given[field], str)
    )
    if ("path" in given) == ("url" in given):
        yield "'path' is missing" if "path" not in given else "'path' and 'url' both say where the login is; choose one"
    if not given.get("path", "/").startswith("/"):
        yield f"'path' must start with '/', but got {given['path']!r}"
    if "url" in given and (broken := http_url(given["url"])):
        yield f"'url': {broken}"
    yield from _pair_problems(given, "headers")
    for name, value in given.get("headers", {}).items():
        if header(name, value):
            yield f"'headers': {name!r} and its value cannot be sent as a header"
    if given.get("method", "post").upper() not in METHODS:
        yield f"'method' must be one of {', '.join(METHODS)}, but got {given['method']!r}"
    media_type = given.get("payload_content_type", "application/json")
    payload = given.get("payload", {})
    if not is_json(media_type) and not is_form(media_type) and payload and not isinstance(payload, str):
        yield f"'payload_content_type' must be JSON or {FORM}, or the payload a text, but got {media_type!r}"
    yield _no_json(payload, "'payload'") or (_no_form(payload) if is_form(media_type) else None)
    source, selector = given.get("extract_from", "body"), given["extract_selector"]
    if source not in _SOURCES:
        yield f"'extract_from' must be one of {', '.join(_SOURCES)}, but got {source!r}"
    if source == "body" and selector and not selector.startswith("/"):
        yield f"'extract_selector' must be a JSON pointer like '/access_token', but got {selector!r}"
    statuses = given.get("retry_on", [])
    is_list = isinstance(statuses, list | tuple)
    if not is_list or not all(type(one) is int and 100 <= one <= 599 for one in statuses):
        yield "'retry_on' must be an array of statuses from 100 to 599"


def _no_json(value: object, at: str) -> str | None:
    """Return why a value cannot be written as JSON. No value is shown."""
    match value:
        case Mapping():
            if not all(isinstance(name, str) for name in value):
                return f"{at} must have strings as names"
            members = ((one, f"{at} -> {name!r}") for name, one in value.items())
        case list() | tuple():
            members = ((one, f"{at} -> item {number}") for number, one in enumerate(value))
        case float() if not isfinite(value):
            return f"{at} must be a finite number"
        case None | str() | int() | float():
            return None
        case _:
            return f"{at} must be a JSON value, but got {type_name(value)}; write it as a string"
    return next((problem for one, place in members if (problem := _no_json(one, place))), None)


def _no_form(payload: object) -> str | None:
    """Return why a JSON value cannot be written as a form. No value is shown."""
    if payload is None or isinstance(payload, str):
        return None
    if not isinstance(payload, Mapping):
        return f"'payload' must be a table to be sent as a form, but got {type_name(payload)}"
    for name, value in payload.items():
        if not isinstance(value, str | int | float):
            return (
                f"'payload' -> {name!r} must be a string, a number or a boolean to be sent as a form, but got {type_name(value)}; "
                "give a 'payload_content_type' of JSON for nested values"
            )
    return None


def _dynamic(name: str, given: Mapping[str, Any]) -> DynamicScheme:
    payload = given.get("payload", {})
    return DynamicScheme(
        name,
        given["path"] if "path" in given else given["url"],
        given.get("method", "post").upper(),
        "" if payload is None or payload == {} else json.dumps(payload),
        given.get("payload_content_type", "application/json"),
        given.get("extract_from", "body"),
        given["extract_selector"],
        tuple(given.get("retry_on", RETRY_ON)),
        tuple(given.get("headers", {}).items()),
    )


def _oauth2(name: str, given: Mapping[str, Any]) -> OAuth2Scheme:
    texts = {field: given[field] for field in _OAUTH2_TEXTS if field in given}
    scopes = tuple(given["scopes"]) if "scopes" in given else None
    fields = tuple(given.get("parameters", {}).items())
    return OAuth2Scheme(name, **(texts | {"grant": grant_of(given)}), scopes=scopes, parameters=fields)


def _methods(layer: Layer) -> list[str]:
    named = ((BASIC, "username"), (WFC, "path"))
    found = [f"[{'.'.join(path)}]" for path, name in named if name in layer.get(path, {})]
    # All sections of security schemes count as one method.
    return [*found, *[_shown(path) for path in (OPENAPI, DYNAMIC, OAUTH2) if _tables(layer, path)][:1]]


def _shown(path: tuple[str, ...]) -> str:
    return f"[{'.'.join(path)}]"


def _tables(layer: Layer, path: tuple[str, ...]) -> list[tuple[str, Mapping[str, Any]]]:
    return list(layer.get(path[:-1], {}).get(path[-1], {}).items())


def _nearest(said: Iterable[Mapping[str, Any]], name: str, otherwise: object) -> Any:
    return next((one[name] for one in said if name in one), otherwise)


_MOST_BYTES: Final = 1 << 20
_MOST_USERS: Final = 1000
_SENT_IN: Final = ("header", "query", "cookie")


class WfcToken(Struct, frozen=True):
    """The place of the token in the response to a login, and in requests."""

    extract_from: str
    extract_selector: str
    send_in: str
    send_name: str
    template: str  # `{token}` in it stands for the token.


class WfcLogin(Struct, frozen=True):
    """A request that logs a user in."""

    method: str
    endpoint: str  # A path below the base URL, or a URL that is called as written.
    payload: str | Pairs
    content_type: str
    headers: Pairs
    token: WfcToken | None  # None: requests carry the cookies that the response sets.

    @property
    def is_external(self) -> bool:
        """Whether the login request is sent to a URL, which may belong to another server."""
        return not self.endpoint.startswith("/")

    @property
    def secrets(self) -> Pairs:
        if isinstance(self.payload, str):
            return (("payload", self.payload),) if self.payload else ()
        return secret_pairs(dict(self.payload))


class WfcUser(Struct, frozen=True):
    """One identity."""

    name: str
    headers: Pairs = ()
    login: WfcLogin | None = None

    @property
    def secrets(self) -> Iterator[tuple[str, str]]:
        """Yield (name, value) of the secrets of its login."""
        yield from ((f"{self.name}.{name}", value) for name, value in (self.login.secrets if self.login else ()))

    @property
    def logins(self) -> Iterator[tuple[str, Pairs, str]]:
        """Yield (user, headers, path or URL) of its requests, and of its login."""
        yield self.name, self.headers, ""
        if self.login is not None:
            yield self.name, self.login.headers, self.login.endpoint


def read_document(path: str, folder: Path | None) -> str:
    """Return the text of a document at a path, else at that path below a folder. Raises `ConfigError`."""
    place = Path(path)
    if folder is not None and not place.exists() and (folder / path).exists():
        place = folder / path
    try:
        text = read_local(place, "an authentication document", most_bytes=_MOST_BYTES).decode()
    except UnreadableFile as error:
        raise ConfigError(f"auth.wfc: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"auth.wfc: {path} is not UTF-8; write it again as UTF-8") from error
    users_of(text)
    return text


@cache
def users_of(text: str) -> tuple[WfcUser, ...]:
    """Return the users of a document, in order. Raises `ConfigError`, which shows no value."""
    document = _parsed(text)
    entries = document.get("auth") if isinstance(document, Mapping) else None
    if not isinstance(entries, list) or not entries:
        raise _wrong("'auth' must be a list of users that is not empty")
    if len(entries) > _MOST_USERS:
        raise _wrong(f"'auth' has {len(entries)} users; give at most {_MOST_USERS}")
    template = document.get("authTemplate")
    users = tuple(_user(_over(template, one), f"auth[{i}]") for i, one in enumerate(entries))
    names = [user.name for user in users]
    for name in names:
        if names.count(name) > 1:
            raise _wrong(f"the user {name!r} occurs more than once; give each user a unique name")
    return users


def chosen_users(text: str, name: str | None) -> tuple[WfcUser, ...]:
    """Return the user of this name, or all users. Raises `ConfigError` for an unknown name."""
    users = users_of(text)
    if name is None:
        return users
    found = tuple(user for user in users if user.name == name)
    if not found:
        known = ", ".join(repr(user.name) for user in users)
        raise ConfigError(f"auth.wfc: there is no user {name!r} in the document; there are {known}")
    return found


def peers_of(text: str, asked: WfcAuth) -> tuple[WfcUser, ...]:
    """Return the users whose access is compared. Raises `ConfigError` for an unknown name."""
    return tuple(user for name in asked.peers for user in chosen_users(text, name))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return yaml.load(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise _wrong(f"it is neither JSON nor YAML{where}") from None


def _over(template: object, entry: object) -> Any:
    """Return an entry completed from the template, at any depth."""
    if isinstance(template, Mapping) and isinstance(entry, Mapping):
        return {**template, **{name: _over(template.get(name), value) for name, value in entry.items()}}
    return template if entry is None else entry


def _user(entry: Any, at: str) -> WfcUser:
    if not isinstance(entry, Mapping):
        raise _wrong(f"{at} must be a user with 'name'")
    name = _text_of(entry, "name", at)
    at = f"{at} ({name})"
    login = entry.get("loginEndpointAuth")
    headers = _headers(entry.get("fixedHeaders"), f"{at}.fixedHeaders")
    if login is None and not headers:
        raise _wrong(f"{at} has neither 'fixedHeaders' nor 'loginEndpointAuth'")
    if login is not None and headers:
        raise _wrong(f"{at} has both 'fixedHeaders' and 'loginEndpointAuth'; keep one of them")
    found = None if login is None else _login(login, f"{at}.loginEndpointAuth")
    return WfcUser(name, headers, found)


def _headers(given: Any, at: str) -> Pairs:
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise _wrong(f"{at} must be a list of 'name' and 'value'")
    found = tuple((_text_of(one, "name", at), _text_of(one, "value", at)) for one in given)
    for name, value in found:
        if header(name, value.strip()):
            raise _wrong(f"{at}: {name!r} and its value cannot be sent as a header")
    return tuple((name, value.strip()) for name, value in found)


def _login(given: Any, at: str) -> WfcLogin:
    if not isinstance(given, Mapping):
        raise _wrong(f"{at} must be a table")
    method = _text_of(given, "verb", at).upper()
    if method not in METHODS:
        raise _wrong(f"{at}.verb must be one of {', '.join(METHODS)}, but is {method!r}")
    external = given.get("externalEndpointURL")
    endpoint = _text_of(given, "endpoint" if external is None else "externalEndpointURL", at)
    if external is not None and not endpoint.startswith(("http://", "https://")):
        raise _wrong(f"{at}.externalEndpointURL must be an absolute http(s) URL")
    if external is None and not endpoint.startswith("/"):
        raise _wrong(f"{at}.endpoint must be a path that starts with '/'")
    media_type = _text_of(given, "contentType", at, "application/json")
    payload = _payload(given, at)
    if not isinstance(payload, str) and not is_json(media_type) and not is_form(media_type):
        raise _wrong(f"{at}.contentType must be JSON or a form, or the payload 'payloadRaw'")
    token = given.get("token")
    if token is not None and given.get("expectCookies"):
        raise _wrong(f"{at} has both 'token' and 'expectCookies'; keep the one that the login gives")
    return WfcLogin(
        method,
        endpoint,
        payload,
        media_type,
        _headers(given.get("headers"), f"{at}.headers"),
        None if token is None else _token(token, f"{at}.token"),
    )


def _payload(given: Mapping[str, Any], at: str) -> str | Pairs:
    pairs = given.get("payloadUserPwd")
    if pairs is None:
        return _text_of(given, "payloadRaw", at, "")
    if not isinstance(pairs, Mapping):
        raise _wrong(f"{at}.payloadUserPwd must be a table")
    at = f"{at}.payloadUserPwd"
    return tuple((_text_of(pairs, f"{name}Field", at), _text_of(pairs, name, at)) for name in ("username", "password"))


def _token(given: Any, at: str) -> WfcToken:
    if not isinstance(given, Mapping):
        raise _wrong(f"{at} must be a table")
    taken, sent = _text_of(given, "extractFrom", at), _text_of(given, "sendIn", at)
    for name, value, known in (("extractFrom", taken, _SOURCES), ("sendIn", sent, _SENT_IN)):
        if value not in known:
            raise _wrong(f"{at}.{name} must be one of {', '.join(known)}, but is {value!r}")
    template = _text_of(given, "sendTemplate", at, "{token}")
    if "{token}" not in template:
        raise _wrong(
            f"{at}: 'sendTemplate' does not hold '{{token}}', so the value that 'extractSelector' names would not be sent"
        )
    selector = _text_of(given, "extractSelector", at)
    return WfcToken(taken, selector, sent, _text_of(given, "sendName", at), template)


def _text_of(given: Mapping[str, Any], name: str, at: str, usual: str | None = None) -> str:
    value = given.get(name, usual)
    if value is None:
        raise _wrong(f"{at}: {name!r} is missing")
    if broken := sendable(value):
        raise _wrong(f"{at}.{name} {broken}")
    return str(value)


def _wrong(what: str) -> ConfigError:
    return ConfigError(f"auth.wfc: {what}")
