"""Masking in cassettes and on screens: values of sensitive names, secrets, and credentials in URLs."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from msgspec import Struct

from checker.config.settings import Sanitization
from checker.core import curl
from checker.core.blocks import EXPORT
from checker.core.errors import MissingSecret
from checker.core.redact import Redaction
from checker.core.request import WireRequest, readable_url
from checker.corpus.records import Component
from checker.corpus.references import EMBEDDED_REFERENCE, REFERENCE, SecretStore

_COMMAND = "curl "
_HEADER = re.compile(
    rf"-H '(?P<name>[A-Za-z0-9._-]+): (?P<before>[A-Za-z]* ?){EMBEDDED_REFERENCE.pattern.replace('<name>', '<secret>')}'"
)
"""Matches a header of a command whose value is a secret."""
Parts = tuple[Component, ...]
"""Parts of a request. The origin of values outside all parts is unknown."""


class Masking(Struct, frozen=True):
    """The masking of the requests of one run."""

    sanitization: Sanitization
    store: SecretStore
    """The secrets behind references in records."""
    credentials: tuple[str, ...] = ()
    """Places of credentials in the security schemes of the description: `header authorization`."""
    tokens: tuple[tuple[str, str, str], ...] = ()
    """(header, security scheme, text before the credentials) of the configured schemes."""
    location: str = "LOCATION"
    """Location of the description in commands that print credentials."""

    def rules(self, components: Parts = ()) -> Redaction:
        """Return the rules for a request with these parts. Without sanitisation they mask nothing."""
        return _rules(self.sanitization, self.credentials, components)

    def request(self, request: WireRequest, components: Parts) -> WireRequest:
        """Return a masked request; with its secrets if nothing is sanitised."""
        if not self.sanitization.enabled:
            with suppress(MissingSecret):
                return self.store.resolve_request(request)
            return request
        return self.rules(components).request(request)

    def command(self, text: str, components: Sequence[Parts] = ()) -> "ShownCommand":
        """Return a masked command, one line for each step; with its secrets if nothing is sanitised.

        `components` are the parts of the steps. Without them every value may come from outside the description.
        """
        if not self.sanitization.enabled:
            with suppress(MissingSecret):
                return ShownCommand(self.store.resolve(text))
        lines = text.splitlines()
        # Further lines follow the command of a case that ended its worker.
        steps = [line for line in lines if line.startswith(_COMMAND)]
        known = iter(components if len(components) == len(steps) else [()] * len(steps))
        shown = [self._line(line, self.rules(next(known) if line.startswith(_COMMAND) else ())) for line in lines]
        hidden = dict.fromkeys(place for line in shown for place in line.hidden)
        return ShownCommand("\n".join(line.text for line in shown), tuple(hidden))

    def token_of(self, header: str, secret: str) -> tuple[str, str] | None:
        """Return (security scheme, text before the credentials) of a header with a secret, such as `header:Authorization`; None if unknown."""
        known = [one for one in self.tokens if one[0].lower() == header.lower()]
        known = [one for one in known if slug_of(one[1]) == slug_of(secret.partition(":")[2])] or known
        return known[0][1:] if len(known) == 1 else None

    def _line(self, line: str, redaction: Redaction) -> "ShownCommand":
        """Return a masked line. Credentials of security schemes become variables of the shell, other secrets the replacement."""
        written: dict[str, str] = {}
        exports: list[str] = []

        def as_variable(found: re.Match[str]) -> str:
            name = found["name"]
            known = self.token_of(name, found["secret"])
            if known is None or found["before"] not in ("", known[1]):
                return found[0]
            scheme, before = known
            variable = token_variable(scheme)
            words = " ".join(map(curl.quoted_if_needed, (scheme, self.location)))
            exports.append(f'{EXPORT}{variable}="$(checker auth token {words})"')
            empty = f"-H '{name}: '"
            written[empty] = f'-H "{name}: {before}${variable}"'
            return empty

        shown = _shown_line(_HEADER.sub(as_variable, line) if line.startswith(_COMMAND) else line, redaction)
        text = shown.text
        for empty, header in written.items():
            text = text.replace(empty, header)
        return ShownCommand(text, (*exports, *shown.hidden))


@lru_cache(maxsize=256)
def _rules(sanitization: Sanitization, credentials: tuple[str, ...], components: Parts) -> Redaction:
    """Return cached rules, because a cassette needs them for each interaction."""
    if not sanitization.enabled:
        return Redaction(frozenset(), (), sanitization.replacement)
    every = replace(sanitization.redaction, credentials=frozenset(credentials))
    return every.knowing({one.location: one.outside for one in components})


def by_name(headers: Iterable[tuple[str, str]], replacement: str) -> dict[str, list[str]]:
    """Return name -> values in order. References to secrets are always replaced."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        shown = replacement if REFERENCE.search(value) else value
        found.setdefault(name, []).append(shown)
    return found


def masked_url(url: str, sanitization: Sanitization) -> str:
    """Return a URL without user info and sensitive query values, and with a socket in its readable form."""
    return readable_url(sanitization.redaction.url(url) if sanitization.enabled else url)


class ShownCommand(Struct, frozen=True):
    """A masked command."""

    text: str
    hidden: tuple[str, ...] = ()
    """Commands that set variables for credentials of security schemes (`blocks.EXPORT`), and places of other masked values."""


def token_variable(scheme: str) -> str:
    """Return the variable of the shell with the credentials of a security scheme: `CHECKER_TOKEN_MY_KEY`."""
    return f"CHECKER_TOKEN_{slug_of(scheme)}"


def slug_of(scheme: str) -> str:
    """Return the part of the name of a variable that stands for a security scheme: `MY_KEY`."""
    return re.sub("[^A-Z0-9]+", "_", scheme.upper()).strip("_")


Shown = Callable[[str, Sequence[Parts]], ShownCommand]
"""Masks a recorded command, given the parts of its steps."""


def unmasked(text: str, components: Sequence[Parts] = ()) -> ShownCommand:
    """Return a command unmasked."""
    return ShownCommand(text)


def _shown_line(line: str, redaction: Redaction) -> ShownCommand:
    places = [found["name"].replace(":", " ", 1) for found in EMBEDDED_REFERENCE.finditer(line)]
    unreferenced = EMBEDDED_REFERENCE.sub(lambda _: redaction.replacement, line)
    if not line.startswith(_COMMAND):
        return ShownCommand(unreferenced, tuple(places))
    places += redaction.places(curl.parse(line)[0])
    shown = curl.redacted(unreferenced, redaction)
    if shown != line and not places:
        places = ["credentials in the URL"]
    return ShownCommand(shown, tuple(places))
