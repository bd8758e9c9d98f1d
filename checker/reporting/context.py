"""What all parts of a report share: which run it is of, and what of it may be shown."""

from msgspec import Struct, field

from checker.config.settings import RunSettings, Sanitization
from checker.core.blocks import Truncation
from checker.core.known import Baseline
from checker.corpus.records import RunStarted, SchemaOpened
from checker.corpus.secrets import Secrets, secrets_of
from checker.reporting.masking import Masking, masked_url


class ReportContext(Struct, frozen=True):
    """The run that a report is of."""

    command: str
    """The command line, secrets masked."""
    seed: int
    base_url: str
    """Effective base URL: interactions record only the target. Empty when nobody knows it."""
    preserve_bytes: bool = False
    """All bodies as base64."""
    sanitization: Sanitization = field(default_factory=Sanitization)
    truncation: Truncation = field(default_factory=Truncation)
    secrets: Secrets = field(default_factory=Secrets)
    """What the references in recorded headers stand for: written out only when nothing is sanitised."""
    credentials: tuple[str, ...] = ()
    """Places that the security schemes of the description name."""
    location: str = ""
    """Of the description, as it was given, without credentials in a URL."""
    title: str = ""
    """Of the API."""
    specification: str = ""
    """`Open API 3.0.3`."""
    kind: str = "run"
    """`run` or `fuzz`."""
    api_name: str = ""
    """What those who take archives call the API."""
    baseline: Baseline = field(default_factory=Baseline)
    """Known failures."""
    started_at: float = 0.0
    """Seconds since the epoch."""
    given_mode: int | None = None
    """The configured permissions of report files."""

    @classmethod
    def of(
        cls, settings: RunSettings, started: RunStarted | None, opened: SchemaOpened | None
    ) -> "ReportContext":
        """The context of a run, as far as its records tell; the rest is as these settings say."""
        return cls(
            command=started.command if started and started.command else settings.command,
            seed=started.seed if started else settings.seed,
            base_url=opened.base_url if opened else "",
            preserve_bytes=settings.report.preserve_bytes,
            sanitization=settings.report.sanitization,
            truncation=settings.report.truncation,
            secrets=secrets_of(settings),
            credentials=opened.credentials if opened else (),
            location=masked_url(
                started.location if started else settings.location, settings.report.sanitization
            ),
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
        """Permissions of report files; None leaves them to the umask.

        Masked reports are for everyone who reads the results of a CI job. A report that may hold secrets is for its owner.
        """
        if self.given_mode is None and (self.preserve_bytes or not self.sanitization.enabled):
            return 0o600
        return self.given_mode

    @property
    def masking(self) -> Masking:
        """What is not shown of requests and answers."""
        return Masking(self.sanitization, self.secrets.store, self.credentials)
