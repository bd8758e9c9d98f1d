"""A service in a process of its own that is killed, by the kernel, in the middle of a request, and comes back on its port."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.apps.http import Broken, Parser, Reply, Request, render

_HOST = "127.0.0.1"


def answer(request: Request) -> Reply:
    """Objects but below `/b`, which its description does not allow: something to find."""
    body = b"[]" if request.target.startswith(b"/b") else b"{}"
    return Reply(200, "application/json", body)


def _serve(port: int, last: int) -> None:
    """Serve on a port; request number `last` is not answered: it is killed."""
    counted, count = threading.Lock(), 0

    def talk(link: socket.socket) -> None:
        nonlocal count
        parser = Parser()
        while data := link.recv(1 << 16):
            parser.feed(data)
            while (request := parser.next()) is not None:
                if isinstance(request, Broken):
                    return
                with counted:
                    count += 1
                    if count == last:
                        os.kill(os.getpid(), signal.SIGKILL)
                has_body = request.method != "HEAD"
                link.sendall(render(answer(request), keep_alive=True, has_body=has_body))

    with socket.create_server((_HOST, port), backlog=64) as listener:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()


@dataclass
class KilledTarget:
    """Incarnation `n` of it is killed by its request number `lasts[n]`; the one after those lives on."""

    port: int
    lasts: Sequence[int]
    incarnations: list[subprocess.Popen[bytes]] = field(default_factory=list)
    knocks: int = 0
    """Connections that were tried in vain since it died."""
    is_back_after: int = 4

    @property
    def url(self) -> str:
        return f"http://{_HOST}:{self.port}"

    @property
    def deaths(self) -> int:
        """Incarnations that were killed."""
        return sum(one.poll() == -signal.SIGKILL for one in self.incarnations)

    def knock(self) -> None:
        """Somebody tried in vain: often enough, and it is there again."""
        self.knocks += 1
        if self.knocks >= self.is_back_after:
            self.knocks = 0
            self.incarnations[-1].wait()
            self.rise()

    def rise(self) -> None:
        """Return when it listens."""
        number = len(self.incarnations)
        last = self.lasts[number] if number < len(self.lasts) else 0
        command = [sys.executable, "-m", __name__, json.dumps([self.port, last])]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.incarnations.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"

    def end(self) -> None:
        for one in self.incarnations:
            one.kill()
            one.wait()
            assert one.stdout is not None
            one.stdout.close()


@contextmanager
def killed_target(*lasts: int) -> Iterator[KilledTarget]:
    with socket.create_server((_HOST, 0)) as free:
        target = KilledTarget(free.getsockname()[1], lasts)
    try:
        target.rise()
        yield target
    finally:
        target.end()


if __name__ == "__main__":
    _serve(*json.loads(sys.argv[1]))
