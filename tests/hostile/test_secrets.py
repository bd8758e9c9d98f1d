"""A secret that the server echoes, in any place and any spelling, stands in nothing that a run leaves behind."""

import base64
import gzip
import io
import json
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from msgspec import Struct

from checker.core.reports import REPORT_FORMATS
from checker.corpus.codec import scan
from tests.apps.http import Reply, Request
from tests.apps.serving import Dropping, json_reply, serving
from tests.e2e.runner import Command

BEGIN, END = "c4n4ry", "t41l77"
"""Every canary begins and ends so: a half of one is a leak."""
PAD = "~"


def canary(source: str) -> str:
    return f"{BEGIN}/{source}+=&{END}"


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(one):04X}" if not one.isalnum() else one for one in text)


TEXTS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: quote(text, safe=""),
    "percent-lower": lambda text: re.sub("%..", lambda one: one[0].lower(), quote(text, safe="")),
    "json": lambda text: json.dumps(text).replace("/", "\\/"),
    "json-escaped": lambda text: f'"{_escaped(text)}"',
    "html": lambda text: text.replace("&", "&amp;").replace("=", "&#x3D;"),
    "upper": str.upper,
    # The tool sends the pair of Basic authentication so.
    "base64": lambda text: base64.b64encode(f"user:{text}".encode()).decode() if "/pair" in text else "",
}
"""Spellings in text."""
BODIES: dict[str, tuple[str, Callable[[str], bytes]]] = {
    "utf-8": ("; charset=utf-8", str.encode),
    "latin-1": ("; charset=latin-1", lambda text: text.encode("latin-1")),
    "utf-16": ("; charset=utf-16", lambda text: text.encode("utf-16")),
    "utf-16-le": ("; charset=utf-16le", lambda text: text.encode("utf-16-le")),
    "utf-16-be": ("; charset=utf-16be", lambda text: text.encode("utf-16-be")),
    "utf-16 unnamed": ("", lambda text: text.encode("utf-16-be")),
    "utf-16 odd": ("", lambda text: b"x" + text.encode("utf-16-le")),
    "utf-32": ("", lambda text: text.encode("utf-32")),
    "cp037": ("; charset=cp037", lambda text: text.encode("cp037")),
    "utf-7": ("; charset=utf-7", lambda text: text.encode("utf-7")),
    "gzip": ("gzip", lambda text: gzip.compress(text.encode())),
    "gzip of utf-16": ("; charset=utf-16gzip", lambda text: gzip.compress(text.encode("utf-16"))),
}
"""Encodings of a body: what `Content-Type` adds, and the bytes."""
HEADS = ("reason", "value", "name", "cookie", "location", "redirect")
SIZES = {"evidence": 64 << 10, "response": 1 << 20}
"""Limits at which a body is cut."""
PLACES = [
    *(f"/{place}" for place in (*HEADS, "body")),
    *(f"/encoded/{quote(body)}" for body in BODIES),
    *(f"/value/in-json/{quote(body)}" for body in ("utf-8", "utf-16", "gzip", "utf-32")),
    *(f"/cut/{limit}/{body}" for limit in SIZES for body in ("utf-8", "utf-16", "gzip")),
    "/wide",
    "/own",
]


