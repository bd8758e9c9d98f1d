"""JSON pointers as they are written: `/a~1b/0` (RFC 6901)."""


def unescaped(token: str) -> str:
    """A token as its name is: `a/b` of `a~1b`."""
    return token.replace("~1", "/").replace("~0", "~")


def tokens_of(pointer: str) -> tuple[str, ...]:
    """Names and numbers on the way down; none for the whole document."""
    return tuple(map(unescaped, pointer.split("/")[1:]))
