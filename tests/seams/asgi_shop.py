"""The shop of `memory_transport` as an application, asked without a socket in each worker."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from memory_transport import answer  # type: ignore[import-not-found]

from checker.transport import asgi


async def app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    if scope["type"] == "http":
        body = (await receive())["body"]
        status, value = answer(scope["method"], scope["path"], body)
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(value).encode()})


shop = asgi(app)
