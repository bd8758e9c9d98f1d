"""Cassettes: every interaction of a run as YAML."""

import base64
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from checker import __version__
from checker.core.blocks import standard_reason
from checker.core.request import BaseUrl, WireRequest
from checker.corpus.records import Exchange, Interaction
from checker.reporting.anchors import Anchors
from checker.reporting.context import ReportContext
from checker.reporting.events import Event
from checker.reporting.findings import charset_of
from checker.reporting.masking import masked_headers
from checker.reporting.yaml import emitted, emitted_entries

_READABLE = frozenset({"utf-8", "utf8", "ascii", "us-ascii", "iso-8859-1", "latin-1", "latin1"})
"""Charsets whose text is written as text; everything else is safer as base64."""


class Cassette:
    """Text of a cassette: its head, one piece for each interaction, its end. A `StreamWriter`."""

    def __init__(self, context: ReportContext) -> None:
        self._context = context
        self._origin = BaseUrl.from_url(context.base_url) if context.base_url else None
        self._anchors = Anchors()
        self._count = 0

    def head(self) -> str:
        """What stands before all interactions."""
        head = {
            "command": self._context.command,
            "recorded_with": f"Checker {__version__}",
            "seed": self._context.seed,
        }
        return f"{emitted(head)}\nhttp_interactions:"

    def event(self, event: Event) -> str:
        """An interaction at its place, counted from 1."""
        if not isinstance(event, Interaction):
            return ""
        entry = emitted_entries(_entry(event, self._context, self._origin), 1)
        self._count += 1
        return f'\n- id: "{self._count}"{self._anchors.shared(entry, self._count)}'

    def end(self) -> str:
        """What stands behind all interactions."""
        return "\n" if self._count else " null\n"


def _entry(
    interaction: Interaction, context: ReportContext, origin: BaseUrl | None
) -> dict[str, Any]:
    """Fields of one interaction but its `id`, which is its place in the cassette."""
    exchange = interaction.exchange
    return {
        "status": interaction.status,
        "seed": context.seed,
        "elapsed": exchange.elapsed_s,
        "recorded_at": datetime.fromtimestamp(interaction.at, UTC).isoformat(),
        "thread_id": interaction.worker,
        "correlation_id": interaction.case,
        "data_generation_method": interaction.mode,
        "generation": {"time": interaction.generation_s, "mode": interaction.mode},
        "components": {one.location: {"mode": one.mode} for one in interaction.components},
        "phase": {"name": interaction.phase, "data": dict(interaction.phase_data)},
        "purpose": interaction.purpose.value,
        "checks": [
            {"name": check.name, "status": check.status, "message": check.message}
            for check in interaction.checks
        ],
        "request": _request(interaction, context, origin),
        "response": _response(exchange, context),
    }


def _request(
    interaction: Interaction, context: ReportContext, origin: BaseUrl | None
) -> dict[str, Any]:
    exchange, parts = interaction.exchange, interaction.components
    recorded = WireRequest(exchange.method, exchange.target, list(exchange.headers), exchange.body)
    sent = context.masking.request(recorded, parts)
    uri = sent.url(origin) if origin is not None else sent.target.decode("latin-1")
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in sent.headers]
    request: dict[str, Any] = {
        "uri": uri,
        "method": sent.method,
        "headers": masked_headers(headers, context.masking.rules(parts)),
    }
    # Left out when there was none: an empty one is sent with `Content-Length: 0`.
    if sent.body is not None:
        request["body"] = _body(sent.body, None, preserve=context.preserve_bytes)
        if exchange.body_size is not None:
            request["body"]["size"] = exchange.body_size
    return request


def _response(exchange: Exchange, context: ReportContext) -> dict[str, Any] | None:
    # What arrived before a time-out is not a response.
    if exchange.status is None or exchange.failure is not None:
        return None
    body: dict[str, Any] = _body(
        exchange.response_body, charset_of(exchange), preserve=context.preserve_bytes
    )
    if exchange.response_size > len(exchange.response_body):
        body["size"] = exchange.response_size
    return {
        "status": {
            "code": str(exchange.status),
            "message": exchange.reason or standard_reason(exchange.status),
        },
        "elapsed": f"{exchange.elapsed_s:.6f}",
        "headers": masked_headers(exchange.response_headers, context.masking.rules()),
        "body": body,
        "http_version": "1.1",
    }


def _body(content: bytes, charset: str | None, *, preserve: bool) -> dict[str, Any]:
    """Text if it gives the same bytes again, base64 otherwise."""
    encoding = charset if charset in _READABLE else "utf-8"
    if not preserve:
        with suppress(UnicodeDecodeError):
            return {"encoding": encoding, "string": content.decode(encoding)}
    return {"encoding": encoding, "base64_string": base64.b64encode(content).decode("ascii")}
