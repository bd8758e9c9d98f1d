"""Error texts without what changes from request to request, so that one defect reads the same every time."""

import json
import re
from collections.abc import Iterable, Iterator

from checker.core.case import Case

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_RUN = re.compile(r"[\w-]++")
_WORD = re.compile(r"[A-Za-z_]{3,}")
_TO_LAST_DIGIT = re.compile(r".*\d", re.DOTALL)
_TELLING = (
    "type",
    "title",
    "error",
    "code",
    "exception",
    "name",
    "message",
    "detail",
    "msg",
    "reason",
)
_LIMIT = 160
_DEPTH = 3


def error_template(content: bytes, sent: Iterable[str] = ()) -> str:
    """Words of an error body that do not depend on the request: quoted parts, numbers, ids and `sent` texts masked.

    At most 160 characters. Empty when nothing stable is left.
    """
    text = content[:4096].decode("utf-8", "replace")
    text = _telling_text(text)
    for value in sorted((s for s in sent if len(s) >= 3), key=len, reverse=True):
        text = text.replace(value, " ")
    return " ".join(_words(_QUOTED.sub(" ", text)))[:_LIMIT]


def sent_texts(case: Case) -> list[str]:
    """Every text that the case sent: what an error message may echo."""
    texts: list[str] = []
    pending: list[object] = [
        case.path_parameters,
        case.query,
        case.headers,
        case.cookies,
        case.body,
    ]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            pending.extend(value.values())
            texts.extend(key for key in value if isinstance(key, str) and len(key) > 12)
        elif isinstance(value, list | tuple):
            pending.extend(value)
    return texts


def _words(text: str) -> Iterator[str]:
    """Words of three letters and more that no digit follows: ids and hashes are no words."""
    # In two steps: one expression for both looks at each pair of places in a run, and servers send long ones.
    for run in _RUN.findall(text):
        numbered = _TO_LAST_DIGIT.match(run)
        yield from _WORD.findall(run, 0 if numbered is None else numbered.end())


def _telling_text(text: str) -> str:
    stripped = text.lstrip()
    if stripped[:1] in ("{", "["):
        try:
            return " ".join(_telling_parts(json.loads(text), _DEPTH))
        except (ValueError, RecursionError):
            return text
    if stripped[:1] == "<":
        title = _TITLE.search(text)
        return title.group(1) if title else ""
    # The last line of a Python traceback names the error, the first line of most others.
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("Traceback"):
        return lines[-1]
    return lines[0] if lines else ""


def _telling_parts(value: object, depth: int) -> Iterable[str]:
    if depth == 0:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value[:1]:
            yield from _telling_parts(item, depth - 1)
    elif isinstance(value, dict):
        lowered = {key.lower(): key for key in value if isinstance(key, str)}
        for name in _TELLING:
            if name in lowered:
                yield from _telling_parts(value[lowered[name]], depth - 1)
