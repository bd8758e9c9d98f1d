import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from checker.core.curl import as_sent, parse, redacted, render, with_options
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, WireRequest

ORIGIN = BaseUrl("http", "127.0.0.1", 8080, "")

token = st.text("ABCxyz019-_.~!*", min_size=1, max_size=8)
field_text = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda text: text == text.strip() and text
)
fields = st.tuples(token.map(lambda text: f"X-{text}".encode()), field_text.map(str.encode))
targets = st.one_of(
    st.text("abz09-._~!$&'()*+,;=:@%/?[]{}|", max_size=20).map(lambda text: b"/" + text.encode()),
    st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zs"]), max_size=8).map(lambda text: b"/" + text.encode()),
    st.sampled_from([b"/a/../b", b"/%2e%2e/x", b"//x", b"*", b"/a#b", b"/a\\b", b"/[1-3]/{a,b}"]),
)
bodies = st.one_of(
    st.none(),
    st.binary(max_size=40),
    st.sampled_from([b"\0", b"-n\0%s\\x41'\xff", b"\xc3(\0", bytes(range(256))]),
    st.sampled_from([b"", b"@file", b"it's \\ $HOME `x`", b"\r\n\t\x01\x7f", b'{"a": "\\u0000"}']),
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=30).map(str.encode),
)
requests = st.builds(
    WireRequest,
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY"]),
    targets,
    st.lists(fields, max_size=4),
    bodies,
)


@given(requests)
@example(WireRequest("POST", b"/", [(b"Content-Type", b"a/b"), (b"X-E", b"")], b"'\n'"))
@example(WireRequest("HEAD", b"/", [], None))
def test_a_rendered_command_is_read_back_whole(request: WireRequest) -> None:
    found, url = parse(render(request, ORIGIN))
    assert found == request
    assert url.startswith("http://127.0.0.1:8080/")


def test_a_command_with_a_time_limit_is_read_back_as_without() -> None:
    plain = render(WireRequest("GET", b"/a?b=1", []), ORIGIN)
    limited = with_options(plain, "--max-time 0.4")
    assert limited.startswith("curl --max-time 0.4 -X GET ")
    (request, url), (same, same_url) = parse(limited), parse(plain)
    assert (request.method, request.target, url) == (same.method, same.target, same_url)
    assert redacted(limited, Redaction()) == limited


def test_layout() -> None:
    request = WireRequest(
        "POST",
        b"/users?q=1",
        [(b"X-A", b"it's"), (b"X-Empty", b""), (b"Content-Type", b"application/json")],
        b'{"a":1}',
    )
    assert render(request, ORIGIN, verify=False) == (
        """curl -X POST --insecure -H 'X-A: it'"'"'s' -H 'X-Empty;' -H 'Content-Type: application/json'"""
        """ -d '{"a":1}' 'http://127.0.0.1:8080/users?q=1'"""
    )


def test_usual_headers_are_left_out_and_unusual_ones_shown() -> None:
    headers = [
        (b"Accept", b"*/*"),
        (b"User-Agent", b"checker/0.1.0"),
        (b"X-Checker-TestCaseId", b"0123456789ab"),
        (b"Connection", b"keep-alive"),
    ]
    request = WireRequest("GET", b"/", headers)
    assert render(request, ORIGIN) == "curl -X GET http://127.0.0.1:8080/"
    request.headers[1] = (b"User-Agent", b"mine")
    assert "-H 'User-Agent: mine'" in render(request, ORIGIN)


def test_an_encoding_that_was_asked_for_is_asked_for_again() -> None:
    request = WireRequest("GET", b"/", [(b"Accept-Encoding", b"gzip")])
    assert as_sent(render(request, ORIGIN)).header(b"accept-encoding") == b"gzip"


def test_undecodable_bytes_are_replaced_in_what_is_for_reading() -> None:
    request = WireRequest("POST", b"/", [(b"Content-Type", b"x/y")], b"a\xffb\0c")
    assert "-d 'a\ufffdb\ufffdc'" in render(request, ORIGIN, lossy=True)


def test_bytes_that_are_no_text_are_sent_as_they_are() -> None:
    request = WireRequest("POST", b"/", [(b"Content-Type", b"x/y"), (b"X-L", b"\xe9")], b"a\xffb")
    assert render(request, ORIGIN).count(r"$'X-L: \xe9' -d $'a\xffb'") == 1
    assert parse(render(request, ORIGIN))[0] == request


def test_nul_and_long_bodies_go_through_a_file() -> None:
    request = WireRequest("POST", b"/", [(b"Content-Type", b"x/y")], b"50%\0'")
    assert r"--data-binary @<(printf -- '50%%\x00\x27')" in render(request, ORIGIN)
    request.body = b"x" * 200_000
    assert "--data-binary @<(printf -- 'xxx" in render(request, ORIGIN)
    assert parse(render(request, ORIGIN))[0] == request


