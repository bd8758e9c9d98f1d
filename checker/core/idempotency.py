"""Idempotency keys. To a request with the key of an earlier one a server repeats its response, or refuses another body."""

from copy import copy
from dataclasses import replace
from typing import Final

from checker.core.case import Case
from checker.core.digests import digest_int
from checker.core.request import WireRequest

_MARK: Final = "idempoten"
_RENEWED: Final = 8
"""Characters at the end of a key that a fresh key changes. Earlier ones may be fixed, such as the version digit of a UUID."""
_CLASSES: Final = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def is_idempotency_key(name: str) -> bool:
    """Whether a header identifies a request: `Idempotency-Key`, `X-Idempotency-Token`."""
    return _MARK in name.lower()


def fresh_key(value: str, *of: str) -> str:
    """Return a key of the same form, derived from texts: the letters and digits at its end change."""
    number, left, fresh = digest_int(value, *of), _RENEWED, list(value)
    for at in range(len(fresh) - 1, -1, -1):
        found = next((one for one in _CLASSES if fresh[at] in one), "")
        if not found or not left:
            continue
        # Hexadecimal characters are replaced by hexadecimal characters, so a UUID stays one.
        kind = found if found is _CLASSES[0] else found[:6]
        number, chosen = divmod(number, len(kind))
        fresh[at], left = kind[chosen], left - 1
    return "".join(fresh)


def with_fresh_key(case: Case) -> Case | None:
    """The case with another key; None where it has none that can be another one."""
    fresh = {
        name: fresh_key(value, str(case.operation.label), repr(case.body))
        for name, value in case.headers.items()
        if isinstance(value, str) and is_idempotency_key(name)
    }
    changed = {name: value for name, value in fresh.items() if value != case.headers[name]}
    if not changed:
        return None
    other = copy(case)
    other.headers = {**case.headers, **changed}
    return other


def request_with_fresh_key(request: WireRequest, *of: str) -> WireRequest:
    """Return the request with a key derived from texts in place of its own; one without a key as it is."""
    headers = [
        (name, fresh_key(value.decode("latin-1"), *of).encode("latin-1"))
        if is_idempotency_key(name.decode("latin-1"))
        else (name, value)
        for name, value in request.headers
    ]
    return replace(request, headers=headers)
