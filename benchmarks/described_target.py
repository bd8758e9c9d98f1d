"""A server that answers every operation of a description by the book, whatever it is asked: `python -m benchmarks.described_target PORT DOCUMENT`."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.apps.document import Described
from tests.apps.http import Broken, Parser, Reply, render
from tests.apps.mock import Mock


@contextmanager
def described_target(path: Path) -> Iterator[str]:
    """URL of a server of the description in this JSON file, in a process of its own that ends on leaving."""
    processes = get_context("spawn")
    reading, writing = processes.Pipe(duplex=False)
    server = processes.Process(target=_serve, args=(str(path), writing), daemon=True)
    server.start()
    try:
        yield f"http://127.0.0.1:{reading.recv()}"
    finally:
        server.terminate()
        server.join()


class _Routes:
    """Which operation a path belongs to, segment by segment; literals before variables."""

    def __init__(self, operations: list[Described]) -> None:
        self._root: dict[str, Any] = {}
        for operation in operations:
            node = self._root
            for part in operation.path.strip("/").split("/"):
                node = node.setdefault("*" if "{" in part else part, {})
            node.setdefault("", {})[operation.method] = operation

    def find(self, path: str) -> dict[str, Described]:
        """Operations of a path, by method."""
        nodes = [self._root]
        for part in path.strip("/").split("/"):
            nodes = [node[key] for node in nodes for key in (part, "*") if key and key in node]
        return next((node[""] for node in nodes if "" in node), {})


class _Peer(asyncio.Protocol):
    """One connection."""

    def __init__(self, mock: Mock, routes: _Routes) -> None:
        self._mock = mock
        self._routes = routes
        self._parser = Parser()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed(data)
        assert self._transport is not None
        while (request := self._parser.next()) is not None:
            if isinstance(request, Broken):
                self._transport.write(render(Reply(400), keep_alive=False))
                self._transport.close()
                return
            found = self._routes.find(request.target.decode("latin-1").partition("?")[0])
            reply = self._reply(found, request.method)
            has_body = request.method != "HEAD"
            self._transport.write(render(reply, keep_alive=True, has_body=has_body))

    def _reply(self, found: dict[str, Described], method: str) -> Reply:
        if method in found:
            return self._mock.reply(found[method])
        if found:
            return Reply(405, headers=(("Allow", ", ".join(sorted(found))),))
        return Reply(404)


def _serve(path: str, told: Connection) -> None:
    asyncio.run(_served(json.loads(Path(path).read_text()), 0, told))


async def _served(root: dict[str, Any], port: int, told: Connection | None) -> None:
    mock = Mock(root)
    routes = _Routes(mock.document.operations())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Peer(mock, routes), "127.0.0.1", port)
    if told is not None:
        told.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_served(json.loads(Path(sys.argv[2]).read_text()), int(sys.argv[1]), None))
