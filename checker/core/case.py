"""One request to one operation as values, whose bytes `transport` writes; and the keys by which servers recognise a repeated request."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from enum import Enum
from typing import Any, Final, Protocol, Self

from checker.core.digests import digest_int
from checker.core.meta import CaseMetadata
from checker.core.operation import Operation
from checker.core.request import Location, WireRequest
from checker.core.response import Outcome, Response
from checker.core.user_code import plainly, require_names


class Engine(Protocol):
    """Sends, judges and makes cases. It is built by `checker.faces`, through which alone core reaches higher layers.

    `case` and `operation` are `Any` here because those classes hold an engine themselves.
    """

    def formatted_path(self, case: Any, base_path: str = "") -> str: ...
    def as_curl_command(
        self, case: Any, headers: dict[str, str] | None, base_url: str | None, *, verify: bool
    ) -> str: ...
    def base_url_of(self, operation: Any) -> str | None: ...
    def headers_of(self, case: Any) -> dict[str, str]: ...
    def identity_of(self, case: Any) -> str | None: ...
    def as_transport_kwargs(
        self, case: Any, base_url: str | None, headers: dict[str, str] | None
    ) -> dict[str, Any]: ...
    def exchange(self, case: Any, request: WireRequest) -> Outcome: ...
    def call(self, case: Any, base_url: str | None, **options: Any) -> Response: ...
    def validate_response(self, case: Any, response: Any, **options: Any) -> None: ...
    def call_and_validate(self, case: Any, base_url: str | None, **options: Any) -> Response: ...
    def make_case(self, operation: Any, **parts: Any) -> Any: ...
    def as_strategy(self, operation: Any, **options: Any) -> Any: ...
    def examples_of(self, operation: Any) -> list[Any]: ...
    @property
    def schema(self) -> Any: ...


class NotSet(Enum):
    """Type of `NOT_SET`, the absence of a body. `None` is the JSON value null."""

    NOT_SET = "NOT_SET"

    def __repr__(self) -> str:
        return self.value

    def __bool__(self) -> bool:
        return False


NOT_SET: Final = NotSet.NOT_SET


CheckName = Callable[..., Any] | str  # A check as a function or a class, or the name of one.
Checks = Iterable[CheckName] | CheckName  # Several of them, or one by itself.
Values = dict[str, Any]
Parts = tuple[Values, Values, Values, Values, tuple[Any, str | None]]
"""Values of path, headers, cookies and query by name; body and media type."""
_PARTS: Final = ("path_parameters", "query", "headers", "cookies", "media_type")


class Case:
    """A generated test case for one operation."""

    __slots__ = (
        "alternative", "body", "cookies", "drawn", "engine", "given", "headers", "id", "media_type", "meta", "operation",
        "other_method", "part_types", "path_parameters", "query", "sent",
    )  # fmt: skip

    def __init__(
        self,
        operation: Operation,
        id: str,
        *,
        path_parameters: dict[str, Any] | None = None,
        query: dict[str, Any] | None = None,
        headers: dict[str, Any] | None = None,
        cookies: dict[str, Any] | None = None,
        body: Any = NOT_SET,
        media_type: str | None = None,
        multipart_content_types: dict[str, str] | None = None,
        meta: CaseMetadata | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.operation = operation
        self.id = id
        self.path_parameters = {} if path_parameters is None else path_parameters
        self.query = {} if query is None else query
        self.headers = {} if headers is None else headers
        self.cookies = {} if cookies is None else cookies
        self.body = body
        self.media_type = media_type
        self.part_types = multipart_content_types
        """Content types of the parts that the caller gave; None: those of the description."""
        self.meta = meta
        self.engine = engine
        self.other_method: str | None = None
        """HTTP verb in place of the operation's, in upper case."""
        self.alternative: int | None = None
        """Index in `operation.security` of the alternative that this request satisfies; None for the alternative of usual requests."""
        self.drawn: Parts | None = None
        """Copies of the parts as they were drawn, if users may have changed them since then."""
        self.sent: Collection[tuple[bytes, bytes]] = ()
        """Headers of its request in a run without `before_call` hooks: values that user code sends again are not secrets."""
        self.given: dict[str, str] | None = None
        """Headers that are added at sending and shown to user code: configured headers, and credentials. They are no part of the data."""

    @classmethod
    def of_parts(cls, operation: Operation, id: str, parts: Parts, meta: CaseMetadata) -> "Case":
        """Return a case of drawn parts.

        The arguments are positional, because keywords would double the time of this call, which is made for each request.
        """
        case = cls.__new__(cls)
        case.operation = operation
        case.id = id
        case.path_parameters, case.headers, case.cookies, case.query, body = parts
        case.body, case.media_type = body
        case.part_types = case.engine = case.drawn = case.other_method = case.given = None
        case.alternative = None
        case.sent = ()
        case.meta = meta
        return case

    def __repr__(self) -> str:
        parts = [f"method={self.method!r}"] if self.is_of_other_method else []
        with self.bare() as changed:
            shown = {name: getattr(self, name) for name in _PARTS} | {"headers": {**self.headers, **changed}}
        parts += [f"{name}={part!r}" for name, part in shown.items() if part]
        if self.body is not NOT_SET:
            parts.append(f"body={self.body!r}")
        told = ", ".join(parts)
        return f"<Case {self.operation.label} {self.id}{': ' if told else ''}{told}>"

    @property
    def method(self) -> str:
        """HTTP verb. A request with another verb than the operation's is not meant for the operation."""
        return self.other_method or self.operation.method

    @method.setter
    def method(self, value: str) -> None:
        verb = value.upper()
        self.other_method = None if verb == self.operation.method else verb

    @property
    def multipart_content_types(self) -> dict[str, str] | None:
        """Property of a multipart body -> the chosen media type of its part; None for other bodies.

        After a call the parts keep these types, and changes by the caller are sent.
        """
        if self.part_types is None and self.body is not NOT_SET:
            declared = (one for one in self.operation.bodies if one.media_type == self.media_type)
            told = next((one.part_types for one in declared), None)
            self.part_types = None if told is None else told(self.body)
        return self.part_types

    @multipart_content_types.setter
    def multipart_content_types(self, value: dict[str, str] | None) -> None:
        self.part_types = value

    @property
    def is_of_other_method(self) -> bool:
        """Whether the method differs from that of the operation. If so, the response does not come from the operation."""
        other = self.other_method
        return other is not None and other != self.operation.method

    @property
    def path(self) -> str:
        """Path template, e.g. `/users/{user_id}`."""
        return self.operation.path

    def __eq__(self, other: object) -> bool:
        """Whether two cases send the same content to the same operation, regardless of ids and the letter case of header names."""
        return self._content() == other._content() if isinstance(other, Case) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[str, ...]:
        """Return the content as text, in which `1` and `True` differ. The order of headers does not matter. The order of all other parts matters."""
        headers = sorted((name.lower(), repr(value)) for name, value in self.headers.items())
        parts = (self.path_parameters, self.query, self.cookies, self.body, self.media_type)
        return (self.method, self.operation.label, repr(headers), *map(repr, parts))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a case whose values can be changed alone. Both belong to one operation and engine, which holds connections."""
        other = copy(self)
        for name in (*_PARTS, "body", "part_types", "given"):
            setattr(other, name, deepcopy(getattr(self, name), memo))
        return other

    @property
    def is_anonymous(self) -> bool:
        """Whether the case follows an alternative of its operation that needs no credentials."""
        asked = self.operation.security[self.alternative :] if self.alternative is not None else ()
        return bool(asked) and asked[0].is_none

    @property
    def formatted_path(self) -> str:
        """Template with path variables substituted, as it is sent."""
        return self._engine().formatted_path(self)

    @property
    def auth_identity(self) -> str | None:
        """Name of the configured user whose credentials the operation gets now; None if users have no names."""
        engine = self._known_engine()
        return None if engine is None else engine.identity_of(self)

    @contextmanager
    def bare(self) -> Iterator[dict[str, Any]]:
        """Remove the headers of `given` from the case within the block. Yield those whose values have been changed."""
        given, self.given = self.given, None
        if not given:
            yield {}
            return
        kept, changed = self.headers, {}
        self.headers = type(kept)(kept)
        for name, value in given.items():
            found = self.headers.pop(name, value)
            if found != value:
                changed[name] = found
        try:
            yield changed
        finally:
            self.headers, self.given = kept, given

    @contextmanager
    def dressed(self) -> Iterator[dict[str, str]]:
        """Within the block, add the headers that are added at sending, so that user code sees them. Yield these headers."""
        engine = self._known_engine()
        found = {} if engine is None or self.given else engine.headers_of(self)
        added = {name: value for name, value in found.items() if name.lower() not in map(str.lower, self.headers)}
        self.headers.update(added)
        try:
            yield added
        finally:
            drop_headers(self, added)

    def freeze_metadata(self) -> None:
        """Keep the current metadata, whatever happens to the parts."""
        meta = self.meta
        # Drawn cases have a class that examines the parts each time that the metadata are read.
        self.__class__ = Case
        self.meta = meta

    @plainly
    def as_curl_command(
        self, headers: dict[str, str] | None = None, verify: bool = True, *, base_url: str | None = None
    ) -> str:
        """Return the curl command that sends this case; values under sensitive names are masked."""
        return self._engine().as_curl_command(self, headers, base_url, verify=verify)

    @plainly
    def as_transport_kwargs(self, base_url: str | None = None, headers: dict[str, str] | None = None) -> dict[str, Any]:
        """Return the arguments of `requests.request` that send this case: `method`, `url` with its query, `headers`, `data` (bytes)."""
        return self._engine().as_transport_kwargs(self, base_url, headers)

    def get_container(self, location: str) -> Any:
        """Return the values of `path`, `query`, `header` or `cookie` by name, or the `body`; None for any other word."""
        known = {place.value: place.container for place in Location}
        return getattr(self, known[location]) if location in known else None

    def derive(
        self,
        *,
        headers: dict[str, Any] | None = None,
        query: dict[str, Any] | None = None,
        cookies: dict[str, Any] | None = None,
        keep_auth: bool = False,
    ) -> "Case":
        """Return a copy with further values. Like a case made by hand, it has its own id and no metadata.

        Credentials of security schemes in headers, query and cookies are left out unless `keep_auth`.
        """
        require_names(headers=headers, query=query, cookies=cookies)
        schemes = [one for need in self.operation.security for one in need.schemes]
        hidden = (
            set() if keep_auth else {(place.container, name.lower()) for place, name in (one.place for one in schemes)}
        )
        changes = {"headers": headers, "query": query, "cookies": cookies}
        parts: dict[str, Any] = {
            container: {
                **{
                    key: deepcopy(value)
                    for key, value in getattr(self, container).items()
                    if (container, key.lower()) not in hidden
                },
                **(wanted or {}),
            }
            for container, wanted in changes.items()
        }
        derived = Case(
            self.operation,
            os.urandom(6).hex(),
            path_parameters=deepcopy(self.path_parameters),
            body=deepcopy(self.body),
            media_type=self.media_type,
            multipart_content_types=deepcopy(self.part_types),
            engine=self.engine,
            **parts,
        )
        derived.sent = self.sent
        return derived

    @plainly
    def call(
        self,
        base_url: str | None = None,
        session: Any = None,
        headers: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        cookies: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Response:
        """Return the response to this case, without a verdict.

        `headers`, `params` and `cookies` replace single names of the case; None leaves a header out, also one of the
        configuration. `session` is a client of httpx, requests, werkzeug, Starlette or Django that sends the request; `app` is
        an application in this process (ASGI or WSGI) that responds. `json`, `data` and `files` replace the body, as in
        `requests`. Other arguments say how to send: `timeout` (seconds), `verify`, `auth`, `cert`, `proxies`,
        `allow_redirects`. Raises `TimeoutError`, `ConnectionError`,
        `ValueError` if there is no response, and exceptions of the client or the application.
        """
        given = {"headers": headers, "params": params, "cookies": cookies, "session": session}
        return self._engine().call(self, base_url, **given, **kwargs)

    @plainly
    def validate_response(
        self,
        response: Any,
        checks: Checks | None = None,
        additional_checks: Checks | None = None,
        excluded_checks: Checks | None = None,
        headers: Mapping[str, Any] | None = None,
        transport_kwargs: Mapping[str, Any] | None = None,
        recorder: Any = None,
    ) -> None:
        """Raise a `FailureGroup` if a check fails on the response of any HTTP client.

        `checks` replace the configured ones; each is a function, a class or a name. `headers` and `transport_kwargs` (`verify`,
        ...) were sent in addition to the case, and are included in the reproducing command. `recorder.checked(case, response,
        results)` is called with (name, status, failure or None) of each check. If a response does not have its request, checks
        of requests are left out; raises `IncorrectUsage` if the caller asks for one of them.
        """
        self._engine().validate_response(
            self,
            response,
            checks=checks,
            additional_checks=additional_checks,
            excluded_checks=excluded_checks,
            headers=headers,
            transport_kwargs=transport_kwargs,
            recorder=recorder,
        )

    @plainly
    def call_and_validate(
        self,
        base_url: str | None = None,
        session: Any = None,
        headers: Mapping[str, Any] | None = None,
        checks: Checks | None = None,
        additional_checks: Checks | None = None,
        excluded_checks: Checks | None = None,
        **kwargs: Any,
    ) -> Response:
        """Return the response to this case. Raises a `FailureGroup` if a check fails; arguments as for `call` and `validate_response`."""
        return self._engine().call_and_validate(
            self,
            base_url,
            session=session,
            headers=headers,
            checks=checks,
            additional_checks=additional_checks,
            excluded_checks=excluded_checks,
            **kwargs,
        )

    def exchange(self, request: WireRequest) -> Outcome:
        """Send a finished request of a check to the host of this case, and return its outcome."""
        return self._engine().exchange(self, request)

    def _known_engine(self) -> Engine | None:
        """Return the engine of the case, or else of its operation, because cases of a run have no engine."""
        if self.engine is not None:
            return self.engine
        found: Engine | None = getattr(self.operation, "engine", None)
        return found

    def _engine(self) -> Engine:
        engine = self._known_engine()
        if engine is None:
            raise RuntimeError("this case was made without an engine; take cases from an operation of a loaded schema")
        return engine


def drop_headers(case: Case, added: Mapping[str, str]) -> None:
    """Remove the headers of a case that have these values."""
    for name, value in added.items():
        if case.headers.get(name) == value:
            del case.headers[name]


_ATOMS: Final = frozenset((str, int, float, bool, bytes, type(None)))


def copied(value: Any) -> Any:
    """Return a copy that shares nothing mutable with `value`. Raises `RecursionError` for containers inside themselves."""
    kind = value.__class__
    if kind in _ATOMS:
        return value
    if kind is dict:
        # Most items are atoms, and a call for each would take half of the time.
        return {name: item if item.__class__ in _ATOMS else copied(item) for name, item in value.items()}
    if kind is list:
        return [item if item.__class__ in _ATOMS else copied(item) for item in value]
    return deepcopy(value)


class NamedFile(bytes):
    """The content of a file with its name in multipart bodies, without an extension."""

    file_name: str

    def __new__(cls, content: bytes, file_name: str) -> Self:
        """Return a value that equals `content` and has a name."""
        made = super().__new__(cls, content)
        made.file_name = file_name
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[bytes, str]]:
        return type(self), (bytes(self), self.file_name)

    def __repr__(self) -> str:
        return f"NamedFile({bytes(self)!r}, {self.file_name!r})"


_RENEWED: Final = 8
"""Number of characters at the end of a key that a fresh key changes. Earlier characters may be fixed, such as the version digit of a UUID."""
_CLASSES: Final = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def is_idempotency_key(name: str) -> bool:
    """Whether a header identifies a request: `Idempotency-Key`, `X-Idempotency-Token`."""
    return "idempoten" in name.lower()


def fresh_key(value: str, *of: str) -> str:
    """Return a key of the same form with other letters and digits at its end, derived from texts."""
    number, left, fresh = digest_int(value, *of), _RENEWED, list(value)
    for at in range(len(fresh) - 1, -1, -1):
        found = next((one for one in _CLASSES if fresh[at] in one), "")
        if not found or not left:
            continue
        # Hexadecimal characters are replaced by hexadecimal characters, so a UUID stays one.
        kind = found if found is _CLASSES[0] else found[:6]
        number, chosen = divmod(number, len(kind))
        fresh[at], left = kind[chosen], left - 1
    return "".join(fresh)


def with_fresh_key(case: Case) -> Case | None:
    """Return the case with another key; None if it has no key that may differ."""
    fresh = {
        name: fresh_key(value, str(case.operation.label), repr(case.body))
        for name, value in case.headers.items()
        if isinstance(value, str) and is_idempotency_key(name)
    }
    changed = {name: value for name, value in fresh.items() if value != case.headers[name]}
    if not changed:
        return None
    other = copy(case)
    other.headers = {**case.headers, **changed}
    return other


def request_with_fresh_key(request: WireRequest, *of: str) -> WireRequest:
    """Return the request with a key derived from texts in place of its own; unchanged if it has none."""
    headers = [
        (name, fresh_key(value.decode("latin-1"), *of).encode("latin-1"))
        if is_idempotency_key(name.decode("latin-1"))
        else (name, value)
        for name, value in request.headers
    ]
    return replace(request, headers=headers)
