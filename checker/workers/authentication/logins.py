"""Requests that get credentials, as traffic: what was sent, and what came back without the credentials in it."""

import dataclasses
import json
from itertools import count
from typing import Any, Final

import msgspec

from checker.core.operation import Label
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Outcome, Response
from checker.corpus.traffic import Keep
from checker.workers.authentication.identities import LoginTransport
from checker.workers.authentication.tokens import Send
from checker.workers.recording.traffic import DRAFT_BYTES, Answered, Traffic, answered

_MASK: Final = Redaction().replacement
_FORM: Final = b"application/x-www-form-urlencoded"
_KEEPS: Final = frozenset((b"content-type", b"content-length", b"accept", b"host", b"user-agent"))
"""Headers of logins that prove nothing."""
_TAKES: Final = frozenset(("content-type", "content-length", "date", "server"))
"""Headers of their answers that give nothing."""


class LoginTraffic(msgspec.Struct):
    """Takes note of logins, and writes them down once all that they gave is known to be secret."""

    traffic: Traffic
    _sent: list[Answered] = msgspec.field(default_factory=list)
    _numbers: "count[int]" = msgspec.field(default_factory=count)

    def over(self, wiring: LoginTransport) -> LoginTransport:
        """A transport that sends logins as this one does, and takes note of them."""
        return msgspec.structs.replace(
            wiring,
            send=self._noted(wiring.send, wiring.origin.base_path),
            send_to=lambda url: self._noted(wiring.send_to(url), BaseUrl.from_url(url).url),
        )

    def _noted(self, send: Send, above: str) -> Send:
        """`above` stands before the path of a request: a path, or another host."""

        def noted(request: WireRequest) -> Outcome:
            outcome = send(request)
            sent = dataclasses.replace(request, target=above.encode() + request.target)
            self._sent.append(answered(sent, outcome))
            return outcome

        return noted

    def write(self) -> None:
        """Hand over what was sent since the last time."""
        for one in self._sent:
            name = f"login-{next(self._numbers)}"
            self.traffic.uncounted.requests += 1
            self.traffic.writer.offer(_LoginDraft(self.traffic, name, one), interesting=True)
        self._sent.clear()


class _LoginDraft(msgspec.Struct, frozen=True):
    """Implements `checker.corpus.traffic.InteractionDraft`."""

    traffic: Traffic
    name: str
    answered: Answered

    @property
    def label(self) -> Label:
        """Method and path."""
        request = self.answered.request
        return Label(f"{request.method} {request.path.decode('latin-1')}")

    def __len__(self) -> int:
        return DRAFT_BYTES

    def encode(self, keep: Keep) -> bytes:
        """The interaction, without what proves who is calling."""
        request, outcome, at = self.answered
        shown = Answered(_without_proof(request), _without_gift(outcome), at)
        return self.traffic.login(self.name, self.label, shown, keep)


def _without_proof(request: WireRequest) -> WireRequest:
    """A login without all that it may have proved with: users choose the names."""
    headers = [(n, v if n.lower() in _KEEPS else _MASK.encode()) for n, v in request.headers]
    target = Redaction().url(request.target.decode("latin-1")).encode("latin-1")
    body = request.body
    if body:
        media_type = request.header(b"content-type") or b""
        is_form = media_type.partition(b";")[0].strip().lower() == _FORM
        body = _form_of_masks(body) if is_form else _json_of_masks(body)
    return dataclasses.replace(request, target=target, headers=headers, body=body)


def _without_gift(outcome: Outcome) -> Outcome:
    """An answer without what it may have given; a refusal gives nothing, and says why."""
    if not isinstance(outcome, Response) or outcome.status_code >= 400:
        return outcome
    headers = [(name, value if name.lower() in _TAKES else _MASK) for name, value in outcome.raw_headers]
    return Response(
        outcome.status_code,
        headers,
        _json_of_masks(outcome.content) if outcome.content else b"",
        elapsed=outcome.elapsed,
        message=outcome.message,
        http_version=outcome.http_version,
    )


def _form_of_masks(body: bytes) -> bytes:
    return b"&".join(b"%b=%b" % (one.partition(b"=")[0], _MASK.encode()) for one in body.split(b"&"))


def _json_of_masks(body: bytes) -> bytes:
    """JSON with its names alone: a pointer to a token can be corrected by it."""
    try:
        return json.dumps(_of_masks(json.loads(body))).encode()
    except (ValueError, RecursionError):
        return _MASK.encode()


def _of_masks(value: Any) -> Any:
    match value:
        case dict():
            return {name: _of_masks(item) for name, item in value.items()}
        case list():
            return [_of_masks(item) for item in value]
        case bool() | None:
            return value
        case _:
            return _MASK
