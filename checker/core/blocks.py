"""The text of a failure: the numbered block in the console, in `FailureGroup` and in reports. Takes plain values, returns text."""

import json
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from msgspec import Struct

from checker.core import curl
from checker.core.media_types import is_charset
from checker.core.terminal import escape_of, one_line, printable

LANGUAGE: Final = "graphql"  # The name of the language for syntax highlighting.
_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*"|\s+|[{}()]|[^\s{}()"]+')
_BEGINS: Final = re.compile(r"\s*(?:\{|(?:query|mutation)\b)")
_INDENT: Final = "  "
_MOST_LINES: Final = 40
_MOST_CHARACTERS: Final = 100_000


def query_of(command: str) -> str:
    """Return the formatted GraphQL query that a command sends, and its variables; empty for a command that sends none."""
    if '"query"' not in command or len(command) > _MOST_CHARACTERS:
        return ""
    try:
        request, _ = curl.parse(command)
        body = json.loads(request.body or b"")
    except (ValueError, RecursionError):
        return ""
    query = body.get("query") if isinstance(body, dict) else None
    if not isinstance(query, str) or _BEGINS.match(query) is None:
        return ""
    lines = formatted(query)
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"... ({len(lines) - _MOST_LINES} lines more)"]
    if body.get("variables"):
        shown = json.dumps(body["variables"], ensure_ascii=False)
        lines.append(shown if shown.isprintable() else json.dumps(body["variables"]))
    return "\n".join(lines)


def formatted(query: str) -> list[str]:
    """Return the lines of a query: one for each field, with its selection indented. Invalid queries keep their whole text as well."""
    lines: list[str] = []
    line, depth, parentheses = "", 0, 0
    for token in _TOKEN.findall(query):
        if parentheses or token in "()":
            parentheses += {"(": 1, ")": -1}.get(token, 0)
            line += f" {token}" if token == "(" and not depth and line else token
        elif token in "{}":
            if token == "{":
                lines.append(_INDENT * depth + f"{line} {{".lstrip())
                depth += 1
            else:
                lines += [_INDENT * depth + line] if line else []
                depth = max(depth - 1, 0)
                lines.append(_INDENT * depth + token)
            line = ""
        elif not token.isspace():
            # Directives, and words after an alias or a condition, belong to the current field.
            if (
                depth
                and line
                and not (token.startswith("@") or line.endswith(":") or line.split()[-1] in ("...", "on"))
            ):
                lines.append(_INDENT * depth + line)
                line = ""
            line += f" {token}" if line else token
    return [*lines, line] if line else lines


TRUNCATED = "// Output truncated..."
EMPTY = "<EMPTY>"
BINARY = "<BINARY>"
NOT_REPRODUCED = "Not reproduced: the printed command was sent again and did not fail."
FROM_ELSEWHERE = (
    "Some values come from responses to other requests. On a fresh server, insert the values of its responses:"
)
MADE_EARLIER = "This request uses a resource that was created or removed earlier in the run. On a fresh server, send these requests first, and insert the identifiers from its responses:"
NEEDS_STATE = (
    "On new resources these requests did not show it: other requests of the run had changed the resource before."
)
NOT_SMALLEST = "Maybe not the smallest case: shrinking stopped {why}."
EXPORT: Final = "export "  # Start of a command that sets a variable for credentials.
INDENT = "    "
_HANGING = f"{INDENT}  "

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")
"""Matches characters that control a terminal (C0, C1 and DEL, except tab and line ends), and the replacement of bytes that are not text."""


class Truncation(Struct, frozen=True):
    """Limits on the part of a payload that is shown."""

    enabled: bool = True
    max_payload_size: int = 512  # Most bytes of a response body that are shown.
    max_lines: int = 10  # Most lines of a response body or an excerpt that are shown.
    max_width: int = 80  # Characters in a line of an excerpt. Bodies are not cut at it: most are JSON in a single line.
    max_recorded_payload_size: int = 1 << 20
    """Bytes of a body that traffic keeps and cassettes show; 0: the whole body."""


DEFAULT_TRUNCATION = Truncation()


class Answer(Struct, frozen=True):
    """The part of a response that is shown."""

    status: int | None  # None when no complete response arrived.
    reason: str = ""  # Reason phrase as received; the standard one stands in for an empty one.
    body: bytes = b""
    is_cut: bool = False  # True if only its beginning is in `body`.
    charset: str | None = None
    failure: str = ""  # `timed out: ...` when no complete response arrived.


