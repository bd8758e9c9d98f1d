"""The requests of a finding as shell commands: values of earlier responses are variables, which `jq` fills."""

import json
import re

from checker.core import curl
from checker.core.request import BaseUrl, WireRequest
from checker.reporting.calls import Path, Source
from checker.reporting.reproduction import Secret, ShownCall, Text, variable_of

_HOLE = "checkerHole{}x"
_FLAGS = frozenset(("--location", "--insecure", "--path-as-is", "--globoff"))
_WITH_VALUE = frozenset(("--max-time", "--max-redirs", "--cert", "--key"))
_HOLES = re.compile(r"(checkerHole\d+x)")


def command_of(one: ShownCall, base_url: str, base: str = "") -> str:
    """Return the curl command of a request. `base`: variable of the shell with the base URL; empty to write the URL."""
    holes: dict[str, str] = {}

    def plain(text: Text) -> str:
        parts = []
        for part in text:
            hole = _HOLE.format(len(holes))
            if not isinstance(part, str):
                holes[hole] = part.variable if isinstance(part, Secret) else variable_of(part)
            parts.append(part if isinstance(part, str) else hole)
        return "".join(parts)

    origin = BaseUrl.from_url(base_url)
    target = plain(one.target)
    path = origin.base_path.rstrip("/") if target.startswith("/") or not target else ""
    request = WireRequest(
        one.method,
        f"{path}{target}".encode("latin-1"),
        [(name.encode("latin-1"), plain(value).encode("latin-1")) for name, value in one.headers],
        None if one.body is None else plain(one.body).encode("latin-1"),
    )
    flags = _flags_of(one.call.command)
    command = curl.render(request, origin, verify="--insecure" not in one.call.command.split(" '", 1)[0])
    place = one_url(origin)
    words = [_word(raw, word, holes, place, base) for raw, word in curl.words(command)]
    return " ".join([words[0], *flags, *words[1:]])


def one_url(origin: BaseUrl) -> str:
    """Return the URL in front of the targets of commands."""
    return f"{origin.plain.url.rstrip('/')}{origin.base_path}"


def _flags_of(command: str) -> list[str]:
    """Return the options at the start of a recorded command: how it follows redirects, waits and shows a certificate."""
    flags: list[str] = []
    found = (word for _, word in curl.words(command))
    next(found)
    for word in found:
        # Text of a description may look like options: it is never read as such.
        if word not in _FLAGS and word not in _WITH_VALUE:
            break
        flags.append(word)
        if word in _WITH_VALUE:
            flags.append(curl.quoted_if_needed(next(found, "")))
    return flags


def _word(raw: str, word: str, holes: dict[str, str], place: str, base: str) -> str:
    """Return a word with variables in place of holes, and of the base URL."""
    is_url = bool(base) and (word == place or word.startswith((f"{place}/", f"{place}?")))
    if curl.is_substituted(raw) or not (is_url or any(hole in word for hole in holes)):
        return raw
    pieces = [f'"${base}"' if is_url else ""]
    for piece in _HOLES.split(word.removeprefix(place) if is_url else word):
        pieces.append(f'"${holes[piece]}"' if piece in holes else curl.quoted_if_needed(piece) if piece else "")
    return "".join(pieces)


def jq_of(path: Path) -> str:
    """Return the jq filter of a place: `.items[0].id`."""
    return "." + "".join(f"[{json.dumps(part)}]" for part in path)


def value_of(source: Source) -> str:
    """Return the arguments of `value` for a value of a response."""
    return "location" if source.path is None else curl.quoted(jq_of(source.path))
