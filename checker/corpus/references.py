"""Secrets of the user, and the references that are written in their place. A request that is sent again gets its secrets back."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from html.entities import codepoint2name
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from checker.core import curl
from checker.core.errors import MissingSecret
from checker.core.graphs import grouped
from checker.core.request import WireRequest, header_bytes
from checker.core.system import later_pattern


def _in_command(spell: Callable[[str], str], encode: Callable[[str], bytes], value: str) -> str:
    """Return a secret inside a word of a shell command."""
    return spell(curl.as_text(encode(value)))


_FORMS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "-quoted": lambda value: quote(value, safe="", errors="surrogatepass"),
    # As in URLs that leave reserved characters unescaped.
    "-reserved": lambda value: quote(value, ":/?#[]@!$&'()*+,;=", errors="surrogatepass"),
    "-json": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "-ascii": lambda value: json.dumps(value)[1:-1],
    # Headers are Latin-1, but records decode them as UTF-8, and commands cannot contain such bytes.
    "-latin": lambda value: header_bytes(value).decode("utf-8", "surrogateescape"),
    "-shown": lambda value: header_bytes(value).decode("utf-8", "replace"),
    **{
        f"-{name}{kind}": partial(_in_command, spell, encode)
        for name, spell in curl.SPELLINGS.items()
        for kind, encode in (("", lambda value: value.encode("utf-8", "surrogatepass")), ("latin", header_bytes))
    },
}
"""Spellings of a secret that are looked for: name of the spelling in a reference -> how a secret is spelled."""
REFERENCE = re.compile(rf"secret(?P<form>{'|'.join(sorted(filter(None, _FORMS)))})?:(?P<name>[A-Za-z]+:[^\s{{}}]+)")
"""Matches a reference: the spelling of the secret, if it is not the plain one, and the name."""
EMBEDDED_REFERENCE = re.compile(r"\{" + REFERENCE.pattern + r"\}")
_NOTHING = re.compile(r"(?!)")
_NUMBER = re.compile(r"\.[0-9]+\Z")
_MIN_EMBEDDED = 6
"""Shorter secrets are replaced only if they are the whole text or stand next to their name: a secret `a` would be found in nearly every body."""
_MIN_HALF = 4  # Length from which the start of a secret before a cut is masked.
_CUT = later_pattern(r"\.\.\.|\s*// Output truncated")  # Marks of a text that was cut before it was masked.
_RUN = later_pattern("[a-z0-9]+")
_WIDE: Final = {
    "utf-32-le": later_pattern(rb"(?:[^\0]\0{3}){4,}"),
    "utf-32-be": later_pattern(rb"(?:\0{3}[^\0]){4,}"),
    "utf-16-le": later_pattern(rb"(?:[^\0]\0){4,}"),
    "utf-16-be": later_pattern(rb"(?:\0[^\0]){4,}"),
}
"""Runs of characters up to U+00FF in the encodings that a body may have without naming them."""
_IN_PAIRS = frozenset(("query", "cookie", "parameter", "body"))  # Kinds of secrets that are written as `name=value`.


class _Search(Struct, frozen=True):
    """A search for secrets in a text."""

    pattern: re.Pattern[str]
    """Matches the known spellings of all secrets. One group for each of `loose` matches any other spelling of its value."""
    loose: tuple[str, ...]  # Names of the secrets of the groups, in order.
    hints: frozenset[str]
    """A text that contains none of these, in lower case, contains no secret: letters and digits have one spelling."""
    heads: Mapping[str, list[str]]  # First characters in lower case -> the spellings that begin with them.


def reference(name: str) -> str:
    """Return the text that is written instead of the secret `name`: `secret:header:Authorization`."""
    return f"secret:{name}"


class SecretStore:
    """Secrets of this run by name: `header:Authorization`, `env:TOKEN`, `auth:token`."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._needles: dict[str, str] = {}
        self._names: dict[str, str] = {}
        """Value -> the name that it was registered with first."""
        self._fields: list[str] = []
        self._search: _Search | None = None
        """The search for all secrets, built on demand; None after a change."""

    @property
    def values(self) -> frozenset[str]:
        return frozenset(self._names)

    def add(self, name: str, value: str) -> None:
        """Register a secret. References resolve to the value that was registered last under the name."""
        if not value:
            return
        if not REFERENCE.fullmatch(reference(name)):
            raise ValueError(f"{name!r} cannot name a secret: give a kind and a name, like header:X-Key")
        self._values[name] = value
        for form, spelled in _FORMS.items():
            # Earlier values of the name stay secret. The reference stands for the plainest spelling.
            text = spelled(value)
            if form == "" or text not in self._needles:
                self._needles[text] = f"secret{form}:{name}"
        if len(value) < _MIN_EMBEDDED:
            self._fields += _under_its_name(name, value)
        self._names.setdefault(value, name)
        self._search = None

    def forget(self, value: str) -> None:
        """Forget a secret, unless a reference still resolves to it. Short secrets stay."""
        if len(value) < _MIN_EMBEDDED or value in self._values.values():
            return
        for spell in _FORMS.values():
            self._needles.pop(spell(value), None)
        self._names.pop(value, None)
        self._search = None

    def mask(self, text: str) -> str:
        """Return a text with a reference in place of each secret, in any spelling. The start of a secret before a mark of a cut is replaced, too."""
        masked = self._replaced(text)
        ends = [mark.start() for mark in _CUT.finditer(masked)] if self._needles else []
        return self._without_halves(masked, ends) if ends else masked

    def hide(self, text: str, replacement: str) -> str:
        """Return a text for people, with a replacement in place of each secret."""
        masked = self.mask(text)
        return replacement if REFERENCE.fullmatch(masked) else EMBEDDED_REFERENCE.sub(lambda _: replacement, masked)

    def resolve(self, text: str) -> str:
        """Return a text with secrets in place of references. Raises `MissingSecret` with the name of an unknown secret."""
        if "secret" not in text:
            return text
        whole = REFERENCE.fullmatch(text)
        return self._value(whole) if whole else EMBEDDED_REFERENCE.sub(self._value, text)

    def mask_bytes(self, raw: bytes, charset: str | None = None, *, is_cut: bool = False) -> bytes:
        """Return bytes with references in place of secrets, searched in UTF-8, UTF-16, UTF-32 and the named charset.

        `is_cut`: the bytes are the beginning of a longer content and may end within a secret.
        """
        if not self._needles:
            return raw

        def mask(text: str) -> str:
            masked = self._replaced(text)
            return self._without_halves(masked, [len(masked)]) if is_cut else masked

        raw = _as_text(mask, raw)
        if charset is not None and not _holds_ascii(charset):
            with suppress(LookupError, ValueError):
                text = raw.decode(charset, "replace")
                masked = mask(text)
                raw = raw if masked == text else masked.encode(charset, "replace")
        if b"\0" in raw:
            for encoding, runs in _WIDE.items():
                raw = runs.sub(partial(_masked_run, mask, encoding), raw)
        return raw

    def resolve_bytes(self, raw: bytes) -> bytes:
        """Return the bytes with secrets in place of references. Raises `MissingSecret`."""
        return _as_text(self.resolve, raw) if b"secret" in raw else raw

    def resolve_request(self, request: WireRequest) -> WireRequest:
        """Return the request as it was sent. Raises `MissingSecret`."""
        resolve = self.resolve_bytes
        return WireRequest(
            request.method,
            resolve(request.target),
            [(name, resolve(value)) for name, value in request.headers],
            None if request.body is None else resolve(request.body),
        )

    def _replaced(self, text: str) -> str:
        whole = self._needles.get(text)
        if whole is not None:
            return whole
        search, lowered = self._search or self._compiled(), text.lower()
        if not any(hint in lowered for hint in search.hints):
            return text
        return search.pattern.sub(partial(self._reference_of, search.loose), text)

    def _reference_of(self, loose: Sequence[str], found: re.Match[str]) -> str:
        spelled = found.lastindex
        written = self._needles[found[0]] if spelled is None else reference(loose[spelled - 1])
        return "{" + written + "}"

    def _without_halves(self, text: str, ends: Sequence[int]) -> str:
        """Return a text with a reference in place of the start of a secret that ends at one of `ends`."""
        heads, lowered = (self._search or self._compiled()).heads, text.lower()
        near = [one for head, these in heads.items() if head in lowered for one in these]
        if not near:
            return text
        pieces: list[str] = []
        done = 0
        for end in ends:
            size, needle = max((_half_size(one, text[done:end]), one) for one in near)
            if size:
                pieces += text[done : end - size], "{" + self._needles[needle] + "}"
                done = end
        return "".join((*pieces, text[done:]))

    def _compiled(self) -> "_Search":
        # One pass, so that no secret is found inside a reference. Longest first, so that no part of a longer secret remains.
        embedded = [one for one in self._needles if len(one) >= _MIN_EMBEDDED]
        loose = [one for one in self._names if len(one) >= _MIN_EMBEDDED]
        for values in (embedded, loose):
            values.sort(key=len, reverse=True)
        choices = [*map(re.escape, embedded), *self._fields]
        choices += (f"({_any_spelling(one)})" for one in loose)
        self._search = _Search(
            re.compile("|".join(choices)) if choices else _NOTHING,
            tuple(self._names[one] for one in loose),
            frozenset(max(_RUN.findall(one.lower()), key=len, default="") for one in self._names),
            grouped((one[:_MIN_HALF].lower(), one) for one in embedded),
        )
        return self._search

    def _value(self, found: re.Match[str]) -> str:
        name = found["name"]
        if name not in self._values:
            raise MissingSecret(f"the recorded request needs the secret {name}, which is not given here")
        return _FORMS[found["form"] or ""](self._values[name])


