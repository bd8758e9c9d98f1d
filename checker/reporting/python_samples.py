"""Commands as Python: the standard library's client, which sends targets and headers as they are."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from msgspec.structs import replace

from checker.core import curl
from checker.core.request import BaseUrl
from checker.core.terminal import with_escaped_hashes
from checker.reporting.masking import Parts, Shown, ShownCommand


def shown_as_python(shown: Shown, text: str, components: Sequence[Parts] = ()) -> ShownCommand:
    """A recorded text as `shown` gives it, with Python in place of its commands."""
    found = shown(text, components)
    lines = [
        with_escaped_hashes(line, r"\x23")
        for number, one in enumerate(found.text.splitlines())
        for line in _as_python(one, is_first=number == 0)
    ]
    return replace(found, text="\n".join(lines))


def _as_python(command: str, *, is_first: bool) -> list[str]:
    """Lines that send what a command sends; what is no such command stays as it is."""
    if not command.startswith("curl "):
        return [command]
    try:
        request, url = curl.parse(command)
    except ValueError:
        return [command]
    place, socket = urlsplit(url), BaseUrl.from_url(url).socket
    kind = "HTTPSConnection" if place.scheme == "https" else "HTTPConnection"
    target = request.target.decode("latin-1") or "/"
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
    host = "localhost" if socket else place.netloc.rpartition("@")[2]
    return [
        *(["import http.client", *(["import socket"] if socket else [])] if is_first else []),
        f"connection = http.client.{kind}({host!a})",
        *(
            [
                "connection.sock = socket.socket(socket.AF_UNIX)",
                f"connection.sock.connect({socket!a})",
            ]
            if socket
            else []
        ),
        f"connection.putrequest({request.method!a}, {target!a}, skip_accept_encoding=True)",
        *(f"connection.putheader({name!a}, {value!a})" for name, value in headers),
        *(
            [f"connection.putheader('Content-Length', '{len(request.body)}')"]
            if request.body is not None
            else []
        ),
        f"connection.endheaders({request.body if request.body is None else bytes(request.body)!r})",
        "response = connection.getresponse()",
        "print(response.status, response.read())",
        "connection.close()",
    ]
