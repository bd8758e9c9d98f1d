"""Requests as curl commands, and curl commands as requests, because reproductions are sent again as printed.

Words are quoted for bash and zsh. Bytes that are not UTF-8 are lone surrogates in texts (PEP 383).
"""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol
from urllib.parse import urlsplit

from msgspec.structs import replace

from checker.core.redact import Redaction
from checker.core.request import BaseUrl, WireRequest
from checker.core.system import later_pattern
from checker.core.terminal import DRIVING, UNSEEN, with_escaped_hashes

_CONTROL = later_pattern(rf"[\t\n{DRIVING}{UNSEEN}\udc80-\udcff]")
"""Characters that a screen hides or shows as others, bytes that are not text, and line ends, because a command is one line."""
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "'": r"\'"}
_UNESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'"}
_PRINTF_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "'": r"\x27", "%": "%%"}
_PRINTF = "<(printf -- '"
_WORD = later_pattern(
    r"""\s*((?:'[^']*'|\$'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|<\(printf\ --\ '[^']*'\)|\\.|[^\s'"\\$]|\$)+)""", re.DOTALL
)
_PIECE = later_pattern(
    r"""<\(printf\ --\ '(?P<printf>[^']*)'\)|'(?P<single>[^']*)'|\$'(?P<ansi>(?:[^'\\]|\\.)*)'"""
    r"""|"(?P<double>(?:[^"\\]|\\.)*)"|\\(?P<one>.)|(?P<bare>.)""",
    re.DOTALL,
)
_ESCAPE = later_pattern(r"(?P<bytes>(?:\\x[0-9a-fA-F]{2})+)|\\(?P<one>.)|(?P<percent>%%)", re.DOTALL)


def quoted(text: str) -> str:
    """Return text as one word, always in quotes, with control characters as escapes of `$'…'`. The text has no NUL."""
    return f"'{_plain(text)}'" if _CONTROL.search(text) is None else f"$'{_ansi(text)}'"


def quoted_if_needed(text: str) -> str:
    """Return text as one word, in quotes only if a shell would read it otherwise."""
    needs_escapes = _CONTROL.search(text) or _plain(text) != text
    return quoted(text) if needs_escapes else shlex.quote(text)


def substituted(data: bytes) -> str:
    """Return a word that names a file with these bytes, of any length and with NUL: `<(printf -- '…')`."""
    return f"{_PRINTF}{_format(as_text(data))}')"


def words(command: str) -> Iterator[tuple[str, str]]:
    """Yield each word as written and as the shell reads it. For a word of `substituted`, the shell reads the content of the file.

    Raises `ValueError` for a quote that is not closed.
    """
    position = 0
    while command[position:].strip():
        word = _WORD.match(command, position)
        if word is None:
            raise ValueError("a quote is not closed in the curl command")
        position = word.end()
        yield word[1], "".join(map(_unquoted, _PIECE.finditer(word[1])))


def is_substituted(raw: str) -> bool:
    """Whether a word, as written, passes bytes as a file: `@<(printf -- '…')`."""
    return raw.startswith(f"@{_PRINTF}")


