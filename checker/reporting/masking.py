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
from checker.core.graphs import grouped
from checker.core.redact import Redaction
from checker.core.request import WireRequest, readable_url
from checker.corpus.records import Component
from checker.corpus.references import EMBEDDED_REFERENCE, REFERENCE, SecretStore
from checker.corpus.secrets import user_in

_COMMAND = "curl "
_HEADER = re.compile(r"-H '(?P<name>[A-Za-z0-9._-]+): (?P<value>[^'\"\\$`!]*\{secret[^'\"\\$`!]*)'")
"""Matches a header in a command whose value contains a secret and no character that a shell interprets in double quotes."""
_URL = re.compile(r"'(?P<url>https?://[^'\"\\$`!]*\{secret[^'\"\\$`!]*)'")
"""Matches a URL with a secret in a command, without characters that a shell interprets in double quotes."""
_PAIR = re.compile(
    rf"(?<=[?&])(?P<name>[A-Za-z0-9._-]+)=(?P<value>{EMBEDDED_REFERENCE.pattern.replace('<name>', '<secret>')})(?=&|$)"
)
_SECRET = re.compile(rf"(?P<before>[A-Za-z]* ?){EMBEDDED_REFERENCE.pattern.replace('<name>', '<secret>')}")
Parts = tuple[Component, ...]  # Parts of a request. Values outside all parts may have any origin.


class Masking(Struct, frozen=True):
    """The masking of the requests of one run."""

    sanitization: Sanitization
    store: SecretStore  # The secrets behind references in records.
    credentials: tuple[str, ...] = ()
    """Places of credentials in the security schemes of the description: `header authorization`."""
    tokens: tuple[tuple[str, str, str], ...] = ()
    """(header, `cookie NAME` or `query NAME`, security scheme, text before the credentials) of the configured schemes."""
    location: str = "LOCATION"  # Location of the description, for commands that print credentials.
    has_variables: bool = True  # Whether secrets in headers and queries become shell variables.

    def rules(self, components: Parts = ()) -> Redaction:
        """Return the masking rules for a request with these parts. Without sanitisation they mask nothing."""
        return _rules(self.sanitization, self.credentials, components)

    def request(self, request: WireRequest, components: Parts) -> WireRequest:
        """Return a masked request. Without sanitisation it contains its secrets."""
        if not self.sanitization.enabled:
            with suppress(MissingSecret):
                return self.store.resolve_request(request)
            return request
        return self.rules(components).request(request)

    def command(self, text: str, components: Sequence[Parts] = ()) -> "ShownCommand":
        """Return a masked command, one line for each step. Without sanitisation it contains its secrets.

        `components` are the parts of the steps. Without them, every value may come from outside the description.
        """
        if not self.sanitization.enabled:
            with suppress(MissingSecret):
                return ShownCommand(self.store.resolve(text))
        lines = text.splitlines()
        # The command of a case that ended its worker is followed by further lines.
        steps = [line for line in lines if line.startswith(_COMMAND)]
        known = iter(components if len(components) == len(steps) else [()] * len(steps))
        shown = [self._line(line, self.rules(next(known) if line.startswith(_COMMAND) else ())) for line in lines]
        hidden = dict.fromkeys(place for line in shown for place in line.hidden)
        return ShownCommand("\n".join(line.text for line in shown), tuple(hidden))

    def variable_of(self, place: str, secret: str) -> tuple[str, str, str]:
        """Return (text before the secret, shell variable, bash command for the value) of a secret, such as `header:Authorization`.

        `place`: a header, `cookie NAME` or `query NAME`.
        """
        known = [one for one in self.tokens if one[0].lower() == place.lower()]
        known = [one for one in known if slug_of(one[1]) == slug_of(secret.partition(":")[2])] or known
        if len(known) != 1:
            field = place.split()[-1]
            variable = f"CHECKER_{slug_of(f'{user_in(secret, field)} {field}')}"
            return "", variable, f"{EXPORT}{variable}=..."
        _, scheme, before = known[0]
        alike = sorted({name for _, name, _ in self.tokens if slug_of(name) == slug_of(scheme)})
        number = f"_{alike.index(scheme) + 1}" if len(alike) > 1 else ""
        variable = f"CHECKER_TOKEN_{slug_of(scheme)}{number}"
        words = " ".join(map(curl.quoted_if_needed, (scheme, self.location)))
        return before, variable, f'{EXPORT}{variable}="$(checker auth token {words})"'

    def _line(self, line: str, redaction: Redaction) -> "ShownCommand":
        """Return a masked line. Secrets in headers and queries become shell variables, other secrets the replacement text."""
        written: dict[str, str] = {}
        pairs: dict[str, str] = {}
        exports: list[str] = []

        def part(place: str, text: str) -> str | None:
            found = _SECRET.fullmatch(text)
            before, variable, export = self.variable_of(place, "" if found is None else found["secret"])
            if found is None or found["before"] not in ("", before):
                return None
            exports.append(export)
            return f"{before}${variable}"

        def cookie(pair: str) -> str:
            name, _, value = pair.partition("=")
            known = part(f"cookie {name}", value)
            return redaction.headers([("Cookie", pair)])[0][1] if known is None else f"{name}={known}"

        def as_variable(found: re.Match[str]) -> str:
            name, value = found["name"], found["value"]
            known, text = len(exports), part(name, value)
            if text is None and name.lower() == "cookie":
                text = "; ".join(map(cookie, value.split("; ")))
            if text is None or len(exports) == known:
                return found[0]
            empty = f"-H '{name}: '"
            written[empty] = f'-H "{name}: {text}"'
            return empty

        def pair(found: re.Match[str]) -> str:
            # A shell variable cannot be spelled in another way.
            text = None if found["form"] else part(f"query {found['name']}", found["value"])
            if text is None:
                return found[0]
            # A space in a URL is escaped, so that nothing else looks like this.
            mark = f"{{variable {len(pairs)}}}"
            pairs[mark] = f"{found['name']}={text}"
            return mark

        if self.has_variables and line.startswith(_COMMAND):
            line = _HEADER.sub(as_variable, line)
            line = _URL.sub(lambda found: f"'{_PAIR.sub(pair, found['url'])}'", line)
        places = [found["name"].replace(":", " ", 1) for found in EMBEDDED_REFERENCE.finditer(line)]
        text = EMBEDDED_REFERENCE.sub(lambda _: redaction.replacement, line)
        if line.startswith(_COMMAND):
            places += redaction.places(curl.parse(line)[0])
            text = curl.redacted(text, redaction)
            if text != line and not places:
                places = ["credentials in the URL"]
        for empty, header in written.items():
            text = text.replace(empty, header)
        for mark, known in pairs.items():
            text = re.sub(rf"""['"]([^'"]*){re.escape(mark)}([^'"]*)['"]""", rf'"\g<1>{known}\g<2>"', text)
        return ShownCommand(text, (*exports, *places))


