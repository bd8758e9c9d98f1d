"""The parts that report formats share: the context of the run, and masked requests, responses and findings."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, wraps
from typing import Any, TypeVar

from msgspec import Struct, field

from checker.config.settings import RunSettings, Sanitization
from checker.core.blocks import FailedCase, Truncation, need_lines, query_of, quoted_body, standard_reason
from checker.core.known import Baseline, KnownFailure
from checker.core.request import BaseUrl, WireRequest
from checker.corpus.known import FAILING, KnownFailures, KnownStatus, failure_id
from checker.corpus.records import Exchange, Finding, Interaction, RunStarted, SchemaOpened
from checker.corpus.secrets import Secrets, secrets_of
from checker.reporting.findings import UNSHOWN, answer_of, fact_of, failed_case, marks_of, severity_rank
from checker.reporting.masking import Masking, ShownCommand, by_name, masked_url
from checker.reporting.shell import printed
from checker.reporting.text import unicode_text, walled


class ReportContext(Struct, frozen=True):
    """The run of a report."""

    command: str  # The command line, secrets masked.
    seed: int
    base_url: str  # Effective base URL; empty if unknown. Interactions record only the target.
    certificates: tuple[bool | str, str | None, str | None] = (True, None, None)
    """Whether the certificate of the target is verified, or the authorities for it; the client's certificate and its key."""
    preserve_bytes: bool = False  # Whether all bodies are written as base64.
    sanitization: Sanitization = field(default_factory=Sanitization)
    truncation: Truncation = field(default_factory=Truncation)
    secrets: Secrets = field(default_factory=Secrets)
    """The values behind references in recorded headers. These values are written only without sanitisation."""
    credentials: tuple[str, ...] = ()  # Places of credentials in the security schemes of the description.
    tokens: tuple[tuple[str, str, str], ...] = ()  # As in `SchemaOpened`.
    location: str = ""  # Location of the description, without credentials in a URL.
    title: str = ""
    specification: str = ""  # `Open API 3.0.3`.
    kind: str = "run"  # `run` or `fuzz`.
    api_name: str = ""
    baseline: Baseline = field(default_factory=Baseline)
    started_at: float = 0.0  # Seconds since the epoch.
    allure: Mapping[str, Mapping[tuple[str, ...], Any]] = field(default_factory=dict)
    """Calls of Allure's API in pytest tests, by label of the operation. The first item of a key is a member of the result;
    longer keys are for items of lists. An attachment is (name, media type, extension, content).
    """
    given_mode: int | None = None  # Permissions of report files that the user configured.

    @classmethod
    def of(cls, settings: RunSettings, started: RunStarted | None, opened: SchemaOpened | None) -> "ReportContext":
        """Return the context of a run, from its records and, for the rest, from its settings."""
        return cls(
            command=started.command if started and started.command else settings.command,
            seed=started.seed if started else settings.seed,
            base_url=opened.base_url if opened else "",
            certificates=settings.common.http.connection[1:],
            preserve_bytes=settings.report.preserve_bytes,
            sanitization=settings.report.sanitization,
            truncation=settings.report.truncation,
            secrets=secrets_of(settings, opened.credentials if opened else None),
            credentials=opened.credentials if opened else (),
            tokens=opened.tokens if opened else (),
            location=masked_url(started.location if started else settings.location, settings.report.sanitization),
            title=opened.title if opened else "",
            specification=opened.specification if opened else "",
            kind=started.kind if started else settings.kind,
            api_name=settings.report.upload.api_name or "",
            baseline=settings.verdict.baseline,
            started_at=started.at if started else 0.0,
            given_mode=settings.report.mode,
        )

    @property
    def mode(self) -> int | None:
        """Return the permissions of report files; None leaves them to the umask.

        CI jobs read masked reports as another user. A report that may contain secrets is readable by its owner only.
        """
        if self.given_mode is None and (self.preserve_bytes or not self.sanitization.enabled):
            return 0o600
        return self.given_mode

    @property
    def masking(self) -> Masking:
        return Masking(self.sanitization, self.secrets.store, self.credentials, self.tokens, self.location)

    def printed(self, finding: Finding) -> ShownCommand | None:
        """Return bash lines that send the requests of a finding on a fresh server; None if its recorded commands are enough."""
        return printed(finding, self.masking, self.base_url)


_Result = TypeVar("_Result")

_SHORT_BYTES = 16 << 10
_MOST = 256  # Number of cached bodies of one kind, at most some 10 MB of text.


def for_equal_bodies(write: Callable[..., _Result]) -> Callable[..., _Result]:
    """Cache results for short bodies, because services return the same bodies again and again.

    The body is the first argument, and all arguments are hashable.
    """
    remembered = lru_cache(maxsize=_MOST)(write)

    @wraps(write)
    def written(content: bytes, *about: object) -> _Result:
        return (remembered if len(content) <= _SHORT_BYTES else write)(content, *about)

    return written


Headers = dict[str, list[str]]  # Name -> values in order.


class ShownRequest(Struct, frozen=True):
    """A recorded request, masked."""

    method: str
    url: str
    headers: Headers
    body: bytes | None
    body_size: int  # Bytes that were sent. If the body was cut, `body` has fewer.


