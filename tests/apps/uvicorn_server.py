"""ASGI applications on a port of loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def served(app: Any) -> Iterator[str]:
    """URL of a running application, until left."""
    config = uvicorn.Config(app, port=0, log_level="critical", ws="none", lifespan="off")
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    # At once: whoever comes before the thread has begun waits, and is not refused.
    listening.listen()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