@lru_cache(maxsize=256)
def _rules(sanitization: Sanitization, credentials: tuple[str, ...], components: Parts) -> Redaction:
    """Return cached rules, because a cassette needs them for each interaction."""
    if not sanitization.enabled:
        return Redaction(frozenset(), (), sanitization.replacement)
    every = replace(sanitization.redaction, credentials=frozenset(credentials))
    return every.knowing({one.location: one.outside for one in components})


def by_name(headers: Iterable[tuple[str, str]], replacement: str) -> dict[str, list[str]]:
    """Return name -> values in order. References to secrets are always replaced."""
    return grouped((name, replacement if REFERENCE.search(value) else value) for name, value in headers)


def masked_url(url: str, sanitization: Sanitization) -> str:
    """Return a URL without user info and sensitive query values, and with a socket in its readable form."""
    return readable_url(sanitization.redaction.url(url) if sanitization.enabled else url)


class ShownCommand(Struct, frozen=True):
    """A masked command."""

    text: str
    hidden: tuple[str, ...] = ()
    """Commands that set variables for credentials of security schemes (`blocks.EXPORT`), and the places of other masked values."""


def slug_of(scheme: str) -> str:
    """Return the name of a security scheme, header or cookie as names of environment variables contain it: `MY_KEY`."""
    return re.sub("[^A-Z0-9]+", "_", scheme.upper()).strip("_")


Shown = Callable[[str, Sequence[Parts]], ShownCommand]  # Masks a recorded command, given the parts of its steps.


def unmasked(text: str, components: Sequence[Parts] = ()) -> ShownCommand:
    """Return a command unmasked."""
    return ShownCommand(text)