def as_text(data: bytes) -> str:
    """Return bytes as text without losing any of them."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """Return the bytes of a text that `as_text` or the shell made."""
    return text.encode("utf-8", "surrogateescape")


def _plain(text: str) -> str:
    # Two quotes between two `#` mean nothing to a shell, and no CI system finds its command in the text.
    return with_escaped_hashes(text.replace("'", "'\"'\"'"), "#''")


def _ansi(text: str) -> str:
    return _escaped(text, _ESCAPES)


def _format(text: str) -> str:
    return _escaped(text, _PRINTF_ESCAPES)


SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {"plain": _plain, "ansi": _ansi, "format": _format}
"""The ways to write a text within a word: between quotes, in `$'…'`, in a format of `printf`."""


def _escaped(text: str, escapes: dict[str, str]) -> str:
    # The meaning of \u depends on the locale of the shell, so it is not used.
    written = "".join(
        escapes.get(character)
        or ("".join(f"\\x{byte:02x}" for byte in as_bytes(character)) if _CONTROL.match(character) else character)
        for character in text
    )
    return with_escaped_hashes(written, r"\x23")


def _unquoted(piece: re.Match[str]) -> str:
    kind, text = piece.lastgroup, piece[piece.lastgroup or 0]
    if kind in ("ansi", "printf"):
        return _ESCAPE.sub(lambda escape: _unescaped(escape, is_format=kind == "printf"), text)
    if kind == "double":
        return re.sub(r'\\([\\"$`])', r"\1", text)
    return text


def _unescaped(escape: re.Match[str], *, is_format: bool) -> str:
    if escape["bytes"]:
        return as_text(bytes.fromhex(escape["bytes"].replace("\\x", "")))
    if escape["percent"]:
        return "%" if is_format else escape[0]
    return _UNESCAPES.get(escape["one"], escape[0])


_PLAIN_TARGET = later_pattern(rb"/[A-Za-z0-9\-._~!$&'()*+,;=:@%/?\[\]{}|]*")
"""Matches targets that curl sends as they are in a URL."""
_DOT_SEGMENT = later_pattern(rb"/(?:\.|%2e){1,2}(?:[/?]|$)", re.IGNORECASE)
_GLOB = later_pattern(rb"[\[\]{}]")
_CASE_ID = b"x-checker-testcaseid"
_HIDDEN_VALUES = {
    b"user-agent": re.compile(rb"checker/"),
    b"accept": re.compile(rb"\*/\*\Z"),
    b"connection": re.compile(rb"keep-alive\Z"),
    _CASE_ID: re.compile(rb""),
}
"""Headers that HTTP clients add by themselves, with their usual values. Any other value was set on purpose."""
_LONGEST_WORD = 100_000  # Characters of an argument; Linux refuses more than 128 KiB.
_SENT_WITH_DATA = (b"Content-Type", b"application/x-www-form-urlencoded")


def render(request: WireRequest, origin: BaseUrl, *, verify: bool = True, lossy: bool = False) -> str:
    """Return the curl command that sends a request, for bash and zsh, without headers that have a client's usual value.

    With `lossy`, for commands that are only read, NUL and bytes that are not UTF-8 become the replacement character.
    Outside the body, NUL is always replaced, because no shell can pass it on.
    """
    words = ["curl", *(AT_ONCE if request.is_twice else ()), "-X", quoted_if_needed(request.method)]
    if not verify:
        words.append("--insecure")
    if origin.socket:
        words += ["--unix-socket", quoted_if_needed(origin.socket)]
    write = _readable if lossy else _exact
    words += _flags(request, write)
    for name, value in request.headers:
        usual = _HIDDEN_VALUES.get(name.lower())
        if usual is None or usual.match(value) is None:
            text = write(name) + (f": {write(value)}" if value.strip() else ";")
            words += ["-H", quoted(text)]
    if request.body is not None:
        if request.header(b"content-type") is None:
            # Without this header, curl would send the body as a form.
            words += ["-H", "'Content-Type:'"]
        words += _data(_readable(request.body).encode() if lossy else request.body)
    words.append(
        quoted_if_needed(request.url_at(origin.plain) if request.target.startswith(b"/") else origin.plain.url + "/")
    )
    return " ".join([*words, *(words[-1:] if request.is_twice else ())])


class Rendering(Protocol):
    """Returns the command that sends a request as it was sent; with `is_timed`, one that waits no longer than the run did."""

    def __call__(self, request: WireRequest, *, is_timed: bool = False) -> str: ...


def with_options(command: str, *words: str) -> str:
    """Return a command of `render` with these words before all others."""
    return " ".join(["curl", *words, command.removeprefix("curl ")])


def with_certificates(command: str, verify: bool | str, cert: str | None, key: str | None) -> str:
    """Return a command of `render` that trusts the authorities of a file or folder, and sends a client certificate.

    The key may be in the same file as the certificate.
    """
    authorities = verify if isinstance(verify, str) else None
    is_folder = authorities is not None and os.path.isdir(authorities)
    given = (("--capath" if is_folder else "--cacert", authorities), ("--cert", cert), ("--key", key))
    return with_options(command, *(f"{name} {quoted_if_needed(path)}" for name, path in given if path is not None))


def without_post(command: str) -> str:
    """Return a command of `render` without `-X POST`: curl sends data by POST anyway, and after a redirect continues with GET."""
    return command.replace(" -X POST ", " ", 1)


def parse(command: str) -> tuple[WireRequest, str]:
    """Request and URL of a command as `render` prints it.

    Raises `ValueError` for any other command. The path of a unix socket replaces the host in the URL. Headers that curl
    would add by itself are not in the request.
    """
    parts = words(command)
    if next(parts, ("", ""))[1] != "curl":
        raise ValueError("not a curl command: it has to start with `curl`")
    found: dict[str, str] = {}
    given: list[str] = []
    follows = is_twice = False
    for _, word in parts:
        if word in _SWITCHES:
            follows |= word in _FOLLOWS
            is_twice |= word in AT_ONCE
            continue
        if word.startswith("-"):
            raw, value = next(parts, ("", None))
            if word not in _OPTIONS or value is None:
                raise ValueError(f"cannot read the option {word!r} of a curl command")
            given += [value] if word == "-H" else []
            found[_OPTIONS[word]] = value[1:] if is_substituted(raw) else value
        else:
            found["url"] = word
    if "url" not in found:
        raise ValueError("the curl command has no URL")
    request = _request(found, given)
    request.is_kept = None if follows else lambda: True
    request.is_twice = is_twice
    place = BaseUrl.from_url(f"unix:{found['socket']}").url if "socket" in found else ""
    return request, place + request.target.decode("latin-1") if place else found["url"]


def as_sent(command: str) -> WireRequest:
    """Return the request of a command with the headers that curl adds, because responses may depend on them. Raises `ValueError`."""
    request, url = parse(command)
    request.origin = replace(BaseUrl.from_url(url.partition("?")[0]), base_path="")
    for name, value in _ADDED_BY_CURL:
        if request.header(name) is None:
            request.headers.append((name, value))
    return request


def redacted(command: str, redaction: Redaction) -> str:
    """Return the command with the values of sensitive names masked; every other word stays as it is printed."""
    shown: list[str] = []
    option, media_type = "", _SENT_WITH_DATA[1].decode()
    for raw, word in words(command):
        if option in _DATA:
            body = as_bytes(word[1:] if is_substituted(raw) else word)
            masked_body = redaction.body(body, media_type)
            # The rest may need only quotes.
            shown[-1:] = [shown[-1], raw] if masked_body == body else _data(masked_body)
        else:
            if option == "-X":
                masked = word
            elif option != "-H":
                masked = redaction.url(word)
            else:
                name, _, value = word.partition(":")
                ((_, field),) = redaction.headers([(name, value.lstrip())])
                masked = f"{name}: {field}" if value.strip() else word
            shown.append(raw if masked == word else quoted(masked))
        if option == "-H" and word.lower().startswith("content-type:"):
            media_type = word.partition(":")[2].strip()
        option = word if word in _OPTIONS and option not in _OPTIONS else ""
    return " ".join(shown)


_ADDED_BY_CURL = ((b"Accept", b"*/*"), (b"User-Agent", b"curl"))
_FOLLOWS = frozenset(("--location", "-L"))
AT_ONCE = ("--parallel", "--parallel-immediate")
"""Options for two equal requests at once, each on its own connection; the URL is given twice."""
_SWITCHES = {*_FOLLOWS, *AT_ONCE, "--insecure", "-k", "--head", "-I", "--globoff", "-g", "--path-as-is"}
_OPTIONS = {
    "-X": "method",
    "-H": "header",
    "-d": "body",
    "--data-raw": "body",
    "--data-binary": "body",
    "--request-target": "target",
    "--cacert": "authorities",
    "--capath": "authorities",
    "--cert": "cert",
    "--key": "key",
    "--unix-socket": "socket",
    "--max-time": "time",
}
_DATA = frozenset(option for option, meaning in _OPTIONS.items() if meaning == "body")


def _data(body: bytes) -> list[str]:
    """Return option and word for a body: literally, or through a file if no argument can hold it."""
    word = "" if b"\0" in body else quoted(as_text(body))
    if not word or len(word) > _LONGEST_WORD:
        return ["--data-binary", f"@{substituted(body)}"]
    return ["--data-raw" if body.startswith(b"@") else "-d", word]


def _flags(request: WireRequest, write: Callable[[bytes], str]) -> list[str]:
    """Return flags that keep curl from waiting for a body after HEAD, and from changing the target."""
    flags = ["--head"] if request.method == "HEAD" else []
    target = request.target
    if _GLOB.search(target):
        flags.append("--globoff")
    if not _PLAIN_TARGET.fullmatch(target):
        return [*flags, "--request-target", quoted(write(target))]
    if _DOT_SEGMENT.search(target):
        flags.append("--path-as-is")
    return flags


def _readable(raw: bytes) -> str:
    return _exact(raw).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _exact(raw: bytes) -> str:
    # A shell word cannot hold NUL.
    return as_text(raw).replace("\0", "\ufffd")


def _request(found: dict[str, str], given: list[str]) -> WireRequest:
    headers: list[tuple[bytes, bytes]] = []
    removed: set[bytes] = set()
    for line in given:
        name, colon, value = line.partition(":")
        if colon and not value.strip():
            removed.add(as_bytes(name.lower()))
        elif colon:
            headers.append((as_bytes(name), as_bytes(value.removeprefix(" "))))
        else:
            headers.append((as_bytes(line.removesuffix(";")), b""))
    body = found.get("body")
    if body is not None and b"content-type" not in removed | {name.lower() for name, _ in headers}:
        headers.append(_SENT_WITH_DATA)
    url = found["url"]
    parts = urlsplit(url)
    authority = f"{parts.scheme}://{parts.netloc}"
    target = found.get("target", url.removeprefix(authority).partition("#")[0] or "/")
    method = found.get("method", "GET" if body is None else "POST")
    return WireRequest(method, as_bytes(target), headers, None if body is None else as_bytes(body))
