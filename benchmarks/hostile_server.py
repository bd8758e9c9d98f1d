"""Bounds of a run against a chatty server: 120 operations, bodies of up to 1 MB, random 4xx and 5xx, hundreds of causes.

    python -m benchmarks.hostile_server [SECONDS] [--kind run|fuzz] [--seed N] [--report NAME]

Required, with one worker: memory of the process tree <= 600 MB (PSS), descriptors of each process flat after the first
minute, at most a fifth of all requests for investigations, the last request at most 2 s after `--max-time`.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import psutil

OPERATIONS = 120
MOST_BODY = 1_000_000
MEMORY_LIMIT_MB = 600
SHARE_LIMIT = 0.2
LATE_LIMIT_S = 2.0
DESCRIPTOR_SLACK = 4
"""Descriptors that may be open at the moment of a sample: files that are read in one go."""
STATUSES = (200, 200, 200, 201, 204, 400, 401, 403, 404, 409, 415, 422, 429, 500, 500, 501, 502, 503)
WORDS = ("lock", "row", "shard", "queue", "index", "cache", "token", "page", "field", "cursor")
_TOTALS = re.compile(r"([\d,]+) requests?[^\n]*?, ([\d,]+) of them to look into failures")
_STRING = {"name": "q", "in": "query", "schema": {"type": "string", "maxLength": 20}}
_NUMBER = {"name": "n", "in": "query", "schema": {"type": "integer", "minimum": 0}}
_ITEM = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["id", "name"],
}


class Sample(NamedTuple):
    """What the process tree held at one moment."""

    at_s: float
    memory_mb: float
    largest_mb: float
    descriptors: int
    """Of the process that has most."""


class ChattyServer:
    """Answers at random, whatever it is asked."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._padding = json.dumps([{"id": n, "name": f"thing {n}"} for n in range(40_000)]).encode()
        self.requests = 0
        self.last_at = 0.0
        """When the last request arrived, of `time.monotonic`."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                if length:
                    await reader.readexactly(int(length[1]))
                if head.startswith(b"GET /openapi.json"):
                    self._reply(writer, 200, json.dumps(document()).encode())
                else:
                    self.requests += 1
                    self.last_at = time.monotonic()
                    self._reply(writer, *self._answer())
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            writer.close()

    def _answer(self) -> tuple[int, bytes]:
        chance = self._random
        status = chance.choice(STATUSES)
        if status == 204:
            return status, b""
        size = int(10 ** chance.uniform(1.5, 6))
        if status < 300 and chance.random() < 0.5:
            cut = max(self._padding.rfind(b"}", 0, size) + 1, self._padding.index(b"}") + 1)
            return status, self._padding[:cut] + b"]"
        words = " ".join(chance.choices(WORDS, k=4))
        error = {"error": words, "at": chance.choice(WORDS), "trace": "x" * size}
        return status, json.dumps(error).encode()[:MOST_BODY]

    def _reply(self, writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
        head = f"HTTP/1.1 {status} No\r\nContent-Type: application/json\r\n"
        if status != 204:
            head += f"Content-Length: {len(body)}\r\n"
        writer.write(head.encode() + b"\r\n" + body)


def document() -> dict[str, Any]:
    """Return the OpenAPI description of the server."""
    answers = {
        status: {"description": status, "content": {"application/json": {"schema": schema}}}
        for status, schema in (("200", {"type": "array", "items": _ITEM}), ("201", _ITEM))
    }
    paths: dict[str, Any] = defaultdict(dict)
    for number in range(OPERATIONS // 4):
        parameters = [_STRING, _NUMBER]
        body = {"content": {"application/json": {"schema": _ITEM}}}
        paths[f"/things{number}"]["get"] = {"parameters": parameters, "responses": answers}
        paths[f"/things{number}"]["post"] = {"requestBody": body, "responses": answers}
        identifier = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
        path = f"/things{number}/{{id}}"
        paths[path]["put"] = {"parameters": [identifier], "requestBody": body, "responses": answers}
        paths[path]["delete"] = {"parameters": [identifier], "responses": answers}
    return {"openapi": "3.0.3", "info": {"title": "Chatty", "version": "1"}, "paths": paths}


def main() -> int:
    """Print the figures; exit code 1 when a bound is broken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", nargs="?", type=float, default=600.0)
    parser.add_argument("--kind", choices=("run", "fuzz"), default="run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", default="")
    parser.add_argument("--output", help="file for the output of the run")
    options = parser.parse_args()
    server = ChattyServer(options.seed)
    port = _served(server)
    command = [sys.executable, "-m", "checker", options.kind]
    command += [f"http://127.0.0.1:{port}/openapi.json", "--max-time", str(options.seconds)]
    command += ["--workers", "1", "--seed", str(options.seed), "--continue-on-failure"]
    command += ["-n", "1000000"] if options.kind == "run" else []
    command += ["--report", options.report] if options.report else []
    with tempfile.TemporaryDirectory() as scratch:
        began = time.monotonic()
        run = subprocess.Popen(command, cwd=scratch, stdout=subprocess.PIPE, text=True)
        output: list[str] = []
        reading = threading.Thread(target=lambda: output.extend(run.stdout or ()), daemon=True)
        reading.start()
        samples: list[Sample] = []
        while run.poll() is None:
            samples.append(_sample(run.pid, time.monotonic() - began))
            time.sleep(1)
        reading.join()
        ended_s = time.monotonic() - began
    if options.output:
        Path(options.output).write_text("".join(output))
    late_s = server.last_at - began - options.seconds
    return _judged(samples, "".join(output), late_s, ended_s - options.seconds)


