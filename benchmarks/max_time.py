"""How long the testing takes beyond `--max-time`, and the reports after it, with all reports on.

    python -m benchmarks.max_time [SECONDS ...] [TARGET ...]

Required: the last request ends <= 2 s beyond 5, 15 and 60 s, from the start of the process, whatever the target does, and reports
are whole: everything that was sent stands in them.
"""

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from math import inf
from pathlib import Path

import yaml

from checker.core.reports import REPORT_FORMATS
from checker.corpus.journal import Journals
from checker.corpus.layout import RunLayout
from checker.corpus.records import RunFinished

LIMIT_S = 2.0
SECONDS = (5.0, 15.0, 60.0)
DRIP_S = 0.1
_ALIAS = re.compile(r"\*body-\d+")
COMMANDS = {
    "run": ("run", "-n", "1000000", "--phases", "fuzzing", "--continue-on-failure"),
    "fuzz": ("fuzz", "--continue-on-failure"),
}
_BODY = json.dumps([{"id": number, "name": f"room {number}"} for number in range(100)]).encode()
_DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Timed", "version": "1"},
    "paths": {
        f"/rooms{number}": {
            "get": {
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
                "responses": {
                    "200": {"description": "rooms", "content": {"application/json": {"schema": {"type": "array"}}}}
                },
            }
        }
        for number in range(6)
    },
}


@dataclass(frozen=True)
class Target:
    """A way to answer."""

    hangs: bool = False
    drips: bool = False
    fails: bool = False
    has_description: bool = True

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                if self.has_description and head.startswith(b"GET /openapi.json"):
                    _reply(writer, "200 OK", json.dumps(_DOCUMENT).encode())
                elif self.hangs:
                    await reader.read()
                elif self.drips:
                    await _drip(writer)
                else:
                    _reply(writer, "500 No" if self.fails else "200 OK", _BODY)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


TARGETS = {
    "fast": Target(),
    "failing": Target(fails=True),
    "hanging": Target(hangs=True),
    "dripping": Target(drips=True),
    "no description": Target(hangs=True, has_description=False),
}


def main() -> int:
    """Print a line for each combination; exit code 1 when one of them breaks a limit."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    is_bad = False
    names = [name for name in sys.argv[1:] if name in TARGETS] or list(TARGETS)
    limits = [float(name) for name in sys.argv[1:] if name not in TARGETS] or SECONDS
    for seconds in limits:
        for name in names:
            server = asyncio.run_coroutine_threadsafe(
                asyncio.start_server(TARGETS[name], "127.0.0.1", 0), loop
            ).result()
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/openapi.json"
            for kind, arguments in COMMANDS.items():
                is_bad |= _measure(seconds, name, kind, [*arguments, url])
            loop.call_soon_threadsafe(server.close)
    return int(is_bad)


def _measure(seconds: float, name: str, kind: str, arguments: list[str]) -> bool:
    """Whether a limit is broken."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "checker", *arguments, "--max-time", str(seconds)]
        command += ["--report", ",".join(row.name for row in REPORT_FORMATS.values())]
        command += ["--report-dir", "reports", "--report-vcr-path", "reports/cassette.yaml"]
        command += ["--workers", "2"]
        began = time.monotonic()
        ended = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
        spent_s = time.monotonic() - began
        tested_s = min(_tested_s(Path(scratch)), spent_s)
        reports = sorted(Path(scratch, "reports").iterdir())
        report = _cassette(reports)
    beyond_s = tested_s - seconds
    left = re.search(r"([\d,]+) entries are left out", ended.stdout)
    is_whole = (
        not left
        and not report.startswith("!")
        and ("= SUMMARY =" in ended.stdout or "Schema Loading Error" in ended.stdout)
    )
    print(
        f"{seconds:>4g} s  {kind:<5} {name:<15} {beyond_s:+6.2f} s  reports {spent_s - tested_s:6.2f} s  exit {ended.returncode}  "
        f"{report}{f', {left[1]} left out' if left else ''}{'' if is_whole else '  NOT WHOLE'}",
        flush=True,
    )
    return beyond_s > LIMIT_S or not is_whole


def _tested_s(directory: Path) -> float:
    """Seconds from the start of the process to the end of the testing, as the run has recorded it; endless where it has not."""
    for corpus in directory.glob(".checker/*/"):
        journals = Journals(RunLayout(corpus))
        for _, record in journals.read_new():
            if isinstance(record, RunFinished):
                return record.elapsed_s
    return inf


def _cassette(reports: list[Path]) -> str:
    """What there is of the cassette among all reports; after a `!` what is wrong with it, or with them."""
    if not reports:
        return "no reports"
    paths = [one for one in reports if one.name == "cassette.yaml"]
    if not paths or len(reports) != len(REPORT_FORMATS):
        return f"! {[one.name for one in reports]}"
    text = paths[0].read_text()
    entries = text.count('\n- id: "')
    # All of it would take longer to read than to write.
    # Equal bodies stand once; here nobody needs those before.
    last = yaml.safe_load(_ALIAS.sub('""', text[text.rindex('\n- id: "') :])) if entries else []
    if not text.endswith("\n") or (entries and last[0]["id"] != str(entries)):
        return "! a cassette that is cut"
    return f"{entries:,} interactions, {len(text) / 1e6:.0f} MB"


def _reply(writer: asyncio.StreamWriter, status: str, body: bytes) -> None:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    writer.write(head.encode() + b"\r\n" + body)


async def _drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b"[")
        await writer.drain()
        await asyncio.sleep(DRIP_S)


if __name__ == "__main__":
    raise SystemExit(main())
