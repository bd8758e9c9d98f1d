"""A request as the curl command that sends it, and the way back: reproductions are re-sent as printed."""

import re
import shlex
from collections.abc import Collection, Iterator
from urllib.parse import urlsplit

from checker.core.redact import Redaction
from checker.core.request import Origin, WireRequest

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What a terminal is not shown as it stands, the C1 controls, too; and all that ends a line: a command is one line."""
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "'": r"\'"}
_UNESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'"}
_PLAIN_TARGET = re.compile(rb"/[A-Za-z0-9\-._~!$&'()*+,;=:@%/?\[\]{}|]*")
"""What curl takes from a URL as it stands."""
_DOT_SEGMENT = re.compile(rb"/(?:\.|%2e){1,2}(?:[/?]|$)", re.IGNORECASE)
_GLOB = re.compile(rb"[\[\]{}]")
_CASE_ID = b"x-checker-testcaseid"
_HIDDEN_VALUES = {
    b"user-agent": re.compile(rb"checker/"),
    b"accept": re.compile(rb"\*/\*\Z"),
    b"connection": re.compile(rb"keep-alive\Z"),
    _CASE_ID: re.compile(rb""),
}
"""Headers that a client adds by itself, by what it puts into them: another value was set on purpose."""
_WORD = re.compile(
    r"""\s*((?:'[^']*'|\$'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\$]|\$)+)""", re.DOTALL
)
_PIECE = re.compile(
    r"""'(?P<single>[^']*)'|\$'(?P<ansi>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)"|\\(?P<one>.)|(?P<bare>.)""",
    re.DOTALL,
)
_ANSI_ESCAPE = re.compile(r"(?P<bytes>(?:\\x[0-9a-fA-F]{2})+)|\\(?P<one>.)", re.DOTALL)
_SENT_WITH_DATA = (b"Content-Type", b"application/x-www-form-urlencoded")


def render(
    request: WireRequest,
    origin: Origin,
    *,
    verify: bool = True,
    hidden: Collection[bytes] | None = None,
) -> str:
    """Curl command that sends a request, for bash and zsh (requirement 24).

    `hidden` are names of headers, lower case, to leave out; by default those that still have a client's usual value.
    Bytes that are no UTF-8, and NUL, become the replacement character.
    """
    words = ["curl", "-X", _quoted_if_needed(request.method)]
    if not verify:
        words.append("--insecure")
    words += _flags(request)
    for name, value in request.headers:
        if not _is_hidden(name, value, hidden):
            text = _text(name) + (f": {_text(value)}" if value.strip() else ";")
            words += ["-H", quoted(text)]
    if request.body is not None:
        if request.header(b"content-type") is None:
            # Lest curl calls it a form.
            words += ["-H", "'Content-Type:'"]
        body = _text(request.body)
        words += ["--data-raw" if body.startswith("@") else "-d", quoted(body)]
    words.append(_quoted_if_needed(_url(request, origin)))
    return " ".join(words)


def parse(command: str) -> tuple[WireRequest, str]:
    """Request and URL of a command as `render` prints it. Raises `ValueError` for any other.

    Headers that curl would add by itself are not in the request.
    """
    words = list(_words(command))
    if not words or words.pop(0) != "curl":
        raise ValueError("not a curl command: it has to start with `curl`")
    found: dict[str, str] = {}
    given: list[str] = []
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word in _SWITCHES:
            continue
        if word.startswith("-"):
            if word not in _OPTIONS or position == len(words):
                raise ValueError(f"cannot read the option {word!r} of a curl command")
            given += [words[position]] if word == "-H" else []
            found[_OPTIONS[word]] = words[position]
            position += 1
        else:
            found["url"] = word
    if "url" not in found:
        raise ValueError("the curl command has no URL")
    return _request(found, given), found["url"]


def as_sent(command: str) -> WireRequest:
    """The request of a command with what curl adds by itself: servers may answer otherwise without. Raises `ValueError`."""
    request, _ = parse(command)
    for name, value in _ADDED_BY_CURL:
        if request.header(name) is None:
            request.headers.append((name, value))
    return request


def redacted(command: str, redaction: Redaction) -> str:
    """The command with the values of sensitive names masked; every other word stays as it is printed."""
    shown: list[str] = []
    option, media_type = "", _SENT_WITH_DATA[1].decode()
    for raw, word in _raw_words(command):
        if option == "-H":
            name, _, value = word.partition(":")
            ((_, masked),) = redaction.headers([(name, value.lstrip())])
            masked = f"{name}: {masked}" if value.strip() else word
            media_type = value.strip() if name.lower() == "content-type" else media_type
        elif option in ("-d", "--data-raw"):
            body = word.encode("utf-8", "surrogateescape")
            masked = redaction.body(body, media_type).decode("utf-8", "surrogateescape")
        elif option == "-X":
            masked = word
        else:
            masked = redaction.url(word)
        shown.append(raw if masked == word else quoted(masked))
        option = word if word in _OPTIONS and option not in _OPTIONS else ""
    return " ".join(shown)


