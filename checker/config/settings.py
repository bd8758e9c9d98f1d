"""The settings of a run: one frozen value for the supervisor, the workers and the reporters.

The settings of single operations are resolved from its `operations` (`operation_settings`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.table import BUILT_IN
from checker.config.files import QueryFile
from checker.config.filters import Selection
from checker.config.operation_settings import OperationLayers, OperationSettings
from checker.config.overrides import NO_OVERRIDES, Override, Overrides
from checker.config.table import default_of
from checker.config.value_kinds import WarningSettings
from checker.core.blocks import Truncation
from checker.core.errors import UsageError
from checker.core.known import Baseline
from checker.core.phases import default_phases, phase_names
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, Location

NOTHING_SENT: Final = "checker.transport.applications:nothing_sent"  # The transport of dry runs.
_MASKING = ("output", "sanitization")
_DOCUMENTS = ("documents",)
_STATEFUL = ("phases", "stateful")
_FUZZING = ("phases", "fuzzing")
GROUPS: Final = (
    "selection", "target", "documents", "processes", "sources", "verdict", "report", "auth", "corpus",
)  # fmt: skip
"""Fields of `RunSettings` that are structs of settings."""


class Sanitization(Struct, frozen=True):
    """The values that reports mask (`output.sanitization`)."""

    enabled: bool = default_of(_MASKING, "enabled")
    keys: tuple[str, ...] = field(name="keys_to_sanitize", default=tuple(default_of(_MASKING, "keys-to-sanitize")))
    """Names whose values reports mask."""
    markers: tuple[str, ...] = field(name="sensitive_markers", default=tuple(default_of(_MASKING, "sensitive-markers")))
    """Parts of such names."""
    replacement: str = default_of(_MASKING, "replacement")
    generated: bool = default_of(_MASKING, "generated")
    """Whether generated values are masked like those that the user gave."""

    @property
    def redaction(self) -> Redaction:
        """Return the sensitive names, whether or not anything is masked for them."""
        keys = frozenset(key.lower() for key in self.keys)
        markers = tuple(marker.lower() for marker in self.markers)
        return Redaction(keys, markers, self.replacement, self.generated)


class FetchLimits(Struct, frozen=True):
    """Limits for reading a description (`documents`): one document, and all documents that it refers to."""

    max_size: int = default_of(_DOCUMENTS, "max-size")  # Decoded bytes of one document.
    max_total_size: int = default_of(_DOCUMENTS, "max-total-size")
    max_count: int = default_of(_DOCUMENTS, "max-count")  # Documents beside the main one.
    timeout_s: float = field(name="timeout", default=default_of(_DOCUMENTS, "timeout"))
    """Seconds for one document, including its redirects."""
    max_total_time_s: float = field(name="max_total_time", default=default_of(_DOCUMENTS, "max-total-time"))
    max_redirects: int = default_of(_DOCUMENTS, "max-redirects")  # For one document.
    other_hosts: bool | None = None
    """Whether references may lead to other hosts; None: if the description and the API have the same host."""
    version: str | None = None  # Version of OpenAPI that the description is read as; None: the one that it names.
    validate: bool = default_of(_DOCUMENTS, "validate")
    """Whether an OpenAPI description must satisfy the official schema of its version."""
    api: str | None = None  # The URL of the API under test that the user gave, without user info.
    until: float | None = None
    """Time of `time.monotonic` at which reading must end; None: no limit."""


class TargetSettings(Struct, frozen=True):
    """The API under test, and the operations that a run may use."""

    base_url: str | None = None  # None: the description's own servers.
    origin: str | None = None  # Scheme, host and port that replace those of the described servers, whose path is kept.
    server_variables: tuple[tuple[str, str], ...] = ()
    """Values of variables in the URLs of the declared servers, in place of their defaults."""
    transport: str | None = None
    """`module:attribute` of the factory of each worker's transport; None: HTTP over the network."""
    app: str | None = None
    """`module:variable` of an application that runs in each worker; None: the target of the transport."""
    wait_for_schema_s: float | None = None  # Time to wait until the description can be loaded.
    safety: str = default_of((), "safety")  # `read-only`, `create-own` or `full`.


