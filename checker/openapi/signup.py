"""Sign-up and login operations of a description."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from checker.config.auth import FORM
from checker.core.credentials import DescribedLogin, SignUpFlow
from checker.core.media_types import is_json
from checker.core.resource_names import SIGN_UPS, is_login, is_of_accounts, last_word, normalised
from checker.core.security import SecurityScheme, is_open
from checker.openapi.contents import Entry
from checker.openapi.documents.dialects import elements
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.operation import OpenApiOperation
from checker.openapi.response_fields import AnswerField, answer_fields
from checker.openapi.servers import security_schemes
from checker.schema.views import Outline, outline_of

_PASSWORD: Final = frozenset(("password", "passwd", "passphrase", "pwd", "pass"))
_WHO: Final = re.compile(
    r"(user|login|account|nick)?(name|id)|user|login|handle|nickname|e?mail(address)?|user(e?mail)|phone(number)?|identifier"
)
_TOKEN: Final = (
    re.compile(r"accesstoken|jwt|jwttoken|bearer|bearertoken|authtoken|sessiontoken|idtoken"),
    re.compile(r"token|access|key|apikey"),
)
"""Names of fields, the most specific first."""
_ADMINISTRATOR: Final = re.compile(r"admin|root|superuser|owner", re.IGNORECASE)
_SENT_AS_BEARER: Final = frozenset(("oauth2", "openIdConnect"))


def sign_up_flow(document: OpenApiDocument, operations: Iterable[OpenApiOperation]) -> SignUpFlow | None:
    """Return the first login whose credentials a sign-up of the same description accepts, among candidates."""
    scheme = next(filter(_takes_tokens, security_schemes(document).values()), None)
    if scheme is None:
        return None
    candidates = list(operations)
    for login in candidates:
        if not is_login(login.path) or _needs_more(login):
            continue
        token, asked = _token_in(answer_fields(login, {}).fields), _properties(login)
        sign_ups = (
            one
            for pattern in SIGN_UPS
            for one in candidates
            if pattern.fullmatch(last_word(one.path)) and not _needs_more(one)
        )
        for sign_up in sign_ups if token else ():
            common = [(name, normalised(name)) for name in _properties(sign_up) if name in asked]
            shared = tuple(name for name, plain in common if plain in _PASSWORD or _WHO.fullmatch(plain))
            passwords = frozenset(one for one in shared if normalised(one) in _PASSWORD)
            if passwords and len(shared) > len(passwords):
                preferred = tuple(_administrators(sign_up))
                return SignUpFlow(sign_up.label, login.label, shared, passwords, token, scheme, preferred)
    return None


def described_login(document: OpenApiDocument, operations: Iterable[OpenApiOperation]) -> DescribedLogin | None:
    """Return the first login that takes a user and a password and returns a token, among candidates."""
    scheme = next(filter(_takes_tokens, security_schemes(document).values()), None)
    if scheme is None:
        return None
    for login in operations:
        if not is_login(login.path) or _needs_more(login) or not login.bodies:
            continue
        names = list(_properties(login))
        password = next((one for one in names if normalised(one) in _PASSWORD), None)
        user = next((one for one in names if _WHO.fullmatch(normalised(one))), None)
        # Without a response schema, the field of OAuth 2 (RFC 6749, 5.1).
        usual = "/access_token" if dict(scheme.token_urls).get("password", "").endswith(login.path) else ""
        token = _token_in(answer_fields(login, {}).fields) or usual
        media_type = login.bodies[0].media_type
        if password and user and token and (is_json(media_type) or media_type == FORM):
            others = set(outline_of(login.bodies[0].schema).required) - {user, password}
            return DescribedLogin(*(login.path, media_type, user, password, tuple(sorted(others)), token, scheme))
    return None


def is_candidate(entry: Entry) -> bool:
    """Whether an operation may be a sign-up or a login, judged by its table of contents."""
    return entry.method == "POST" and "{" not in entry.path and is_of_accounts(entry.path)


def _takes_tokens(scheme: SecurityScheme) -> bool:
    if scheme.type == "http":
        return scheme.scheme == "bearer"
    return scheme.type == "apiKey" or scheme.type in _SENT_AS_BEARER


def _needs_more(operation: OpenApiOperation) -> bool:
    """Whether an operation requires credentials or parameters besides its body."""
    return not is_open(operation.security) or any(one.required for one in operation.parameters)


def _token_in(fields: tuple[AnswerField, ...]) -> str:
    """Return the pointer of the token; empty if there is none."""
    texts = [one for one in fields if one.kind == "string" and "/*" not in one.pointer]
    for pattern in _TOKEN:
        for one in texts:
            if pattern.fullmatch(one.name):
                return one.pointer
    return ""


def _administrators(operation: OpenApiOperation) -> Iterator[tuple[str, str]]:
    """Yield (property, value) of enumerations that have a value for administrators."""
    for name, outline in _properties(operation).items():
        texts = [one for one in elements(outline.first("enum")) if isinstance(one, str)]
        found = next(filter(_ADMINISTRATOR.search, texts), None)
        if found is not None:
            yield name, found


def _properties(operation: OpenApiOperation) -> dict[str, Outline]:
    outlines = [outline_of(body.schema) for body in operation.bodies[:1]]
    return {name: outline.property(name) for outline in outlines for name in outline.names}
