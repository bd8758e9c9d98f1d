"""CPU per request of a GraphQL target as a multiple of an OpenAPI one, each with a server that always gives the same answer.

    python -m benchmarks.graphql_speed [ROUNDS]

The whole loop of `run` and of `fuzz` with one worker and eight lanes, everything on (`benchmarks.hot_path`). Aim for
`fuzz`: 2 x.
"""

import asyncio
import json
import multiprocessing
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import hot_path

_LANES: Final = 8
_ROUNDS: Final = 5
_AIM: Final = 2.0
_THING: Final = {"id": "1", "name": "x", "size": 3}
_SDL: Final = """
enum Kind { A B }
input Where { name: String  size: Int  kind: Kind }
type Thing { id: ID!  name: String  size: Int }
type Query { thing(id: ID!, where: Where): Thing }
"""
_TEXT: Final = {"type": "string"}
_WHERE: Final = {
    "type": "object",
    "properties": {"name": _TEXT, "size": {"type": "integer"}, "kind": {"enum": ["A", "B"]}},
    "additionalProperties": False,
}
_OPENAPI: Final = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "paths": {
        "/thing": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"id": _TEXT, "where": _WHERE},
                                "required": ["id"],
                                "additionalProperties": False,
                            }
                        }
                    },
                },
                "responses": {
                    "200": {
                        "description": "done",
                        "content": {
                            "application/json": {
                                "schema": {
                                    "type": "object",
                                    "properties": {"id": _TEXT, "name": _TEXT, "size": {"type": "integer"}},
                                    "required": ["id"],
                                }
                            }
                        },
                    }
                },
            }
        }
    },
}


class _Constant(asyncio.Protocol):
    """Answers each request with the same bytes; bodies come with their length."""

    def __init__(self, answer: bytes) -> None:
        self._answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
            len(answer),
            answer,
        )
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._received[:end]).lower()
            _, _, length = head.partition(b"content-length:")
            whole = end + 4 + int(length.partition(b"\r\n")[0] or 0)
            if len(self._received) < whole:
                return
            del self._received[:whole]
            self._transport.write(self._answer)


def _serve(answer: bytes, ready: Connection) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Constant(answer), "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


@contextmanager
def _serving(answer: object) -> Iterator[str]:
    ready, told = multiprocessing.Pipe(duplex=False)
    content = json.dumps(answer).encode()
    process = multiprocessing.Process(target=_serve, args=(content, told), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ready.recv()}"
    finally:
        process.terminate()
        process.join()


def main(rounds: int) -> int:
    """Print a line for each kind of run; exit code 1 when the aim is missed."""
    hot_path.ROUNDS = rounds
    is_missed = False
    with tempfile.TemporaryDirectory() as scratch:
        sdl, document = Path(scratch, "things.graphql"), Path(scratch, "openapi.json")
        sdl.write_text(_SDL)
        document.write_text(json.dumps(_OPENAPI))
        with _serving(_THING) as plain, _serving({"data": {"thing": _THING}}) as asked:
            for kind in hot_path.PHASES:
                openapi = median(hot_path.measured(str(document), plain, kind, _LANES).loop)
                graphql = median(hot_path.measured(str(sdl), f"{asked}/graphql", kind, _LANES).loop)
                ratio = graphql / openapi
                is_missed = is_missed or (kind == "fuzz" and ratio > _AIM)
                print(
                    f"{kind:4}: OpenAPI {openapi:.1f} us, GraphQL {graphql:.1f} us CPU a request, ratio {ratio:.2f}",
                    flush=True,
                )
    return int(is_missed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else _ROUNDS))
