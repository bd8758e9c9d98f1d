"""What archives of HTTP, event lines and files of single failures hold, read back: recordings that are written as JSON."""

import json
from base64 import b64decode
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Struct, field

from checker.core.errors import UsageError
from checker.core.send import Purpose
from checker.phases.recorded import NO_RESPONSE, Recorded

_AGAIN: Final = frozenset(("content-length", "transfer-encoding", "connection"))
"""Headers that say how bytes travelled: they are written anew."""
_PURPOSES: Final = {one.value for one in Purpose}
_Headers = dict[str, list[str] | str]
T = TypeVar("T")


class _Pair(Struct):
    name: str
    value: str = ""


class _Posted(Struct):
    text: str | None = None
    encoding: str = ""
    params: list[_Pair] = field(default_factory=list)


class _ArchivedRequest(Struct, rename="camel"):
    method: str
    url: str
    headers: list[_Pair] = field(default_factory=list)
    post_data: _Posted | None = None
    body_size: int = -1


class _ArchivedResponse(Struct):
    status: int = 0


class _ArchivedEntry(Struct, rename="camel"):
    request: _ArchivedRequest
    response: _ArchivedResponse | None = None
    started_date_time: str = ""
    comment: str = ""


class _Log(Struct):
    entries: list[_ArchivedEntry]


class _Archive(Struct):
    log: _Log


class _LoggedRequest(Struct):
    method: str
    uri: str
    headers: _Headers = field(default_factory=dict)
    body: dict[str, str] | str | None = None
    body_size: int = 0


class _LoggedResponse(Struct):
    status_code: int


class _Logged(Struct):
    request: _LoggedRequest
    response: _LoggedResponse | None = None
    timestamp: float | None = None


class _CheckResult(Struct):
    status: str = ""


class _Recorder(Struct):
    interactions: dict[str, _Logged] = field(default_factory=dict)
    checks: dict[str, list[_CheckResult]] = field(default_factory=dict)


class _Scenario(Struct):
    recorder: _Recorder | None = None
    purpose: str = ""


class _Line(Struct, rename="pascal"):
    scenario_finished: _Scenario | None = None
    fuzz_scenario_finished: _Scenario | None = None


class _Value(Struct):
    encoding: str = ""
    value: Any = None


class _Step(Struct):
    method: str
    url: str
    headers: _Headers = field(default_factory=dict)
    case_body: _Value | None = None
    response: _LoggedResponse | None = None
    checks: list[_CheckResult] = field(default_factory=list)


class _Failure(Struct):
    sequence: list[_Step]
    case_id: str = ""


def read_archive(text: bytes) -> Iterator[Recorded]:
    """Requests of a HAR file, of any program. Raises `UsageError`."""
    for number, entry in enumerate(_decoded(text, _Archive).log.entries, 1):
        sent, answer = entry.request, entry.response
        body = _posted(sent.post_data)
        _, _, about = entry.comment.removesuffix(")").rpartition(", ")
        yield Recorded(
            id=str(number),
            # Archives know of no checks.
            status="",
            method=sent.method,
            uri=sent.url,
            # Names of HTTP/2 begin with a colon: its other fields say the same.
            headers=_kept((one.name, one.value) for one in sent.headers),
            body=body,
            is_cut=sent.body_size > len(body or b""),
            old_status=str(answer.status) if answer and answer.status > 0 else NO_RESPONSE,
            purpose=about if about in _PURPOSES else Purpose.TEST.value,
            at=_time(entry.started_date_time),
        )


def read_events(text: bytes) -> Iterator[Recorded]:
    """Requests of a report of event lines. A last line that was not finished does not count. Raises `UsageError`."""
    lines = text.splitlines(keepends=True)
    for line in lines:
        if not line.strip() or not (line.endswith(b"\n") or _is_whole(line)):
            continue
        event = _decoded(line, _Line)
        scenario = event.scenario_finished or event.fuzz_scenario_finished
        if scenario is not None and scenario.recorder is not None:
            yield from _of_scenario(scenario.recorder, scenario.purpose)


def read_failure(text: bytes) -> Iterator[Recorded]:
    """The requests that lead to a failure, as earlier generations kept each in a file. Raises `UsageError`."""
    failure = _decoded(text, _Failure)
    for number, step in enumerate(failure.sequence, 1):
        yield Recorded(
            id=f"{failure.case_id or 'step'}-{number}",
            status=_status(step.checks),
            method=step.method,
            uri=step.url,
            headers=_kept(_pairs(step.headers)),
            body=_body_of_case(step.case_body),
            old_status=str(step.response.status_code) if step.response else NO_RESPONSE,
        )


def _of_scenario(recorder: _Recorder, purpose: str) -> Iterator[Recorded]:
    for name, one in recorder.interactions.items():
        body = _logged_body(one.request.body)
        yield Recorded(
            id=name,
            status=_status(recorder.checks.get(name, ())),
            method=one.request.method,
            uri=one.request.uri,
            headers=_kept(_pairs(one.request.headers)),
            body=body,
            is_cut=one.request.body_size > len(body or b""),
            old_status=str(one.response.status_code) if one.response else NO_RESPONSE,
            purpose=purpose or Purpose.TEST.value,
            at=one.timestamp,
        )


def _decoded(text: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"the cassette cannot be read: {error}") from error


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _pairs(headers: _Headers) -> Iterator[tuple[str, str]]:
    for name, values in headers.items():
        for value in values if isinstance(values, list) else [values]:
            yield name, value


def _kept(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, value)
        for name, value in headers
        if not name.startswith(":") and name.lower() not in _AGAIN
    )


def _posted(posted: _Posted | None) -> bytes | None:
    if posted is None:
        return None
    if posted.text is None:
        return urlencode([(one.name, one.value) for one in posted.params]).encode()
    return _unwrapped(posted.text) if posted.encoding == "base64" else posted.text.encode()


def _logged_body(body: dict[str, str] | str | None) -> bytes | None:
    match body:
        case None:
            return None
        case str():
            return body.encode()
        case _:
            return _unwrapped(body.get("$base64", ""))


def _body_of_case(body: _Value | None) -> bytes | None:
    if body is None:
        return None
    if body.encoding == "json" or not isinstance(body.value, str):
        return json.dumps(body.value).encode()
    return _unwrapped(body.value) if body.encoding.startswith("base64") else body.value.encode()


def _unwrapped(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise UsageError(f"the cassette cannot be read: a body is not base64: {error}") from error


def _status(checks: Iterable[_CheckResult]) -> str:
    return "FAILURE" if any(one.status.lower() == "failure" for one in checks) else "SUCCESS"


def _time(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