def _reply(body: bytes, kind: str, *, status: str = "500 Oops", more: tuple[str, ...] = ()) -> Dropping:
    coding = ("Content-Encoding: gzip",) if kind.endswith("gzip") else ()
    lines = (
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind.removesuffix('gzip')}",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *coding,
        *more,
    )
    return Dropping("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)


def _carried(request: Request) -> str:
    """Return what a request carries in its target and headers, decoded."""
    carried = " ".join((unquote(request.target.decode()), *request.headers.values()))
    pairs = re.findall("Basic ([^ ]+)", carried)
    return unquote(" ".join((carried, *(base64.b64decode(one).decode() for one in pairs))))


def answer(request: Request) -> Reply:
    """Echo the secrets of a request as its path says."""
    path = unquote(request.target.decode().partition("?")[0])
    if path == "/login":
        return json_reply({"access_token": canary("token")})
    found = list(dict.fromkeys(re.findall(f"{BEGIN}/[a-z]+[+]=&{END}", _carried(request))))
    if not found:
        return json_reply({}, 401)
    _, place, *rest = path.split("/")
    if place == "own":
        own = f"http://root:{BEGIN}own{END}@elsewhere.test/?a=b&token={BEGIN}own{END}"
        raise _reply(b"", "text/plain", status="302 Found", more=(f"Location: {own}",))
    if place == "wide":
        # An excerpt of a value is cut at a width: each start of the secret is tried.
        lines = [PAD * size + found[0] for size in range(40, 90, 3)]
        return json_reply({"n": lines})
    if place == "encoded":
        kind, encode = BODIES[rest[0]]
        raise _reply(encode(" ".join(found)), f"text/plain{kind}")
    if place == "value" and rest[0] == "in-json":
        kind, encode = BODIES[rest[1]]
        text = json.dumps({"n": found, found[0]: 1})
        raise _reply(encode(text), f"application/json{kind}", status="200 OK")
    if place == "cut":
        kind, encode = BODIES[rest[1]]
        width = 2 if rest[1] == "utf-16" else 1
        text = PAD * (SIZES[rest[0]] // width - 8) + "".join(found) * 4
        raise _reply(encode(text), f"text/plain{kind}")
    told = " ".join(spell(one) for spell in TEXTS.values() for one in found)
    match place:
        case "reason":
            raise _reply(b"", "text/plain", status=f"500 {told}")
        case "value":
            raise _reply(b"", "text/plain", more=(f"X-Echo: {told}",))
        case "name":
            raise _reply(b"", "text/plain", more=(f"X-{told.replace(' ', '')}: 1",))
        case "cookie":
            raise _reply(b"", "text/plain", more=(f"Set-Cookie: a={told}; Path=/",))
        case "location":
            raise _reply(b"", "text/plain", more=(f"Location: /made/{told}",))
        case "redirect" if b"?to=" not in request.target:
            to = f"Location: {path}?to={quote(told)}"
            raise _reply(b"", "text/plain", status="302 Found", more=(to,))
    raise _reply(told.encode(), "text/plain")


_SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
_RESPONSES = {"200": {"description": "", "content": {"application/json": {"schema": _SCHEMA}}}}


def document(schemes: dict[str, Any]) -> dict[str, Any]:
    return {
        "openapi": "3.0.3",
        "info": {"title": "Echo", "version": "1"},
        "security": [{key: [] for key in schemes}] if schemes else [],
        "components": {"securitySchemes": schemes},
        "paths": {path: {"get": {"responses": _RESPONSES}} for path in PLACES},
    }


class Source(Struct, frozen=True):
    """A way to give secrets to a run."""

    secrets: tuple[str, ...]
    toml: str = ""
    options: tuple[str, ...] = ()
    schemes: dict[str, Any] = {}


def _key(place: str) -> dict[str, str]:
    return {"type": "apiKey", "in": place, "name": "key"}


_WFC = {
    "name": "anna",
    "loginEndpointAuth": {
        "verb": "POST",
        "endpoint": "/login",
        "contentType": "application/json",
        "payloadRaw": json.dumps({"password": canary("password")}),
        "token": {
            "extractFrom": "body",
            "extractSelector": "/access_token",
            "sendIn": "header",
            "sendName": "Authorization",
            "sendTemplate": "Bearer {token}",
        },
    },
}
_BERT = {"name": "bert", "fixedHeaders": [{"name": "X-Fixed", "value": canary("fixed")}]}
SOURCES = {
    "pair, option, environment": Source(
        ("pair", "option", "environment"),
        "headers = { X-Env = '${SECRET}' }",
        ("--auth", f"user:{canary('pair')}", "-H", f"X-Option-Key: {canary('option')}"),
    ),
    "dynamic token": Source(
        ("token",),
        "[auth.dynamic.openapi.T]\npath = '/login'\nextract_selector = '/access_token'\n"
        f"payload = {{ password = '{canary('password')}' }}",
        schemes={"T": {"type": "http", "scheme": "bearer"}},
    ),
    "users": Source(("token",), "[auth.wfc]\npath = 'users.json'"),
    "keys": Source(
        ("query", "cookie"),
        f"[auth.openapi]\nQ = {{ api_key = '{canary('query')}' }}\nC = {{ api_key = '{canary('cookie')}' }}",
        schemes={"Q": _key("query"), "C": _key("cookie")},
    ),
}
_GIVEN = ("checker.toml", "users.json")


def _pieces(value: object) -> Iterator[bytes]:
    """Yield the texts and bytes of a value, with what they hold packed."""
    match value:
        case str():
            yield value.encode("utf-8", "surrogatepass")
        case bytes():
            yield value
            yield _inflated(value)
        case Struct():
            for name in value.__struct_fields__:
                yield from _pieces(getattr(value, name))
        case tuple() | list():
            for one in value:
                yield from _pieces(one)
        case _:
            return


def _inflated(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return b""
    plain = zlib.decompressobj(31).decompress(content)
    return plain + plain.replace(b"\0", b"")


def _leaks(content: bytes) -> Iterator[str]:
    """Yield the surroundings of parts of canaries, in every decoding."""
    decodings = [content, content.replace(b"\0", b"")]
    decodings += [content.decode("cp037").encode(), content.decode("utf-7", "ignore").encode("utf-8", "ignore")]
    for run in re.findall(rb"[A-Za-z0-9+/]{16,}", content):
        for start in range(4):
            code = run[start : start + (len(run) - start) // 4 * 4]
            plain = base64.b64decode(code)
            decodings += [plain, plain.replace(b"\0", b"")]
            decodings.append(_inflated(plain))
    for decoded in decodings:
        found = re.search(rf"(?i){BEGIN[:4]}|{END[2:]}".encode(), decoded)
        if found:
            yield repr(decoded[max(0, found.start() - 90) : found.end() + 60])


def _left_in(folder: Path) -> Iterator[str]:
    """Yield the places of files that hold a part of a canary."""
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        if path.name in _GIVEN:
            continue
        content = path.read_bytes()
        pieces = [content]
        if path.suffix in (".journal", ".traffic") or path.name == "snapshot":
            pieces += _pieces(scan(content).records)
        elif path.name.endswith(".tar.gz"):
            with tarfile.open(fileobj=io.BytesIO(content)) as packed:
                files = (packed.extractfile(one) for one in packed if one.isfile())
                pieces += [file.read() for file in files if file is not None]
        for leak in dict.fromkeys(leak for piece in pieces for leak in _leaks(piece)):
            yield f"{path.relative_to(folder)}: {leak}"


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.thorough
def test_an_echoed_secret_is_in_no_artefact(tmp_path: Path, name: str) -> None:
    source, command, folder = SOURCES[name], Command(tmp_path), tmp_path
    (folder / "checker.toml").write_text(source.toml)
    (folder / "users.json").write_text(json.dumps({"auth": [_WFC, _BERT]}))
    command.environment["SECRET"] = canary("environment")
    reports = ("--report", ",".join(one.name for one in REPORT_FORMATS.values()))
    with serving(answer, document(source.schemes)) as app:
        options = ("-n", "1", *reports, *source.options)
        ran = command.run(app.document_url, *options, inline=True)
        again = command.here("replay", "--url", app.url, *source.options)
    assert ran.code == 1, ran.shown
    carried = "\n".join(map(_carried, app.seen))
    assert [one for one in source.secrets if canary(one) not in carried] == []
    shown = "\n".join([ran.shown, again.shown])
    leaks = [*_left_in(folder), *(f"console: {leak}" for leak in _leaks(shown.encode()))]
    assert not leaks, "\n".join(leaks)
