"""Something to send requests to: the C target when its folder is given, else the bundled API."""

import os
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

_PORT = 8801


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
    with tempfile.TemporaryDirectory() as scratch:
        if folder is not None:
            binary = Path(scratch, "target")
            subprocess.run(
                ["cc", "-O2", "-o", str(binary), str(Path(folder, "server.c"))], check=True
            )
            command, url = [str(binary), str(_PORT), folder], f"http://127.0.0.1:{_PORT}"
            document, name = str(Path(folder, "openapi.json")), "C target"
        else:
            command = [
                sys.executable,
                "-m",
                "checker",
                "demo",
                "--serve",
                "--fixed",
                "--port",
                str(_PORT),
            ]
            url = f"http://127.0.0.1:{_PORT}"
            document, name = f"{url}/openapi.json", "bundled API"
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait_until_up(url)
            yield Target(name, url, document, server.pid)
        finally:
            server.terminate()
            server.wait()


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
