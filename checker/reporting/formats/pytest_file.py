"""pytest: a file of regression tests, one for each failure; they pass while the defect is there, or once it is gone."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final
from urllib.parse import unquote

from checker import __version__
from checker.config.resolve import slug
from checker.corpus.records import Interaction
from checker.reporting.context import ReportContext
from checker.reporting.report import Report
from checker.reporting.shown import (
    ShownFinding,
    has_answer,
    readable_body,
    shown_findings,
    shown_request,
    standing_text,
)
from checker.reporting.text import xml_text

_NOT_SENT: Final = frozenset(
    ("host", "content-length", "user-agent", "accept-encoding", "connection", "transfer-encoding")
)
_PLACE = re.compile(r"body((?:\.[^.:\[\]\s]+|\[\d+\])*): ")
_PART = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_MOST_LINES: Final = 40
_SHORTEST: Final = 3
"""Shorter values stand in requests by chance."""
_MOST_LEAVES: Final = 500
Path = tuple[str | int, ...]


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
            yield from _test(shown, context)


def _test(shown: ShownFinding, context: ReportContext) -> Iterator[str]:
    finding = shown.finding
    known = standing_text(shown.standing, shown.entry)
    about = ", ".join(part for part in (shown.stability, known) if part)
    for line in [f"{shown.code} {shown.title} ({about})", *shown.message.splitlines()][
        :_MOST_LINES
    ]:
        yield f"# {_safe(line)}".rstrip() + "\n"
    name = slug(finding.label).replace("-", "_")
    yield f"def test_{name}_{slug(finding.fingerprint).replace('-', '_')}():\n"
    if any(one.exchange.body_size is not None for one in finding.interactions):
        yield '    pytest.skip("its body was too long to be recorded")\n'
        return
    last = len(finding.interactions) - 1
    for number, interaction in enumerate(finding.interactions):
        earlier = finding.interactions[:number]
        yield f"    answer_{number} = {_sent(interaction, earlier, context)}\n"
        if number < last and has_answer(interaction.exchange):
            yield f"    assert answer_{number}.status == {interaction.exchange.status}\n"
    symptoms = list(_symptoms(shown, finding.interactions[-1], f"answer_{last}"))
    yield f"    judge({', '.join(symptoms)})\n"


def _sent(
    interaction: Interaction, earlier: tuple[Interaction, ...], context: ReportContext
) -> str:
    sent = shown_request(interaction, context)
    base = context.base_url.rstrip("/")
    target = (
        sent.url[len(base) :]
        if sent.url.startswith(base)
        else interaction.exchange.target.decode("latin-1")
    )
    mask = context.sanitization.replacement
    headers = [
        f"({name!a}, {_expression(value, mask, name)})"
        for name, values in sent.headers.items()
        for value in values
        if name.lower() not in _NOT_SENT and not name.lower().startswith("x-checker-")
    ]
    links = _links(earlier, f"{unquote(target)}")
    parts = [
        ascii(sent.method),
        _expression(target, mask, "query", links),
        f"[{', '.join(headers)}]",
    ]
    if sent.body is not None:
        parts.append(_body(sent.body, mask))
    return f"send({', '.join(parts)})"


def _body(body: bytes, mask: str) -> str:
    if mask.encode() not in body:
        return repr(body)
    return f"({_expression(body.decode('latin-1'), mask, 'body')}).encode('latin-1')"


def _links(earlier: tuple[Interaction, ...], target: str) -> dict[str, str]:
    """Values of earlier answers that stand in a target -> the expression for what the same place holds now."""
    found: dict[str, str] = {}
    before = [one.exchange.target.decode("latin-1") for one in earlier]
    for number, interaction in enumerate(earlier):
        for path, value in _leaves(_parsed(readable_body(interaction.exchange))):
            text = str(value)
            is_new = not any(text in one for one in before[: number + 1])
            if text in re.split(r"[/?&=]", target) and is_new and _is_telling(value):
                place = "".join(f", {part!a}" for part in path)
                found.setdefault(text, f"fresh(answer_{number}{place})")
    return found


def _is_telling(value: object) -> bool:
    return not isinstance(value, bool) and (isinstance(value, int) or len(str(value)) >= _SHORTEST)


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Scalars of a document with their places, at most 500."""
    waiting: list[tuple[Path, Any]] = [(path, value)]
    count = 0
    while waiting and count < _MOST_LEAVES:
        place, found = waiting.pop(0)
        count += 1
        if isinstance(found, dict):
            waiting += [((*place, key), one) for key, one in found.items()]
        elif isinstance(found, list):
            waiting += [((*place, at), one) for at, one in enumerate(found)]
        elif isinstance(found, str | int) and place:
            yield place, found


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


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


def _symptoms(shown: ShownFinding, interaction: Interaction, answer: str) -> Iterator[str]:
    """Expressions that are true while the defect is there."""
    exchange, finding = interaction.exchange, shown.finding
    if not has_answer(exchange):
        yield f"{answer}.status is None"
        return
    yield f"{answer}.status == {exchange.status}"
    if finding.check == "content_type_conformance":
        declared = {name.lower(): value for name, value in exchange.response_headers}
        media_type = declared.get("content-type", "").partition(";")[0].strip().lower()
        yield f"{answer}.media_type == {media_type!a}"
    elif finding.unique_key == "undecodable":
        yield f"not {answer}.is_json"
    elif finding.check == "response_schema_conformance" and (found := _PLACE.match(shown.message)):
        yield from _at(found[1], finding.unique_key, _parsed(readable_body(exchange)), answer)


def _at(place: str, rule: str, document: Any, answer: str) -> Iterator[str]:
    """That the offending value is there: of a type, or absent, or as it was."""
    path = tuple(int(index) if index else name for name, index in _PART.findall(place))
    for part in path:
        try:
            document = document[part]
        except (LookupError, TypeError):
            return
    arguments = ", ".join(ascii(part) for part in path)
    kind = rule.rpartition("/")[2]
    if kind == "type":
        yield f"type({answer}.at({arguments})) is {type(document).__name__ if document is not None else 'type(None)'}"
    elif isinstance(document, str | int | float | None) and kind in ("enum", "const", "pattern"):
        yield f"{answer}.at({arguments}) == {document!a}"
    elif path:
        yield f"{answer}.has({arguments})"


def _safe(text: str) -> str:
    """Text for a comment or a docstring, in one line."""
    return " ".join(xml_text(text).split()).replace("\\", "/").replace('"""', "'''")[:1000]
