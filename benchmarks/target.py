"""Something to send requests to: the C target when its folder is given, else the bundled API."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen


@dataclass(frozen=True)
class Target:
    """A running server."""

    name: str
    url: str
    document: str
    """URL or path of its description."""
    pid: int


@contextmanager
def target(folder: str | None) -> Iterator[Target]:
    """A target process on loopback, ended on leaving. `folder` holds `server.c` and `openapi.json`."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as scratch:
        if folder is not None:
            binary = Path(scratch, "target")
            subprocess.run(["cc", "-O2", "-o", str(binary), str(Path(folder, "server.c"))], check=True)
            command = [str(binary), str(port), folder]
            document, name = str(Path(folder, "openapi.json")), "C target"
        else:
            command = [sys.executable, "-m", "checker", "demo", "--serve", "--fixed", "--port", str(port)]
            document, name = f"{url}/openapi.json", "bundled API"
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait_until_up(url)
            yield Target(name, url, document, server.pid)
        finally:
            server.terminate()
            server.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def _wait_until_up(url: str) -> None:
    for _ in range(100):
        try:
            urlopen(url + "/openapi.json", timeout=1).read()
        except URLError as error:
            if getattr(error, "code", None) is not None:
                return
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"nothing answers at {url}")


def folder_argument() -> str | None:
    """Folder of the C target: first argument, or CHECKER_TARGET."""
    return sys.argv[1] if len(sys.argv) > 1 else os.environ.get("CHECKER_TARGET")