class ProcessSettings(Struct, frozen=True):
    """The processes of a run and their limits."""

    workers: int = 1
    lanes: int | None = 1  # Sequences in flight in each worker; None: as many as useful.
    inline: bool = False  # One worker, in this process.
    cluster: str | None = None
    """`ray://HOST:PORT`, `auto` or `local`: the Ray cluster that runs the workers; None: this machine runs them."""
    allows_loopback: bool = False  # Whether workers on other machines may send requests to their own loopback.
    follows_cluster: bool = False  # Whether there is a worker for each processor of the cluster, at most `workers`.
    sharers: int = 1  # Number of workers with folders of their own that share each rate limit.
    max_memory_bytes: int | None = None
    """Memory of all processes of the run on this machine, beyond which workers are replaced; None: no limit."""
    started_at: float | None = None
    """Time of `time.monotonic` from which a worker accounts for its time; None: from its start."""
    memory_limit_mib: int = 381
    """Bytes above which a worker is replaced: 400 MB, or twice the size after opening the description if that is more."""
    memory_growth_mib: int = 120
    """A worker is also replaced after this growth, once it has worked ten times as long as it took to open the description.

    64 MiB of the growth are for compiled programs (`phases/case_factory.py`), the rest is for all other caches. A lower
    limit costs time, because a new worker compiles everything again.
    """


class SequenceSettings(Struct, frozen=True):
    """Sequences of the stateful phase (`phases.stateful`)."""

    max_steps: int = 6
    algorithms: tuple[str, ...] = tuple(default_of((*_STATEFUL, "inference"), "algorithms"))
    link_calibration: bool = default_of(_STATEFUL, "link-calibration")
    """Whether a value that was refused in a sequence is not used there again."""


class CaseSources(Struct, frozen=True):
    """The sources of cases that all operations share."""

    overrides: Overrides = NO_OVERRIDES  # Values in place of generated ones.
    queries: tuple[QueryFile, ...] = ()  # Queries of the examples phase beside those of the description.
    database: str = default_of(("generation",), "database")  # `none`, `:memory:` or a folder.
    shrink_share: float = default_of(("generation",), "shrink-share")
    """Share of the requests of a run that may be spent on shrinking failures."""
    reads_constants: bool = True  # Whether literals of the application are sent (`analysis.constants`).
    learns: bool = default_of((*_FUZZING, "error-feedback"), "enabled")
    """Whether valid cases respect the reasons of refusals."""
    unordered_phases: tuple[str, ...] = ()
    """Phases that take operations in the order of the description (`operation-ordering = none`)."""
    reusing_phases: tuple[str, ...] = field(default_factory=phase_names)
    """Phases that use values of earlier responses (`extra-data-sources.responses`)."""
    sequences: SequenceSettings = field(default_factory=SequenceSettings)


class VerdictSettings(Struct, frozen=True):
    """The failures and warnings that make a run fail or end."""

    warnings: WarningSettings = field(default_factory=WarningSettings)
    baseline: Baseline = field(default_factory=Baseline)
    fail_under: Mapping[str, float] = field(default_factory=dict)
    """Percentages of the description below which a run fails: `operations`, `responses`, `parameters`."""
    max_failures: int | None = None


class UploadSettings(Struct, frozen=True):
    """The receiver of the archive of a finished run (`upload`)."""

    url: str | None = None  # None: nothing is sent.
    token: str | None = None  # Sent as a bearer token.
    api_name: str | None = None  # The receiver's name of the API.


class ReportSettings(Struct, frozen=True):
    """The console, the reports and the masking in both (`output`, `reports`, `upload`)."""

    files: tuple[tuple[str, str], ...] = ()  # (format, path) of each report.
    keeps_traffic: bool = False  # Whether a report shows every request, so that no recorded request may be discarded.
    preserve_bytes: bool = default_of(("reports",), "preserve-bytes")
    mode: int | None = None  # Permissions of report files; None: see `ReportContext.mode`.
    max_file_bytes: int = default_of(("reports",), "max-size")  # Bytes of each report that shows every request.
    max_shown: int = default_of(("output",), "max-shown")
    """Number of operations whose failures the console shows in full. The other operations are only counted."""
    code_sample_style: str = default_of(("output",), "code-sample-style")
    """Language of the reproductions on the console: `curl` or `python`."""
    sanitization: Sanitization = field(default_factory=Sanitization)
    truncation: Truncation = field(default_factory=Truncation)
    color: bool | None = None  # None: colours if the output is a terminal.
    live_port: int | None = None  # Port on loopback of a page that follows the run; 0: a free one.
    upload: UploadSettings = field(default_factory=UploadSettings)