_ADDED_BY_CURL = ((b"Accept", b"*/*"), (b"User-Agent", b"curl"))
_SWITCHES = frozenset(("--insecure", "-k", "--head", "-I", "--globoff", "-g", "--path-as-is"))
_OPTIONS = {
    "-X": "method",
    "-H": "header",
    "-d": "body",
    "--data-raw": "body",
    "--request-target": "target",
}


def quoted(text: str) -> str:
    """Text as one shell word, always in quotes; control characters as escapes of `$'…'`."""
    if _CONTROL.search(text) is None:
        return "'" + text.replace("'", "'\"'\"'") + "'"
    escaped = "".join(
        _ESCAPES.get(character) or (_bytes(character) if _CONTROL.match(character) else character)
        for character in text
    )
    return f"$'{escaped}'"


def _bytes(character: str) -> str:
    # Not \u: what that means depends on the locale of the shell.
    return "".join(f"\\x{byte:02x}" for byte in character.encode())


def _quoted_if_needed(text: str) -> str:
    return quoted(text) if _CONTROL.search(text) else shlex.quote(text)


def _flags(request: WireRequest) -> list[str]:
    """What keeps curl from waiting for a body of HEAD, and from touching the target."""
    flags = ["--head"] if request.method == "HEAD" else []
    target = request.target
    if _GLOB.search(target):
        flags.append("--globoff")
    if not _PLAIN_TARGET.fullmatch(target):
        return [*flags, "--request-target", quoted(_text(target))]
    if _DOT_SEGMENT.search(target):
        flags.append("--path-as-is")
    return flags


def _url(request: WireRequest, origin: Origin) -> str:
    return request.url(origin) if request.target.startswith(b"/") else origin.url + "/"


def _is_hidden(name: bytes, value: bytes, hidden: Collection[bytes] | None) -> bool:
    name = name.lower()
    if hidden is not None:
        return name in hidden
    usual = _HIDDEN_VALUES.get(name)
    return usual is not None and usual.match(value) is not None


def _text(raw: bytes) -> str:
    # A shell word cannot hold NUL.
    return raw.decode("utf-8", "replace").replace("\0", "\ufffd")


def _words(command: str) -> Iterator[str]:
    return (word for _, word in _raw_words(command))


def _raw_words(command: str) -> Iterator[tuple[str, str]]:
    """Each word as it is written and as the shell reads it."""
    position = 0
    while command[position:].strip():
        word = _WORD.match(command, position)
        if word is None:
            raise ValueError("a quote is not closed in the curl command")
        position = word.end()
        yield word[1], "".join(map(_unquoted, _PIECE.finditer(word[1])))


def _unquoted(piece: re.Match[str]) -> str:
    kind, text = piece.lastgroup, piece[piece.lastgroup or 0]
    if kind == "ansi":
        return _ANSI_ESCAPE.sub(_unescaped, text)
    if kind == "double":
        return re.sub(r'\\([\\"$`])', r"\1", text)
    return text


def _unescaped(escape: re.Match[str]) -> str:
    if escape["bytes"]:
        return bytes.fromhex(escape["bytes"].replace("\\x", "")).decode("utf-8", "replace")
    return _UNESCAPES.get(escape["one"], escape[0])


def _request(found: dict[str, str], given: list[str]) -> WireRequest:
    headers: list[tuple[bytes, bytes]] = []
    removed: set[bytes] = set()
    for line in given:
        name, colon, value = line.partition(":")
        if colon and not value.strip():
            removed.add(name.lower().encode())
        elif colon:
            headers.append((name.encode(), value.removeprefix(" ").encode()))
        else:
            headers.append((line.removesuffix(";").encode(), b""))
    body = found.get("body")
    if body is not None and b"content-type" not in removed | {name.lower() for name, _ in headers}:
        headers.append(_SENT_WITH_DATA)
    target = found.get("target", _target(found["url"]))
    method = found.get("method", "GET" if body is None else "POST")
    return WireRequest(method, target.encode(), headers, None if body is None else body.encode())


def _target(url: str) -> str:
    parts = urlsplit(url)
    authority = f"{parts.scheme}://{parts.netloc}"
    return url.removeprefix(authority).partition("#")[0] or "/"
