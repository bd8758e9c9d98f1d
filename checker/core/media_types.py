"""Media types (RFC 9110, 8.3.1): read, compared, matched with wildcards."""

import re
from collections.abc import Mapping
from encodings import normalize_encoding
from functools import lru_cache
from typing import TypeVar

from msgspec import Struct, field

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_ESSENCE = re.compile(rf"\s*({_TOKEN})/({_TOKEN})\s*(?=;|$)")
_PARAMETER = re.compile(rf";\s*(?:({_TOKEN})=({_TOKEN}|\"(?:[^\"\\]|\\.)*\"))?\s*(?=;|$)")
_LENIENT = re.compile(rf"\s*({_TOKEN})/({_TOKEN})\s*(?:;(.*))?", re.DOTALL)
# The lookbehind and the possessive quantifiers keep the search linear.
_LENIENT_PARAMETER = re.compile(rf"(?<!{_TOKEN[:-1]})({_TOKEN}+)\s*+=\s*+(\"(?:[^\"\\]|\\.)*\"|[^;]*)")
_ESCAPED = re.compile(r"\\(.)")
_JSON_ESSENCES = frozenset(("application/json", "text/json", "application/x-json"))

_NOT_CHARSETS = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})
"""Names of Python codecs that no server means."""
_LONGEST_CHARSET = 40
_YAML_ESSENCES = frozenset(("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/vnd.yaml"))


Value = TypeVar("Value")


class MediaType(Struct, frozen=True):
    """A media type or a range of them, lower case."""

    type: str
    subtype: str
    parameters: Mapping[str, str] = field(default_factory=dict)  # Names in lower case, values as given, without quotes.

    @property
    def essence(self) -> str:
        """`application/json`, without parameters."""
        return f"{self.type}/{self.subtype}"

    @property
    def charset(self) -> str | None:
        """Character encoding, if one is named."""
        name = self.parameters.get("charset")
        return name if name and is_charset(name) else None

    @property
    def precision(self) -> int:
        """A number that is larger for more exact types. Wildcards have the least."""
        return 2 - (self.type == "*") - ("*" in self.subtype)

    def names(self, other: "MediaType") -> bool:
        """Whether `other` falls under this type. Parameters are ignored."""
        is_of_suffix = self.subtype.startswith("*+") and other.subtype.endswith(self.subtype[1:])
        return self.type in ("*", other.type) and (self.subtype in ("*", other.subtype) or is_of_suffix)

    def covers(self, other: "MediaType") -> bool:
        """Whether `other` falls under this type; `*` stands for any part, `*+json` for any JSON subtype.

        `other` must have the parameters of this type; further parameters do not matter.
        """
        if not self.names(other):
            return False
        for name, wide in self.parameters.items():
            narrow = other.parameters.get(name)
            if narrow is None or (wide.lower() != narrow.lower() if name == "charset" else wide != narrow):
                return False
        return True


@lru_cache(maxsize=1024)
def parse(text: str) -> MediaType | None:
    """Return the media type that a text names; None if it is malformed."""
    found = _ESSENCE.match(text)
    if found is None:
        return None
    parameters: dict[str, str] = {}
    position = found.end()
    while position < len(text):
        parameter = _PARAMETER.match(text, position)
        if parameter is None:
            return None
        position = parameter.end()
        name, value = parameter.groups()
        if name is not None:
            if value.startswith('"'):
                value = _ESCAPED.sub(r"\1", value[1:-1])
            parameters.setdefault(name.lower(), value)
    return MediaType(found[1].lower(), found[2].lower(), parameters)


# The size is limited because long ones could fill the memory.
@lru_cache(maxsize=256)
def media_type_of(text: str) -> MediaType | None:
    """Return the media type of a text, with parameters as far as they can be read, values in lower case.

    This is for texts of other programs. None only if there is no type at all.
    """
    found = _LENIENT.fullmatch(text)
    if found is None:
        return None
    parameters = {
        name.lower(): value.strip().strip('"').lower() for name, value in _LENIENT_PARAMETER.findall(found[3] or "")
    }
    return MediaType(found[1].lower(), found[2].lower(), parameters)


def is_charset(name: str) -> bool:
    """Whether a name may be that of a character encoding. Decoding with other names may raise any exception."""
    return (
        len(name) <= _LONGEST_CHARSET
        and name.isascii()
        and name.isprintable()
        # Python ignores punctuation around the name of a codec.
        and normalize_encoding(name).lower() not in _NOT_CHARSETS
    )


def best_of(declared: Mapping[str, Value], received: MediaType) -> Value | None:
    """Return the declared value for the media type that fits best: the same parameters, then the fewest wildcards."""
    fitting = []
    for order, (spelling, value) in enumerate(declared.items()):
        wide = media_type_of(spelling)
        if wide is not None and wide.names(received):
            mine, theirs = set(wide.parameters.items()), set(received.parameters.items())
            same = len(mine & theirs) - len(mine - theirs)
            fitting.append((wide.precision, same, -order, value))
    return max(fitting, key=lambda one: one[:3])[3] if fitting else None


def matches(declared: str, received: str) -> bool:
    """Whether `received` falls under the declared type; false if either is malformed."""
    wide, narrow = parse(declared), parse(received)
    return wide is not None and narrow is not None and wide.covers(narrow)


def is_json(text: str) -> bool:
    """Whether a media type is JSON or based on it (`+json`), with any parameters, even malformed ones."""
    parsed = media_type_of(text)
    return parsed is not None and (parsed.essence in _JSON_ESSENCES or parsed.subtype.endswith("+json"))


def is_yaml(text: str) -> bool:
    """Whether a media type is YAML under any of its names, `+yaml` included."""
    parsed = media_type_of(text)
    return parsed is not None and (parsed.essence in _YAML_ESSENCES or parsed.subtype.endswith("+yaml"))


def is_xml(text: str) -> bool:
    """Whether a media type is XML or based on it (`+xml`), with any parameters."""
    parsed = media_type_of(text)
    return parsed is not None and (parsed.essence in ("application/xml", "text/xml") or parsed.subtype.endswith("+xml"))


def is_form(text: str) -> bool:
    """Whether a media type is `application/x-www-form-urlencoded`."""
    parsed = media_type_of(text)
    return parsed is not None and parsed.essence == "application/x-www-form-urlencoded"


_LINES = frozenset(("jsonl", "x-ndjson", "ndjson", "x-jsonlines", "jsonlines", "x-jsonl"))


def stream_of(parsed: MediaType) -> str:
    """Return how a media type separates consecutive values: `lines`, `records` or `events`; empty if it does not.

    Each line is JSON, each record a JSON text after a separator (RFC 7464), each event a server-sent event.
    """
    if parsed.essence == "text/event-stream":
        return "events"
    if parsed.subtype in _LINES or parsed.subtype.endswith("+jsonl"):
        return "lines"
    return "records" if parsed.subtype == "json-seq" or parsed.subtype.endswith("+json-seq") else ""


def is_multipart(text: str) -> bool:
    """Whether a media type is `multipart/form-data` or another multipart type."""
    parsed = media_type_of(text)
    return parsed is not None and parsed.type == "multipart"
