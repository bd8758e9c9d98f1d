"""Servers and files that would have a description fetched for ever, or from elsewhere: each ends in its limit."""

import gzip
import json
import os
import socket
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from checker.config.settings import FetchLimits
from checker.kinds.fetching import Allowance, AllowanceSpent
from tests.hostile.conftest import Ended, Run
from tests.hostile.servers import Behaviour, dripping, endless, page, raw, serving, silent

_MOST_MIB = 300
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
_ZEROS = bytes(1 << 16)
_UNHURRIED = "[documents]\ntimeout = 500\nmax-total-time = 500"
"""A busy machine takes longer than 30 s to read thousands of chunks, or to unpack what stands for 2 GiB."""
_SMALL = f"{_UNHURRIED}\nmax-size = 100000"
_QUICK = "[documents]\ntimeout = 0.4"
_LARGE = "holds more than 100000 bytes; .* raise `max-size` in [documents] of checker.toml"
_LATE = "was not complete within 0.4 s; .* raise `timeout` in [documents] of checker.toml"

_SHORT = ("--max-time", "2", "--wait-for-schema", "600")
# On a machine that is busy enough, the description is not even asked for.
_OVER = "was not loaded completely within the time limit of the run; .*`--max-time`|the 2 s of `--max-time`; give"


def _bomb() -> bytes:
    """A few MB of the `deflate` coding without its wrapper that stand for 2 GiB."""
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = block.compress(bytes(1 << 20)) + block.flush(zlib.Z_FULL_FLUSH)
    return piece * 2048 + b"\x03\x00"


def _gzip_bomb() -> bytes:
    # The checksum at its end is wrong; nobody should ever get there.
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + _bomb() + bytes(8)


def _redirect(target: str) -> Behaviour:
    return page(b"", f"Location: {target}", status="302 Found")


def _far(peer: socket.socket, path: str) -> None:
    """Every page names another one."""
    _redirect(f"{path}/on")(peer, path)


def _slow_far(peer: socket.socket, path: str) -> None:
    """A redirect that takes long, to another one."""
    with_pause = dripping(b"HTTP/1.1 302 Found\r\nLocation: /openapi.json?\r\n", b"A: b\r\n")
    with_pause(peer, path)


@dataclass(frozen=True)
class _Row:
    """What a server does when it is asked for the description, and what is said of it."""

    behaviour: Behaviour
    said: str
    toml: str = _SMALL
    arguments: tuple[str, ...] = ()


