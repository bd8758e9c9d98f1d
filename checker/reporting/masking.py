"""What cassettes and screens do not show: values of sensitive names, and credentials in URLs."""

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote, unquote_plus

from checker.config.settings import Sanitization

SECRET_REFERENCE = "secret:header:"
"""Stands in a recorded value where a secret was never written down."""
_USERINFO = re.compile(r"(?<=://)[^/?#@]*@")


@lru_cache(maxsize=4096)
def is_sensitive(name: str, sanitization: Sanitization) -> bool:
    """Whether values of this name are masked (facts 1.6): it is listed, or contains a marker."""
    lowered = name.lower()
    return lowered in sanitization.keys or any(m in lowered for m in sanitization.markers)


def masked_headers(
    headers: Iterable[tuple[str, str]], sanitization: Sanitization
) -> dict[str, list[str]]:
    """Name -> values in order, names as they were sent. References to secrets are masked in any case."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        hidden = SECRET_REFERENCE in value or (
            sanitization.enabled and is_sensitive(name, sanitization)
        )
        found.setdefault(name, []).append(sanitization.replacement if hidden else value)
    return found


def masked_url(url: str, sanitization: Sanitization) -> str:
    """URL without user info and values of sensitive query names; the rest is byte for byte the same."""
    if not sanitization.enabled:
        return url
    url = _USERINFO.sub(f"{sanitization.replacement}@", url)
    head, mark, query = url.partition("?")
    if not mark:
        return url
    replacement = quote(sanitization.replacement, safe="")
    pairs = []
    for pair in query.split("&"):
        name, equals, _ = pair.partition("=")
        hidden = equals and is_sensitive(unquote_plus(name), sanitization)
        pairs.append(f"{name}={replacement}" if hidden else pair)
    return f"{head}?{'&'.join(pairs)}"
