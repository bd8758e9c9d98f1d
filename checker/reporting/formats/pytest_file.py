"""pytest: a file of regression tests, one for each failure; they pass while the defect is there, or once it is gone."""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Final
from urllib.parse import urlsplit

from checker import __version__
from checker.config.resolve import slug
from checker.core.terminal import with_escaped_hashes
from checker.corpus.records import Finding
from checker.reporting.replays import links_in, prerequisites_of, symptoms_of, unproving_statuses
from checker.reporting.report import Report
from checker.reporting.shown import (
    ReportContext,
    ShownFinding,
    ShownRequest,
    has_response,
    request_of_command,
    shown_findings,
    shown_request,
    standing_text,
)
from checker.reporting.text import xml_text

_NOT_SENT: Final = frozenset(
    ("host", "content-length", "user-agent", "accept-encoding", "connection", "transfer-encoding")
)
_MOST_LINES: Final = 40


def write(report: Report, context: ReportContext) -> Iterator[str]:
    """Text of the file."""
    head = files("checker.reporting.formats").joinpath("pytest_head.txt").read_text("utf-8")
    yield (
        f'"""Regression tests that Checker {__version__} made of {_safe(context.location)}.\n\n'
        "They pass while the defects are there, and fail when one is gone; with CHECKER_EXPECT=fixed it is the other way round.\n"
        'CHECKER_BASE_URL says where they send requests. What was masked is taken from the environment.\n"""\n\n'
    )
    yield head.replace("@BASE@", ascii(context.base_url))
    for shown in shown_findings(report.findings, context):
        if shown.finding.interactions:
            yield "\n\n"
            # A `#` of a request stands in a literal; those of comments are broken already.
            yield from (with_escaped_hashes(one, r"\x23") for one in _test(shown, context))


def _test(shown: ShownFinding, context: ReportContext) -> Iterator[str]:
    finding = shown.finding
    known = standing_text(shown.standing, shown.entry)
    about = ", ".join(part for part in (shown.stability, known) if part)
    for line in [f"{shown.code} {shown.title} ({about})", *shown.message.splitlines()][:_MOST_LINES]:
        yield f"# {_safe(line)}".rstrip() + "\n"
    name = slug(finding.label).replace("-", "_")
    yield f"def test_{name}_{slug(finding.fingerprint).replace('-', '_')}():\n"
    if any(one.exchange.body_size is not None for one in finding.interactions):
        yield '    pytest.skip("its body was too long to be recorded")\n'
        return
    if not any(symptoms_of(finding)):
        yield '    pytest.skip("it got no response, and no time limit would prove that none comes")\n'
        return
    yield from _needs(shown, context)
    last = len(finding.interactions) - 1
    for number, interaction in enumerate(finding.interactions):
        links = {
            text: f"fresh(answer_{at}{''.join(f', {part!a}' for part in path)})"
            for text, (at, path) in links_in(finding.interactions[:number], interaction.exchange.target).items()
        }
        sent = shown_request(interaction, context)
        yield f"    answer_{number} = {_call(sent, context, links, moves=bool(shown.needs))}\n"
        if number < last and has_response(interaction.exchange):
            yield f"    assert answer_{number}.status == {interaction.exchange.status}\n"
    then = finding.interactions[-1].exchange.status
    unproving = sorted(unproving_statuses(finding))
    symptoms = ", ".join(_symptoms(finding, f"answer_{last}"))
    yield f"    judge(answer_{last}, {then}, {unproving}, {symptoms})\n"


def _needs(shown: ShownFinding, context: ReportContext) -> Iterator[str]:
    """Yield the lines that send what the finding needs on a fresh server."""
    if not shown.needs:
        return
    yield "    paths = {}\n"
    base_path = urlsplit(context.base_url).path.rstrip("/")
    for need in prerequisites_of(shown.finding):
        _, command = shown.needs[need.number]
        call = _call(request_of_command(command), context, {}, moves=True)
        path = need.made.path.removeprefix(base_path)
        if need.made.is_gone:
            yield f"    {call}\n"
            continue
        names = f", {need.names!a}" if need.is_creation else ""
        yield f"    need(paths, {path!a}, {need.made.status}, {call}{names})\n"


def _call(sent: ShownRequest, context: ReportContext, links: dict[str, str], *, moves: bool) -> str:
    """Return the expression that sends a request. `moves`: whether its path may begin with one that has changed."""
    target = sent.url.removeprefix(context.base_url.rstrip("/"))
    mask = context.sanitization.replacement
    headers = [
        f"({name!a}, {_expression(value, mask, name)})"
        for name, values in sent.headers.items()
        for value in values
        if name.lower() not in _NOT_SENT and not name.lower().startswith("x-checker-")
    ]
    place = _expression(target, mask, "query", links)
    parts = [ascii(sent.method), f"moved(paths, {place})" if moves else place, f"[{', '.join(headers)}]"]
    if sent.body is not None:
        parts.append(_body(sent.body, mask))
    return f"send({', '.join(parts)})"


def _body(body: bytes, mask: str) -> str:
    if mask.encode() not in body:
        return repr(body)
    return f"({_expression(body.decode('latin-1'), mask, 'body')}).encode('latin-1')"


def _expression(text: str, mask: str, name: str, links: dict[str, str] | None = None) -> str:
    """A Python expression for a text: masked parts are taken from the environment, others from earlier answers."""
    holes = {mask: "", mask.replace("[", "%5B").replace("]", "%5D"): "", **(links or {})}
    pattern = "|".join(re.escape(one) for one in sorted(filter(None, holes), key=len, reverse=True))
    parts, at = [], 0
    for found in re.finditer(pattern, text) if pattern else ():
        before = text[at : found.start()]
        if before:
            parts.append(ascii(before))
        named = re.search(r"([\w.-]+)\"?\s*[=:]\s*\"?$", before)
        variable = slug(named[1] if named else name).replace("-", "_").upper()
        parts.append(holes[found.group()] or f"secret('CHECKER_{variable}')")
        at = found.end()
    if text[at:] or not parts:
        parts.append(ascii(text[at:]))
    return " + ".join(parts)


def _symptoms(finding: Finding, answer: str) -> Iterator[str]:
    """Expressions that are true while the defect is there."""
    for one in symptoms_of(finding):
        place = ", ".join(ascii(part) for part in one.path)
        match one.kind:
            case "dropped":
                yield f"{answer}.is_dropped"
            case "status":
                yield f"{answer}.status == {one.value}"
            case "media_type":
                yield f"{answer}.media_type == {one.value!a}"
            case "undecodable":
                yield f"not {answer}.is_json"
            case "type":
                kind = "type(None)" if one.value is None else type(one.value).__name__
                yield f"type({answer}.at({place})) is {kind}"
            case "equals":
                yield f"{answer}.at({place}) == {one.value!a}"
            case _:
                yield f"{answer}.has({place})"


def _safe(text: str) -> str:
    """Text for a comment or a docstring, in one line."""
    return " ".join(xml_text(text).split()).replace("\\", "/").replace('"""', "'''")[:1000]
