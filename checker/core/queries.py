"""Queries of commands for people: one field a line, variables apart (GraphQL over HTTP, 5.4.2)."""

import json
import re
from typing import Final

from checker.core import curl

LANGUAGE: Final = "graphql"
"""What those that colour code call it."""
_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*"|\s+|[{}()]|[^\s{}()"]+')
_BEGINS: Final = re.compile(r"\s*(?:\{|(?:query|mutation)\b)")
_INDENT: Final = "  "
_MOST_LINES: Final = 40
_MOST_CHARACTERS: Final = 100_000


def query_of(command: str) -> str:
    """The query that a command sends, formatted, and its variables; empty for a command that sends none."""
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
    """Lines of a query: each field on its own, what is selected below it indented. Right or wrong, nothing is lost."""
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
            if depth and line and not _goes_on(line, token):
                lines.append(_INDENT * depth + line)
                line = ""
            line += f" {token}" if line else token
    return [*lines, line] if line else lines


def _goes_on(line: str, token: str) -> bool:
    """Whether a word belongs to the field that was begun: after an alias or a condition, or as a directive."""
    return token.startswith("@") or line.endswith(":") or line.split()[-1] in ("...", "on")
