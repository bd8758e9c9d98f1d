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
_INVALID: Final = re.compile(r"Invalid components?:\s+(?:- )?(?P<part>[^\n]*)")
_PAIR: Final = re.compile(
    r"Received: (?P<received>[^\n]*)\n(?:[^\n]*\n)*?(?P<kind>Documented|Expected): (?P<other>[^\n]*)"
)
_PREAMBLE: Final = re.compile(r"\A(?:(?:Valid data should|Sent with the method|Expected: )[^\n]*\n?)+")
_END: Final = "\n"
_LIST: Final = re.compile(r":\n- ")


def fact_of(finding: Finding, case: FailedCase) -> str:
    """Return what is wrong: ``500 on `?sort=-due`: KeyError``, `202 received, 201, 400 documented`. Empty if nothing is known.

    A server error is told by the input and the text of the response, and so is a refusal of valid data without a reason; a message by the
    line that names the fault, or by its first.
    """
    message, answer = case.failures[0][1], case.answer
    status = (answer.status or 0) if answer is not None else 0
    told = _PREAMBLE.sub("", message).strip()
    if answer is not None and status and ((finding.code == _SERVER_ERROR and status >= 500) or (message and not told)):
        fact = _answered(answer, case.commands, finding.label)
    elif pair := _PAIR.search(told):
        fact = f"{pair['received']} received, {pair['other']} {pair['kind'].lower()}"
        if pair["kind"] == "Expected":
            fact = f"{told.partition(_END)[0]}: {fact}"
    elif invalid := _INVALID.search(message):
        fact = f"{status} for {invalid['part']}" if status else invalid["part"]
    else:
        fact = _LIST.sub(": ", told, count=1).partition(_END)[0]
    return _short(fact, _LONGEST)


def cause_line(cause: Cause, shown: Shown) -> str:
    """Return `  critical ST101 GET /a and 2 more operations: Server error: 500 on ...`."""
    worst = cause.worst
    fact, more = fact_of(worst, failed_case([worst], shown)), len(cause.labels) - 1
    others = f" and {counted(more, 'more operation')}" if more else ""
    code = f"{worst.code} " if worst.code else ""
    return one_line(f"  {worst.severity:<8} {code}{worst.label}{others}: {worst.title}{f': {fact}' if fact else ''}")


def _answered(answer: Answer, commands: tuple[str, ...], label: str) -> str:
    """Return status, input and text of a response: ``500 on `?sort=-due`: KeyError``."""
    sent = _input(commands[-1], label) if commands else ""
    lines = [line.strip() for line in telling_text(answer.body).splitlines() if line.strip()]
    told = next((line for line in lines if " " in line), lines[0] if lines else "")
    return f"{answer.status}{f' on `{sent}`' if sent else ''}{f': {told}' if told else ''}"


def _input(command: str, label: str) -> str:
    """Return the query or the body of a command, else its path if that of the label has variables, shortened."""
    try:
        request, url = curl.parse(command)
        place = urlsplit(url)
    except ValueError:
        return ""
    text = f"?{place.query}" if place.query else (request.body or b"").decode("utf-8", "replace")
    text = text or (place.path if "{" in label else "")
    return _short(text, _LONGEST_INPUT)


def _short(text: str, most: int) -> str:
    shown = one_line(text)
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."
