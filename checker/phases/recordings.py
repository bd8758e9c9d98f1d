"""The content of a cassette: ours, those of earlier generations and of general emitters."""

import base64
import binascii
import json
import re
from base64 import b64decode
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import msgspec
import yaml
from msgspec import Struct, field
from yaml.composer import ComposerError

from checker.core.errors import UsageError
from checker.core.send import Purpose
from checker.core.system import read_local
from checker.kinds.fetching import refuse_depth

NO_RESPONSE: Final = "none"
"""In place of a status where nobody answered."""


class Recorded(Struct, frozen=True):
    """An interaction as it stands in a cassette."""

    id: str
    status: str
    method: str
    uri: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    """None when the request had no body, which is not the same as an empty one."""
    old_status: str
    """Of the response; `NO_RESPONSE` when there was none."""
    is_cut: bool = False
    """Whether the request had more of a body than that."""
    purpose: str = Purpose.TEST.value
    """What it was sent for."""
    at: float | None = None
    """When it was recorded, in seconds since the epoch; None where its cassette does not say."""


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
            at=_seconds_of(entry.started_date_time),
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
    return tuple((name, value) for name, value in headers if not name.startswith(":") and name.lower() not in _AGAIN)


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


def _seconds_of(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


_ANCHOR = re.compile(r'^ +(?:string|"base64_string"): (?=&(body-\w+) )(.*)$', re.MULTILINE)
_ALIAS = re.compile(r'^ +(?:string|"base64_string"): \*(body-\w+)$', re.MULTILINE)
"""Bodies that our own cassettes write once."""
_FIRST_KEY: Final = re.compile(rb'\s*\{\s*"(\w+)"')
_MANIFEST: Final = "manifest.json"
"""What earlier generations kept beside files of failures."""
_MOST_BYTES: Final = 256 << 20


class _CassetteLoader(yaml.CSafeLoader):
    """No emitter of cassettes writes merge keys, and a few lines of them stand for more than any memory holds."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Take `<<` for a key like others."""


def read_cassette(path: Path) -> list[Recorded]:
    """Interactions of a cassette, in its order: YAML (`vcr`), HAR, event lines (`ndjson`), or files of single failures.

    A folder stands for the files of failures in it. Raises `UnreadableFile`, and `UsageError` when it is no cassette.
    """
    if path.is_dir():
        files = (one for one in sorted(path.glob("*.json")) if one.name != _MANIFEST)
        return [one for file in files for one in _read_file(file)]
    return _read_file(path)


def _read_file(path: Path) -> list[Recorded]:
    data = read_local(path, "a cassette", most_bytes=_MOST_BYTES).removeprefix(BOM_UTF8)
    read = _reader_of(data)
    if read is None:
        return _read_yaml(path, data)
    try:
        return list(read(data))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _reader_of(data: bytes) -> Callable[[bytes], Iterable[Recorded]] | None:
    """Return the reader of a JSON document by its first key; None for YAML."""
    first = _FIRST_KEY.match(data)
    if first is None:
        return None
    name = first[1]
    if name == b"log":
        return read_archive
    if name[:1].isupper():
        return read_events
    return read_failure if b'"sequence"' in data else None


def _read_yaml(path: Path, data: bytes) -> list[Recorded]:
    try:
        text = data.decode()
        try:
            return _read_all(path, _pieces(text))
        except ComposerError:
            # An alias of something in another piece: general emitters write them.
            return _read_all(path, [text])
    except (yaml.YAMLError, ValueError, ArithmeticError) as error:
        # Numbers and dates that are none are plain errors of values.
        where = " ".join(str(error).split())
        raise UsageError(f"{path}: the cassette is not valid YAML: {where}") from error


def _pieces(text: str) -> Iterator[str]:
    """A cassette as small cassettes: the loader needs 50 times the size of what it is given.

    Cut before lines that begin with a dash. In block style only items of the outermost sequence can begin there. Bodies
    that an item shares with an earlier one stand before it.
    """
    head, mark, items = text.partition("\nhttp_interactions:\n- ")
    if not mark:
        yield text
        return
    yield f"{head}\nhttp_interactions: []\n"
    start, bodies = 0, dict[str, tuple[int, int]]()
    while start < len(items):
        end = items.find("\n- ", start)
        end = len(items) if end < 0 else end
        names = dict.fromkeys(_ALIAS.findall(items, start, end))
        places = [bodies[name] for name in names if name in bodies]
        shared = "".join(f"\n- {items[slice(*place)]}" for place in places)
        yield f"shared: {shared or '[]'}\nhttp_interactions:\n- {items[start:end]}\n"
        for anchor in _ANCHOR.finditer(items, start, end):
            bodies[anchor[1]] = anchor.start(2), anchor.end(2)
        start = end + 3


def _read_all(path: Path, pieces: Iterable[str]) -> list[Recorded]:
    found: list[Recorded] = []
    for piece in pieces:
        refuse_depth(piece)
        document = yaml.load(piece, _CassetteLoader)
        if not isinstance(document, dict) or "http_interactions" not in document:
            raise UsageError(f"{path}: not a cassette: it has no `http_interactions`")
        interactions = document["http_interactions"] or []
        if not isinstance(interactions, list):
            raise UsageError(f"{path}: not a cassette: `http_interactions` is not a list")
        for raw in interactions:
            found.append(_recorded(path, len(found) + 1, raw))
    return found


def _recorded(path: Path, number: int, raw: Any) -> Recorded:
    try:
        request, response = raw["request"], raw["response"]
        return Recorded(
            id=_text(raw.get("id", number)),
            status=_text(raw["status"]),
            method=_text(request["method"]),
            uri=_text(request["uri"]),
            headers=tuple(_headers(request.get("headers") or {})),
            body=_body(request.get("body")),
            is_cut=bool(request.get("body")) and "size" in request["body"],
            old_status=_text(response["status"]["code"]) if response else NO_RESPONSE,
            purpose=_text(raw.get("purpose") or Purpose.TEST.value),
            at=_time(raw.get("recorded_at")),
        )
    except (KeyError, TypeError, AttributeError, ValueError, LookupError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{path}: interaction {number} cannot be read: {what}") from error


def _headers(raw: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, values in raw.items():
        for value in values if isinstance(values, list) else [values]:
            yield _text(name), _text(value)


def _time(value: Any) -> float | None:
    """Of `recorded_at`, which emitters write as text or as a time of YAML; None for what is no time."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value)
    return value.timestamp() if isinstance(value, datetime) else None


def _text(value: Any) -> str:
    """Text of a single value: aliases may make far more of a list than its file holds."""
    if isinstance(value, list | dict):
        raise ValueError(f"a single value was expected, {type(value).__name__} was found")
    return str(value)


def _body(raw: Any) -> bytes | None:
    if raw is None:
        return None
    if "base64_string" in raw:
        try:
            return base64.b64decode(raw["base64_string"], validate=True)
        except binascii.Error as error:
            raise ValueError(f"its body is not base64: {error}") from error
    text = raw["string"]
    return _text(text).encode(raw.get("encoding") or "utf-8")