class AuthSettings(Struct, frozen=True):
    """Authentication of the whole run. The authentication of single operations is in their settings."""

    auto_signup: bool = default_of(("auth",), "auto-signup")
    """Whether the run creates an account and logs in, if the description says how and the user gave no credentials."""
    allow_refused: bool = default_of(("auth",), "allow-refused")
    """Whether a run passes although its credentials opened no operation."""
    wfc: str = ""  # Text of the configured authentication document.
    from_environment: tuple[str, ...] = ()  # The values that the configuration takes from environment variables.
    needs: tuple[tuple[str, str], ...] = ()
    """(operation, security scheme) of operations without a declared scheme, as discovered by the first worker of the run."""


class CorpusSettings(Struct, frozen=True):
    """The folders of a run."""

    folder: str = ".checker/default"
    max_bytes: int = 1 << 30  # On disk; beyond it the oldest traffic is deleted.
    is_recalled: bool = default_of(("corpus",), "replay")  # Whether `run` sends sequences of earlier runs again.
    cache: str | None = None  # Folder of discoveries for the next run; None: discoveries are not kept.


class RunSettings(Struct, frozen=True):
    """The settings of `run` or `fuzz`, after command line, environment and file are merged."""

    location: str  # URL or path of the API description.
    kind: str  # `run` or `fuzz`.
    seed: int
    command: str = ""  # The command line, secrets masked.
    document: str | None = None
    """Digest of the normalised description in the corpus, once the first worker has fetched it."""
    max_time_s: float | None = None
    stops_when_saturated: bool = False  # Whether `fuzz` ends when no operation shows anything new.
    hooks: tuple[str, ...] = ()  # Modules or `.py` files, loaded in this order by every worker.
    phases: tuple[str, ...] = field(default_factory=default_phases)  # Phases that run, in order.
    selection: Selection = field(default_factory=Selection)
    operations: OperationLayers = field(default_factory=OperationLayers)
    """The settings of single operations: headers, timeouts, checks, generation."""
    target: TargetSettings = field(default_factory=TargetSettings)
    documents: FetchLimits = field(default_factory=FetchLimits)
    processes: ProcessSettings = field(default_factory=ProcessSettings)
    sources: CaseSources = field(default_factory=CaseSources)
    verdict: VerdictSettings = field(default_factory=VerdictSettings)
    report: ReportSettings = field(default_factory=ReportSettings)
    auth: AuthSettings = field(default_factory=AuthSettings)
    corpus: CorpusSettings = field(default_factory=CorpusSettings)
    projects: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """(title, fields that differ): `[[project]]` tables, applied once the title is known."""

    @property
    def certain_hooks(self) -> tuple[str, ...]:
        """Return the hooks that are loaded for every title of the description."""
        others = [set(changes["hooks"]) for _, changes in self.projects if "hooks" in changes]
        return tuple(hook for hook in self.hooks if all(hook in one for one in others))

    @property
    def may_load_user_code(self) -> bool:
        """Whether hooks, an application or a transport of users are loaded for any title of the description."""
        every = [self, *(self.with_changes(**changes) for _, changes in self.projects)]
        targets = {name for one in every for name in (one.target.app, one.target.transport)}
        return any(one.hooks for one in every) or not targets <= {None, NOTHING_SENT}

    def for_project(self, title: str) -> "RunSettings":
        """Return the settings for an API description with this title, including its `[[project]]` table if there is one.

        Raises `UsageError` if every phase is disabled.
        """
        changes = next((changes for name, changes in self.projects if name == title), None)
        chosen = self if changes is None else self.with_changes(projects=(), **changes)
        if not chosen.phases:
            raise UsageError("nothing would be tested: every phase is disabled; enable one")
        return chosen

    def with_changes(self, **changes: Any) -> "RunSettings":
        """Return these settings with other fields; the value of a group is a dict of the fields that change."""
        for name in GROUPS:
            if name in changes:
                changes[name] = replace(getattr(self, name), **changes[name])
        return replace(self, **changes)

    @property
    def has_no_end(self) -> bool:
        """Whether only a failure or an interrupt ends the run: `fuzz` without a time limit or another end."""
        return self.kind == "fuzz" and self.max_time_s is None and not self.stops_when_saturated

    @property
    def is_dry(self) -> bool:
        """Whether requests are generated but not sent."""
        return self.target.transport == NOTHING_SENT

    @property
    def acting_checks(self) -> frozenset[str]:
        """Return the names of the checks that act on some operation: intrusive ones in `fuzz`, or where they are switched on."""
        return frozenset(
            name
            for one in self.operations.everywhere()
            for name in one.checks
            if self.kind == "fuzz"
            or name not in BUILT_IN
            or BUILT_IN[name].acts_in_run(one.check_settings.get(name, {}))
        )

    @property
    def common(self) -> OperationSettings:
        """Return the settings of operations without settings of their own, and of the request for the description.

        The settings are resolved again on each access, because hooks add checks. An `OperationResolver` keeps the results.
        """
        return self.operations.common