_ROWS = {
    "deflate bomb": _Row(page(_bomb(), "Content-Encoding: deflate"), "holds more than 32 MiB", _UNHURRIED),
    "gzip bomb": _Row(page(_gzip_bomb(), "Content-Encoding: gzip"), "holds more than 32 MiB", _UNHURRIED),
    "gzip bomb in gzip": _Row(page(gzip.compress(_gzip_bomb()), "Content-Encoding: gzip, gzip"), _LARGE),
    "damaged gzip": _Row(
        page(gzip.compress(b"{}" * 999)[:30], "Content-Encoding: gzip"),
        "cannot be decoded: Content-Encoding: gzip: .* ends too early; check that it serves",
    ),
    "coding that nobody asked for": _Row(page(b"x", "Content-Encoding: br"), "cannot be decoded: Content-Encoding: br"),
    "too many codings": _Row(page(b"x", f"Content-Encoding: {', '.join(['gzip'] * 50)}"), "cannot be decoded"),
    "endless chunks": _Row(endless(_CHUNKED, b"10000\r\n" + _ZEROS + b"\r\n"), _LARGE),
    "endless chunks of a byte": _Row(endless(_CHUNKED, b"1\r\n{\r\n" * 1000), _LARGE),
    "no length and no end": _Row(endless(_OK + b"\r\n", _ZEROS), _LARGE),
    "a length that is never reached": _Row(endless(_OK + b"Content-Length: 1000000000000\r\n\r\n", _ZEROS), _LARGE),
    "a length of 5,000 digits": _Row(raw(_OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}"), "cannot be loaded"),
    "a length that is no number": _Row(raw(_OK + b"Content-Length: x\r\n\r\n{}"), "cannot be loaded"),
    "a body that stops early": _Row(raw(_OK + b"Content-Length: 999\r\n\r\n{"), "cannot be loaded"),
    "a chunk size that is none": _Row(raw(_CHUNKED + b"zz\r\n{}"), "cannot be loaded"),
    "dripping body": _Row(dripping(_OK + b"Content-Length: 99999\r\n\r\n", b" "), _LATE, _QUICK),
    "dripping body without a length": _Row(dripping(_OK + b"\r\n", b" "), _LATE, _QUICK),
    "dripping chunks": _Row(dripping(_CHUNKED, b"1\r\n \r\n"), _LATE, _QUICK),
    "dripping headers": _Row(dripping(_OK, b"A: b\r\n"), _LATE, _QUICK),
    "dripping status line": _Row(dripping(b"HTTP/1.1 200 ", b"O"), _LATE, _QUICK),
    "endless provisional answers": _Row(dripping(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), _LATE, _QUICK),
    "silence": _Row(silent, _LATE, _QUICK),
    "silence in a short run": _Row(silent, _OVER, "", _SHORT),
    "dripping in a short run": _Row(dripping(_OK + b"Content-Length: 99999\r\n\r\n", b" "), _OVER, "", _SHORT),
    "endless header line": _Row(endless(_OK + b"A: ", b"a" * 1000), "cannot be loaded"),
    "endless headers": _Row(endless(_OK, b"A: b\r\n" * 100), "cannot be loaded"),
    "no HTTP": _Row(raw(b"\0\1\2 hello\r\n\r\n"), "cannot be loaded"),
    "nothing, and the end": _Row(raw(b""), "cannot be loaded"),
    "redirect to itself": _Row(
        _redirect("/openapi.json"), "redirects more than 30 times, .* raise `max-redirects` in [documents]"
    ),
    "redirects without end": _Row(_far, "redirects more than 3 times", "[documents]\nmax-redirects = 3"),
    "a redirect where none is wanted": _Row(
        _redirect("/openapi.json"), "redirects once", "[documents]\nmax-redirects = 0"
    ),
    "redirects that take long": _Row(_slow_far, _LATE, _QUICK),
    "redirect to a file": _Row(
        _redirect("file:///etc/passwd"), "redirects to file:///etc/passwd, which is not an http"
    ),
    "redirect to a device": _Row(_redirect("FILE:/dev/zero"), "which is not an http"),
    "redirect to another scheme": _Row(_redirect("gopher://127.0.0.1/"), "which is not an http"),
    "redirect to no URL": _Row(_redirect("http://[::1/"), "cannot be loaded: Invalid URL in location header"),
    "redirect to no port": _Row(_redirect("http://127.0.0.1:0/"), "has port 0"),
    "refusal without an end": _Row(endless(b"HTTP/1.1 404 Not Found\r\n\r\n", b"no " * 1000), "HTTP 404 Not Found"),
    "refusal that drips": _Row(
        # On a machine that is busy enough, not even its head is there in time.
        dripping(b"HTTP/1.1 404 Not Found\r\n\r\n", b"n"),
        f"HTTP 404 Not Found|{_LATE}",
        _QUICK,
    ),
    "never ready": _Row(
        page(b"", status="503 Service Unavailable"),
        "HTTP 503 Service Unavailable",
        arguments=("--wait-for-schema", "1"),
    ),
    "deep JSON": _Row(page(b"[" * 90_000), "nested too deeply|not valid"),
    "deep YAML": _Row(page(b"- " * 45_000), "nested too deeply"),
    "aliases of aliases": _Row(
        page(
            "\n".join(
                ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
            ).encode()
        ),
        "its aliases expand to too many values",
    ),
}


def _shows(ended: Ended, said: str) -> bool:
    """Whether a sentence was printed, however its lines were broken; `.*` stands for anything, `|` between two."""
    text = " ".join(ended.output.split())
    return any(_in_order(choice.split(".*"), text) for choice in said.split("|"))


def _in_order(parts: list[str], text: str) -> bool:
    at = 0
    for part in parts:
        found = text.find(" ".join(part.split()), at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _is_well(ended: Ended) -> None:
    assert not ended.bug, ended
    assert "Traceback" not in ended.output
    assert ended.peak_mib < _MOST_MIB


@pytest.mark.parametrize("name", _ROWS)
@pytest.mark.thorough_beyond(1)
def test_a_hostile_server_of_the_description_ends_in_one_sentence(name: str, run: Run) -> None:
    row = _ROWS[name]
    with serving({"/": row.behaviour}) as url:
        ended = run(f"{url}/openapi.json", *row.arguments, toml=row.toml)
    _is_well(ended)
    assert ended.code == 2, ended
    assert _shows(ended, row.said), ended.output


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x03\x40\x00"])
def test_a_handshake_that_never_ends_is_given_up(said: bytes, run: Run) -> None:
    """Nothing is answered to the first message of TLS, or the beginning of an answer and then byte after byte."""
    behaviour = dripping(said, b"\x02") if said else silent
    with serving({}, at_once=behaviour) as url:
        ended = run(f"{url.replace('http:', 'https:')}/openapi.json", toml=_QUICK)
    _is_well(ended)
    assert ended.code == 2, ended
    assert _shows(ended, _LATE), ended.output


_PARAMETER = {"name": "q", "in": "query", "required": True, "schema": {"type": "string"}}


def _described(reference: str) -> dict[str, Any]:
    """A description whose one operation needs what a reference leads to."""
    operation = {"parameters": [{"$ref": reference}], "responses": {"200": {"description": ""}}}
    return {"openapi": "3.0.3", "info": {"title": "Hostile", "version": "1"}, "paths": {"/a": {"get": operation}}}


def _chain(peer: socket.socket, path: str) -> None:
    """Every document leads to another one."""
    content = json.dumps({"p": {"$ref": f"{path.strip('/')}x.json#/p"}, "pad": "x" * 2000})
    page(content.encode())(peer, path)


@dataclass(frozen=True)
class _Reference:
    """What a server does when it is asked for what a description refers to, and what is said of it."""

    behaviour: Behaviour
    said: str
    toml: str = _SMALL
    codes: tuple[int, ...] = (1,)
    """1: it costs the operation that needs it; 2: it costs the run."""


# On a machine that is busy enough, the description itself comes too late.
_ANY = (1, 2)
_REFERENCES = {
    "bomb": _Reference(page(_gzip_bomb(), "Content-Encoding: gzip"), _LARGE),
    "endless": _Reference(endless(_CHUNKED, b"10000\r\n" + _ZEROS + b"\r\n"), _LARGE),
    "dripping": _Reference(dripping(_OK + b"Content-Length: 99999\r\n\r\n", b" "), _LATE, _QUICK, _ANY),
    "dripping headers": _Reference(dripping(_OK, b"A: b\r\n"), _LATE, _QUICK, _ANY),
    "circle": _Reference(_redirect("/more/a.json"), "redirects more than 30 times"),
    "to a file": _Reference(_redirect("file:///etc/passwd"), "redirects to file:///etc/passwd, which is not an http"),
    "deep": _Reference(page(b"[" * 90_000), "nested too deeply|not valid"),
    "one leads to the next": _Reference(
        _chain,
        "leads to more than 7 other documents, .* raise `max-count` in [documents]",
        "[documents]\nmax-count = 7",
        (2,),
    ),
    "all together": _Reference(
        _chain,
        "the documents that it leads to hold more than 20000 bytes, .* raise `max-total-size`",
        "[documents]\nmax-total-size = 20000",
        (2,),
    ),
    "all the time": _Reference(
        silent, "took more than 0.4 s to read; .* raise `max-total-time`", "[documents]\nmax-total-time = 0.4", (2,)
    ),
}


@pytest.mark.parametrize("name", _REFERENCES)
def test_a_hostile_target_of_a_reference_ends_in_one_sentence(name: str, run: Run) -> None:
    row = _REFERENCES[name]
    described = page(json.dumps(_described("more/a.json#/p")).encode())
    with serving({"/openapi.json": described, "/more": row.behaviour, "/": page(b"")}) as url:
        ended = run(f"{url}/openapi.json", toml=row.toml)
    _is_well(ended)
    assert ended.code in row.codes, ended
    assert _shows(ended, row.said), ended.output


def _fifo(place: Path) -> None:
    os.mkfifo(place)


def _socket(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        # The name of a socket is short.
        folder = os.open(place.parent, os.O_RDONLY)
        bound.bind(f"/proc/self/fd/{folder}/{place.name}")
        os.close(folder)


def _zeros(place: Path) -> None:
    place.symlink_to("/dev/zero")


def _huge(place: Path) -> None:
    """Larger than any memory, and hardly anything on the disk: whoever reads it sees no end, as of one that grows."""
    with place.open("wb") as file:
        file.truncate(1 << 40)


def _circle(place: Path) -> None:
    place.symlink_to(place.name)


_FILES = {
    _fifo: "is a named pipe; give the path of",
    _socket: "is a socket; give the path of",
    _zeros: "is a device; give the path of",
    _huge: "holds more than 32 MiB; .* raise `max-size` in [documents] of checker.toml",
    _circle: "cannot be read",
    Path.mkdir: "is a directory; give the path of",
}


@pytest.mark.parametrize("make", _FILES)
def test_a_file_that_never_ends_is_no_description(make: Any, run: Run, tmp_path: Path) -> None:
    place = tmp_path / "openapi.json"
    make(place)
    ended = run(str(place), "--url", "http://127.0.0.1:9")
    _is_well(ended)
    assert ended.code == 2, ended
    # That it is not there at all is found earlier.
    assert _shows(ended, f"{_FILES[make]}|does not exist"), ended.output


@pytest.mark.parametrize("make", _FILES)
def test_a_file_that_never_ends_costs_the_operation_that_refers_to_it(make: Any, run: Run, tmp_path: Path) -> None:
    make(tmp_path / "more.json")
    place = tmp_path / "openapi.json"
    place.write_text(json.dumps(_described("more.json#/p")))
    ended = run(str(place), "--url", "http://127.0.0.1:9")
    _is_well(ended)
    assert ended.code == 1, ended
    assert "Schema Error" in ended.output
    assert _shows(ended, _FILES[make]), ended.output


def test_a_description_that_is_late_is_waited_for(run: Run) -> None:
    asked: list[str] = []
    document = _described("#/components/parameters/q") | {"components": {"parameters": {"q": _PARAMETER}}}

    def at_last(peer: socket.socket, path: str) -> None:
        if len(asked) < 4:
            page(b"starting", status="503 Service Unavailable")(peer, path)
        else:
            page(json.dumps(document).encode())(peer, path)

    with serving({"/openapi.json": at_last, "/": page(b"")}, asked) as url:
        ended = run(f"{url}/openapi.json", "--wait-for-schema", "600", "-n", "1")
    _is_well(ended)
    assert ended.code == 0, ended
    assert len(asked) >= 5


def test_time_is_counted_for_all_documents_together() -> None:
    now = 0.0
    allowance = Allowance(FetchLimits(timeout_s=30.0, max_total_time_s=50.0), lambda: now)
    first = allowance.document("first")
    assert first.left_s() == 30.0
    now += 25.0
    assert first.left_s() == 5.0
    first.close(b"")
    second = allowance.document("second")
    # Less than each of them may have: the first one has taken half of it.
    assert second.left_s() == 25.0
    now += 25.0
    with pytest.raises(AllowanceSpent, match=r"took more than 50 s to read; .*`max-total-time`"):
        second.close(b"")


def test_the_time_of_the_run_ends_every_document() -> None:
    now = 100.0
    allowance = Allowance(FetchLimits(timeout_s=30.0, until=104.0), lambda: now)
    first = allowance.document("first")
    assert first.left_s() == 4.0
    now += 4.0
    with pytest.raises(AllowanceSpent, match=r"first was not loaded completely .*; raise `--max-time`"):
        first.fail()
    with pytest.raises(AllowanceSpent, match="second was not loaded completely"):
        allowance.document("second")
