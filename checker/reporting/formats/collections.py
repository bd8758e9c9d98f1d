"""Collections of the failed requests, to be sent by hand: `.http` for editors, `.sh` for shells."""

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
"""Text in bodies that editors interpret: `{{...}}` runs as a script, `###` begins a request."""

_SCRIPT = re.compile(r"\{(?=\{)")


def requests(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the text of an `.http` file. Each request begins with `###` and the failure."""
    yield f"# {_line(context.command)}\n"
    for shown in shown_findings(report.findings, context):
        for path, command in shown.needs:
            yield f"\n### {_title(shown)}, needs {_line(path)}\n"
            yield _request(request_of_command(command))
        for number, interaction in enumerate(shown.finding.interactions, start=1):
            yield f"\n### {_title(shown)}, request {number}\n"
            yield _request(shown_request(interaction, context))


def script(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield a bash script with the commands of each failure."""
    yield "#!/usr/bin/env bash\n"
    yield f"# {_line(context.command)}\n"
    for shown in shown_findings(report.findings, context):
        yield f"\n# {_title(shown)}\n"
        if shown.hidden:
            yield f"# Hidden: {_line(', '.join(shown.hidden))}\n"
        if shown.setup:
            yield f"# Send first on a fresh server:\n{shown.setup}\n"
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
    """Return a body as text if editors do not interpret any of it, else as base64 below a comment."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = ""
    if not text or xml_text(text) != text or _OF_EDITORS.search(text):
        return f"# base64\n{base64.b64encode(body).decode('ascii')}"
    return text


def _line(text: str) -> str:
    """Return text on one line, without scripts of editors."""
    flat = " ".join(xml_text(text).split())
    flat = _SCRIPT.sub("{ ", flat)
    return flat if len(flat) <= _MOST else f"{flat[:_MOST]}..."
