"""Applications of frameworks on loopback, each until its test is over."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from aiohttp import web
from werkzeug.serving import WSGIRequestHandler, make_server


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:
        """Say nothing: there are thousands of requests."""


@contextmanager
def serving_wsgi(app: Any) -> Iterator[str]:
    """Serve a WSGI application; gives its URL."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serving_asgi(app: Any) -> Iterator[str]:
    """Serve an ASGI application; gives its URL."""
    config = uvicorn.Config(app, "127.0.0.1", 0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    ready = threading.Event()

    async def served() -> None:
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup()
        ready.set()
        await server.main_loop()
        await server.shutdown()

    thread = threading.Thread(target=lambda: asyncio.run(served()), daemon=True)
    thread.start()
    ready.wait()
    try:
        (socket,) = server.servers[0].sockets
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def serving_aiohttp(app: web.Application) -> Iterator[str]:
    """Serve an aiohttp application; gives its URL."""
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(app, access_log=None)

    async def begin() -> int:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port: int = runner.addresses[0][1]
        return port

    port = loop.run_until_complete(begin())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
