"""The record of a request and its response, with references in place of secrets.

Masking happens here, before a body is cut for the record: every part, in every encoding that the text is decoded from.
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from checker.core.media_types import media_type_of
from checker.core.redact import Redaction
from checker.core.request import WireRequest
from checker.core.response import CONTENT_ENCODING, Outcome, Response, codings_of, head_of, readable
from checker.corpus.records import Exchange
from checker.corpus.references import SecretStore
from checker.corpus.secrets import Secrets

SHARED = 4096
"""Size in bytes above which a body is stored once, apart from its interactions. The compressor handles repetitions of smaller bodies."""
_LONGEST_REASON = 256
"""Characters of a reason phrase that are kept, after masking."""
_URL_FIELD = re.compile(rb"^(?:(?:content-)?location|refresh|link):[^\r\n]*", re.I | re.M)
_NOTHING = (None, "", b"", b"", 0)
"""Status, reason, head, body and size of a response that did not arrive."""


def exchange(request: WireRequest, outcome: Outcome, secrets: Secrets) -> Exchange:
    """Return the record of a request and its outcome."""
    response: Response | None
    failure = None
    if isinstance(outcome, Response):
        response = outcome
    else:
        kind, message = outcome.kind.value, outcome.message
        response, failure = outcome.partial, f"{kind}: {message}" if message else kind
    received: tuple[Any, ...] = _NOTHING
    if response is not None:
        received = (
            response.status_code,
            response.message,
            _without_credentials(response.head, secrets.redaction),
            response.content,
            response.content_size,
        )
    sent = request.method, request.target, tuple(request.headers), request.body
    fields: tuple[Any, ...] = (*sent, *received, outcome.elapsed, failure)
    found = Exchange(*fields)
    if not secrets.is_empty:
        # An exchange with references in place of secrets. Its bodies are whole: a cut could hide half a secret.
        store = secrets.store
        head, body, is_cut = _plain_where_masked(found, store)
        sent_as = (value for name, value in found.headers if name.lower() == b"content-type")
        charset = _charset_of(next(sent_as, b"").decode("latin-1"))
        found = replace(
            found,
            target=store.mask_bytes(found.target),
            headers=tuple((name, store.mask_bytes(value)) for name, value in found.headers),
            body=None if found.body is None else store.mask_bytes(found.body, charset),
            reason=store.mask(found.reason),
            response_head=store.mask_bytes(head),
            response_body=store.mask_bytes(body, _charset_in(found), is_cut=is_cut),
            failure=None if found.failure is None else store.mask(found.failure),
        )
    # Cut after masking: half a secret would not be recognised.
    return found if len(found.reason) <= _LONGEST_REASON else replace(found, reason=found.reason[:_LONGEST_REASON])


def _without_credentials(head: bytes, redaction: Redaction) -> bytes:
    """Return header lines without the credentials of the server's own URLs: user info, sensitive names in the query."""
    if _URL_FIELD.search(head) is None:
        return head
    return _URL_FIELD.sub(lambda line: redaction.url(line[0].decode("latin-1")).encode("latin-1", "replace"), head)


def lighter(exchange: Exchange, most: int, keep: Callable[[bytes], int]) -> Exchange:
    """Return an exchange with at most `most` bytes of each body (0: all). `keep` stores long bodies and returns their offsets."""
    body, received = exchange.body, exchange.response_body
    short = min(SHARED, most or SHARED)
    if len(received) <= short and (body is None or len(body) <= short):
        return exchange
    body_size = body_at = received_at = None
    if most:
        received = received[:most]
        if body is not None and len(body) > most:
            body, body_size = body[:most], len(body)
    if len(received) > SHARED:
        received, received_at = b"", keep(received)
    if body is not None and len(body) > SHARED:
        body, body_at = b"", keep(body)
    return replace(
        exchange, body=body, response_body=received, body_size=body_size, body_at=body_at, response_body_at=received_at
    )


def _plain_where_masked(exchange: Exchange, store: SecretStore) -> tuple[bytes, bytes, bool]:
    """Return head and body of the response, and whether the body is cut.

    Without its codings where they hide a secret, which could not be masked in them.
    """
    head, body = exchange.response_head, exchange.response_body
    is_cut = exchange.response_size > len(body)
    if b"content-encoding" not in head.lower():
        return head, body, is_cut
    fields = exchange.response_headers
    plain = readable(body, codings_of(fields), is_cut=is_cut)
    charset = _charset_in(exchange)
    if store.mask_bytes(plain.content, charset, is_cut=plain.is_cut) == plain.content:
        return head, body, False
    kept = head_of(one for one in fields if one[0].lower() != CONTENT_ENCODING)
    return kept, plain.content, plain.is_cut


def _charset_in(exchange: Exchange) -> str | None:
    """Return the charset that the response names."""
    if b"charset" not in exchange.response_head.lower():
        return None
    fields = exchange.response_headers
    return _charset_of(next((v for name, v in fields if name.lower() == "content-type"), ""))


def _charset_of(content_type: str) -> str | None:
    media_type = media_type_of(content_type) if content_type else None
    return None if media_type is None else media_type.charset