class FailedCase(Struct, frozen=True):
    """The content of one numbered block."""

    case_id: str  # Empty for a failure without a case; `about` then names its subject.
    failures: tuple[tuple[str, str], ...]  # (title, details) of each failed check, worst first.
    answer: Answer | None  # None if nothing was sent.
    commands: tuple[str, ...]  # One for each step, oldest first; empty when there is nothing to reproduce.
    reproduced: bool | None = None
    """Whether the commands failed when they were sent again; None if they were not sent again."""
    hidden: tuple[str, ...] = ()  # Places whose values the commands do not show: `header X-Key`.
    stopped: str = ""  # Why the case may not be the smallest one; empty if it is.
    sources: tuple[str, ...] = ()
    """Sources of values in its commands that come from other requests: `path id: /id of the response to POST /things`."""
    ids: tuple[str, ...] = ()  # Ids with which `checker replay` sends the case again; empty if that is impossible.
    needs: tuple[tuple[str, str], ...] = ()
    """(path, command) of resources that the commands need and other requests create, outermost first."""
    about: str = "Whole run"
    needs_state: bool = False  # Whether it did not show on resources that were created for it.
    marks: tuple[str, ...] = ()
    """The reason why its commands alone may not show the failure again: `intermittent (1 of 8)`; empty if they do."""


def failure_block(number: int, failed: FailedCase, truncation: Truncation = DEFAULT_TRUNCATION) -> str:
    """Return `N. Test Case ID: ...` with failures, response and reproduction, without a newline at the end. No line is a command of a CI system."""
    heading = (
        block_heading(number, failed.case_id, failed.marks)
        if failed.case_id
        else marked(f"{number}. {one_line(failed.about)}", failed.marks)
    )
    parts = [heading]
    for title in dict.fromkeys(title for title, _ in failed.failures):
        parts.append(f"- {one_line(title)}")
        told = [text.strip("\n") for text in [text for of, text in failed.failures if of == title] if text.strip()]
        if len(told) < 2:
            details = [indented(text) for text in told]
        else:
            details = [f"{INDENT}- {indented(text, _HANGING).lstrip()}" for text in told]
        parts.extend(details)
    if failed.answer is not None:
        parts.extend(answer_paragraphs(failed.answer, truncation))
    parts.extend(reproduction_paragraphs(failed.commands, reproduced=failed.reproduced))
    parts.extend(hidden_paragraphs(failed.hidden))
    if failed.ids:
        parts.append(f"Or: `checker replay {' '.join(failed.ids)}`")
    if failed.sources:
        parts += [FROM_ELSEWHERE, "\n".join(indented(one_line(one)) for one in failed.sources)]
    if failed.needs:
        parts += [MADE_EARLIER, "\n".join(map(indented, need_lines(failed.needs)))]
    if failed.needs_state:
        parts.append(NEEDS_STATE)
    if failed.stopped:
        parts.append(NOT_SMALLEST.format(why=failed.stopped))
    return printable("\n\n".join(parts))


def need_lines(needs: Sequence[tuple[str, str]]) -> list[str]:
    """Return two lines for each (path, command): a comment that names the resource, and the command."""
    return [line for path, command in needs for line in (f"# {one_line(path)}", command)]


def block_heading(number: int, case_id: str, marks: Sequence[str] = ()) -> str:
    """Return the first line of a block: `1. Test Case ID: 0a1b2c3d4e5f (needs its sequence)`."""
    return marked(f"{number}. Test Case ID: {case_id}", marks)


def marked(title: str, marks: Sequence[str]) -> str:
    """Return a title with its marks in parentheses; the title alone if there are none."""
    return f"{title} ({', '.join(marks)})" if marks else title


def answer_paragraphs(answer: Answer, truncation: Truncation) -> list[str]:
    """Return `[500] Internal Server Error:` and the body below it, or one line with the reason why there is no response."""
    if answer.status is None:
        return [f"[no response] {answer.failure or 'the connection ended without one'}"]
    reason = one_line(answer.reason or standard_reason(answer.status))
    heading = f"[{answer.status}] {reason}".rstrip()
    return [f"{heading}:", indented(quoted_body(answer, truncation))]