def test_control_characters_are_escaped() -> None:
    request = WireRequest("POST", b"/", [(b"Content-Type", b"x/y")], b"a\nb\x1b'\\")
    assert r"-d $'a\nb\x1b\'\\'" in render(request, ORIGIN)


def test_controls_beyond_ascii_are_escaped_byte_by_byte() -> None:
    request = WireRequest("POST", b"/", [(b"Content-Type", b"x/y")], "é\x80\x9f".encode())
    command = render(request, ORIGIN)
    assert r"-d $'é\xc2\x80\xc2\x9f'" in command
    assert parse(command)[0].body == request.body


@pytest.mark.parametrize("unseen", ["\u200b", "\ufeff", "\xa0", "\xad", "\u3000", "\U000e0041"])
def test_what_nobody_sees_is_escaped(unseen: str) -> None:
    body = f'{{"query": "{unseen}"}}'.encode()
    request = WireRequest("POST", b"/", [(b"Content-Type", b"application/json")], body)
    command = render(request, ORIGIN)
    assert unseen not in command
    assert parse(command)[0].body == body


def test_a_command_is_one_line_whatever_it_sends() -> None:
    text = "a\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029z"
    request = WireRequest(
        "POST", f"/{text}".encode(), [(b"Content-Type", b"x/y"), (b"X-L", text.encode())], text.encode()
    )
    command = render(request, ORIGIN)
    assert command.splitlines() == [command]
    assert parse(command)[0].body == request.body


@pytest.mark.parametrize("command", ["", "wget x", "curl", "curl -X", "curl --what 1 http://a/", "curl 'a"])
def test_other_commands_are_refused(command: str) -> None:
    with pytest.raises(ValueError, match="curl"):
        parse(command)


def test_what_curl_adds_by_itself_is_sent_with_a_command() -> None:
    plain = WireRequest("GET", b"/image", [(b"Accept", b"*/*")], None)
    assert as_sent(render(plain, ORIGIN)).header(b"accept") == b"*/*"
    picky = WireRequest("GET", b"/image", [(b"Accept", b"image/png")], None)
    assert as_sent(render(picky, ORIGIN)).headers[0] == (b"Accept", b"image/png")
    assert as_sent(render(plain, ORIGIN)).header(b"user-agent") == b"curl"


# The real thing


class Listener:
    """Keeps the bytes of one request at a time and answers with nothing."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.origin = BaseUrl("http", "127.0.0.1", self.socket.getsockname()[1], "")
        self.heads: list[bytes] = []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                raw = b""
                while b"\r\n\r\n" not in raw:
                    raw += connection.recv(65536)
                head, _, body = raw.partition(b"\r\n\r\n")
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        while len(body) < int(line[15:]):
                            body += connection.recv(65536)
                self.heads.append(head + b"\r\n\r\n" + body)
                connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    running = Listener()
    yield running
    running.socket.shutdown(socket.SHUT_RDWR)
    running.socket.close()
    running.thread.join()


def sent(raw: bytes) -> tuple[bytes, list[bytes], bytes]:
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    own = (b"host:", b"user-agent:", b"accept:", b"content-length:")
    return first, [line for line in lines if not line.lower().startswith(own)], body


@pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("bash")),
    reason="printed commands are pasted into bash and sent by curl, and one of the two is not installed",
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests)
@example(WireRequest("POST", b"/", [(b"X-E", b"")], b"@x"))
@example(WireRequest("POST", b"/", [(b"X-E", b"\xe9\xff")], bytes(range(256)) * 12))
@example(WireRequest("POST", b"/", [], b"x" * 300_000))
@example(WireRequest("HEAD", b"/a/./b", [], None))
@example(WireRequest("OPTIONS", b"*", [], None))
@example(WireRequest("GET", "/[¡".encode(), [], None))
def test_the_real_curl_sends_what_was_rendered(listener: Listener, request: WireRequest) -> None:
    command = render(request, listener.origin)
    subprocess.run(
        # Pasted, not an argument: those have a longest length of their own.
        ["bash"],
        input=command.replace("curl ", "curl -q -s --max-time 500 ", 1).encode("utf-8", "surrogateescape"),
        check=True,
        stdout=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    first, lines, body = sent(listener.heads[-1])
    assert first == b"%b %b HTTP/1.1" % (request.method.encode(), request.target)
    assert lines == [name + (b": " + value if value else b":") for name, value in request.headers]
    assert body == (request.body or b"")