def _under_its_name(name: str, value: str) -> Iterator[str]:
    """Yield patterns for a short secret next to its name, in headers of commands and in pairs. The name shows that the secret is meant."""
    kind, _, whole = name.partition(":")
    # Further values of one name are numbered.
    for field in {whole, _NUMBER.sub("", whole)}:
        if kind == "header":
            yield rf"(?<={re.escape(field)}: ){re.escape(value)}(?=')"
        if kind in _IN_PAIRS:
            for text in {value, _FORMS["-quoted"](value)}:
                yield rf"(?<={re.escape(field)}=){re.escape(text)}(?![^&;'\"\s#])"


@lru_cache(maxsize=1024)
def _any_spelling(value: str) -> str:
    """Return a pattern for a value in any letter case and with any mixture of URL, JSON and HTML escapes, also nested."""
    return f"(?i:{''.join(map(_spellings, value))})"


def _spellings(character: str) -> str:
    # Servers escape an echoed value several times, for example JSON inside HTML inside a URL.
    if character.isascii() and character.isalnum():
        return character
    code = ord(character)
    escaped = json.dumps(character)[1:-1] if code > 127 else f"\\u{code:04x}"
    backslash = _literal("\\")
    entity = f"(?:{_literal('#')}(?:0{{0,6}}{code}|x0{{0,6}}{code:x})|{codepoint2name.get(code, 'apos')})"
    ways = [
        f"{backslash}{{0,3}}{_literal(character)}",
        "".join(f"{backslash}{{1,4}}u{unit}" for unit in escaped.split("\\u")[1:]),
        f"{_literal('&')}(?:amp{_literal(';')}){{0,3}}{entity}{_literal(';')}",
    ]
    if character == " ":
        ways.append(r"\+")
    return f"(?:{'|'.join(ways)})"


