"""Keys by which servers know a request again: to what has the key of an earlier one they answer what they answered then, or refuse another body."""

from copy import copy
from typing import Final

from checker.core.case import Case
from checker.core.digests import digest_int

_MARK: Final = "idempoten"
_RENEWED: Final = 8
"""Characters at the end of a key that are others in a fresh one: what stands before may be fixed, as are the digits of a UUID that say which kind it is."""
_CLASSES: Final = ("0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def is_idempotency_key(name: str) -> bool:
    """Whether a header says which request it is: `Idempotency-Key`, `X-Idempotency-Token`."""
    return _MARK in name.lower()


def fresh_key(value: str, *of: str) -> str:
    """A key of the same form, which follows from texts: letters and digits at its end are others."""
    number, left, fresh = digest_int(value, *of), _RENEWED, list(value)
    for at in range(len(fresh) - 1, -1, -1):
        found = next((one for one in _CLASSES if fresh[at] in one), "")
        if not found or not left:
            continue
        # Digits and the letters up to f alone are in either class: what is hexadecimal stays so.
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