def reproduction_paragraphs(commands: Sequence[str], *, reproduced: bool | None) -> list[str]:
    """Return `Reproduce with:` and the commands, after the query of the last one, and whether they failed to reproduce it."""
    if not commands:
        return []
    query = query_of(commands[-1])
    parts = ["Query:", printable(indented(query))] if query else []
    parts += ["Reproduce with:", "\n".join(indented(command) for command in commands)]
    if reproduced is False:
        parts.append(NOT_REPRODUCED)
    return parts


def hidden_paragraphs(hidden: Sequence[str]) -> list[str]:
    """Return paragraphs about the values that a reader has to fill into masked commands; empty if nothing is masked."""
    exports, places = hidden_parts(hidden)
    found = ["With the credentials of:", "\n".join(map(indented, exports))] if exports else []
    return found + ([f"Hidden: {', '.join(places)}. To see the values: `--output-sanitize false`."] if places else [])


def hidden_parts(hidden: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return (commands that set variables for credentials, places of other masked values)."""
    exports = [one for one in hidden if one.startswith(EXPORT)]
    return exports, [one for one in hidden if one not in exports]


def quoted_body(answer: Answer, truncation: Truncation = DEFAULT_TRUNCATION) -> str:
    """Return a body in back-quotes, `<EMPTY>`, or `<BINARY>`."""
    if not answer.body:
        return EMPTY
    text = _text(answer.body, answer.charset, whole=not answer.is_cut)
    if text is None:
        return BINARY
    shown = truncated(text, truncation)
    if shown == text and answer.is_cut:
        shown = f"{text}\n{TRUNCATED}"
    return f"`{shown}`"


def truncated(text: str, truncation: Truncation = DEFAULT_TRUNCATION) -> str:
    """Return at most `max_payload_size` bytes and `max_lines` lines of a payload, and a mark if there are more."""
    if not truncation.enabled:
        return text
    kept = text
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) > truncation.max_payload_size:
        # A cut in the middle of a character drops the character.
        kept = encoded[: truncation.max_payload_size].decode("utf-8", "ignore")
    lines = kept.splitlines()
    if len(lines) > truncation.max_lines:
        kept = "\n".join(lines[: truncation.max_lines])
    return text if kept == text else f"{kept.rstrip()}\n{TRUNCATED}"


def excerpt(value: object, truncation: Truncation = DEFAULT_TRUNCATION) -> str:
    """Return a schema or a value as JSON for people: `max_lines` lines of `max_width` characters, with the closing bracket at the end."""
    if not truncation.enabled:
        return json.dumps(value, indent=4, ensure_ascii=False, default=str)
    # Lines are cut while they are written, because indentation makes deeply nested values 400 times longer.
    most = truncation.max_lines + 1
    encoder = json.JSONEncoder(indent=4, ensure_ascii=False, default=str)
    written, count = [], 1
    for piece in encoder.iterencode(value):
        written.append(piece)
        # Line ends inside texts are escaped, so this counts the lines of the output.
        count += piece.count("\n")
        if count > most:
            break
    lines = "".join(written).splitlines()[:most]
    if len(lines) > truncation.max_lines:
        kept = max(truncation.max_lines - 1, 1)
        closing = "}" if isinstance(value, dict) else "]" if isinstance(value, list) else lines[-1]
        lines = [*lines[:kept], f"{INDENT}{TRUNCATED}", closing]
    width = truncation.max_width
    return "\n".join(line if len(line) <= width else f"{line[: width - 3]}..." for line in lines)


def indented(text: str, prefix: str = INDENT) -> str:
    """Return the text with every line indented except blank ones."""
    return "\n".join(f"{prefix}{line}" if line.strip() else "" for line in text.splitlines())


def standard_reason(status: int) -> str:
    """Return the reason phrase of RFC 9110; empty for a status that has none."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _text(body: bytes, charset: str | None, *, whole: bool) -> str | None:
    r"""Return a body as text, each control character as an escape such as `\x1b`; None for a binary body.

    Bytes that do not decode become `\ufffd`. A body is binary if three in ten of its characters are escaped.
    """
    if charset is not None and not is_charset(charset):
        charset = None
    try:
        text = body.decode(charset or "utf-8")
    except UnicodeDecodeError as error:
        if not whole and len(body) - error.start <= 3:
            # The byte cap has cut a character in two.
            return _text(body[: error.start], charset, whole=True) if error.start else None
        text = body.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):
        return _text(body, None, whole=whole)
    return None if 10 * len(_CONTROL.findall(text)) >= 3 * len(text) else _CONTROL.sub(escape_of, text)
