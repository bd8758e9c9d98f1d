"""The requests of a finding as shell commands. Values of earlier responses are variables, which `jq` fills."""

import json
import re
from collections.abc import Sequence

from checker.core import curl
from checker.core.blocks import EXPORT
from checker.core.request import BaseUrl, WireRequest
from checker.core.terminal import one_line
from checker.corpus.records import Finding
from checker.reporting.calls import Path
from checker.reporting.findings import maker_line
from checker.reporting.masking import Masking, ShownCommand
from checker.reporting.reproduction import ShownCall, Taken, Text, base_path_of, secrets_of, shown_calls, used_from

_HOLE = "checkerHole{}x"
_FLAGS = frozenset(("--location", "--insecure", "--path-as-is", "--globoff", *curl.AT_ONCE))
_WITH_VALUE = frozenset(("--max-time", "--max-redirs", "--cacert", "--capath", "--cert", "--key"))
_HOLES = re.compile(r"(checkerHole\d+x)")
_HEADER = re.compile(r"[A-Za-z0-9._-]+: [^'\"\\$`!]*")
"""Matches a header that a shell reads literally in double quotes, apart from variables."""
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def command_of(one: ShownCall, base_url: str, base: str = "") -> str:
    """Return the curl command of a request. `base`: shell variable with the base URL; empty to write the URL."""
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
    return " ".join([words[0], *flags, *words[1:], *([words[-1]] if curl.AT_ONCE[0] in flags else ())])


def printed(finding: Finding, masking: Masking, base_url: str) -> ShownCommand | None:
    """Return bash lines that send the requests of a finding on a fresh server.

    None if the recorded commands are already written so, or if they contain more than the records: a whole body, or the
    last output of a worker. Invented and generated credentials are shown. A failure that was not investigated has no recorded command.
    """
    is_whole = len(finding.investigation.reproduction.splitlines()) in (0, len(finding.sent))
    is_cut = any(one.exchange.body_size is not None for one in finding.sent)
    base_url = _base_of(finding, base_url)
    if not base_url or not finding.interactions or not is_whole or is_cut:
        return None
    mask = masking.sanitization.replacement
    recorded = masking.command(finding.investigation.reproduction, [one.components for one in finding.sent])
    calls = shown_calls(finding, masking, base_path_of(base_url))
    is_alone = len(calls) == len(finding.sent) and not any(one.call.sources for one in calls)
    if finding.investigation.reproduction and is_alone and (mask not in recorded.text or secrets_of(calls)):
        return None
    lines = []
    for number, one in enumerate(calls):
        if one.call.made is not None:
            lines.append(f"# {one_line(maker_line(finding, one.call.made))}")
        lines += _taking(number, command_of(one, base_url), used_from(calls, number))
    text = "\n".join(lines)
    hidden = (
        recorded.hidden
        if finding.investigation.reproduction
        else tuple(f"{EXPORT}{name}=..." for name in secrets_of(calls))
    )
    return ShownCommand(text, tuple(one for one in hidden if one.startswith(EXPORT) or mask in text))


def _base_of(finding: Finding, base_url: str) -> str:
    """Return `base_url` if the commands of a finding use it, otherwise an empty text: a common report of several services has several base URLs."""
    try:
        urls = [f"{curl.parse(line)[1].partition('?')[0]}/" for line in finding.investigation.reproduction.splitlines()]
    except ValueError:
        return ""
    bases = [one.rstrip("/") for one in base_url.split(", ")]
    if not urls and len(bases) > 1:
        return ""
    return next((one for one in bases if all(url.startswith(f"{one}/") for url in urls)), "")


def _taking(number: int, command: str, taken: Sequence[Taken]) -> list[str]:
    if not taken:
        return [command]
    has_head = any(one.source.path is None for one in taken)
    sending = f"curl {'-sSi' if has_head else '-sS'} {command.removeprefix('curl ')}"
    filters = [(one.variable, _filter(one, has_head=has_head)) for one in taken]
    if len(filters) == 1:
        ((name, found),) = filters
        return [f"{name}=$({sending} | {found})"]
    response = f"response_{number + 1}"
    return [f"{response}=$({sending})", *(f'{name}=$(printf %s "${response}" | {found})' for name, found in filters)]


