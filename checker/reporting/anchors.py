"""Long bodies once: who sends or receives the same again is given an alias, which every reader of YAML resolves.

Aliases of scalars cannot grow: what a reader holds of a cassette becomes smaller by them.
"""

from hashlib import blake2b

from msgspec import Struct

_LONG = 1024
"""Characters; a shorter one is read faster where it stands."""


class BodyText(Struct, frozen=True):
    """A body as it stands in a cassette."""

    key: str
    """What stands before its content."""
    scalar: str
    """Its content, in quotes."""
    digest: bytes = b""
    """Of the content, when it is long."""

    @classmethod
    def of(cls, key: str, scalar: str) -> "BodyText":
        """It with its digest."""
        is_long = len(scalar) >= _LONG
        digest = blake2b(scalar.encode(), digest_size=16).digest() if is_long else b""
        return cls(key, scalar, digest)


class Anchors:
    """Names the bodies of the interactions of one cassette, in their order."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}
        """By digest."""
        self._named = 0
        """The interaction that named a body last."""

    def placed(self, body: BodyText, number: int) -> str:
        """Text of a body of interaction `number`; one that came before is an alias: `string: *body-7`."""
        if not body.digest:
            return f"{body.key} {body.scalar}"
        known = self._names.get(body.digest)
        if known is not None:
            return f"{body.key} *{known}"
        # That of the request may have the shorter name.
        name = f"body-{number}{'b' if self._named == number else ''}"
        self._named = number
        self._names[body.digest] = name
        return f"{body.key} &{name} {body.scalar}"
