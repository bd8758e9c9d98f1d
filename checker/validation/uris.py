"""URIs and IRIs (RFC 3986, RFC 3987), references and templates (RFC 6570)."""

import re
from functools import cache
from ipaddress import AddressValueError, IPv6Address
from typing import Final

_PERCENT = "%[0-9A-Fa-f]{2}"
_PLAIN = "A-Za-z0-9._~!$&'()*+,;=\\-"
_ABOVE_ASCII = "\xa0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef\U00010000-\U0001fffd\U00020000-\U0002fffd\U00030000-\U000efffd"
_FURTHER: Final = "/?"
# RFC 3986 has no brackets in a query; `a[]=1` is written everywhere all the same.
_BRACKETS: Final = "\\[\\]"


def is_uri(value: str) -> bool:
    """RFC 3986 `URI`: with a scheme."""
    return _fits("", value, has_scheme=True)


def is_iri(value: str) -> bool:
    """RFC 3987 `IRI`: with a scheme."""
    return _fits(_ABOVE_ASCII, value, has_scheme=True)


def is_uri_reference(value: str) -> bool:
    """RFC 3986 `URI-reference`: with a scheme or without."""
    return is_uri(value) or _fits("", value, has_scheme=False)


def is_iri_reference(value: str) -> bool:
    """RFC 3987 `IRI-reference`."""
    return is_iri(value) or _fits(_ABOVE_ASCII, value, has_scheme=False)


def _authority(above: str) -> str:
    name = f"(?:[{_PLAIN}{above}]|{_PERCENT})*"
    return (
        f"(?:(?:[{_PLAIN}:{above}]|{_PERCENT})*@)?(?:\\[(?P<literal>[^\\]]*)\\]|{name})(?::[0-9]*)?"
    )


@cache
def _grammar(above: str, *, has_scheme: bool) -> re.Pattern[str]:
    """Pattern of a whole text; the group `literal` is what stands between brackets as the host.

    Made when it is first asked for: these four take longer than everything else that starts a worker.
    """
    char = f"(?:[{_PLAIN}:@{above}]|{_PERCENT})"
    first = char if has_scheme else f"(?:[{_PLAIN}@{above}]|{_PERCENT})"
    path = (
        f"(?://{_authority(above)}(?:/{char}*)*|/(?:{char}+(?:/{char}*)*)?|{first}+(?:/{char}*)*|)"
    )
    tail = f"(?:[{_PLAIN}:@{_FURTHER}{_BRACKETS}{above}]|{_PERCENT})*"
    scheme = "[A-Za-z][A-Za-z0-9+.-]*:" if has_scheme else ""
    return re.compile(f"{scheme}{path}(?:\\?{tail})?(?:#{tail})?")


def _fits(above: str, value: str, *, has_scheme: bool) -> bool:
    match = _grammar(above, has_scheme=has_scheme).fullmatch(value)
    return match is not None and (match["literal"] is None or _is_literal(match["literal"]))


def _is_literal(host: str) -> bool:
    if host[:1] in ("v", "V"):
        return _FUTURE.fullmatch(host) is not None
    try:
        IPv6Address(host)
    except AddressValueError:
        return False
    return "%" not in host


def is_uri_template(value: str) -> bool:
    """RFC 6570: literals and expressions in braces."""
    return _template().fullmatch(value) is not None


@cache
def _template() -> re.Pattern[str]:
    name = f"(?:[A-Za-z0-9_]|{_PERCENT})+(?:\\.(?:[A-Za-z0-9_]|{_PERCENT})+)*"
    variable = f"{name}(?::[1-9][0-9]{{0,3}}|\\*)?"
    return re.compile(
        f"(?:[^\\x00-\\x20\"'<>\\\\^`{{|}}%]|{_PERCENT}|\\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\\}})*"
    )


_FUTURE: Final = re.compile(f"[vV][0-9A-Fa-f]+\\.[{_PLAIN}:]+")
