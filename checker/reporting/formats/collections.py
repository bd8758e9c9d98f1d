"""Collections of the requests that failed, to be sent again by hand: `.http` for editors, `.sh` for shells."""

import base64
import re
from collections.abc import Iterator

from checker.reporting.report import Report
from checker.reporting.shown import (
    ReportContext,
    ShownFinding,
    ShownRequest,
    request_of_command,
    shown_findings,
    shown_request,
    standing_text,
)
from checker.reporting.text import xml_text

_MOST = 2000
_OF_EDITORS = re.compile(r"\{\{|^\s*(?:[#@<>?]|//|/\*)", re.MULTILINE)
"""What editors read as theirs inside of bodies: `{{...}}` is run as a script, `###` begins another request."""

_SCRIPT = re.compile(r"\{(?=\{)")


def requests(report: Report, context: ReportContext) -> Iterator[str]:
    """A file of requests, as editors with an HTTP client read it; each begins with `###` and what failed."""
    yield f"# {_line(context.command)}\n"
    for shown in shown_findings(report.findings, context):
        for path, command in shown.needs:
            yield f"\n### {_title(shown)}, needs {_line(path)}\n"
            yield _request(request_of_command(command))
        for number, interaction in enumerate(shown.finding.interactions, start=1):
            yield f"\n### {_title(shown)}, request {number}\n"
            yield _request(shown_request(interaction, context))


def script(report: Report, context: ReportContext) -> Iterator[str]:
    """A script for bash with the command of each failure."""
    yield "#!/usr/bin/env bash\n"
    yield f"# {_line(context.command)}\n"
    for shown in shown_findings(report.findings, context):
        yield f"\n# {_title(shown)}\n"
        if shown.hidden:
            yield f"# Hidden: {_line(', '.join(shown.hidden))}\n"
        if shown.setup:
            yield f"# On a fresh server these come first:\n{shown.setup}\n"
        for command in shown.commands:
            yield f"{command}\n"


def _title(shown: ShownFinding) -> str:
    code = f"{shown.finding.code} " if shown.finding.code else ""
    known = standing_text(shown.standing, shown.entry)
    marks = ", ".join(part for part in (shown.stability, known) if part)
    return _line(f"{code}{shown.title}: {shown.finding.label} ({marks})")


def _request(sent: ShownRequest) -> str:
    lines = [f"{sent.method} {_line(sent.url.replace('{', '%7B'))}"]
    lines += [f"{name}: {_line(value)}" for name in sent.headers for value in sent.headers[name]]
    if sent.body:
        lines += ["", _body(sent.body)]
    return "\n".join(lines) + "\n"


def _body(body: bytes) -> str:
    """Text if it can stand in such a file, else base64 below a comment."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = ""
    if not text or xml_text(text) != text or _OF_EDITORS.search(text):
        return f"# base64\n{base64.b64encode(body).decode('ascii')}"
    return text


def _line(text: str) -> str:
    """Text in one line, in which no editor finds a script to run."""
    flat = " ".join(xml_text(text).split())
    flat = _SCRIPT.sub("{ ", flat)
    return flat if len(flat) <= _MOST else f"{flat[:_MOST]}..."
