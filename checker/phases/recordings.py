"""Readers of cassettes: our own, those of earlier versions, and those of other programs."""

import binascii
import json
import re
from base64 import b64decode
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
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

NO_RESPONSE: Final = "none"  # Stands for the status of a request without a response.


class Recorded(Struct, frozen=True):
    """An interaction as its cassette recorded it."""

    id: str
    status: str
    method: str
    uri: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None  # None when the request had no body, which is not the same as an empty one.
    old_status: str  # Status of the recorded response; `NO_RESPONSE` if there was none.
    is_cut: bool = False  # Whether the recorded body is shorter than the one that was sent.
    purpose: str = Purpose.TEST.value  # Value of the `Purpose` of the request.
    at: float | None = None  # Time of recording in seconds since the epoch; None if the cassette does not record it.


_AGAIN: Final = frozenset(("content-length", "transfer-encoding", "connection"))
"""Headers about the transfer of a message; the transport writes them again."""
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
    """Yield the requests of a HAR file of any program. Raises `UsageError`."""
    for number, entry in enumerate(_decoded(text, _Archive).log.entries, 1):
        sent, answer, posted = entry.request, entry.response, entry.request.post_data
        body: bytes | None = None
        if posted is not None and posted.text is not None:
            body = _octets(posted.text, is_base64=posted.encoding == "base64")
        elif posted is not None:
            # A form has `params` in place of `text`, which exclude each other (HAR 1.2, postData).
            body = urlencode([(one.name, one.value) for one in posted.params]).encode()
        # Our own archives name the purpose in the comment. Archives of other programs may have any text there.
        _, _, about = entry.comment.removesuffix(")").rpartition(", ")
        yield Recorded(
            id=str(number),
            # HAR has no field for the results of checks.
            status="",
            method=sent.method,
            uri=sent.url,
            headers=_kept((one.name, one.value) for one in sent.headers),
            body=body,
            # An unknown size is -1 (HAR 1.2).
            is_cut=sent.body_size > len(body or b""),
            old_status=str(answer.status) if answer and answer.status > 0 else NO_RESPONSE,
            purpose=about if about in _PURPOSES else Purpose.TEST.value,
            at=_seconds_of(entry.started_date_time),
        )


def read_events(text: bytes) -> Iterator[Recorded]:
    """Yield the requests of a report of event lines. An unfinished last line is ignored. Raises `UsageError`."""
    lines = text.splitlines(keepends=True)
    for line in lines:
        # A killed run leaves an incomplete last line.
        if not line.strip():
            continue
        if not line.endswith(b"\n"):
            try:
                msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError):
                continue
        event = _decoded(line, _Line)
        scenario = event.scenario_finished or event.fuzz_scenario_finished
        if scenario is not None and scenario.recorder is not None:
            for name, one in scenario.recorder.interactions.items():
                sent: dict[str, str] | str | None = one.request.body
                body = sent.encode() if isinstance(sent, str) else None
                if isinstance(sent, dict):
                    body = _octets(sent.get("$base64", ""), is_base64=True)
                yield Recorded(
                    id=name,
                    status=_status(scenario.recorder.checks.get(name, ())),
                    method=one.request.method,
                    uri=one.request.uri,
                    headers=_kept(_pairs(one.request.headers)),
                    body=body,
                    is_cut=one.request.body_size > len(body or b""),
                    old_status=str(one.response.status_code) if one.response else NO_RESPONSE,
                    purpose=scenario.purpose or Purpose.TEST.value,
                    at=one.timestamp,
                )


def read_failure(text: bytes) -> Iterator[Recorded]:
    """Yield the requests that lead to a failure, from the file format of earlier versions. Raises `UsageError`."""
    failure = _decoded(text, _Failure)
    for number, step in enumerate(failure.sequence, 1):
        sent, body = step.case_body, None
        if sent is not None and isinstance(sent.value, str) and sent.encoding != "json":
            body = _octets(sent.value, is_base64=sent.encoding.startswith("base64"))
        elif sent is not None:
            body = json.dumps(sent.value).encode()
        yield Recorded(
            id=f"{failure.case_id or 'step'}-{number}",
            status=_status(step.checks),
            method=step.method,
            uri=step.url,
            headers=_kept(_pairs(step.headers)),
            body=body,
            old_status=str(step.response.status_code) if step.response else NO_RESPONSE,
        )


def _decoded(text: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"the cassette cannot be read: {error}") from error


