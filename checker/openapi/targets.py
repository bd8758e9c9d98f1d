"""A request target taken apart by the path template of its operation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

_VARIABLE = re.compile(r"\{([^{}]*)\}")
_ENCODED = re.compile(r"%(?![0-9A-Fa-f]{2})")
_OUTSIDE = re.compile(r"[^\x21-\x7e]")


@dataclass(frozen=True, slots=True)
class Target:
    """Path and query of a request, still encoded."""

    variables: tuple[dict[str, str], ...]
    """Texts in place of the variables of the template, one for each way to split the path; empty when it does not fit."""
    query: str
    """Without what the template itself says."""


class Template:
    """The path template of an operation."""

    def __init__(self, path: str) -> None:
        path, _, query = path.partition("?")
        self._own_pairs = [pair for pair in query.split("&") if pair]
        pieces = _VARIABLE.split(path)
        self.names: tuple[str, ...] = tuple(pieces[1::2])
        literals = [_literal(piece) for piece in pieces[0::2]]
        # Two variables in one segment may be told apart in two ways.
        self._patterns = [
            re.compile(variable.join(literals)) for variable in ("([^/?#]*)", "([^/?#]*?)")
        ]

    def split(self, target: str, base_path: str) -> Target:
        """Texts of the variables, and the query."""
        path, _, query = target.partition("?")
        base = re.match(_literal(base_path), path)
        found: list[dict[str, str]] = []
        for pattern in self._patterns if base is not None else ():
            match = pattern.fullmatch(path, base.end() if base is not None else 0)
            if match is not None:
                variables = dict(zip(self.names, match.groups(), strict=True))
                if variables not in found:
                    found.append(variables)
        pairs = [pair for pair in query.split("&") if pair]
        for own in self._own_pairs:
            if own in pairs:
                pairs.remove(own)
        return Target(tuple(found), "&".join(pairs))


def fault_of(text: str) -> tuple[str, str] | None:
    """What is wrong with text that should be percent-encoded UTF-8: (keyword, reason). RFC 3986, 2."""
    bad = _OUTSIDE.search(text)
    if bad is not None:
        return "percent-encoding", f"{bad[0]!r} must be percent-encoded"
    if _ENCODED.search(text):
        return "percent-encoding", "a percent sign is not followed by two hexadecimal digits"
    try:
        unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError:
        return "utf-8", "what is percent-encoded is not UTF-8"
    return None


def has_dot_segment(path: str) -> bool:
    """True when a client or server may remove segments of the path (RFC 3986, 5.2.4 and 6.2.2.2)."""
    return any(
        part.replace("%2E", ".").replace("%2e", ".") in (".", "..") for part in path.split("/")
    )


def _literal(text: str) -> str:
    return "".join(_octets(text))


def _octets(text: str) -> Iterator[str]:
    for octet in text.encode("utf-8", "surrogatepass"):
        character = chr(octet)
        encoded = f"%(?i:{octet:02x})"
        if character == "/":
            yield "/"
        elif character == "%":
            # Templates that are encoded already are sent as they stand.
            yield f"(?:%|{encoded})"
        else:
            yield f"(?:{re.escape(character)}|{encoded})"
