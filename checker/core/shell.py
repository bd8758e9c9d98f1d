"""Words as bash and zsh read them. Bytes that are no UTF-8 stand in texts as lone surrogates (PEP 383)."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from checker.core.terminal import DRIVING, UNSEEN, with_escaped_hashes

_CONTROL = re.compile(rf"[\t\n{DRIVING}{UNSEEN}\udc80-\udcff]")
"""Characters that a screen hides or shows as others, bytes that are no text, and line ends: a command is one line."""
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "'": r"\'"}
_UNESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "'": "'"}
_PRINTF_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": r"\\", "'": r"\x27", "%": "%%"}
_PRINTF = "<(printf -- '"
_WORD = re.compile(
    r"""\s*((?:'[^']*'|\$'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|<\(printf\ --\ '[^']*'\)|\\.|[^\s'"\\$]|\$)+)""", re.DOTALL
)
_PIECE = re.compile(
    r"""<\(printf\ --\ '(?P<printf>[^']*)'\)|'(?P<single>[^']*)'|\$'(?P<ansi>(?:[^'\\]|\\.)*)'"""
    r"""|"(?P<double>(?:[^"\\]|\\.)*)"|\\(?P<one>.)|(?P<bare>.)""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"(?P<bytes>(?:\\x[0-9a-fA-F]{2})+)|\\(?P<one>.)|(?P<percent>%%)", re.DOTALL)


def quoted(text: str) -> str:
    """Text as one word, always in quotes; control characters as escapes of `$'…'`. It cannot hold NUL."""
    if _CONTROL.search(text) is None:
        return f"'{_plain(text)}'"
    return f"$'{_ansi(text)}'"


def quoted_if_needed(text: str) -> str:
    """Text as one word, in quotes only where a shell would read it otherwise."""
    needs_escapes = _CONTROL.search(text) or _plain(text) != text
    return quoted(text) if needs_escapes else shlex.quote(text)


def substituted(data: bytes) -> str:
    """Word that names a file with these bytes, NUL among them, of any length: `<(printf -- '…')`."""
    return f"{_PRINTF}{_format(as_text(data))}')"


def words(command: str) -> Iterator[tuple[str, str]]:
    """Each word as it is written and as the shell reads it, content for names of files with it.

    Raises `ValueError` for a quote that is not closed.
    """
    position = 0
    while command[position:].strip():
        word = _WORD.match(command, position)
        if word is None:
            raise ValueError("a quote is not closed in the curl command")
        position = word.end()
        yield word[1], "".join(map(_unquoted, _PIECE.finditer(word[1])))


def is_substituted(raw: str) -> bool:
    """True for a word, as it is written, that hands over bytes as a file: `@<(printf -- '…')`."""
    return raw.startswith(f"@{_PRINTF}")


def as_text(data: bytes) -> str:
    """Bytes as text that keeps each of them."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """The bytes of a text that `as_text` or the shell made."""
    return text.encode("utf-8", "surrogateescape")


def _plain(text: str) -> str:
    # Two quotes between two `#`: the shell reads them as nothing, and no CI system finds its command.
    return with_escaped_hashes(text.replace("'", "'\"'\"'"), "#''")


def _ansi(text: str) -> str:
    return _escaped(text, _ESCAPES)


def _format(text: str) -> str:
    return _escaped(text, _PRINTF_ESCAPES)


SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {"plain": _plain, "ansi": _ansi, "format": _format}
"""How a text may stand within a word: between quotes, in `$'…'`, in a format of `printf`."""


def _escaped(text: str, escapes: dict[str, str]) -> str:
    written = "".join(
        escapes.get(character) or (_bytes(character) if _CONTROL.match(character) else character) for character in text
    )
    return with_escaped_hashes(written, r"\x23")


def _bytes(character: str) -> str:
    # Not \u: what that means depends on the locale of the shell.
    return "".join(f"\\x{byte:02x}" for byte in as_bytes(character))


def _unquoted(piece: re.Match[str]) -> str:
    kind, text = piece.lastgroup, piece[piece.lastgroup or 0]
    if kind in ("ansi", "printf"):
        return _ESCAPE.sub(lambda escape: _unescaped(escape, is_format=kind == "printf"), text)
    if kind == "double":
        return re.sub(r'\\([\\"$`])', r"\1", text)
    return text


def _unescaped(escape: re.Match[str], *, is_format: bool) -> str:
    if escape["bytes"]:
        return as_text(bytes.fromhex(escape["bytes"].replace("\\x", "")))
    if escape["percent"]:
        return "%" if is_format else escape[0]
    return _UNESCAPES.get(escape["one"], escape[0])
