"""Media types: parsed leniently, matched with wildcards."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE = re.compile(rf"\s*({_TOKEN})/({_TOKEN})\s*(?:;(.*))?", re.DOTALL)
_PARAMETER = re.compile(rf"\s*({_TOKEN})\s*=\s*(\"(?:[^\"\\]|\\.)*\"|[^;]*)")


@dataclass(frozen=True, slots=True)
class MediaType:
    """A media type in lower case. Its parameters matter to few."""

    main: str
    sub: str
    parameters: frozenset[tuple[str, str]] = frozenset()

    @property
    def is_json(self) -> bool:
        """True for JSON and everything that is written in JSON."""
        return self.sub == "json" or self.sub.endswith("+json")

    @property
    def charset(self) -> str | None:
        """Character encoding, if one is named."""
        return dict(self.parameters).get("charset")

    @property
    def essence(self) -> str:
        """Without parameters: `application/json`."""
        return f"{self.main}/{self.sub}"

    def covers(self, other: "MediaType") -> bool:
        """True when this one, as declared, names the other one, parameters aside."""
        if self.main not in ("*", other.main):
            return False
        if self.sub in ("*", other.sub):
            return True
        return self.sub.startswith("*+") and other.sub.endswith(self.sub[1:])

    @property
    def precision(self) -> int:
        """The larger, the more exact: wildcards come last."""
        return 2 - (self.main == "*") - ("*" in self.sub)


def media_type_of(text: str) -> MediaType | None:
    """Media type of a header value or a key of the document; None when it is malformed."""
    match = _MEDIA_TYPE.fullmatch(text)
    if match is None:
        return None
    parameters = frozenset(
        (name.lower(), value.strip().strip('"').lower())
        for name, value in _PARAMETER.findall(match[3] or "")
    )
    return MediaType(match[1].lower(), match[2].lower(), parameters)


Value = TypeVar("Value")


def best_of(declared: Mapping[str, Value], received: MediaType) -> Value | None:
    """What is declared for the media type that fits best: the same parameters, then the fewest wildcards."""
    fitting = []
    for order, (spelling, value) in enumerate(declared.items()):
        wide = media_type_of(spelling)
        if wide is not None and wide.covers(received):
            same = len(wide.parameters & received.parameters) - len(
                wide.parameters - received.parameters
            )
            fitting.append((wide.precision, same, -order, value))
    return max(fitting, key=lambda one: one[:3])[3] if fitting else None
