"""What cassettes and screens do not show: values of sensitive names, and credentials in URLs."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from checker.config.settings import Sanitization
from checker.core import curl
from checker.core.errors import MissingSecret
from checker.core.redact import Redaction
from checker.core.references import EMBEDDED_REFERENCE, REFERENCE, SecretStore

_COMMAND = "curl "


@lru_cache(maxsize=8)
def redaction_of(sanitization: Sanitization) -> Redaction:
    """The rules of these settings; they mask nothing when sanitisation is off."""
    if not sanitization.enabled:
        return Redaction(frozenset(), (), sanitization.replacement)
    return sanitization.redaction


def masked_headers(
    headers: Iterable[tuple[str, str]], redaction: Redaction
) -> dict[str, list[str]]:
    """Name -> values in order, names as they were sent. References to secrets are masked in any case."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        hidden = value.strip() and (REFERENCE.search(value) or redaction.is_sensitive(name))
        found.setdefault(name, []).append(redaction.replacement if hidden else value)
    return found


def masked_url(url: str, sanitization: Sanitization) -> str:
    """URL without user info and values of sensitive query names; the rest is the same, byte for byte."""
    return redaction_of(sanitization).url(url) if sanitization.enabled else url


@dataclass(frozen=True, slots=True)
class ShownCommand:
    """A recorded command as a reader may see it."""

    text: str
    hidden: tuple[str, ...] = ()
    """Places where it shows less than what was sent."""


def shown_command(text: str, sanitization: Sanitization, store: SecretStore) -> ShownCommand:
    """A recorded command, one line for each step: secrets in place if nothing is sanitised.

    Else the replacement stands where they stood, and for the values of sensitive names (requirement 24): whatever they
    are, and whoever made them.
    """
    if not sanitization.enabled:
        with suppress(MissingSecret):
            return ShownCommand(store.resolve(text))
    lines = [_shown_line(line, sanitization) for line in text.splitlines()]
    hidden = dict.fromkeys(place for line in lines for place in line.hidden)
    return ShownCommand("\n".join(line.text for line in lines), tuple(hidden))


def _shown_line(line: str, sanitization: Sanitization) -> ShownCommand:
    redaction = redaction_of(sanitization)
    places = [found["name"].replace(":", " ", 1) for found in EMBEDDED_REFERENCE.finditer(line)]
    unreferenced = EMBEDDED_REFERENCE.sub(lambda _: sanitization.replacement, line)
    if not line.startswith(_COMMAND):
        # Under the command of a case that ended its worker stands what is known beside it.
        return ShownCommand(unreferenced, tuple(places))
    places += redaction.places(curl.parse(line)[0])
    shown = curl.redacted(unreferenced, redaction)
    if shown != line and not places:
        places = ["credentials in the URL"]
    return ShownCommand(shown, tuple(places))
