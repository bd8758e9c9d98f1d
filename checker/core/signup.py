"""Sign-up and login operations of a description."""

from msgspec import Struct

from checker.core.operation import Label
from checker.core.security import SecurityScheme


class SignUpFlow(Struct, frozen=True):
    """A request that makes an account, and one that gets a token for it."""

    sign_up: Label
    login: Label
    shared: tuple[str, ...]
    """Properties of the body of the sign-up that the body of the login has, too: the credentials, as they are spelled there."""
    passwords: frozenset[str]
    """Those of them that are passwords."""
    token: str
    """JSON pointer of the token in the answer to the login."""
    scheme: SecurityScheme
    """What the token is for."""
    preferred: tuple[tuple[str, str], ...] = ()
    """(property, value) of enumerations in the body of the sign-up that let administrators be made."""


class DescribedLogin(Struct, frozen=True):
    """A POST of the description that gives a token for a user and a password."""

    path: str
    media_type: str
    """JSON, or fields of a form."""
    user: str
    """Property of the body that says who it is."""
    password: str
    others: tuple[str, ...]
    """Further properties that it requires."""
    token: str
    """JSON pointer of the token in its answer."""
    scheme: SecurityScheme
    """What the token is for."""
