"""The requests of a finding as shell commands: values of earlier responses are variables, which `jq` fills."""

import json
import re

from checker.core import curl
from checker.core.request import BaseUrl, WireRequest
from checker.reporting.calls import Path
from checker.reporting.reproduction import ShownCall, Taken, Text

_HOLE = "checkerHole{}x"
_FLAGS = frozenset(("--location", "--insecure", "--path-as-is", "--globoff"))
_WITH_VALUE = frozenset(("--max-time", "--max-redirs", "--cert", "--key"))
_HOLES = re.compile(r"(checkerHole\d+x)")
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def command_of(one: ShownCall, base_url: str, base: str = "") -> str:
    """Return the curl command of a request. `base`: variable of the shell with the base URL; empty to write the URL."""
    holes: dict[str, str] = {}

    def plain(text: Text) -> str:
        parts = []
        for part in text:
            hole = _HOLE.format(len(holes))
            if not isinstance(part, str):
                holes[hole] = part.variable
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
    recorded = one.call.command
    flags, names_method = _flags_of(recorded)
    command = curl.render(request, origin, verify="--insecure" not in recorded.split(" '", 1)[0])
    if recorded and not names_method:
        command = curl.without_post(command)
    words = [_word(raw, word, holes, origin, base) for raw, word in curl.words(command)]
    return " ".join([words[0], *flags, *words[1:]])


def one_url(origin: BaseUrl) -> str:
    """Return the URL in front of the targets of commands."""
    return f"{origin.plain.url.rstrip('/')}{origin.base_path}"


def _flags_of(command: str) -> tuple[list[str], bool]:
    """Return the options at the start of a recorded command, and whether it names its method after them.

    They state how it follows redirects, waits and shows a certificate. A redirected POST does not name its method.
    """
    flags: list[str] = []
    found = (word for _, word in curl.words(command))
    word = next(found, "")
    for word in found:
        # Text of a description may look like options: it is never read as such.
        if word not in _FLAGS and word not in _WITH_VALUE:
            break
        flags.append(word)
        if word in _WITH_VALUE:
            flags.append(curl.quoted_if_needed(next(found, "")))
    return flags, word == "-X"


def _word(raw: str, word: str, holes: dict[str, str], origin: BaseUrl, base: str) -> str:
    """Return a word with variables in place of holes, and of the base URL."""
    place = one_url(origin)
    if base and word == f"{origin.plain.url.rstrip('/')}/":
        # The target of the command is an option of its own.
        place = word.rstrip("/")
    is_url = bool(base) and (word == place or word.startswith((f"{place}/", f"{place}?")))
    if not (is_url or any(hole in word for hole in holes)):
        return raw
    if curl.is_substituted(raw):
        filled = [f'"${holes[piece]}"' for piece in _HOLES.findall(raw) if piece in holes]
        written = _HOLES.sub(lambda found: "%s" if found[1] in holes else found[1], raw)
        return f"{written.removesuffix(')')} {' '.join(filled)})"
    pieces = [f'"${base}"' if is_url else ""]
    for piece in _HOLES.split(word.removeprefix(place) if is_url else word):
        pieces.append(f'"${holes[piece]}"' if piece in holes else curl.quoted_if_needed(piece) if piece else "")
    return "".join(pieces)


def jq_of(path: Path) -> str:
    """Return the jq filter of a place: `.items[0].id`."""
    parts = [f".{part}" if _NAME.fullmatch(str(part)) else f"[{json.dumps(part)}]" for part in path]
    return "".join(parts if parts and parts[0].startswith(".") else [".", *parts])


def value_of(taken: Taken) -> str:
    """Return the arguments of `value` for a value of a response: its place, and the form in which it is used."""
    form = "text" if taken.is_json else "url"
    path = taken.source.path
    return f"location {form}" if path is None else f"{curl.quoted(jq_of(path))} {form}"