def _judged(samples: list[Sample], output: str, late_s: float, ended_s: float) -> int:
    print(f"{'minute':>6}{'tree MB':>9}{'largest MB':>12}{'descriptors':>13}")
    minutes: dict[int, list[Sample]] = defaultdict(list)
    for sample in samples:
        minutes[int(sample.at_s // 60)].append(sample)
    most = {minute: _most(of) for minute, of in minutes.items()}
    for minute, (memory_mb, largest_mb, descriptors) in most.items():
        print(f"{minute + 1:>6}{memory_mb:>9.0f}{largest_mb:>12.0f}{descriptors:>13}")
    totals = _TOTALS.search(output)
    if totals is None:
        print(output[-3000:])
        raise SystemExit("no summary with counts of requests")
    requests, inquiries = (int(one.replace(",", "")) for one in totals.groups())
    share = inquiries / requests
    print(f"{requests:,} requests, {inquiries:,} of them ({share:.1%}) for investigations")
    print(f"last request {late_s:+.2f} s, end of the process {ended_s:+.2f} s after --max-time")
    later = [descriptors for minute, (_, _, descriptors) in most.items() if minute > 0]
    broken = {
        "memory": max(memory for memory, _, _ in most.values()) > MEMORY_LIMIT_MB,
        "descriptors": any(one > most[0][2] + DESCRIPTOR_SLACK for one in later),
        "share of investigations": share > SHARE_LIMIT,
        "end of testing": late_s > LATE_LIMIT_S,
    }
    for name in (name for name, is_broken in broken.items() if is_broken):
        print(f"BROKEN: {name}")
    return int(any(broken.values()))


def _most(samples: list[Sample]) -> tuple[float, float, int]:
    return (
        max(one.memory_mb for one in samples),
        max(one.largest_mb for one in samples),
        max(one.descriptors for one in samples),
    )


def _sample(pid: int, at_s: float) -> Sample:
    """Return what a process and its descendants hold now."""
    memory: list[float] = [0.0]
    descriptors = [0]
    try:
        parent = psutil.Process(pid)
        processes = [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        processes = []
    for process in processes:
        try:
            memory.append(process.memory_full_info().pss / 1e6)
            descriptors.append(process.num_fds())
        except psutil.Error:
            continue
    return Sample(at_s, sum(memory), max(memory), max(descriptors))


def _served(server: ChattyServer) -> int:
    """Start the server in a thread; its port."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    listening = asyncio.run_coroutine_threadsafe(asyncio.start_server(server, "127.0.0.1", 0), loop).result()
    return int(listening.sockets[0].getsockname()[1])


if __name__ == "__main__":
    raise SystemExit(main())