def _literal(character: str) -> str:
    octets = character.encode("utf-8", "surrogatepass")
    return f"(?:{re.escape(character)}|{''.join(f'%(?:25){{0,3}}{octet:02x}' for octet in octets)})"


def _half_size(needle: str, text: str) -> int:
    """Return the number of characters at the end of a text that begin a secret; 0 if they are too few.

    The scheme of a header is not secret: `Bearer` may stand before a cut.
    """
    lowered, scheme = needle.lower(), needle.partition(" ")[0]
    least = _MIN_HALF
    if scheme.isalpha() and scheme != needle:
        least = max(least, len(scheme) + 2)
    end = text[-len(needle) :].lower()
    sizes = range(min(len(lowered) - 1, len(end)), least - 1, -1)
    return next((size for size in sizes if end.endswith(lowered[:size])), 0)


@lru_cache(maxsize=256)
def _holds_ascii(charset: str) -> bool:
    """Whether a charset encodes ASCII characters as themselves, so that secrets are found when it is read as UTF-8."""
    ascii_text = "".join(map(chr, range(32, 127)))
    try:
        return ascii_text.encode(charset) == ascii_text.encode()
    except (LookupError, ValueError):
        return True


def _masked_run(mask: Callable[[str], str], encoding: str, found: re.Match[bytes]) -> bytes:
    text = found[0].replace(b"\0", b"").decode("latin-1")
    masked = mask(text)
    return found[0] if masked == text else masked.encode(encoding)


def _as_text(change: Callable[[str], str], raw: bytes) -> bytes:
    return change(raw.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
