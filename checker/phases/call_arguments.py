"""What users change of one call beside its case: `kwargs` of `before_call`, and the overrides of `case.call`."""

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct, field

from checker.config.value_kinds import certificates, did_you_mean
from checker.core.case import Case
from checker.core.credentials import basic_authorization
from checker.core.request import WireRequest
from checker.transport.settings import HttpChanges, HttpSettings


class CallArguments(Struct, frozen=True):
    """How a hook wants one request to be, checked."""

    headers: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    cookies: Mapping[str, Any] = field(default_factory=dict)
    auth: tuple[str, str] | None = None
    """User and password."""
    timeout: float | None = None
    """Seconds; longer than those of the configuration they change nothing, as whoever watches the run would be taken in."""
    verify: bool | str | None = None
    allow_redirects: bool | None = None
    """Whether redirects are followed, as requests calls it."""
    follow_redirects: bool | None = None
    """Whether redirects are followed, as httpx calls it; wins over `allow_redirects`."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "CallArguments":
        """Those that are given, None left out. Raises `TypeError` with a sentence for one that cannot be used."""
        names = tuple(_RULES)
        for name, value in given.items():
            rule = _RULES.get(name)
            if rule is None:
                known = ", ".join(f"`{one}`" for one in names)
                raise TypeError(
                    f"kwargs can change {known}, found `{name}`{did_you_mean(str(name), names)}"
                )
            if value is not None and (wanted := rule(value)) is not None:
                raise TypeError(f"kwargs: `{name}` must be {wanted}, got {value!r:.80}")
        return cls(**{name: value for name, value in given.items() if value is not None})

    def case(self, case: Case) -> Case:
        """The case with these parameters and cookies."""
        return overridden(case, query=self.params, cookies=self.cookies)

    def apply(self, request: WireRequest) -> None:
        """Have a request carry these headers, in place of those of the same names, and travel as is said here."""
        headers = {name: _text(value) for name, value in self.headers.items() if value is not None}
        if self.auth is not None and "authorization" not in map(str.lower, headers):
            headers["Authorization"] = basic_authorization(*self.auth)
        dropped = {name.lower().encode("latin-1") for name in (*self.headers, *headers)}
        if dropped:
            request.lines = None
            request.headers = [pair for pair in request.headers if pair[0].lower() not in dropped]
            request.headers += [
                (name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()
            ]
        follows = self.allow_redirects if self.follow_redirects is None else self.follow_redirects
        changes = HttpChanges(
            usual=request.via if isinstance(request.via, HttpSettings) else None,
            timeout_s=self.timeout,
            verify=self.verify,
            follows_redirects=follows,
        )
        if changes.options:
            request.via = changes


def overridden(
    case: Case,
    *,
    headers: Mapping[str, Any] | None = None,
    query: Mapping[str, Any] | None = None,
    cookies: Mapping[str, Any] | None = None,
) -> Case:
    """The case with single values replaced, and without the headers that stand elsewhere; the case itself stays as it is."""
    if not (headers or query or cookies):
        return case
    changed = copy.copy(case)
    names = {name.lower() for name in headers or ()}
    kept = {name: value for name, value in case.headers.items() if name.lower() not in names}
    changed.headers = type(case.headers)(kept)
    changed.query = {**case.query, **(query or {})}
    changed.cookies = {**case.cookies, **(cookies or {})}
    return changed


def _values(value: object) -> str | None:
    is_by_name = isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
    return None if is_by_name else "a mapping of names to values"


def _headers(value: object) -> str | None:
    if not isinstance(value, Mapping) or _values(value) is not None:
        return _values(value)
    texts = [text for name, one in value.items() for text in (name, _text(one))]
    return None if all(map(_is_latin, texts)) else "a mapping of texts in Latin-1"


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _is_latin(text: str) -> bool:
    return all(char <= "\xff" for char in text)


def _pair(value: object) -> str | None:
    match value:
        case [str(), str()]:
            return None
        case _:
            return "a user and a password"


def _seconds(value: object) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return None if is_number else "a number of seconds above 0"


def _verify(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    is_path = isinstance(value, str) and certificates(value) is None
    return None if is_path else "True, False, or a file or folder of certificates"


def _switch(value: object) -> str | None:
    return None if isinstance(value, bool) else "True or False"


_RULES: Final[Mapping[str, Callable[[object], str | None]]] = {
    "headers": _headers,
    "params": _values,
    "cookies": _values,
    "auth": _pair,
    "timeout": _seconds,
    "verify": _verify,
    "allow_redirects": _switch,
    "follow_redirects": _switch,
}
"""Argument -> what it must be, where it is not that."""