_IN_REQUESTS: Final = (Location.HEADER, Location.COOKIE, Location.QUERY)
_SHOWN: Final = 3


def differences(usual: Struct, other: Struct) -> dict[str, Any]:
    """Return the fields in which two settings of a run differ, with the values of `other`. A group is a dict of its fields.

    With whole groups, later changes by the supervisor, such as `documents.until`, would be undone.
    """
    pairs = ((name, getattr(usual, name), getattr(other, name)) for name in usual.__struct_fields__)
    return {name: differences(one, two) if name in GROUPS else two for name, one, two in pairs if one != two}


def credentials_in(settings: RunSettings) -> tuple[str, ...]:
    """Return the names of the credentials of a run: `header Authorization`, `query api_key`."""
    redaction = settings.report.sanitization.redaction
    headers = dict.fromkeys(pair for one in settings.operations.everywhere() for pair in one.headers)
    found = [f"header {name}" for name, value in headers if redaction.is_sensitive(name) and value]
    found += [name for one in settings.operations.everywhere() for name in one.authentication.names]
    found += [
        f"{one.location or 'parameter'} {one.path[0]}"
        for one in sensitive_overrides(settings)
        if one.location is None or one.location in _IN_REQUESTS
    ]
    return tuple(dict.fromkeys(found))


def without_credentials(redaction: Redaction, headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the headers that are not credentials."""
    return tuple((name, value) for name, value in headers if not redaction.is_sensitive(name))


def sensitive_overrides(settings: RunSettings) -> Iterator[Override]:
    """Yield the overrides with sensitive names."""
    redaction = settings.report.sanitization.redaction
    for one in settings.sources.overrides.parameters:
        if any(redaction.is_sensitive(name) for name in one.path):
            yield one


def target(declared: str, location: str | None, given: str | None, credentials: Iterable[str]) -> BaseUrl:
    """Return the target of requests: the given URL, else the declared one.

    User info in LOCATION is used for the same server. Raises `UsageError` if credentials would go to a server that only the
    description names, `ValueError` for a text that is no URL.
    """
    if given is not None:
        return BaseUrl.from_url(given)
    found = BaseUrl.from_url(declared)
    try:
        own = None if location is None else BaseUrl.from_url(location)
    except ValueError:
        # The location is a file, or an application in this process.
        own = None
    if own is not None and own.site == found.site:
        return found.with_userinfo(found.userinfo or own.userinfo)
    names = list(credentials)
    if names:
        shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        raise UsageError(
            f"credentials ({shown}) are not sent to {found.url}, which only the description names; "
            f"give the base URL of the API with `--url` (`base-url` in checker.toml, `base_url` in Python)"
        )
    return found
