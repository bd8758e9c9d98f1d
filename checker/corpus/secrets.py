"""Secrets that must not reach the disk, wherever a user may put them, and records of requests without them."""

import os
import re
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, TypeVar
from urllib.parse import unquote, unquote_plus, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checker.config.auth import Authentication, WfcUser, secret_pairs, users_of
from checker.config.settings import RunSettings, sensitive_overrides
from checker.core.credentials import Credentials
from checker.core.media_types import media_type_of
from checker.core.meta import Step
from checker.core.providers import plain_data
from checker.core.redact import Redaction
from checker.core.request import WireRequest
from checker.core.response import CONTENT_ENCODING, Outcome, Response, codings_of, head_of, readable
from checker.corpus import records
from checker.corpus.records import Exchange
from checker.corpus.references import SecretStore

_Value = TypeVar("_Value")
_DEFAULT: Final = Redaction()
# Configured like secrets, but sent by most clients.
_HARMLESS: Final = frozenset(("accept", "accept-encoding", "accept-language", "content-type", "user-agent"))
_SCHEMES: Final = frozenset(("basic", "bearer", "digest", "negotiate", "token"))
"""Authentication schemes before credentials, in any header."""
_MARKERS: Final = ("assertion", "jwt", "signature")
"""Parts of header names that mark credentials, in addition to those that are masked in generated requests."""
_JWT: Final = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]*")  # A JSON web token (RFC 7519, 3).
_UNFIT: Final = re.compile(r"[\s{}]")  # Characters that are not allowed in the name of a reference.
_MOST_PASSING: Final = 16
"""Number of credentials from sources that are masked. Each one makes masking slower, and older ones are no longer used."""
_WORD_LIST: Final = 20  # A dictionary with more entries is test data, whatever it is bound to.
_NAMES_ALONE: Final[frozenset[type[records.Record]]] = frozenset(
    (
        *(records.OperationProbed, records.OperationsSelected, records.ResourceChanged, records.SignalsSeen),
        *(records.TaskProgress, records.ValueGone, records.ValueSeen),
    )
)
"""Records of names and numbers, and of values that are no secrets. There are thousands of such records."""
_KEPT: Final = frozenset(
    (
        *("case", "cause", "check", "code", "document", "fingerprint", "label", "labels", "name", "phase"),
        *("run", "same_as", "settings", "stage", "state", "steps", "task"),
    )
)
"""Fields that identify records, recipes (concealed separately), and states of users' checks."""
_HOST: Final = re.compile(r"(\A[a-z+]+://(?:[^/?#]*@)?)([^/?#@]+)(.*)\Z", re.ASCII | re.DOTALL | re.IGNORECASE)
"""Matches a URL: the text before the host, the host with its port, and the rest."""


