"""Cassettes: every interaction of a run as YAML."""

import base64
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from checker import __version__
from checker.core.blocks import standard_reason
from checker.core.send import Purpose
from checker.corpus.records import CheckOutcome, Exchange, Interaction
from checker.reporting.anchors import Anchors
from checker.reporting.context import ReportContext
from checker.reporting.events import Event
from checker.reporting.findings import charset_of
from checker.reporting.shown import Headers, has_answer, shown_headers, shown_request
from checker.reporting.yaml import emitted, emitted_entries

_READABLE = frozenset({"utf-8", "utf8", "ascii", "us-ascii", "iso-8859-1", "latin-1", "latin1"})
"""Charsets whose text is written as text; everything else is safer as base64."""


class Cassette:
    """Text of a cassette: its head, one piece for each interaction, its end. A `StreamWriter`."""

    def __init__(self, context: ReportContext) -> None:
        self.context = context
        self._anchors = Anchors()
        self._count = 0

    def head(self) -> str:
        """What stands before all interactions."""
        head = {
            "command": self.context.command,
            "recorded_with": f"Checker {__version__}",
            "seed": self.context.seed,
        }
        return f"{emitted(head)}\nhttp_interactions:"

    def event(self, event: Event) -> str:
        """An interaction at its place, counted from 1."""
        if not isinstance(event, Interaction):
            return ""
        entry = _entry(event, self.context)
        self._count += 1
        return f'\n- id: "{self._count}"{self._anchors.shared(entry, self._count)}'

    def end(self) -> str:
        """What stands behind all interactions."""
        return "\n" if self._count else " null\n"


def _entry(interaction: Interaction, context: ReportContext) -> str:
    """Text of one interaction but its `id`, which is its place in the cassette."""
    exchange = interaction.exchange
    own = {
        "status": interaction.status,
        "seed": context.seed,
        "elapsed": exchange.elapsed_s,
        "recorded_at": datetime.fromtimestamp(interaction.at, UTC).isoformat(),
        "thread_id": interaction.worker,
        "correlation_id": interaction.case,
        "data_generation_method": interaction.mode,
        "generation": {"time": interaction.generation_s, "mode": interaction.mode},
    }
    modes = tuple((one.location, one.mode) for one in interaction.components)
    shared = _shared(
        modes, interaction.phase, interaction.phase_data, interaction.purpose, interaction.checks
    )
    request, response = _request(interaction, context), _response(exchange, context)
    return f"{emitted_entries(own, 1)}{shared}\n  request:{request}\n  response:{response}"


@lru_cache(maxsize=1024)
def _shared(
    modes: tuple[tuple[str, str], ...],
    phase: str,
    data: tuple[tuple[str, str | None], ...],
    purpose: Purpose,
    checks: tuple[CheckOutcome, ...],
) -> str:
    """Fields that most interactions of an operation have in common: half of what an entry costs."""
    return emitted_entries(
        {
            "components": {location: {"mode": mode} for location, mode in modes},
            "phase": {"name": phase, "data": dict(data)},
            "purpose": purpose.value,
            "checks": [
                {"name": check.name, "status": check.status, "message": check.message}
                for check in checks
            ],
        },
        1,
    )


def _request(interaction: Interaction, context: ReportContext) -> str:
    sent = shown_request(interaction, context)
    head = emitted_entries({"uri": sent.url, "method": sent.method}, 2)
    request: dict[str, Any] = {}
    # Left out when there was none: an empty one is sent with `Content-Length: 0`.
    if sent.body is not None:
        request["body"] = _body(sent.body, None, preserve=context.preserve_bytes)
        if interaction.exchange.body_size is not None:
            request["body"]["size"] = sent.body_size
    return f"{head}{_headers(sent.headers)}{emitted_entries(request, 2)}"


def _response(exchange: Exchange, context: ReportContext) -> str:
    if not has_answer(exchange):
        return " null"
    body: dict[str, Any] = _body(
        exchange.response_body, charset_of(exchange), preserve=context.preserve_bytes
    )
    if exchange.response_size > len(exchange.response_body):
        body["size"] = exchange.response_size
    status = {
        "code": str(exchange.status),
        "message": exchange.reason or standard_reason(exchange.status or 0),
    }
    head = emitted_entries({"status": status, "elapsed": f"{exchange.elapsed_s:.6f}"}, 2)
    rest = emitted_entries({"body": body, "http_version": "1.1"}, 2)
    return f"{head}{_headers(shown_headers(exchange, context))}{rest}"


def _headers(headers: Headers) -> str:
    if not headers:
        return "\n    headers: {}"
    fields = [
        _field(name, *values) if len(values) == 1 else emitted_entries({name: values}, 3)
        for name, values in headers.items()
    ]
    return f"\n    headers:{''.join(fields)}"


@lru_cache(maxsize=4096)
def _field(name: str, value: str) -> str:
    """Most of them come a million times; those that do not cost no more than before."""
    return emitted_entries({name: [value]}, 3)


def _body(content: bytes, charset: str | None, *, preserve: bool) -> dict[str, Any]:
    """Text if it gives the same bytes again, base64 otherwise."""
    encoding = charset if charset in _READABLE else "utf-8"
    if not preserve:
        with suppress(UnicodeDecodeError):
            return {"encoding": encoding, "string": content.decode(encoding)}
    return {"encoding": encoding, "base64_string": base64.b64encode(content).decode("ascii")}
