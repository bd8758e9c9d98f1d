"""References in place of secrets that came from outside: records hold the reference, never the secret.

Whatever is sent again gets its secrets back.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from urllib.parse import quote

from checker.core import shell
from checker.core.errors import MissingSecret
from checker.core.request import WireRequest


def _as_latin(value: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        # No header can hold it.
        return value.encode("utf-8", "surrogatepass")


def _as_utf8(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _in_command(spell: Callable[[str], str], encode: Callable[[str], bytes], value: str) -> str:
    """A secret inside a word of a shell command."""
    return spell(shell.as_text(encode(value)))


_FORMS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "-quoted": lambda value: quote(value, safe="", errors="surrogatepass"),
    # As it stands in a URL where reserved characters need not be encoded.
    "-reserved": lambda value: quote(value, ":/?#[]@!$&'()*+,;=", errors="surrogatepass"),
    "-json": lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
    "-ascii": lambda value: json.dumps(value)[1:-1],
    # Headers are Latin-1, and what is written takes them for UTF-8; commands cannot even say them.
    "-latin": lambda value: _as_latin(value).decode("utf-8", "surrogateescape"),
    "-shown": lambda value: _as_latin(value).decode("utf-8", "replace"),
    **{
        f"-{name}{kind}": partial(_in_command, spell, encode)
        for name, spell in shell.SPELLINGS.items()
        for kind, encode in (("", _as_utf8), ("latin", _as_latin))
    },
}
"""Spellings of a secret that are looked for: name of the spelling in a reference -> how a secret is spelled."""
REFERENCE = re.compile(
    rf"secret(?P<form>{'|'.join(sorted(filter(None, _FORMS)))})?:(?P<name>[A-Za-z]+:[^\s{{}}]+)"
)
"""Matches a reference: the spelling of the secret, if it is not the plain one, and the name."""
EMBEDDED_REFERENCE = re.compile(r"\{" + REFERENCE.pattern + r"\}")
_NOTHING = re.compile(r"(?!)")
_NUMBER = re.compile(r"\.[0-9]+\Z")
_MIN_EMBEDDED = 6
"""Shorter values are replaced only where they are the whole text, or stand under their name: `a` stands in nearly every body."""
_IN_PAIRS = frozenset(("query", "cookie", "parameter", "body"))
"""Kinds of secrets that are written as `name=value`."""


def reference(name: str) -> str:
    """Return the text that is written in place of the secret `name`: `secret:header:Authorization`."""
    return f"secret:{name}"


class SecretStore:
    """Secrets of this run by name: `header:Authorization`, `env:TOKEN`, `auth:token`."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._needles: dict[str, str] = {}
        self._fields: list[str] = []
        self._pattern: re.Pattern[str] | None = _NOTHING
        """The compiled pattern of all secrets; None: it has to be made again."""

    def add(self, name: str, value: str) -> None:
        """Register a secret. References resolve to the value that was registered last under its name."""
        if not value:
            return
        if not REFERENCE.fullmatch(reference(name)):
            raise ValueError(
                f"{name!r} cannot name a secret: give a kind and a name, like header:X-Key"
            )
        self._values[name] = value
        for form, spelled in _FORMS.items():
            # Earlier values stay secret; the plainest spelling is the one that is put back.
            text = spelled(value)
            if form == "" or text not in self._needles:
                self._needles[text] = f"secret{form}:{name}"
        if len(value) < _MIN_EMBEDDED:
            self._fields += _under_its_name(name, value)
        self._pattern = None

    def forget(self, value: str) -> None:
        """Forget a secret, unless a reference still resolves to it. Secrets shorter than the limit stay."""
        if len(value) < _MIN_EMBEDDED or value in self._values.values():
            return
        for spell in _FORMS.values():
            self._needles.pop(spell(value), None)
        self._pattern = None

    def mask(self, text: str) -> str:
        """Text with a reference in place of each secret; what is written goes through here."""
        whole = self._needles.get(text)
        if whole is not None:
            return whole
        pattern = self._pattern or self._compiled()
        return pattern.sub(lambda found: "{" + self._needles[found[0]] + "}", text)

    def hide(self, text: str, replacement: str) -> str:
        """Text for people, with a replacement in place of each secret."""
        masked = self.mask(text)
        if REFERENCE.fullmatch(masked):
            return replacement
        return EMBEDDED_REFERENCE.sub(lambda _: replacement, masked)

    def resolve(self, text: str) -> str:
        """Text with the secrets back in place. Raises `MissingSecret` that names the one we do not have."""
        if "secret" not in text:
            return text
        whole = REFERENCE.fullmatch(text)
        return self._value(whole) if whole else EMBEDDED_REFERENCE.sub(self._value, text)

    def mask_bytes(self, raw: bytes) -> bytes:
        """Bytes with references in place of secrets, whatever their encoding."""
        return _as_text(self.mask, raw) if self._needles else raw

    def resolve_bytes(self, raw: bytes) -> bytes:
        """Bytes with secrets in place of references. Raises `MissingSecret`."""
        return _as_text(self.resolve, raw) if b"secret" in raw else raw

    def resolve_request(self, request: WireRequest) -> WireRequest:
        """The request as it was sent. Raises `MissingSecret`."""
        resolve = self.resolve_bytes
        return WireRequest(
            request.method,
            resolve(request.target),
            [(name, resolve(value)) for name, value in request.headers],
            None if request.body is None else resolve(request.body),
        )

    def _compiled(self) -> re.Pattern[str]:
        # One pass, lest a secret be found inside a reference; longest first, lest one be left in pieces.
        embedded = sorted((one for one in self._needles if len(one) >= _MIN_EMBEDDED), key=len)
        choices = [*map(re.escape, reversed(embedded)), *self._fields]
        self._pattern = re.compile("|".join(choices)) if choices else _NOTHING
        return self._pattern

    def _value(self, found: re.Match[str]) -> str:
        name = found["name"]
        if name not in self._values:
            raise MissingSecret(
                f"the recorded request needs the secret {name}, which is not given here"
            )
        return _FORMS[found["form"] or ""](self._values[name])


def _under_its_name(name: str, value: str) -> Iterator[str]:
    """Patterns for a short secret where its name says that it is meant: as commands spell a header, as pairs are."""
    kind, _, whole = name.partition(":")
    # Further values of one name are numbered.
    for field in {whole, _NUMBER.sub("", whole)}:
        if kind == "header":
            yield rf"(?<={re.escape(field)}: ){re.escape(value)}(?=')"
        if kind in _IN_PAIRS:
            for text in {value, _FORMS["-quoted"](value)}:
                yield rf"(?<={re.escape(field)}=){re.escape(text)}(?![^&;'\"\s#])"


def _as_text(change: Callable[[str], str], raw: bytes) -> bytes:
    return change(raw.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
