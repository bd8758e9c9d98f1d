"""HAR 1.2: an entry for each request, for developer tools of browsers."""

import base64
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl

from checker import __version__
from checker.core.blocks import standard_reason
from checker.core.media_types import media_type_of
from checker.corpus.records import Interaction, Note
from checker.reporting.events import Event
from checker.reporting.findings import has_response
from checker.reporting.report import INCOMPLETE
from checker.reporting.shown import Headers, ReportContext, shown_headers, shown_request
from checker.reporting.text import json_text

_FORM = "application/x-www-form-urlencoded"
_VERSION = "HTTP/1.1"
_TOLD = frozenset(("content-type", "cookie", "location", "set-cookie"))


class Archive:
    """The text of an archive. A `StreamWriter`."""

    def __init__(self, context: ReportContext) -> None:
        self.context = context
        self._separator = ""
        self._comment = ""

    def head(self) -> str:
        creator = json_text({"name": "Checker", "version": __version__})
        browser = json_text({"name": "", "version": ""})
        return f'{{"log":{{"version":"1.2","creator":{creator},"browser":{browser},"entries":['

    def event(self, event: Event) -> str:
        """Return an entry for an interaction. A note about omitted entries becomes the comment at the end."""
        if isinstance(event, Note) and event.kind == INCOMPLETE:
            self._comment = event.text
        if not isinstance(event, Interaction):
            return ""
        elapsed_ms = max(0.0, event.exchange.elapsed_s * 1000)
        sent = shown_request(event, self.context)
        known = _known(sent.headers)
        query = sent.url.partition("#")[0].partition("?")[2]
        found: dict[str, Any] = {
            "method": sent.method,
            "url": sent.url,
            "httpVersion": _VERSION,
            "cookies": [pair for value in known["cookie"] for pair in _pairs_of(value.split(";"))],
            "headers": _pairs(sent.headers),
            "queryString": [
                {"name": name, "value": value}
                for name, value in parse_qsl(query, keep_blank_values=True, errors="replace")
            ],
            "headersSize": -1,
            "bodySize": sent.body_size,
        }
        if sent.body is not None:
            media_type = _content_type(known)
            posted = {"mimeType": media_type, **_content(sent.body, preserve=self.context.preserve_bytes)}
            if media_type.partition(";")[0].strip().lower() == _FORM and "encoding" not in posted:
                pairs = parse_qsl(posted["text"], keep_blank_values=True, errors="replace")
                posted["params"] = [{"name": name, "value": value} for name, value in pairs]
            found["postData"] = posted
        entry = {
            "startedDateTime": datetime.fromtimestamp(event.at, UTC).isoformat(),
            "time": elapsed_ms,
            "request": found,
            "response": _response(event, self.context),
            "cache": {},
            "timings": {
                **dict.fromkeys(("blocked", "dns", "connect", "ssl", "send", "wait"), 0),
                "receive": elapsed_ms,
            },
            "comment": f"{event.label} ({event.case}, {event.purpose.value})",
        }
        text = f"{self._separator}\n{json_text(entry)}"
        self._separator = ","
        return text

    def end(self) -> str:
        comment = f',"comment":{json_text(self._comment)}' if self._comment else ""
        return f"\n]{comment}}}}}\n"


def _response(interaction: Interaction, context: ReportContext) -> dict[str, Any]:
    exchange = interaction.exchange
    headers = shown_headers(exchange, context) if has_response(exchange) else {}
    known = _known(headers)
    status = (exchange.status or 0) if has_response(exchange) else 0
    content = _content(exchange.response_body if status else b"", preserve=context.preserve_bytes)
    found = {
        "status": status,
        "statusText": (exchange.reason or standard_reason(status)) if status else "",
        "httpVersion": _VERSION,
        # Attributes of a cookie follow the first pair.
        "cookies": _pairs_of(value.partition(";")[0] for value in known["set-cookie"]),
        "headers": _pairs(headers),
        "content": {"size": exchange.response_size, "mimeType": _content_type(known), **content},
        "redirectURL": next(iter(known["location"]), ""),
        "headersSize": len(exchange.response_head) if status else -1,
        "bodySize": exchange.response_size if status else -1,
    }
    if exchange.failure is not None:
        found["comment"] = exchange.failure
    return found


def _content(body: bytes, *, preserve: bool) -> dict[str, Any]:
    """Return a text body as text, and other bodies as base64."""
    if not preserve:
        try:
            return {"text": body.decode()}
        except UnicodeDecodeError:
            pass
    return {"text": base64.b64encode(body).decode("ascii"), "encoding": "base64"}


def _pairs(headers: Headers) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, values in headers.items() for value in values]


def _known(headers: Headers) -> Headers:
    """Return the values of headers that have their own fields in an entry, by lower-case name."""
    found: Headers = defaultdict(list)
    for name, values in headers.items():
        if (lowered := name.lower()) in _TOLD:
            found[lowered] += values
    return found


def _content_type(known: Headers) -> str:
    found = next(iter(known["content-type"]), "")
    return found if media_type_of(found) is not None else "application/octet-stream"


def _pairs_of(texts: Iterable[str]) -> list[dict[str, str]]:
    pairs = (text.strip().partition("=") for text in texts)
    return [{"name": name, "value": value} for name, separator, value in pairs if separator]