def shown_request(interaction: Interaction, context: ReportContext) -> ShownRequest:
    """Return the masked request of an interaction."""
    exchange, parts = interaction.exchange, interaction.components
    recorded = WireRequest(exchange.method, exchange.target, list(exchange.headers), exchange.body)
    sent = context.masking.request(recorded, parts)
    origin = _base_url(context.base_url)
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in sent.headers]
    size = exchange.body_size
    if size is None:
        size = len(exchange.body or b"")
    return ShownRequest(
        method=sent.method,
        url=sent.url_at(origin) if origin is not None else sent.target.decode("latin-1"),
        headers=by_name(headers, context.sanitization.replacement),
        body=sent.body,
        body_size=size,
    )


@lru_cache(maxsize=16)
def _base_url(url: str) -> BaseUrl | None:
    return BaseUrl.from_url(url) if url else None


def shown_headers(exchange: Exchange, context: ReportContext) -> Headers:
    """Return the masked headers of a response."""
    redaction = context.masking.rules()
    return by_name(redaction.headers(exchange.response_headers), redaction.replacement)


class ShownFinding(Struct, frozen=True):
    """A finding as text, as all formats show it."""

    finding: Finding
    code: str  # `ST101`; the name of the check for failures without a code.
    title: str
    fact: str  # The fault on one line; may be empty.
    message: str
    marks: tuple[str, ...]  # Reasons why the commands may not reproduce the finding; empty for a stable finding.
    status: str  # `500 Internal Server Error`, or why there is no response; empty if nothing was sent.
    body: str  # Body of the response, shortened, in back-quotes; `<EMPTY>`, `<BINARY>`, or empty without a response.
    commands: tuple[str, ...]
    """Bash lines that send the requests on a fresh server, in order: first the requests that the finding needs, then its own."""
    hidden: tuple[str, ...]  # Places whose values are masked in the commands.
    standing: KnownStatus = KnownStatus.NEW
    entry: KnownFailure | None = None  # The entry of the failure among the known failures.

    @property
    def id(self) -> str:
        """Return the name that `checker baseline` uses, equal in all runs: `v1-9a689dd49443c3d5`."""
        return failure_id(self.finding)

    @property
    def kind(self) -> str:
        """Return `ST101 Server error`, or the title alone for a failure without a code."""
        return f"{self.finding.code} {self.title}".lstrip()

    @property
    def known(self) -> tuple[str, ...]:
        """Return the known status of the failure as text; empty for a new failure."""
        return tuple(filter(None, (standing_text(self.standing, self.entry),)))

    @property
    def headline(self) -> str:
        return f"{self.title}: {self.fact}" if self.fact else self.title

    @property
    def fails(self) -> bool:
        return self.standing in FAILING

    @property
    def query(self) -> str:
        """Return the GraphQL query of the last command, one line for each field, with its variables; empty for other requests."""
        return query_of(self.commands[-1]) if self.commands else ""

    @property
    def stability(self) -> str:
        return ", ".join(self.marks) or "stable"


def shown_findings(findings: Iterable[Finding], context: ReportContext) -> list[ShownFinding]:
    """Return findings as text, worst first. Those that do not fail the run come last."""
    ordered = sorted(
        findings, key=lambda one: (severity_rank(one.severity), one.code, one.title, one.label, one.fingerprint)
    )
    known = KnownFailures(context.baseline)
    shown = [_shown_finding(finding, context, known) for finding in ordered]
    return sorted(shown, key=lambda one: not one.fails)


def standing_text(standing: KnownStatus, entry: KnownFailure | None) -> str:
    """Return the known status of a failure: `known: paging is rewritten (SHOP-12, until 2026-12-31)`; empty for a new one."""
    if entry is None:
        return "" if standing is KnownStatus.NEW else str(standing)
    parts = [entry.ticket, entry.owner, f"until {entry.expires}" if entry.expires else ""]
    details = ", ".join(part for part in parts if part)
    reason = f": {entry.reason}" if entry.reason else ""
    return unicode_text(f"{standing}{reason}{f' ({details})' if details else ''}")


def _shown_finding(finding: Finding, context: ReportContext, known: KnownFailures) -> ShownFinding:
    case = walled(
        lambda: failed_case([finding], context.masking.command, context.printed),
        lambda why: FailedCase(finding.case, ((finding.title, UNSHOWN.format(why=why)),), answer=None, commands=()),
    )
    status = body = ""
    if finding.interactions:
        exchange = finding.interactions[-1].exchange
        answer = answer_of(exchange)
        if answer.status is None:
            status = answer.failure or "no response"
        else:
            reason = answer.reason or standard_reason(answer.status)
            status = f"{answer.status} {reason}".rstrip()
            body = quoted_body(answer, context.truncation)
    return ShownFinding(
        finding=finding,
        code=finding.code or finding.check,
        title=unicode_text(finding.title),
        fact=unicode_text(fact_of(finding, case)),
        message=unicode_text(case.failures[0][1]),
        marks=marks_of(finding),
        status=unicode_text(status),
        body=unicode_text(body),
        commands=tuple(map(unicode_text, (*need_lines(case.needs), *case.commands))),
        hidden=case.hidden,
        standing=known.standing(finding),
        entry=known.entry_of(finding),
    )
