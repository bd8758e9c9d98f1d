"""Collections of the failed requests that also judge the responses: `.http` for editors and httpyac, `.sh` for bash.

Values of earlier responses are variables, so that the requests run unchanged on a fresh server.
"""

import base64
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from math import isfinite
from typing import Any

from checker.core import curl
from checker.core.request import BaseUrl
from checker.corpus.records import Finding
from checker.reporting.calls import UNHANDLED, Path
from checker.reporting.replays import Symptom, item_of, symptoms_of, unproved, unproving_statuses
from checker.reporting.report import Report
from checker.reporting.reproduction import (
    Secret,
    ShownCall,
    Taken,
    Text,
    base_path_of,
    secrets_of,
    shown_calls,
    used_from,
)
from checker.reporting.shell import command_of, one_url, value_of
from checker.reporting.shown import ReportContext, ShownFinding, shown_findings
from checker.reporting.text import xml_text

_MOST = 2000
_OF_EDITORS = re.compile(r"\{\{|^\s*(?:[#@<>?]|//|/\*)", re.MULTILINE)
"""Text in bodies that editors interpret: `{{...}}` runs as a script, `###` starts a request."""

_SCRIPT = re.compile(r"\{(?=\{)")
_TOO_LONG = "a body was too long to be recorded"
_INEXACT = "editors would interpret a part of a request, which is therefore written in another way"


