"""What a cassette holds, read back: ours, those of earlier generations and of general emitters."""

import base64
import binascii
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import yaml
from yaml.composer import ComposerError

from checker.core.errors import UsageError
from checker.core.send import Purpose
from checker.core.system import read_local
from checker.phases.json_recordings import read_archive, read_events, read_failure
from checker.phases.recorded import NO_RESPONSE, Recorded
from checker.validation.pointers import refuse_depth

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
    """What reads a document of JSON by its first key; None for what is YAML."""
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
