"""The record of a request and its response, with references in place of secrets."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from checker.core.codings import CONTENT_ENCODING, codings_of, readable
from checker.core.references import SecretStore
from checker.core.request import WireRequest
from checker.core.response import Outcome, Response, head_of
from checker.corpus.records import Exchange
from checker.corpus.secrets import Secrets

SHARED = 4096
"""Bytes from which on a body is kept apart, once. The compressor finds smaller ones that repeat by itself."""
_BODY, _RECEIVED = 3, 7
_NOTHING = (None, "", b"", b"", 0)
"""Of a response that did not arrive."""


def exchange(fields: tuple[Any, ...]) -> Exchange:
    """The record of these fields."""
    record = Exchange(*fields)
    return replace(record, headers=tuple(record.headers))


def exchange_fields(request: WireRequest, outcome: Outcome, secrets: Secrets) -> tuple[Any, ...]:
    """Fields of an `Exchange`, in their order: enough to write it, at once. Lists in it are not ours to keep."""
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
            response.head,
            response.content,
            response.content_size,
        )
    fields: tuple[Any, ...] = (
        request.method,
        request.target,
        request.headers,
        request.body,
        *received,
        outcome.elapsed,
        failure,
    )
    return fields if secrets.is_empty else _masked(Exchange(*fields), secrets.store)


def lighter(fields: tuple[Any, ...], most: int, keep: Callable[[bytes], int]) -> tuple[Any, ...]:
    """Fields of an `Exchange` with at most `most` bytes of each body (0: all); `keep` takes the long ones and gives their place."""
    body, received = fields[_BODY], fields[_RECEIVED]
    short = min(SHARED, most or SHARED)
    if len(received) <= short and (body is None or len(body) <= short):
        return fields
    body_size = body_at = received_at = None
    if most:
        received = received[:most]
        if body is not None and len(body) > most:
            body, body_size = body[:most], len(body)
    if len(received) > SHARED:
        received, received_at = b"", keep(received)
    if body is not None and len(body) > SHARED:
        body, body_at = b"", keep(body)
    before, between, after = fields[:_BODY], fields[_BODY + 1 : _RECEIVED], fields[_RECEIVED + 1 :]
    return (*before, body, *between, received, *after, body_size, body_at, received_at)


def _masked(exchange: Exchange, store: SecretStore) -> tuple[Any, ...]:
    mask, mask_text = store.mask_bytes, store.mask
    head, body = _plain_where_masked(exchange, store)
    return (
        exchange.method,
        mask(exchange.target),
        tuple((name, mask(value)) for name, value in exchange.headers),
        None if exchange.body is None else mask(exchange.body),
        exchange.status,
        exchange.reason,
        mask(head),
        mask(body),
        exchange.response_size,
        exchange.elapsed_s,
        None if exchange.failure is None else mask_text(exchange.failure),
    )


def _plain_where_masked(exchange: Exchange, store: SecretStore) -> tuple[bytes, bytes]:
    """Head and body of the response; without its codings where they hide a secret, which could not be masked in them."""
    head, body = exchange.response_head, exchange.response_body
    if b"content-encoding" not in head.lower():
        return head, body
    fields = exchange.response_headers
    plain = readable(body, codings_of(fields), is_cut=exchange.response_size > len(body)).content
    if store.mask_bytes(plain) == plain:
        return head, body
    return head_of(one for one in fields if one[0].lower() != CONTENT_ENCODING), plain
