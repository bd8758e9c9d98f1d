"""Internals of the server in error responses (CWE-209)."""

import re
from typing import Final

from checker.checks.check import Config, QuickLook
from checker.checks.context import PASSED, CheckContext, Found
from checker.checks.rules import values_of
from checker.core.contract import ResponsePlan
from checker.core.failures import CauseScope, Failure
from checker.core.response import Response

_LONGEST: Final = 64 * 1024  # Bytes of a body that are read.
_SHOWN: Final = 160  # Characters of a disclosed text that a message shows.
_GZIP: Final = b"\x1f\x8b"


class DisclosedInternals(Failure, code="ST403", title="Error response discloses internals", cause_scope=CauseScope.API):
    """An error response contains a stack trace, SQL, a path of the server's files, or a secret."""


_PYTHON, _JAVA, _NODE, _NET = (f"{name} stack trace" for name in ("Python", "Java", "JavaScript", ".NET"))
_PHP, _RUBY, _SQL, _PATH, _SECRET = "PHP stack trace", "Ruby stack trace", "database error", "path of a file", "secret"
_AT: Final = rb"(?:\b|\\[nt])at "  # Before the place of a stack frame; in JSON after an escaped tab or line break.
_FRAME: Final = _AT + rb"[\w$.<>/@]+\((?:[\w$-]+\.(?:java|kt|scala):[0-9]+|Native Method)\)"
_NODE_FRAME: Final = _AT + rb"[^\n\\]{0,120}\.[cm]?[jt]s:[0-9]+:[0-9]+"
_MASKED: Final = rb"(?:\*+|x+|<[^>]*>|\$?\{[^}]*\}|\[[^\]]*\]|pass(?:word|wd)?|pwd|secret|redacted)"
"""Matches a placeholder for a password, in a text that hides the password or explains its syntax."""
_OF_SYSTEM: Final = rb"(?<![\w./@:-])/(?:app|data|etc|home|mnt|opt|root|srv|tmp|usr|var)/[\w./@+-]+"
"""Matches a path below a usual directory of a server."""
_SIGNS: Final = (
    (_PYTHON, b"Traceback (most", rb"Traceback \(most recent call last\)"),
    (_JAVA, b".java:", _FRAME),
    (_JAVA, b".kt:", _FRAME),
    (_JAVA, b".scala:", _FRAME),
    (_NODE, b"js:", _NODE_FRAME),
    (_NODE, b"ts:", _NODE_FRAME),
    (_NET, b":line ", rb"\.(?:cs|vb|fs):line [0-9]+"),
    (_NET, b"   at ", rb"   at (?:System|Microsoft)\.[\w.`<>+\[\]]+\("),
    ("Go stack trace", b"goroutine ", rb"goroutine [0-9]+ \[(?:running|runnable|select|chan|IO wait|sync)"),
    (_PHP, b".php(", rb"#[0-9]+ [^\s(]+\.php\([0-9]+\)"),
    (_PHP, b" on line ", rb"\.php(?:</b>)? on line (?:<b>)?[0-9]+"),
    (_PHP, b'.php"', rb'"file"\s*:\s*"(?:\\?/|[A-Za-z]:)[^"]+\.php"'),
    (_RUBY, b".rb:", rb"(?<![\w./-])[\w./-]+\.rb:[0-9]+:in [`']"),
    ("Rust panic", b"panicked at ", rb"thread '[^']+' panicked at "),
    (_SQL, b"SQLSTATE[", rb"SQLSTATE\[\w+\]"),
    (_SQL, b"your SQL syntax", rb"You have an error in your SQL syntax"),
    (_SQL, b"Unclosed quotation", rb"Unclosed quotation mark after the character string"),
    (_SQL, b"syntax error at or near ", rb"syntax error at or near \\?\""),
    (_SQL, b": syntax error", rb"near \\?\"[^\"\n]*\\?\": syntax error"),
    (_SQL, b"sqlite3.", rb"sqlite3\.(?:Operational|Integrity|Programming)Error: "),
    (_SQL, b"ORA-", rb"(?<![A-Z])ORA-[0-9]{5}: "),
    (_SQL, b"violates ", rb"violates (?:unique|foreign key|not-null|check|exclusion) constraint"),
    (_SQL, b"constraint failed", rb"(?:UNIQUE|FOREIGN KEY|NOT NULL|CHECK) constraint failed"),
    (_SQL, b"Duplicate entry '", rb"Duplicate entry '[^'\n]*' for key '"),
    (_SQL, b"[SQL: ", rb"\[SQL: (?:SELECT|INSERT|UPDATE|DELETE)\b"),
    (_SQL, b"`prisma.", rb"Invalid `prisma\.\w+\.\w+\(\)` invocation"),
    (_PATH, b"/site-packages/", rb"(?<![\w./@-])/[\w./@-]*?/site-packages/[\w./@-]+"),
    (_PATH, b"/node_modules/", rb"(?<![\w./@-])/[\w./@-]*?/node_modules/[\w./@-]+"),
    (_PATH, b": No such file or directory", _OF_SYSTEM + rb"\\?['\"]?: No such file or directory"),
    (_PATH, b"[Errno ", rb"\[Errno [0-9]+\] [\w ]+: \\?['\"]/[^'\"\n]+"),
    (_PATH, b"ENOENT: ", rb"ENOENT: no such file or directory, \w+ '/[^'\n]+"),
    (_SECRET, b"PRIVATE KEY-----", rb"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----(?:\\[rn]|\s)*[A-Za-z0-9+/]{20}"),
    (_SECRET, b"AWS_SECRET_ACCESS_KEY", rb"AWS_SECRET_ACCESS_KEY\\?[\"']?\s*[:=]\s*\\?[\"']?[\w/+]{16}"),
    (_SECRET, b"DATABASE_URL", rb"DATABASE_URL\\?[\"']?\s*[:=]\s*\\?[\"']?[\w+]+://[^\s/@\"'\\]*:[^\s/@\"'\\]+@"),
    (
        _SECRET,
        b"://",
        rb"(?:postgres(?:ql)?|mysql|mongodb|rediss?|amqps?)(?:\+\w+)?://[^\s:/@\"'\\]*:(?!"
        + _MASKED
        + rb"@)[^\s/@\"'\\]+@",
    ),
)
"""(kind, a part of every match, pattern). All parts are searched together, in 2 microseconds for a usual refusal."""
_PARTS: Final = re.compile(b"|".join({re.escape(part): None for _, part, _ in _SIGNS}))


