"""The fact of a failure, on one line, for lists of failures."""

import re
from typing import Final
from urllib.parse import urlsplit

from checker.core import curl
from checker.core.blocks import Answer, FailedCase
from checker.core.templates import telling_text
from checker.core.terminal import one_line
from checker.corpus.records import Finding
from checker.reporting.findings import Cause, failed_case
from checker.reporting.masking import Shown
from checker.reporting.text import counted

_SERVER_ERROR: Final = "ST101"
_LONGEST: Final = 160
_LONGEST_INPUT: Final = 60
_INVALID: Final = "Invalid component: "
_PAIR: Final = re.compile(r"Received: (?P<received>[^\n]*)\n(?:[^\n]*\n)*?Documented: (?P<documented>[^\n]*)")


def fact_of(finding: Finding, case: FailedCase) -> str:
    """Return what is wrong: ``500 on `?sort=-due`: KeyError``, `202 received, 201, 400 documented`. Empty if nothing is known.

    A server error is told by the input and the text of the response; a message by the line that names the fault, or by its first.
    """
    message, answer = case.failures[0][1], case.answer
    if finding.code == _SERVER_ERROR and answer is not None and (answer.status or 0) >= 500:
        return _short(_server_error(answer, case.commands), _LONGEST)
    if pair := _PAIR.search(message):
        return _short(f"{pair['received']} received, {pair['documented']} documented", _LONGEST)
    for line in message.splitlines():
        if line.startswith(_INVALID):
            accepted = f"{answer.status} for " if answer is not None and answer.status else ""
            return _short(f"{accepted}{line.removeprefix(_INVALID)}", _LONGEST)
    return _short(message.strip().partition("\n")[0], _LONGEST)


def cause_line(cause: Cause, shown: Shown) -> str:
    """Return `  critical ST101 GET /a and 2 more operations: Server error: 500 on ...`."""
    worst = cause.worst
    fact, more = fact_of(worst, failed_case([worst], shown)), len(cause.labels) - 1
    others = f" and {counted(more, 'more operation')}" if more else ""
    code = f"{worst.code} " if worst.code else ""
    return one_line(f"  {worst.severity:<8} {code}{worst.label}{others}: {worst.title}{f': {fact}' if fact else ''}")


def _server_error(answer: Answer, commands: tuple[str, ...]) -> str:
    sent = _input(commands[-1]) if commands else ""
    told = _error_text(answer.body)
    return f"{answer.status}{f' on `{sent}`' if sent else ''}{f': {told}' if told else ''}"


def _input(command: str) -> str:
    """Return the query or the body of a command, shortened; empty if it has neither."""
    try:
        request, url = curl.parse(command)
        query = urlsplit(url).query
    except ValueError:
        return ""
    text = f"?{query}" if query else (request.body or b"").decode("utf-8", "replace")
    return _short(text, _LONGEST_INPUT)


def _error_text(body: bytes) -> str:
    """Return the first line of an error body that names the error and holds a blank, else the first."""
    lines = [line.strip() for line in telling_text(body).splitlines() if line.strip()]
    return next((line for line in lines if " " in line), lines[0] if lines else "")


def _short(text: str, most: int) -> str:
    shown = one_line(text)
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."
