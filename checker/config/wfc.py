"""Authentication documents of the Web Fuzzing Commons: users, and how each of them logs in. Values are literal."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from msgspec import Struct

from checker.config.auth import METHODS, WfcAuth, is_json_or_form, secret_pairs, sendable
from checker.config.rules import header
from checker.core.errors import ConfigError, UnreadableFile
from checker.core.local_files import read_local

_MOST_BYTES: Final = 1 << 20
_MOST_USERS: Final = 1000
_JSON: Final = "application/json"
_TAKEN_FROM: Final = ("body", "header", "cookie")
_SENT_IN: Final = ("header", "query", "cookie")

Pairs = tuple[tuple[str, str], ...]


class WfcToken(Struct, frozen=True):
    """Where the answer to a login has a token, and where requests carry it."""

    extract_from: str
    extract_selector: str
    send_in: str
    send_name: str
    template: str
    """`{token}` in it stands for the token."""


class WfcLogin(Struct, frozen=True):
    """A request that logs a user in."""

    method: str
    endpoint: str
    """A path below the base URL, or a URL that is called as written."""
    is_external: bool
    payload: str | Pairs
    content_type: str
    headers: Pairs
    token: WfcToken | None
    """None: requests carry the cookies that the answer sets."""

    @property
    def secrets(self) -> Pairs:
        """What of it must be written nowhere."""
        if isinstance(self.payload, str):
            return (("payload", self.payload),) if self.payload else ()
        return secret_pairs(dict(self.payload))


class WfcUser(Struct, frozen=True):
    """One identity."""

    name: str
    headers: Pairs = ()
    login: WfcLogin | None = None


def read_document(path: str, folder: Path | None) -> str:
    """Text of a document at a path, else at that path below a folder. Raises `ConfigError`."""
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
    """Users of a document, in order. Raises `ConfigError`, which shows no value."""
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
            raise _wrong(f"the user {name!r} is there more than once; give each a name of its own")
    return users


def chosen_users(text: str, name: str | None) -> tuple[WfcUser, ...]:
    """The user that is named, or all of them. Raises `ConfigError` when there is none of that name."""
    users = users_of(text)
    if name is None:
        return users
    found = tuple(user for user in users if user.name == name)
    if not found:
        known = ", ".join(repr(user.name) for user in users)
        raise ConfigError(f"auth.wfc: there is no user {name!r} in the document; there are {known}")
    return found


def peers_of(text: str, asked: WfcAuth) -> tuple[WfcUser, ...]:
    """The users that are held against each other. Raises `ConfigError` when there is none of such a name."""
    return tuple(user for name in asked.peers for user in chosen_users(text, name))


def secrets_in(text: str) -> Iterator[tuple[str, str]]:
    """(name, value) of what must be written nowhere."""
    for user in users_of(text):
        yield from ((f"{user.name}.{name}", value) for name, value in user.headers)
        # Servers echo a token without its scheme.
        yield from ((f"{user.name}.{n}.credentials", v.partition(" ")[2]) for n, v in user.headers)
        if user.login is not None:
            yield from ((f"{user.name}.{name}", value) for name, value in user.login.secrets)
            yield from ((f"{user.name}.{name}", value) for name, value in user.login.headers)


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
    """An entry with what it does not say itself from the template, at any depth."""
    if isinstance(template, Mapping) and isinstance(entry, Mapping):
        both = {name: _over(template.get(name), value) for name, value in entry.items()}
        return {**template, **both}
    return template if entry is None else entry


def _user(entry: Any, at: str) -> WfcUser:
    if not isinstance(entry, Mapping):
        raise _wrong(f"{at} must be a user with 'name'")
    name = _text(entry, "name", at)
    at = f"{at} ({name})"
    login = entry.get("loginEndpointAuth")
    headers = _headers(entry.get("fixedHeaders"), f"{at}.fixedHeaders")
    if login is None and not headers:
        raise _wrong(f"{at} has neither 'fixedHeaders' nor 'loginEndpointAuth'")
    found = None if login is None else _login(login, f"{at}.loginEndpointAuth")
    return WfcUser(name, headers, found)


def _headers(given: Any, at: str) -> Pairs:
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise _wrong(f"{at} must be a list of 'name' and 'value'")
    found = tuple((_text(one, "name", at), _text(one, "value", at)) for one in given)
    for name, value in found:
        if header(name, value.strip()):
            raise _wrong(f"{at}: {name!r} and its value cannot be sent as a header")
    return tuple((name, value.strip()) for name, value in found)


def _login(given: Any, at: str) -> WfcLogin:
    if not isinstance(given, Mapping):
        raise _wrong(f"{at} must be a table")
    method = _text(given, "verb", at).upper()
    if method not in METHODS:
        raise _wrong(f"{at}.verb must be one of {', '.join(METHODS)}, but is {method!r}")
    external = given.get("externalEndpointURL")
    endpoint = _text(given, "endpoint" if external is None else "externalEndpointURL", at)
    if external is not None and not endpoint.startswith(("http://", "https://")):
        raise _wrong(f"{at}.externalEndpointURL must be an absolute http(s) URL")
    if external is None and not endpoint.startswith("/"):
        raise _wrong(f"{at}.endpoint must be a path that starts with '/'")
    media_type = _text(given, "contentType", at, _JSON)
    payload = _payload(given, at)
    if not isinstance(payload, str) and not is_json_or_form(media_type):
        raise _wrong(f"{at}.contentType must be JSON or a form, or the payload 'payloadRaw'")
    token = given.get("token")
    return WfcLogin(
        method,
        endpoint,
        external is not None,
        payload,
        media_type,
        _headers(given.get("headers"), f"{at}.headers"),
        None if token is None else _token(token, f"{at}.token"),
    )


def _payload(given: Mapping[str, Any], at: str) -> str | Pairs:
    pairs = given.get("payloadUserPwd")
    if pairs is None:
        return _text(given, "payloadRaw", at, "")
    if not isinstance(pairs, Mapping):
        raise _wrong(f"{at}.payloadUserPwd must be a table")
    at = f"{at}.payloadUserPwd"
    return tuple(
        (_text(pairs, f"{name}Field", at), _text(pairs, name, at))
        for name in ("username", "password")
    )


def _token(given: Any, at: str) -> WfcToken:
    if not isinstance(given, Mapping):
        raise _wrong(f"{at} must be a table")
    taken, sent = _text(given, "extractFrom", at), _text(given, "sendIn", at)
    for name, value, known in (
        ("extractFrom", taken, _TAKEN_FROM),
        ("sendIn", sent, _SENT_IN),
    ):
        if value not in known:
            raise _wrong(f"{at}.{name} must be one of {', '.join(known)}, but is {value!r}")
    template = _text(given, "sendTemplate", at, "{token}")
    selector = _text(given, "extractSelector", at)
    return WfcToken(taken, selector, sent, _text(given, "sendName", at), template)


def _text(given: Mapping[str, Any], name: str, at: str, usual: str | None = None) -> str:
    value = given.get(name, usual)
    if value is None:
        raise _wrong(f"{at}: {name!r} is missing")
    if broken := sendable(value):
        raise _wrong(f"{at}.{name} {broken}")
    return str(value)


def _wrong(what: str) -> ConfigError:
    return ConfigError(f"auth.wfc: {what}")
