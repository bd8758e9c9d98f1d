"""Error responses disclose nothing of the inside of the server (CWE-209)."""

import re
from typing import Final

from msgspec import Struct

from checker.checks.check import Config, QuickLook
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import values_of
from checker.core.contract import ResponsePlan
from checker.core.failures import CauseScope, Failure
from checker.core.response import Response

_LONGEST: Final = 64 * 1024
"""Bytes of a body that are read."""
_SHOWN: Final = 160
"""Characters of a disclosed text in a message."""
_GZIP: Final = b"\x1f\x8b"
_SECRET: Final = "secret"


class DisclosedInternals(Failure, code="ST403", title="Error response discloses internals", cause_scope=CauseScope.API):
    """An error response holds a stack trace, SQL, a path of the server's files, or a secret."""


class _Sign(Struct, frozen=True):
    """One kind of disclosed text."""

    name: str
    markers: tuple[bytes, ...]
    """One of them is part of each match: looking for them takes a tenth of the time of the pattern."""
    pattern: re.Pattern[bytes]


def _sign(name: str, markers: tuple[bytes, ...], *patterns: bytes) -> _Sign:
    return _Sign(name, markers, re.compile(b"|".join(patterns or map(re.escape, markers))))


_AT: Final = rb"(?:\b|\\[nt])at "
"""Before the place of a stack frame; in JSON after an escaped tab or line break."""
_SIGNS: Final = (
    _sign("Python stack trace", (b"Traceback (most recent call last)",)),
    _sign(
        "Java stack trace",
        (b".java:", b".kt:", b".scala:", b"(Native Method)"),
        _AT + rb"[\w$.<>/@]+\((?:[\w$-]+\.(?:java|kt|scala):[0-9]+|Native Method)\)",
    ),
    _sign(
        "JavaScript stack trace",
        (b"js:", b"ts:"),
        _AT + rb"[^\n\\]{0,120}\.[cm]?[jt]s:[0-9]+:[0-9]+",
    ),
    _sign(
        ".NET stack trace",
        (b":line ", b"   at System.", b"   at Microsoft."),
        rb"\.(?:cs|vb|fs):line [0-9]+",
        rb"   at (?:System|Microsoft)\.[\w.`<>+\[\]]+\(",
    ),
    _sign("Go stack trace", (b"goroutine ",), rb"goroutine [0-9]+ \[(?:running|runnable|select|chan|IO wait|sync)"),
    _sign(
        "PHP stack trace",
        (b".php",),
        rb"#[0-9]+ [^\s(]+\.php\([0-9]+\)",
        rb"\.php(?:</b>)? on line (?:<b>)?[0-9]+",
        rb'"file"\s*:\s*"[^"]+\.php"',
    ),
    _sign("Ruby stack trace", (b".rb:",), rb"[\w./-]+\.rb:[0-9]+:in [`']"),
    _sign("Rust panic", (b"panicked at ",), rb"thread '[^']+' panicked at "),
    _sign(
        "database error",
        (
            b"SQLSTATE[", b"You have an error in your SQL syntax", b"Unclosed quotation mark after the character string",
            b"syntax error at or near ", b": syntax error", b"ORA-", b" constraint", b"Duplicate entry '",
            b"[SQL: ", b"sqlalche.me/", b"`prisma.",
        ),
        rb"SQLSTATE\[\w+\]",
        rb"You have an error in your SQL syntax",
        rb"Unclosed quotation mark after the character string",
        rb"syntax error at or near \\?\"",
        rb"near \\?\"[^\"\n]*\\?\": syntax error",
        rb"(?<![A-Z])ORA-[0-9]{5}: ",
        rb"violates (?:unique|foreign key|not-null|check|exclusion) constraint",
        rb"(?:UNIQUE|FOREIGN KEY|NOT NULL|CHECK) constraint failed",
        rb"Duplicate entry '[^'\n]*' for key '",
        rb"\[SQL: (?:SELECT|INSERT|UPDATE|DELETE)\b",
        rb"\(Background on this error at: https://sqlalche\.me/",
        rb"Invalid `prisma\.\w+\.\w+\(\)` invocation",
    ),
    _sign(
        "path of a file",
        (b"/site-packages/", b"/node_modules/", b"[Errno ", b"ENOENT: "),
        rb"/[\w./@-]*/(?:site-packages|node_modules)/[\w./@-]+",
        rb"\[Errno [0-9]+\] [\w ]+: \\?['\"]/[^'\"\n]+",
        rb"ENOENT: no such file or directory, \w+ '/[^'\n]+",
    ),
    _sign(
        _SECRET,
        (b"PRIVATE KEY-----", b"AWS_SECRET_ACCESS_KEY", b"DATABASE_URL", b"SECRET_KEY", b"://"),
        rb"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----",
        rb"(?:AWS_SECRET_ACCESS_KEY|DATABASE_URL|SECRET_KEY(?:_BASE)?)\\?[\"']?\s*[:=]\s*\\?[\"']?[\w/+:-]{8}",
        rb"(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?)(?:\+\w+)?://[^\s:/@\"'\\]*:[^\s/@\"'\\]+@",
    ),
)  # fmt: skip
_MARKERS: Final = tuple(marker for sign in _SIGNS for marker in sign.markers)


def shows_nothing(plan: ResponsePlan, config: Config) -> QuickLook:
    """Return the quick test for a body without any marker."""
    return _has_no_marker


def _has_no_marker(response: Response) -> bool:
    content = response.content
    return not content.startswith(_GZIP) and not any(marker in content for marker in _MARKERS)


def error_disclosure(context: CheckContext) -> Found:
    """Fail on an error response with a text of a framework that shows the inside of the server.

    Certain: stack traces of nine languages, errors of databases, paths of installed packages, private keys, and passwords in URLs and
    variables of the environment, each in the form in which frameworks print it. A text that the request sent is no disclosure.
    """
    content = context.response.readable.content[:_LONGEST]
    marked = (sign for sign in _SIGNS if any(marker in content for marker in sign.markers))
    found = [(sign, shown) for sign in marked if (shown := sign.pattern.search(content))]
    told = [(sign, shown) for sign, shown in found if not _is_sent(context, shown.group())]
    return [DisclosedInternals(_message(sign, shown), unique_key=sign.name) for sign, shown in told] or PASSED


def _is_sent(context: CheckContext, shown: bytes) -> bool:
    """Whether the request holds a text that the response may repeat."""
    text = shown.decode("utf-8", "replace")
    sent = (*context.case.path_parameters.values(), *context.case.headers.values(), *values_of(context.case))
    return any(isinstance(value, str) and text in value for value in sent)


def _message(sign: _Sign, shown: re.Match[bytes]) -> str:
    if sign.name == _SECRET:
        return "The body holds a secret of the server."
    content = shown.string
    begin = max(content.rfind(b"\n", 0, shown.start()) + 1, shown.start() - _SHOWN // 2)
    line = content[begin : begin + _SHOWN].partition(b"\n")[0].decode("utf-8", "replace").strip()
    return f"The body holds a {sign.name}: {line}"
