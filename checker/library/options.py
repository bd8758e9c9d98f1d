"""Keyword arguments of `case.call` and its relatives as values."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import chain
from math import inf
from typing import Any, Final, Protocol, Self

from msgspec import Struct, field

from checker.checks.check import Check
from checker.checks.context import JudgedInteraction
from checker.checks.custom import CUSTOM_CHECKS, ClassCheck, custom_check
from checker.checks.table import BUILT_IN
from checker.checks.to_run import selected_checks
from checker.config.value_kinds import certificate, certificates
from checker.core.case import Case, CheckName, Checks
from checker.core.credentials import basic_authorization
from checker.core.errors import IncorrectUsage, UsageError, did_you_mean
from checker.core.graphs import grouped
from checker.core.media_types import is_json
from checker.core.request import HeaderFields
from checker.core.response import Response
from checker.core.user_code import require, require_names, several
from checker.kinds.http_client import httpx
from checker.phases.attempt import CheckResult, overridden
from checker.transport.settings import timeout_of

_FORM: Final = "application/x-www-form-urlencoded"
_OCTETS: Final = "application/octet-stream"  # Media type of a body of bytes.


def body_given(case: Case, json: Any, data: Any, files: Any) -> tuple[Any, str, str | None] | None:
    """Return (value, media type, `Content-Type` if that is another one) of the body that replaces the one of a case.

    None if none is given. Raises `IncorrectUsage`.
    """
    if json is not None and (data is not None or files is not None):
        raise IncorrectUsage("case.call() takes either `json`, or `data` and `files`, not both")
    if json is not None:
        is_fit = case.media_type is not None and is_json(case.media_type)
        return json, str(case.media_type) if is_fit else "application/json", None
    if files is not None:
        # The boundary is derived from the id. With a random boundary, as in other clients, equal cases would send
        # different requests.
        named = f"multipart/form-data; boundary=part-{case.id}"
        fields = {} if data is None else _fields(data)
        try:
            request = httpx.Request(
                "POST", "http://localhost", headers={"Content-Type": named}, data=fields, files=files
            )
            content = request.read()
        except (TypeError, ValueError, AttributeError) as error:
            raise IncorrectUsage(
                f"`files` must be what clients take, such as {{'name': ('a.txt', b'...')}}: {error}"
            ) from error
        return content, _OCTETS, named
    if data is None:
        return None
    if isinstance(data, str | bytes):
        return data.encode() if isinstance(data, str) else data, _OCTETS, case.media_type
    return _fields(data), _FORM, None


def _fields(data: Any) -> dict[str, Any]:
    """Return values by name; a list if a name has several. Raises `IncorrectUsage`."""
    if isinstance(data, Mapping):
        return dict(data)
    is_pairs = isinstance(data, Sequence) and all(isinstance(one, tuple | list) and len(one) == 2 for one in data)
    if not is_pairs:
        raise IncorrectUsage(f"`data` must be text, bytes, a dict, or pairs of a name and a value, got {data!r:.80}")
    return {name: values[0] if len(values) == 1 else values for name, values in grouped(data).items()}


_NEVER = frozenset(["content", "method", "url"])  # Options that the case decides.
_CONTENT_TYPE = "Content-Type"
_CHECKS = "checks: functions, classes or names"
_NAMED: Final = ("checks", "additional_checks", "excluded_checks")


class CallOptions(Struct, frozen=True):
    """The options of one call."""

    headers: Mapping[str, Any] = field(default_factory=dict)
    """Single names that replace those of the case and of the configuration."""
    params: Mapping[str, Any] = field(default_factory=dict)
    cookies: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None  # Seconds.
    verify: bool | str | None = None
    session: Any = None  # A client of the user (httpx, requests, werkzeug, Starlette, Django) that sends the request.
    auth: Any = None  # User and password, or an object of the client's library.
    cert: Any = None  # Path of a client certificate, or certificate and key.
    proxies: Mapping[str, str] | None = None  # Scheme -> URL.
    allow_redirects: bool | None = None
    follow_redirects: bool | None = None
    stream: bool | None = None
    json: Any = None  # Replaces the body of the case; as in `requests`.
    data: Any = None
    files: Any = None

    @property
    def transport(self) -> dict[str, Any]:
        """Return the given options for the transport, under the names that clients use."""
        names = (
            "timeout", "verify", "cert", "proxies", "allow_redirects", "follow_redirects", "stream",
        )  # fmt: skip
        found = {name: getattr(self, name) for name in names}
        if self.auth is not None and not self.has_basic:
            found["auth"] = self.auth
        return {name: value for name, value in found.items() if value is not None}

    def over(self, case: Case) -> Case:
        """Return the case with the parameters and the body of the call, and everything else as generated. Raises `IncorrectUsage`."""
        found = overridden(case, headers=self.headers, query=self.params, cookies=self.cookies)
        body = body_given(case, self.json, self.data, self.files)
        if body is None:
            return found
        found = copy(found)
        (found.body, found.media_type, content_type), found.part_types = body, None
        found.headers = HeaderFields(found.headers)
        found.headers.pop(_CONTENT_TYPE, None)
        if content_type is not None:
            found.headers[_CONTENT_TYPE] = content_type
        return found

    @property
    def has_basic(self) -> bool:
        """Whether `auth` is a user and a password, which can be sent as a header."""
        return isinstance(self.auth, tuple) and len(self.auth) == 2

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """Return options by name, without those that are None. Raises `TypeError`, `IncorrectUsage`."""
        for name in _NEVER.intersection(options):
            raise IncorrectUsage(f"case.call({name}=...): the case decides this; change the case")
        given = _given(options, cls, "case.call")
        require_names(**{name: given.get(name) for name in ("headers", "params", "cookies")})
        if "timeout" in given:
            limit_s = timeout_of(given["timeout"])
            if limit_s is None:
                raise IncorrectUsage(f"`timeout` must be a number of seconds above 0, got {given['timeout']!r}")
            given["timeout"] = None if limit_s == inf else limit_s
        verify = given.get("verify")
        user = given.get("auth")
        if isinstance(user, tuple) and len(user) == 2:
            headers = given.setdefault("headers", {})
            if not any(name.lower() == "authorization" for name in headers):
                given["headers"] = {**headers, "Authorization": basic_authorization(*user)}
        problem = certificates(verify) if isinstance(verify, str) else None
        if problem is not None:
            raise IncorrectUsage(f"`verify`: {problem}")
        is_signer = callable(user) or hasattr(user, "auth_flow")
        wanted = "user and password, or an object that signs requests"
        require(user is None or isinstance(user, tuple) or is_signer, "auth", wanted, user)
        for path in several("cert", given.get("cert", ()), "a path, or those of certificate and key"):
            problem = certificate(str(path))
            if problem is not None:
                raise IncorrectUsage(f"`cert`: {problem}")
        return cls(**given)


class CheckOptions(Struct, frozen=True):
    """The options of the checks of one response."""

    checks: tuple[CheckName, ...] | None = None  # Replace the configured checks.
    additional_checks: tuple[CheckName, ...] = ()
    excluded_checks: tuple[CheckName, ...] = ()
    headers: Mapping[str, Any] = field(default_factory=dict)  # Headers that were sent in addition to those of the case.
    transport_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Options of the transport: `verify` applies to requests of checks, too."""
    recorder: "CheckRecorder | None" = None
    earlier: Sequence[JudgedInteraction] = ()
    """Earlier interactions of the sequence, which a failure may depend on. The reproduction sends them first."""

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self:
        """Return options by name, without those that are None. Raises `TypeError`, `IncorrectUsage`."""
        given = _given(options, cls, "case.validate_response")
        require_names(transport_kwargs=given.get("transport_kwargs"))
        recorder = given.get("recorder")
        is_right = recorder is None or hasattr(recorder, "checked")
        require(is_right, "recorder", "an object with a method `checked`", recorder)
        return cls(**given | {name: _several(name, given[name]) for name in _NAMED if name in given})

    @classmethod
    def take(cls, options: dict[str, Any]) -> Self:
        """Remove the options of checks from `options` and return them. Raises `IncorrectUsage`."""
        return cls.of({name: options.pop(name, None) for name in _NAMED})

    def selected(self, configured: tuple[str, ...], classes: Iterable[ClassCheck]) -> tuple[Check, ...]:
        """Return the chosen checks; `classes` are the active class checks. Raises `UsageError` for an unknown name."""
        wanted = [*(configured if self.checks is None else self.checks), *self.additional_checks]
        names = (*BUILT_IN, *CUSTOM_CHECKS)
        for one in self.excluded_checks:
            if isinstance(one, str) and one not in names:
                raise UsageError(f"unknown check {one!r}; choose from {', '.join(names)}")
        excluded = set(map(_name, self.excluded_checks))
        found: dict[str, tuple[Check, ...]] = {}
        for one in wanted:
            name = _name(one)
            if name not in excluded:
                known = CUSTOM_CHECKS.get(name)
                if isinstance(one, str) or name in BUILT_IN or (known is not None and known.source is one):
                    found[name] = selected_checks([name], classes)
                else:
                    found[name] = (custom_check(name, one),)
        return tuple(chain.from_iterable(found.values()))

    def able(self, checks: Iterable[Check], response: Response) -> tuple[Check, ...]:
        """Return the checks that can judge a response whose request may be unknown.

        Raises `IncorrectUsage` if the caller asked for another check by name.
        """
        if response.request is not None:
            return tuple(checks)
        asked = set(map(_name, (*(self.checks or ()), *self.additional_checks)))
        found = []
        for check in checks:
            if not check.judges_request:
                found.append(check)
            elif check.name in asked:
                raise IncorrectUsage(
                    f"`{check.name}` judges the sent request, which this response does not contain; give it "
                    "`request=...`, the request of any HTTP client, or let `case.call_and_validate` send it"
                )
        return tuple(found)


class CheckRecorder(Protocol):
    """A recorder of check results."""

    def checked(self, case: Case, response: Response, results: list[CheckResult]) -> None:
        """Record the results of the checks of a response."""
        ...


def _given(options: dict[str, Any], record: type[Any], called: str) -> dict[str, Any]:
    """Return the options that are not None. Raises `TypeError` for an unknown one."""
    given = {name: value for name, value in options.items() if value is not None}
    known = record.__struct_fields__
    for name in options:
        if name not in known:
            raise TypeError(f"{called}() takes {', '.join(known)}, but got {name!r}{did_you_mean(name, known)}")
    return given


def _several(option: str, given: Checks) -> tuple[CheckName, ...]:
    """Return the checks of an option, which may be a single name or function. Raises `IncorrectUsage`."""
    found = (given,) if callable(given) else several(option, given, _CHECKS)
    for one in found:
        require(isinstance(one, str) or callable(one), option, _CHECKS, given)
    return found


def _name(check: CheckName) -> str:
    return check if isinstance(check, str) else str(getattr(check, "__name__", check))
