"""What formats that show every request cost, in `json.dumps` of the entries that they write.

    python -m benchmarks.report_costs

Required: har and ndjson at most 3, vcr at most 6.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import yaml

from checker.core.reports import REPORT_FORMATS
from checker.corpus.records import CheckOutcome, Component, Interaction
from checker.reporting.shown import ReportContext
from checker.reporting.writing import writer_of
from tests.reporting.samples import exchange, interaction

_MOST: Final = {"har": 3.0, "ndjson": 3.0, "vcr": 6.0}
_READ_BACK: Final[dict[str, Callable[[str], Any]]] = {
    "har": lambda text: json.loads(text)["log"]["entries"],
    "ndjson": lambda text: list(map(json.loads, text.splitlines())),
    "vcr": lambda text: yaml.safe_load(text)["http_interactions"],
}
_COUNT: Final = 2_000
_READ: Final = 200
"""Entries that are read back: YAML is slow to read."""
_REPEATS: Final = 7
_CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)


def main() -> int:
    """Print a line for each format; exit code 1 when one costs more than it may."""
    context = ReportContext("checker run", 1, "http://127.0.0.1:8080/api")
    sent = list(map(_interaction, range(_COUNT)))
    is_well = True
    print(f"{'format':<8}{'us each':>9}{'json.dumps':>12}{'ratio':>8}{'limit':>7}")
    for name, most in _MOST.items():
        text = _written(name, context, sent[:_READ])
        entries = _READ_BACK[name](text)
        entries *= _COUNT // _READ
        dumped_s, each_s = _least_s(partial(_dumped, entries), partial(_written, name, context, sent))
        ratio = each_s / dumped_s
        is_well &= ratio <= most
        print(f"{name:<8}{each_s * 1e6:>9.1f}{dumped_s * 1e6:>12.1f}{ratio:>8.2f}{most:>7.0f}")
    return int(not is_well)


def _interaction(number: int) -> Interaction:
    """A usual one: a small body of JSON there and back."""
    sent = json.dumps({"n": number, "tags": ["a", "b"], "note": "two words"}).encode()
    answer = json.dumps(
        {"id": number, "name": "Room 24", "price": 105.0, "amenities": ["wifi", "desk"], "beds": {"count": 1}}
    ).encode()
    return interaction(
        case=f"c{number}",
        exchange=exchange(
            method="POST",
            target=b"/api/rooms/%d?limit=3" % number,
            headers=(
                (b"User-Agent", b"checker/0.1.0"),
                (b"Accept", b"*/*"),
                (b"Content-Type", b"application/json"),
                (b"X-Checker-TestCaseId", b"c%d" % number),
            ),
            body=sent,
            status=200,
            reason="OK",
            response_head=b"Content-Type: application/json\r\nServer: uvicorn\r\nDate: Mon, 23 Nov 2026 00:00:00 GMT\r\nContent-Length: %d\r\n"
            % len(answer),
            response_body=answer,
            response_size=len(answer),
        ),
        checks=tuple(CheckOutcome(name, "SUCCESS") for name in _CHECKS),
        components=(Component("query", "positive", ()), Component("body", "positive", ())),
    )


def _dumped(entries: list[Any]) -> list[str]:
    return [json.dumps(one, default=repr) for one in entries]


def _written(name: str, context: ReportContext, sent: list[Interaction]) -> str:
    writer: Any = writer_of(_row(name))(context)
    return "".join((writer.head(), *map(writer.event, sent), writer.end()))


def _row(name: str) -> Any:
    row = REPORT_FORMATS.get(name)
    assert row is not None
    return row


def _least_s(*acts: Callable[[], object]) -> list[float]:
    """CPU seconds for each entry, of the fastest of a few times; in turn, so that a busy machine slows all of them."""
    found: list[list[float]] = [[] for _ in acts]
    for _ in range(_REPEATS):
        for taken, act in zip(found, acts, strict=True):
            began = time.process_time()
            act()
            taken.append((time.process_time() - began) / _COUNT)
    return list(map(min, found))


if __name__ == "__main__":
    sys.exit(main())