def shows_nothing(status: int, plan: ResponsePlan, config: Config) -> QuickLook:
    """Return the quick test: the body contains no part of any pattern."""
    return lambda response: not response.content.startswith(_GZIP) and _PARTS.search(response.content) is None


def error_disclosure(context: CheckContext) -> Found:
    """Fail on an error response that shows internals of the server.

    These are stack traces of eight languages, errors of databases, paths of installed packages, private keys, and passwords in
    URLs and environment variables, in the form that frameworks print. A text that the request contained does not count.
    """
    if context.response.is_traceback:
        return PASSED
    content = context.response.readable.content[:_LONGEST]
    found: dict[str, Failure] = {}
    for kind, part, pattern in _SIGNS:
        shown = re.search(pattern, content) if part in content and kind not in found else None
        if shown is not None:
            text = shown.group().decode("utf-8", "replace")
            sent = (*context.case.path_parameters.values(), *context.case.headers.values(), *values_of(context.case))
            if not any(isinstance(value, str) and text in value for value in sent):
                if kind == _SECRET:
                    message = "The body holds a secret of the server."
                else:
                    body = shown.string
                    begin = max(body.rfind(b"\n", 0, shown.start()) + 1, shown.start() - _SHOWN // 2)
                    line = body[begin : begin + _SHOWN].partition(b"\n")[0].decode("utf-8", "replace").strip()
                    message = f"The body holds a {kind}: {line}"
                found[kind] = DisclosedInternals(message, unique_key=kind)
    return list(found.values())


def has_database_error(response: Response) -> bool:
    """Whether an error response shows an error of a database."""
    content = response.content[:_LONGEST] if response.status_code >= 400 else b""
    return any(part in content and re.search(pattern, content) for kind, part, pattern in _SIGNS if kind == _SQL)