def requests(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield the text of an `.http` file. Each request begins with `###` and the failure."""
    yield f"# {_line(context.command)}\n"
    yield "# httpyac send FILE --name NAME sends a request after those that it needs, and fails while the failure still occurs.\n"
    yield f"@base = {_line(context.base_url.rstrip('/'))}\n"
    for shown in shown_findings(report.findings, context):
        calls = shown_calls(shown.finding, context.masking, base_path_of(context.base_url))
        name = shown.id.replace("-", "_")
        for number, one in enumerate(calls):
            what = f"needs {_line(one.call.made.path)}" if one.call.made is not None else f"request {number + 1}"
            is_last = number == len(calls) - 1
            yield f"\n### {_title(shown)}, {what}\n"
            yield f"# @name {name if is_last else f'{name}_{number + 1}'}\n"
            if number:
                yield f"# @ref {name}_{number}\n"
            lines = [f"{one.method} {{{{base}}}}{_filled(one.target, lambda text: _part(text.replace('{', '%7B')))}"]
            lines += [f"{name}: {_filled(value, _part)}" for name, value in one.headers]
            if one.body and any(one.body):
                if _is_replaced(one.body):
                    body = f"# base64\n{base64.b64encode(_plain(one.body)).decode('ascii')}"
                else:
                    body = _filled(one.body, lambda part: part.encode("latin-1").decode())
                lines += ["", body]
            yield "\n".join(lines) + "\n"
            script = [*_verdict(shown, calls)] if is_last else [*_reached(one), *_taken(calls, number)]
            yield "\n".join(["", "> {%", *script, "%}", ""]) if script else ""


def script(report: Report, context: ReportContext) -> Iterator[str]:
    """Yield a bash script with a function for each failure, which sends its requests and judges the last response."""
    head = files("checker.reporting.formats").joinpath("shell_head.txt").read_text("utf-8")
    place = one_url(BaseUrl.from_url(context.base_url)) if context.base_url else ""
    yield head.replace("@COMMAND@", _line(context.command)).replace("@BASE@", curl.quoted_if_needed(place))
    ids = []
    for shown in shown_findings(report.findings, context):
        if shown.finding.interactions:
            ids.append(shown.id)
            yield f"\n# {_title(shown)}\n{shown.id.replace('-', '_')}() {{\n"
            yield from (f"    {line}\n" for line in _lines(shown, context))
            yield "}\n"
    yield f"\nall=({' '.join(ids)})\n"
    yield 'code=0\nfor id in "${all[@]}"; do\n    [ $# -eq 0 ] || [[ " $* " == *" $id "* ]] || continue\n'
    yield '    ("${id//-/_}")\n    case $? in 0) ;; 3) [ $code -eq 1 ] || code=3 ;; *) code=1 ;; esac\ndone\nexit $code\n'


def _lines(shown: ShownFinding, context: ReportContext) -> Iterator[str]:
    finding = shown.finding
    calls = shown_calls(finding, context.masking, base_path_of(context.base_url))
    reason = _unjudged(finding)
    if reason:
        yield f'echo "NOT REPRODUCED $id: {reason}"'
        yield "exit 3"
    for name in secrets_of(calls):
        yield f"secret {name}"
    for number, one in enumerate(calls):
        is_last = number == len(calls) - 1
        if one.call.made is not None:
            yield f"# {_line(one.call.made.path)}"
        then = "last" if is_last else 0 if one.call.accepts(0) else one.call.status
        yield f"send {then} {command_of(one, context.base_url, 'base')}"
        for taken in used_from(calls, number):
            yield f"{taken.variable}=$(value {value_of(taken)}) || exit 3"
    shown_status, unproving = _expected(finding, calls)
    tests = [f"{kind} {curl.quoted(value)}" for kind, value in map(_shell_test, symptoms_of(finding)) if kind]
    if item := item_of(finding):
        tests.append(f"item {curl.quoted(_shell_test(Symptom('has', None, item))[1])}")
    yield " ".join([f"judge {shown_status} '{' '.join(map(str, unproving))}'", *tests])


def _unjudged(finding: Finding) -> str:
    """Return why programs cannot judge a failure; empty if they can."""
    if any(one.exchange.body_size is not None for one in finding.sent):
        return _TOO_LONG
    return "" if any(symptoms_of(finding)) else unproved(finding)


def _expected(finding: Finding, calls: list[ShownCall]) -> tuple[str, list[int]]:
    """Return the status of a failure as curl writes it, and the statuses that prove nothing about it."""
    status = finding.interactions[-1].exchange.status
    return f"{status or 0:03}", sorted(unproving_statuses(finding, [one.call for one in calls]))


def _shell_test(symptom: Symptom) -> tuple[str, str]:
    """Return kind and value of a test of `judge`; empty for the status."""
    path = json.dumps(list(symptom.path))
    # `paths` does not list the whole document.
    there = f"([paths] | any(. == {path}))" if symptom.path else "true"
    value = f"(getpath({path}) | %s)"
    match symptom.kind:
        case "media_type":
            return "media-type", str(symptom.value)
        case "undecodable":
            return "no-json", ""
        case "type":
            return "jq", f"{there} and {value % _of_type(symptom.value, _JQ_TYPES)}"
        case "equals":
            return "jq", f"{there} and {value % f'. == {json.dumps(symptom.value)}'}"
        case "has":
            return "jq", there
        case "lacks":
            return "jq", value % f'type == "object" and (has({json.dumps(symptom.value)}) | not)'
        case _:
            return "", ""


def _of_type(value: Any, types: dict[type, str]) -> str:
    """Return a condition on the type of a value. jq and JavaScript do not distinguish `1.0` from `1`."""
    is_whole = isinstance(value, float) and (value.is_integer() or not isfinite(value))
    return types[complex if is_whole else type(value)]


_JQ_TYPES = {
    complex: 'type == "number"',
    str: 'type == "string"',
    bool: 'type == "boolean"',
    int: 'type == "number" and . == floor',
    float: 'type == "number" and . != floor',
    list: 'type == "array"',
    dict: 'type == "object"',
    type(None): 'type == "null"',
}
_JS_TYPES = {
    complex: 'typeof v === "number"',
    str: 'typeof v === "string"',
    bool: 'typeof v === "boolean"',
    int: "Number.isInteger(v)",
    float: 'typeof v === "number" && !Number.isInteger(v)',
    list: "Array.isArray(v)",
    dict: 'v !== null && typeof v === "object" && !Array.isArray(v)',
    type(None): "v === null",
}


def _verdict(shown: ShownFinding, calls: list[ShownCall]) -> Iterator[str]:
    finding = shown.finding
    reason = _unjudged(finding) if finding.interactions else "nothing was sent"
    if not reason and not all(map(_is_exact, calls)):
        reason = _INEXACT
    if reason:
        yield f"client.test({_js(shown.id)}, () => {{ client.assert(false, {_js(reason)}); }});"
        return
    then, unproving = _expected(finding, calls)
    shows = " && ".join([f"response.status === {int(then)}", *filter(None, map(_js_test, symptoms_of(finding)))])
    yield f'client.test({_js(f"{shown.id} is fixed")}, () => {{ client.assert(!({shows}), "the failure still occurs"); }});'
    if unproving:
        proves = f"response.status === {int(then)} || !{unproving}.includes(response.status)"
        if item := item_of(finding):
            proves = f"({proves}) && (response.status !== {int(then)} || {_js_place(item)} !== undefined)"
        yield f'client.test("its situation was reached", () => {{ client.assert({proves}, `status ${{response.status}}`); }});'


_MEDIA_TYPE = (
    '((t) => (/^[^\\s\\/]+\\/[^\\s\\/]+$/.test(t) ? t : "") === @)'
    '((response.headers.valueOf("content-type") || "").split(";")[0].trim().toLowerCase())'
)
"""Compares the media type. A malformed one compares as empty."""


def _js_test(symptom: Symptom) -> str:
    value = f"(((v) => %s)({_js_place(symptom.path)}))"
    match symptom.kind:
        case "media_type":
            return _MEDIA_TYPE.replace("@", _js(symptom.value))
        case "undecodable":
            return 'typeof response.body === "string"'
        case "type":
            return value % _of_type(symptom.value, _JS_TYPES)
        case "equals":
            return value % f"v === {_js(symptom.value)}"
        case "has":
            return value % "v !== undefined"
        case "lacks":
            return value % f'v !== null && typeof v === "object" && !({_js(symptom.value)} in v)'
        case _:
            return ""


def _js_place(path: Path, step: str = "o[k]") -> str:
    """Return the expression for a place in a JSON body. The value of the expression is undefined if the place does not exist."""
    return f"{_js(list(path))}.reduce((o, k) => (o === null || o === undefined ? undefined : {step}), response.body)"


def _js(value: Any) -> str:
    """Return a JSON value as JavaScript without sequences that would end the script in an editor."""
    return json.dumps(value).replace("%}", "%\\u007d").replace("{{", "{\\u007b").replace("}}", "}\\u007d")


def _reached(one: ShownCall) -> Iterator[str]:
    others = [status for status in UNHANDLED if status != one.call.status]
    is_alike = f"!{others}.includes(response.status)"
    if not one.call.accepts(0):
        is_alike += f" && Math.floor(response.status / 100) === {one.call.status // 100}"
    yield f'client.test("as in the run", () => {{ client.assert({is_alike}); }});'


def _taken(calls: list[ShownCall], number: int) -> Iterator[str]:
    for taken in used_from(calls, number):
        if taken.source.is_whole_header:
            yield f"client.global.set({_js(taken.variable)}, response.headers.valueOf({_js(taken.source.header)}));"
            continue
        if taken.source.path is None:
            value = 'response.headers.valueOf("location").replace(/[?#].*/, "").replace(/\\/*$/, "").split("/").pop()'
            value = f"decodeURIComponent({value})"
        else:
            value = _js_place(taken.source.path, "Array.isArray(o) && k >= o.length ? o[0] : o[k]")
            if taken.source.segment:
                path = f'String({value}).replace(/[?#].*/, "").replace(/\\/*$/, "")'
                value = f'{path}.split("/").slice(-{taken.source.segment})[0]'
        written = f"JSON.stringify(String({value})).slice(1, -1)" if taken.is_json else f"encodeURIComponent({value})"
        yield f"client.global.set({_js(taken.variable)}, {written});"


def _title(shown: ShownFinding) -> str:
    return _line(f"{shown.kind}: {shown.finding.label} ({', '.join((shown.stability, *shown.known))})")


def _is_exact(one: ShownCall) -> bool:
    """Whether the file contains a request exactly as it was sent."""
    texts = (one.target, *(value for _, value in one.headers))
    # A blank ends the target.
    is_line = all(_part(part) == part for text in texts for part in text if isinstance(part, str))
    is_target = not any(" " in part for part in one.target if isinstance(part, str))
    return is_line and is_target and (not one.body or not any(one.body) or not _is_replaced(one.body))


def _filled(text: Text, written: Any) -> str:
    parts = []
    for part in text:
        match part:
            case Secret():
                parts.append(f"{{{{process.env.{part.variable}}}}}")
            case Taken():
                parts.append(f"{{{{{part.variable}}}}}")
            case _:
                parts.append(written(part))
    return "".join(parts)


def _plain(body: Text) -> bytes:
    return "".join(part if isinstance(part, str) else "0" for part in body).encode("latin-1")


def _is_replaced(body: Text) -> bool:
    """Whether the file contains base64 in place of a body."""
    try:
        text = _plain(body).decode()
    except UnicodeDecodeError:
        return True
    return not text or xml_text(text) != text or _OF_EDITORS.search(text) is not None


def _part(text: str) -> str:
    """Return a part of a line without scripts of editors and control characters. Blanks at its ends are kept."""
    written = _line(text)
    return text if written == text.strip(" ") else written


def _line(text: str) -> str:
    """Return text on one line, without scripts of editors."""
    flat = " ".join(xml_text(text).split())
    flat = _SCRIPT.sub("{ ", flat)
    return flat if len(flat) <= _MOST else f"{flat[:_MOST]}..."
