"""Cassettes: every interaction of a run as YAML."""

import base64
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache

from checker import __version__
from checker.core.blocks import standard_reason
from checker.core.send import Purpose
from checker.core.terminal import one_line
from checker.corpus.records import CheckOutcome, Exchange, Interaction, Note
from checker.reporting.anchors import Anchors, BodyText
from checker.reporting.context import ReportContext
from checker.reporting.events import Event
from checker.reporting.findings import charset_of
from checker.reporting.repeated import for_equal_bodies
from checker.reporting.report import INCOMPLETE
from checker.reporting.shown import Headers, has_answer, shown_headers, shown_request
from checker.reporting.yaml import emitted, emitted_entries, number, quoted

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
        if isinstance(event, Note) and event.kind == INCOMPLETE:
            return f"\n# {one_line(event.text)}"
        if not isinstance(event, Interaction):
            return ""
        self._count += 1
        request, response = self._request(event), self._response(event.exchange)
        about = _about(event, self.context.seed)
        return f'\n- id: "{self._count}"{about}\n  request:{request}\n  response:{response}'

    def end(self) -> str:
        """What stands behind all interactions."""
        return "\n" if self._count else " null\n"

    def _request(self, interaction: Interaction) -> str:
        sent = shown_request(interaction, self.context)
        text = f"\n    uri: {quoted(sent.url)}\n    method: {quoted(sent.method)}{_headers(sent.headers)}"
        # Left out when there was none: an empty one is sent with `Content-Length: 0`.
        if sent.body is None:
            return text
        is_cut = interaction.exchange.body_size is not None
        return f"{text}{self._body(sent.body, '', sent.body_size if is_cut else None)}"

    def _response(self, exchange: Exchange) -> str:
        if not has_answer(exchange):
            return " null"
        status = exchange.status or 0
        reason = exchange.reason or standard_reason(status)
        size = exchange.response_size
        is_cut = size > len(exchange.response_body)
        body = self._body(
            exchange.response_body, charset_of(exchange) or "", size if is_cut else None
        )
        return (
            f'\n    status:\n      code: "{status}"\n      message: {quoted(reason)}'
            f'\n    elapsed: "{exchange.elapsed_s:.6f}"'
            f"{_headers(shown_headers(exchange, self.context))}{body}"
            '\n    http_version: "1.1"'
        )

    def _body(self, content: bytes, charset: str, size: int | None) -> str:
        """`size`: of all of it, when it is cut."""
        text = _body_text(content, charset, self.context.preserve_bytes)
        placed = self._anchors.placed(text, self._count)
        return placed if size is None else f"{placed}\n      size: {size}"


def _about(interaction: Interaction, seed: int) -> str:
    """What an entry tells but its `id`, the request and the response."""
    at, mode = datetime.fromtimestamp(interaction.at, UTC).isoformat(), quoted(interaction.mode)
    modes = tuple((one.location, one.mode) for one in interaction.components)
    shared = _shared(
        modes, interaction.phase, interaction.phase_data, interaction.purpose, interaction.checks
    )
    # Written out: there are millions of them, and a dictionary for each took as long as all the rest.
    return (
        f"\n  status: {quoted(interaction.status)}"
        f"\n  seed: {seed}"
        f"\n  elapsed: {number(interaction.exchange.elapsed_s)}"
        f'\n  recorded_at: "{at}"'
        f"\n  thread_id: {interaction.worker}"
        f"\n  correlation_id: {quoted(interaction.case)}"
        f"\n  data_generation_method: {mode}"
        f"\n  generation:\n    time: {number(interaction.generation_s)}\n    mode: {mode}"
        f"{shared}"
    )


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


@for_equal_bodies
def _body_text(content: bytes, charset: str, preserve: bool) -> BodyText:
    """Text if it gives the same bytes again, base64 otherwise."""
    encoding = charset if charset in _READABLE else "utf-8"
    key = f'\n    body:\n      encoding: "{encoding}"\n      '
    if not preserve:
        with suppress(UnicodeDecodeError):
            return BodyText.of(f"{key}string:", quoted(content.decode(encoding)))
    return BodyText.of(f'{key}"base64_string":', f'"{base64.b64encode(content).decode()}"')