class Secrets:
    """Credentials of a run. Secrets are written as references such as `secret:header:Authorization`."""

    def __init__(self, headers: Iterable[tuple[str, str]] = (), redaction: Redaction = _DEFAULT) -> None:
        self.store = SecretStore()
        self.is_empty = True
        self.redaction = redaction
        """The masking rules for URLs in response headers of the server."""
        self.configured: frozenset[str] = frozenset()
        """Values that the user configured. These secrets keep their names and are never forgotten."""
        self._passing: deque[Credentials] = deque()
        """Credentials from credential sources and calls of user code, oldest first."""
        for name, value in headers:
            self.add_header(name, value)

    def add_header(self, name: str, value: str, *, number: int = 0, owner: str = "") -> None:
        """Register the value of a header from configuration, environment or a token response as a secret.

        `number` distinguishes further values of one name, `owner` the headers of logins and users from those of all requests.
        """
        if not value or name.lower() in _HARMLESS:
            return
        name = f"{owner}.{name}" if owner else name
        name = f"{name}.{number}" if number else name
        scheme, space, credentials = value.partition(" ")
        if space and scheme.isalpha():
            # A server that echoes a token omits its scheme.
            self.add("credentials", name, credentials)
        self.add("header", name, value)

    def add_headers(self, headers: Iterable[tuple[str, str]]) -> None:
        """Register the values of headers as secrets. Of several values of one name, the first has the plain name."""
        values: dict[str, list[str]] = {}
        for name, value in headers:
            known = values.setdefault(name.lower(), [])
            if value not in known:
                self.add_header(name, value, number=len(known))
                known.append(value)

    def add_credentials(self, found: Credentials, *, owner: str = "") -> None:
        """Register the credentials of a source, and forget the oldest ones. `owner` as in `add_header`."""
        if found in self._passing:
            # Move to the end of the queue: the credentials that were unused for longest are forgotten first.
            self._passing.remove(found)
            self._passing.append(found)
            return
        self._passing.append(found)
        for name, value in found.headers.items():
            self.add_header(name, value, owner=owner)
        held = secret_pairs(plain_data(found.data))
        for kind, given in (("query", found.query.items()), ("cookie", found.cookies.items()), ("auth", held)):
            for name, value in given:
                self.add(kind, name, value)
        if len(self._passing) > _MOST_PASSING:
            past = _values_of(self._passing.popleft())
            for value in past.difference(self.configured, *map(_values_of, self._passing)):
                self.store.forget(value)

    def add(self, kind: str, name: str, value: str) -> None:
        """Register a value that is no header."""
        if value and value not in self.configured:
            self.is_empty = False
            self.store.add(f"{kind}:{_UNFIT.sub('_', name) or '_'}", value)

    def add_url(self, kind: str, url: str, redaction: Redaction) -> str:
        """Register user info and values of sensitive names in a URL. Return the header value that is sent for user info; empty without user info."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return ""
        for pair in parts.query.split("&"):
            name, _, value = pair.partition("=")
            if redaction.is_sensitive(unquote_plus(name)):
                self._add_spelled(kind, unquote_plus(name), value)
        userinfo = parts.netloc.rpartition("@")[0]
        if not userinfo:
            return ""
        user, _, password = userinfo.partition(":")
        self._add_spelled(kind, "credentials", password or user)
        encoded = b64encode(unquote(f"{user}:{password}").encode()).decode()
        self.add(kind, "basic", encoded)
        return f"Basic {encoded}"

    def holds(self, text: str) -> bool:
        return not self.is_empty and self.store.mask(text) != text

    def is_in(self, value: object) -> bool:
        """Whether a secret is anywhere in a value: in a text, in bytes, or in the items, members and names of a container."""
        if self.is_empty:
            return False
        left = [value]
        while left:
            match left.pop():
                case str(text):
                    if self.holds(text):
                        return True
                case bytes(raw):
                    if self.store.mask_bytes(raw) != raw:
                        return True
                case Mapping() as members:
                    left += (*members.keys(), *members.values())
                case list() | tuple() as items:
                    left += items
                case Struct() as fields:
                    left += (getattr(fields, name) for name in fields.__struct_fields__)
                case _:
                    # Numbers, truth values, nothing.
                    pass
        return False

    def conceal(self, record: records.Record) -> records.Record:
        """Return the record as it may be written, with references in place of secrets in all texts and bytes."""
        if self.is_empty or type(record) in _NAMES_ALONE:
            return record
        if isinstance(record, records.Finding | records.CorpusEntry | records.Quarantined):
            steps = tuple(map(self._concealed, record.steps))
            if steps != record.steps:
                record = replace(record, steps=steps)
        elif isinstance(record, records.DemandHeard) and self.is_in(record.refused):
            record = replace(record, refused=())
        return self.masked(record)

    def masked(self, value: _Value) -> _Value:
        """Return a value with references in place of secrets in its texts and bytes; the value itself if it contains none."""
        found: Any = value
        match value:
            case str():
                found = self.store.mask(value)
            case bytes():
                found = self.store.mask_bytes(value)
            case tuple():
                found = tuple(map(self.masked, value))
            case Struct():
                fields = ((name, getattr(value, name)) for name in value.__struct_fields__)
                given = {name: one for name, one in fields if name not in _KEPT}
                changed = {
                    name: self._masked_url(one) if name in ("base_url", "location") else self.masked(one)
                    for name, one in given.items()
                }
                found = value if changed == given else replace(value, **changed)
            case _:
                # Numbers and None contain no secrets. Recipes are concealed separately.
                pass
        return value if found == value else found

    def _masked_url(self, url: str) -> str:
        """Return a masked URL with its host, which programs need. A text that is no absolute URL is masked as a whole."""
        found = _HOST.match(url)
        if found is None:
            return self.masked(url)
        before, host, after = found.groups()
        return f"{self.masked(before)}{host}{self.masked(after)}"

    def _concealed(self, step: Step) -> Step:
        """Return a step without values of earlier responses that are secret. A replay gets new ones."""
        if not any(self.is_in(binding.literal) for binding in step.bindings):
            return step
        shown = ((one, self.store.mask(one.literal) if isinstance(one.literal, str) else None) for one in step.bindings)
        bindings = (replace(one, literal=text) if self.is_in(one.literal) else one for one, text in shown)
        return replace(step, bindings=tuple(bindings))

    def _add_spelled(self, kind: str, name: str, value: str) -> None:
        plain = unquote(value)
        if plain != value:
            self.add(kind, f"{name}-as-given", value)
        self.add(kind, name, plain)


def user_in(secret: str, place: str) -> str:
    """Return the user to whom a secret header or cookie belongs: `anna` for `header:anna.Authorization`; empty if the name contains none."""
    name, _, field = secret.partition(":")[2].rpartition(".")
    return name if field.lower() == place.lower() else ""


NO_SECRETS: Final = Secrets()  # Default where there are none; nothing is added to it.


def secrets_of(settings: RunSettings, places: Collection[str] | None = None) -> Secrets:
    """Return all credentials that the user of a run gave.

    `places`: the places of credentials in the description, such as `header x-ticket`. A configured header is not masked if
    it is at none of these places, its name is not sensitive, its value contains no token and no credentials in a URL,
    and it comes from no environment variable. None: the description is unknown, so each header may be a credential.
    """
    everywhere = list(settings.operations.everywhere())
    common = settings.common
    redaction = settings.report.sanitization.redaction
    found = Secrets(redaction=redaction)
    found.add_headers(
        (name, value)
        for one in everywhere
        for name, value in one.headers
        if places is None
        or f"header {name.lower()}" in places
        or _is_credential(name, value, redaction)
        or any(one in value for one in settings.auth.from_environment)
    )
    holders: list[Authentication | WfcUser] = [own.authentication for own in everywhere]
    holders += users_of(settings.auth.wfc) if settings.auth.wfc else ()
    for holder in holders:
        for name, value in holder.secrets:
            found.add("auth", name, value)
        for owner, headers, url in holder.logins:
            for name, value in headers:
                found.add_header(name, value, owner=owner)
            found.add_url("auth", url, redaction)
    has_header = any(name.lower() == "authorization" for name, _ in common.headers)
    for kind, url in (("location", settings.location), ("base", settings.target.base_url or "")):
        sent = found.add_url(kind, url, redaction)
        # Configured headers take precedence over credentials in a URL.
        if sent and not has_header:
            found.add_header("Authorization", sent)
    found.add("upload", "token", settings.report.upload.token or "")
    found.add_url("upload", settings.report.upload.url or "", redaction)
    named = (url for name, url in os.environ.items() if name.lower().endswith("_proxy") and "@" in url)
    for proxy in dict.fromkeys((*(one.http.proxy or "" for one in everywhere), *named)):
        found.add_url("proxy", proxy if "://" in proxy else f"http://{proxy}", redaction)
    for name, value in settings.target.server_variables:
        if redaction.is_sensitive(name):
            found.add("server", name, value)
    for one in sensitive_overrides(settings):
        if len(one.entries) <= _WORD_LIST:
            kind, name = str(one.location or "parameter"), ".".join(one.path)
            for index, entry in enumerate(one.entries):
                if isinstance(entry, str | int | float) and not isinstance(entry, bool):
                    found.add(kind, name if index == 0 else f"{name}.{index}", str(entry))
    found.configured = found.store.values
    return found


def _values_of(found: Credentials) -> set[str]:
    """Return the values of credentials. A header gives two values: with and without its scheme."""
    given = (found.headers, found.query, found.cookies, dict(secret_pairs(plain_data(found.data))))
    values = {value for one in given for value in one.values()}
    return values.union(value.partition(" ")[2] for value in found.headers.values())


def _is_credential(name: str, value: str, redaction: Redaction) -> bool:
    is_sensitive = any(one.is_sensitive(name) or one.url(value) != value for one in (redaction, _DEFAULT))
    is_token = value.partition(" ")[0].lower() in _SCHEMES or _JWT.search(value) is not None
    return is_sensitive or is_token or any(marker in name.lower() for marker in _MARKERS)


SHARED = 4096
"""Size in bytes above which a body is stored once, apart from its interactions. The compressor handles repetitions of smaller bodies."""
_LONGEST_REASON = 256  # Characters of a reason phrase that are kept after masking.
_URL_FIELD = re.compile(rb"^(?:(?:content-)?location|refresh|link):[^\r\n]*", re.I | re.M)
_NOTHING = (None, "", b"", b"", 0)  # Status, reason, head, body and size of a response that did not arrive.


def exchange(request: WireRequest, outcome: Outcome, secrets: Secrets) -> Exchange:
    """Return the record of a request and its outcome."""
    response: Response | None
    failure = None
    if isinstance(outcome, Response):
        response = outcome
    else:
        kind, message = outcome.kind.value, outcome.message
        response, failure = outcome.partial, f"{kind}: {message}" if message else kind
    received: tuple[Any, ...] = _NOTHING
    if response is not None:
        received = (
            response.status_code,
            response.message,
            # Without the credentials of the server's own URLs: user info, sensitive names in the query.
            _URL_FIELD.sub(
                lambda line: secrets.redaction.url(line[0].decode("latin-1")).encode("latin-1", "replace"),
                response.head,
            ),
            response.content,
            response.content_size,
        )
    sent = request.method, request.target, tuple(request.headers), request.body
    fields: tuple[Any, ...] = (*sent, *received, outcome.elapsed, failure)
    found = Exchange(*fields)
    if not secrets.is_empty:
        # An exchange with references in place of secrets. The bodies are complete, because a cut could hide half a secret.
        store = secrets.store
        head, body, is_cut = _plain_where_masked(found, store)
        sent_as = (value for name, value in found.headers if name.lower() == b"content-type")
        charset = _charset_of(next(sent_as, b"").decode("latin-1"))
        found = replace(
            found,
            target=store.mask_bytes(found.target),
            headers=tuple((name, store.mask_bytes(value)) for name, value in found.headers),
            body=None if found.body is None else store.mask_bytes(found.body, charset),
            reason=store.mask(found.reason),
            response_head=store.mask_bytes(head),
            response_body=store.mask_bytes(body, _charset_in(found), is_cut=is_cut),
            failure=None if found.failure is None else store.mask(found.failure),
        )
    # Cut after masking, because half a secret would not be recognised.
    return found if len(found.reason) <= _LONGEST_REASON else replace(found, reason=found.reason[:_LONGEST_REASON])


def lighter(exchange: Exchange, most: int, keep: Callable[[bytes], int]) -> Exchange:
    """Return an exchange with at most `most` bytes of each body (0: all). `keep` stores long bodies and returns their offsets."""
    body, received = exchange.body, exchange.response_body
    short = min(SHARED, most or SHARED)
    if len(received) <= short and (body is None or len(body) <= short):
        return exchange
    body_size = body_at = received_at = None
    if most:
        received = received[:most]
        if body is not None and len(body) > most:
            body, body_size = body[:most], len(body)
    if len(received) > SHARED:
        received, received_at = b"", keep(received)
    if body is not None and len(body) > SHARED:
        body, body_at = b"", keep(body)
    return replace(
        exchange, body=body, response_body=received, body_size=body_size, body_at=body_at, response_body_at=received_at
    )


def _plain_where_masked(exchange: Exchange, store: SecretStore) -> tuple[bytes, bytes, bool]:
    """Return head and body of the response, and whether the body is cut.

    Content codings are removed if they hide a secret, because it could not be masked otherwise.
    """
    head, body = exchange.response_head, exchange.response_body
    is_cut = exchange.response_size > len(body)
    if b"content-encoding" not in head.lower():
        return head, body, is_cut
    fields = exchange.response_headers
    plain = readable(body, codings_of(fields), is_cut=is_cut)
    charset = _charset_in(exchange)
    if store.mask_bytes(plain.content, charset, is_cut=plain.is_cut) == plain.content:
        return head, body, False
    kept = head_of(one for one in fields if one[0].lower() != CONTENT_ENCODING)
    return kept, plain.content, plain.is_cut


def _charset_in(exchange: Exchange) -> str | None:
    if b"charset" not in exchange.response_head.lower():
        return None
    fields = exchange.response_headers
    return _charset_of(next((v for name, v in fields if name.lower() == "content-type"), ""))


def _charset_of(content_type: str) -> str | None:
    media_type = media_type_of(content_type) if content_type else None
    return None if media_type is None else media_type.charset
