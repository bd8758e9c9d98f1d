"""JSON pointers in the form of URI fragments, as `Schema.pointer` spells them."""

from urllib.parse import unquote

from checker.core.schema import Document, UnresolvableReference, unescaped


def pointer_child(pointer: str, *tokens: str) -> str:
    """Return the pointer of a place below another one."""
    for token in tokens:
        if token.isidentifier() or token.isdecimal():
            # Nearly all tokens need no escape, and this function runs once for each schema of a document.
            pointer += "/" + token
        else:
            pointer += "/" + token.replace("%", "%25").replace("~", "~0").replace("/", "~1")
    return pointer


def target_of(document: Document, reference: str, at: str) -> tuple[object, str] | None:
    """Return the target of a reference and its place; None if it leads nowhere."""
    try:
        return document.resolve(reference, at=at)
    except UnresolvableReference:
        return None


def walked(value: object, path: str) -> tuple[bool, object]:
    """Return (True, value) at the end of a path like `/a/0`, or (False, None)."""
    for escaped in path.split("/")[1:]:
        token = unescaped(unquote(escaped))
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return False, None
    return True, value
