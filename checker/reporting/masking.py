"""Masking in cassettes and on screens: values of sensitive names, secrets, and credentials in URLs."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache

from msgspec import Struct

from checker.config.settings import Sanitization
from checker.core import curl
from checker.core.errors import MissingSecret
from checker.core.redact import Redaction
from checker.core.request import WireRequest, readable_url
from checker.corpus.records import Component
from checker.corpus.references import EMBEDDED_REFERENCE, REFERENCE, SecretStore

_COMMAND = "curl "
Parts = tuple[Component, ...]
"""Parts of a request. The origin of values outside all parts is unknown."""


class Masking(Struct, frozen=True):
    """The masking of the requests of one run."""

    sanitization: Sanitization
    store: SecretStore
    """The secrets behind references in records."""
    credentials: tuple[str, ...] = ()
    """Places of credentials in the security schemes of the description: `header authorization`."""

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
        shown = [_shown_line(line, self.rules(next(known) if line.startswith(_COMMAND) else ())) for line in lines]
        hidden = dict.fromkeys(place for line in shown for place in line.hidden)
        return ShownCommand("\n".join(line.text for line in shown), tuple(hidden))


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
    """Places with masked values."""


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
