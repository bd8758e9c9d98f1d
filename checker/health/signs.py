"""Signs that a target stopped serving, and operations that look as if they could cause that."""

import re
from itertools import pairwise
from typing import Final

HEALTH_CHECK: Final = "target_health"
"""The check of findings about a target that stopped answering."""
TARGET: Final = "Target"
"""Stands in the place of an operation where the run as a whole is meant."""
TOO_MANY: Final = 429
TURNED_AWAY: Final = frozenset((401, 403, TOO_MANY, 503))
"""Statuses by which a target turns everybody away: no session, no permission, too many requests, maintenance."""
GATEWAY: Final = frozenset((502, 504))
"""Statuses of whoever stands before a target that does not answer."""
REFUSALS: Final = TURNED_AWAY | GATEWAY

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ENDING = frozenset(
    [
        "deactivate",
        "disable",
        "flush",
        "halt",
        "invalidate",
        "lock",
        "lockout",
        "logoff",
        "logout",
        "maintenance",
        "poweroff",
        "purge",
        "quit",
        "reboot",
        "reset",
        "restart",
        "revoke",
        "rotate",
        "shutdown",
        "signoff",
        "signout",
        "suspend",
        "terminate",
        "truncate",
        "wipe",
    ]
)
_PAIRS = frozenset(
    (
        ("log", "out"),
        ("log", "off"),
        ("sign", "out"),
        ("sign", "off"),
        ("shut", "down"),
        ("power", "off"),
    )
)
_LAST_SEGMENTS = 2
"""Of a path: what stands further left names what it is about, not what it does."""


def looks_dangerous(path: str, operation_id: str | None = None) -> bool:
    """Whether an operation sounds as if it ended sessions, emptied stores or stopped the target: `/auth/logout`, `flushAll`.

    `path` is a template, or a label where paths mean nothing.
    """
    static = [one for one in path.split("/") if one and "{" not in one]
    return any(_is_ending(text) for text in (*static[-_LAST_SEGMENTS:], operation_id or ""))


def _is_ending(text: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(text)]
    return not _ENDING.isdisjoint(words) or not _PAIRS.isdisjoint(pairwise(words))