def _filter(taken: Taken, *, has_head: bool) -> str:
    """Return the command that reads a value from a response, in the form that the later request needs."""
    path = taken.source.path
    if taken.source.is_whole_header:
        script = rf"s/\r$//; s/^{_any_case(taken.source.header)}: *//p"
        return f"sed -n {curl.quoted(script)}"
    if path is None:
        return r"sed -n 's/\r$//; s/^[Ll]ocation: *//p' | sed 's/[?#].*//; s/\/*$//; s/.*\///'"
    form = "tostring | tojson[1:-1]" if taken.is_json else "@uri"
    body = r"sed '1,/^\r*$/d' | " if has_head else ""
    return f"{body}jq -r {curl.quoted(f'{jq_of(path, taken.source.segment)} | {form}')}"


def _any_case(name: str) -> str:
    """Return a pattern for the name of a header in any letter case, because not every sed can ignore case.

    A name may contain `'`, `$`, `*` and `|` (RFC 9110, 5.6.2).
    """
    others = {one: f"[{one}]" for one in "!#$%&'*+.`|~"} | {"^": r"\^"}
    return "".join(f"[{one.upper()}{one}]" if one.isalpha() else others.get(one, one) for one in name)


def one_url(origin: BaseUrl) -> str:
    """Return the URL before the targets of commands."""
    return f"{origin.plain.url.rstrip('/')}{origin.base_path}"


def _flags_of(command: str) -> tuple[list[str], bool]:
    """Return the options at the start of a recorded command, and whether the method follows them.

    The options control redirects, waiting and certificates. A redirected POST does not name its method.
    """
    flags: list[str] = []
    found = (word for _, word in curl.words(command))
    word = next(found, "")
    for word in found:
        # Text from a description may look like an option and must not be read as one.
        if word not in _FLAGS and word not in _WITH_VALUE:
            break
        flags.append(word)
        if word in _WITH_VALUE:
            flags.append(curl.quoted_if_needed(next(found, "")))
    return flags, word == "-X"


def _word(raw: str, word: str, holes: dict[str, str], origin: BaseUrl, base: str) -> str:
    place = one_url(origin)
    if base and word == f"{origin.plain.url.rstrip('/')}/":
        # The target of the command is a separate option.
        place = word.rstrip("/")
    is_url = bool(base) and (word == place or word.startswith((f"{place}/", f"{place}?")))
    if not (is_url or any(hole in word for hole in holes)):
        return raw
    if curl.is_substituted(raw):
        filled = [f'"${holes[piece]}"' for piece in _HOLES.findall(raw) if piece in holes]
        written = _HOLES.sub(lambda found: "%s" if found[1] in holes else found[1], raw)
        return f"{written.removesuffix(')')} {' '.join(filled)})"
    if _HEADER.fullmatch(word):
        for hole, variable in holes.items():
            word = re.sub(rf"{hole}(?=\w)", f"${{{variable}}}", word).replace(hole, f"${variable}")
        return f'"{word}"'
    pieces = [f'"${base}"' if is_url else ""]
    for piece in _HOLES.split(word.removeprefix(place) if is_url else word):
        pieces.append(f'"${holes[piece]}"' if piece in holes else curl.quoted_if_needed(piece) if piece else "")
    return "".join(pieces)


def jq_of(path: Path, segment: int = 0) -> str:
    """Return the jq filter of a place: `.items[0].id`. If a list is shorter than in the run, its first element is used.

    `segment`: index of a segment of the URL there, counted from its end; 0 for the whole value.
    """
    found = ""
    for part in path:
        if isinstance(part, int) and part:
            around = found or "."
            found = f"({around}[{part}] // {around}[0])"
        elif _NAME.fullmatch(str(part)):
            found += f".{part}"
        else:
            found = f"{found or '.'}[{json.dumps(part)}]"
    if segment:
        found += f' | sub("[?#].*"; "") | sub("/+$"; "") | split("/")[-{segment}]'
    return found or "."


def value_of(taken: Taken) -> str:
    """Return the arguments of the shell function `value` for a value of a response: its place, and its form."""
    form = "text" if taken.is_json else "url"
    path = taken.source.path
    if taken.source.is_whole_header:
        return f"header {curl.quoted(_any_case(taken.source.header))}"
    return f"location {form}" if path is None else f"{curl.quoted(jq_of(path, taken.source.segment))} {form}"
