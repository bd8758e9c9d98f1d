"""Requests per second with 8 lanes against a target that answers in 20 ms.

    python -m benchmarks.slow_target

Required: >= 300 requests/s (one lane can do 50).
"""

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import threading

DELAY_S = 0.020
LIMIT = 300.0

_DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Slow", "version": "1"},
    "paths": {
        f"/slow{number}": {
            "get": {
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
                "responses": {"200": {"description": "late"}},
            }
        }
        for number in range(4)
    },
}


def main() -> int:
    """Print the rate; exit code 1 when it is too low."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    server = asyncio.run_coroutine_threadsafe(asyncio.start_server(_answer, "127.0.0.1", 0), loop).result()
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    command = [
        sys.executable,
        "-m",
        "checker",
        "run",
        f"{url}/openapi.json",
        "--lanes",
        "8",
        "-n",
        "1000",
        "--phases",
        "fuzzing",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        output = subprocess.run(command, cwd=scratch, capture_output=True, text=True).stdout
    found = re.search(r"([\d,.]+) requests/s", output)
    rate = float(found.group(1).replace(",", "")) if found else 0.0
    print(f"8 lanes, {DELAY_S * 1000:.0f} ms a request: {rate:.0f} requests/s (limit {LIMIT:.0f})")
    return int(rate < LIMIT)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            body = b"{}"
            if head.startswith(b"GET /openapi.json"):
                body = json.dumps(_DOCUMENT).encode()
            else:
                await asyncio.sleep(DELAY_S)
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
            )
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


if __name__ == "__main__":
    raise SystemExit(main())