def _pairs(headers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, values in headers.items():
        # A header that occurs once may be a text instead of a list.
        for value in values if isinstance(values, list) else [values]:
            yield _text(name), _text(value)


def _kept(headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    # HTTP/2 fields whose names begin with a colon repeat the method and the URL.
    return tuple((name, value) for name, value in headers if not name.startswith(":") and name.lower() not in _AGAIN)


def _octets(text: str, *, is_base64: bool) -> bytes:
    if not is_base64:
        return text.encode()
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise UsageError(f"the cassette cannot be read: a body is not base64: {error}") from error


def _status(checks: Iterable[_CheckResult]) -> str:
    return "FAILURE" if any(one.status.lower() == "failure" for one in checks) else "SUCCESS"


def _seconds_of(value: Any) -> float | None:
    """Return a time in seconds since the epoch; None if it is neither a time of YAML nor one of ISO 8601."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value)
    return value.timestamp() if isinstance(value, datetime) else None


_ANCHOR = re.compile(r'^ +(?:string|"base64_string"): (?=&(body-\w+) )(.*)$', re.MULTILINE)
_ALIAS = re.compile(r'^ +(?:string|"base64_string"): \*(body-\w+)$', re.MULTILINE)
"""Our own cassettes write a repeated body once, with an anchor."""
_FIRST_KEY: Final = re.compile(rb'\s*\{\s*"(\w+)"')
_MANIFEST: Final = "manifest.json"  # A file that earlier versions wrote beside the files of failures.
_MOST_BYTES: Final = 256 << 20


class _CassetteLoader(yaml.CSafeLoader):
    """A loader without merge keys: no cassette has them, and a few lines of nested ones expand to more than fits in memory."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Read `<<` as an ordinary key."""


def read_cassette(path: Path) -> list[Recorded]:
    """Return the interactions of a cassette in their order: YAML (`vcr`), HAR, event lines (`ndjson`), or files of single failures.

    A folder stands for all files of failures inside. Raises `UnreadableFile`, and `UsageError` when it is no cassette.
    """
    if path.is_dir():
        files = (one for one in sorted(path.glob("*.json")) if one.name != _MANIFEST)
        return [one for file in files for one in _read_file(file)]
    return _read_file(path)


def _read_file(path: Path) -> list[Recorded]:
    data = read_local(path, "a cassette", most_bytes=_MOST_BYTES).removeprefix(BOM_UTF8)
    first = _FIRST_KEY.match(data)
    name = b"" if first is None else first[1]
    read: Callable[[bytes], Iterable[Recorded]]
    if name == b"log":
        read = read_archive
    # Names of events are classes and begin with a capital; keys of other formats begin with a small letter.
    elif name[:1].isupper():
        read = read_events
    elif name and b'"sequence"' in data:
        read = read_failure
    else:
        return _read_yaml(path, data)
    try:
        return list(read(data))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _read_yaml(path: Path, data: bytes) -> list[Recorded]:
    try:
        text = data.decode()
        try:
            return _read_all(path, _pieces(text))
        except ComposerError:
            # Other programs write aliases to nodes in other pieces.
            return _read_all(path, [text])
    except (yaml.YAMLError, ValueError, ArithmeticError) as error:
        # The YAML loader raises plain `ValueError` for malformed numbers and dates.
        where = " ".join(str(error).split())
        raise UsageError(f"{path}: the cassette is not valid YAML: {where}") from error


def _pieces(text: str) -> Iterator[str]:
    """Yield a cassette as small cassettes: the loader needs 50 times the memory of its input.

    Cut before lines that begin with a dash. In block style, only items of the outermost sequence can begin with a dash
    at the start of a line. Bodies that an item shares with an earlier one stand before it.
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
        # Only the bodies that this item repeats are added. With all bodies, each piece would be as large as the cassette.
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
        for number, raw in enumerate(interactions, len(found) + 1):
            try:
                request, response = raw["request"], raw["response"]
                one = Recorded(
                    id=_text(raw.get("id", number)),
                    status=_text(raw["status"]),
                    method=_text(request["method"]),
                    uri=_text(request["uri"]),
                    headers=tuple(_pairs(request.get("headers") or {})),
                    body=_body(request.get("body")),
                    is_cut=bool(request.get("body")) and "size" in request["body"],
                    old_status=_text(response["status"]["code"]) if response else NO_RESPONSE,
                    purpose=_text(raw.get("purpose") or Purpose.TEST.value),
                    at=_seconds_of(raw.get("recorded_at")),
                )
            except (KeyError, TypeError, AttributeError, ValueError, LookupError) as error:
                what = f"no {error}" if isinstance(error, KeyError) else str(error)
                raise UsageError(f"{path}: interaction {number} cannot be read: {what}") from error
            found.append(one)
    return found


def _text(value: Any) -> str:
    """Return the text of a single value. A list is refused: aliases may expand it to far more than its file holds."""
    if isinstance(value, list | dict):
        raise ValueError(f"a single value was expected, {type(value).__name__} was found")
    return str(value)


def _body(raw: Any) -> bytes | None:
    if raw is None:
        return None
    if "base64_string" not in raw:
        return _text(raw["string"]).encode(raw.get("encoding") or "utf-8")
    try:
        return b64decode(raw["base64_string"], validate=True)
    except binascii.Error as error:
        raise ValueError(f"its body is not base64: {error}") from error
