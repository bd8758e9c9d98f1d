"""From the live configuration to the frozen settings of one run."""

import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct, convert, field
from msgspec.structs import replace

from checker.checks.custom import CUSTOM_CHECKS
from checker.checks.table import BUILT_IN
from checker.config.auth import chosen_users, read_document
from checker.config.config import Config, located
from checker.config.files import read_baseline, read_weights
from checker.config.filters import OperationFilters, Selectable, Selection
from checker.config.operation_settings import OperationResolver, OperationSettings
from checker.config.reading import section_error, unknown
from checker.config.settings import (
    AuthSettings,
    CaseSources,
    CorpusSettings,
    FetchLimits,
    ProcessSettings,
    ReportSettings,
    RunSettings,
    Sanitization,
    SequenceSettings,
    TargetSettings,
    UploadSettings,
    VerdictSettings,
    differences,
)
from checker.config.table import COVERED
from checker.config.user_code import has_plugins
from checker.config.value_kinds import WarningSettings, bytes_in, silenced_by
from checker.core.blocks import Truncation
from checker.core.errors import UsageError
from checker.core.known import Baseline
from checker.core.operation import BrokenOperation, Operation
from checker.core.phases import phase_names
from checker.core.reports import REPORT_FORMATS
from checker.core.request import without_userinfo
from checker.core.shards import Shard


class Invocation(Struct, frozen=True):
    """The facts of one call that are not keys of the configuration."""

    location: str
    kind: str = "run"  # `run` or `fuzz`.
    filters: OperationFilters = field(default_factory=OperationFilters)  # Filters from the command line.
    inline: bool = False
    command: str = ""
    app: str | None = None  # `module:variable` of the application under test.
    hooks: tuple[str, ...] = ()  # Hooks from the command line.
    corpus: str | None = None  # Name of the corpus; None: after the project or the location.
    now: datetime | None = None  # For names of reports; None: the current time.


def run_settings(config: Config, occasion: Invocation, environment: Mapping[str, str] | None = None) -> RunSettings:
    """Return the settings of one run. Raises `ConfigError`."""
    environment = os.environ if environment is None else environment
    settings = _settings(config, occasion, environment)
    others = [(title, config.for_project(title)) for title in config.titles]
    if config.seed is None and any(own.generation.deterministic for _, own in others):
        # The project becomes known only after the run has got its seed.
        settings = replace(settings, seed=0)
    projects = []
    for title, own in others:
        other = _settings(own, occasion, environment)
        # The cache and the reports belong to the run, not to one API.
        cache = None if own.generation.deterministic else settings.corpus.cache
        report = replace(other.report, files=settings.report.files)
        corpus = replace(other.corpus, folder=settings.corpus.folder, cache=cache)
        other = replace(other, seed=settings.seed, report=report, corpus=corpus)
        projects.append((title, differences(settings, other)))
    return replace(settings, projects=tuple(projects))


def _settings(config: Config, occasion: Invocation, environment: Mapping[str, str]) -> RunSettings:
    given = (*occasion.hooks, environment.get("CHECKER_HOOKS"), config.hooks)
    hooks = tuple(dict.fromkeys(one for one in given if one))
    named = [name for name in config.custom_check_names if name not in CUSTOM_CHECKS]
    if named and not hooks and not has_plugins():
        problem = unknown(named[0], list(BUILT_IN))
        hint = f"{problem.hint}. {_OWN_CHECKS}"
        error = section_error(config.section_of_check(named[0]), [replace(problem, hint=hint)])
        raise located(config, named[0], error)
    base_url, origin = config.target
    own = config.fuzz.max_time if occasion.kind == "fuzz" else None
    seconds = config.max_time if own is None else own
    everywhere = list(config.operation_layers().everywhere())
    disabled = tuple(block.filters for block in config.operations if not block.enabled)
    return RunSettings(
        location=occasion.location,
        kind=occasion.kind,
        seed=_seed(config),
        command=occasion.command,
        max_time_s=None if seconds is None else float(seconds),
        stops_when_saturated=occasion.kind == "fuzz" and config.fuzz.stop_when_saturated,
        hooks=hooks,
        phases=tuple(
            name
            for name in phase_names()
            if config.is_phase_enabled(name) or any(name in one.phases for one in everywhere)
        ),
        selection=Selection(
            occasion.filters,
            disabled,
            config.changed_since,
            config.with_dependents,
            shard=_shard(config) if occasion.kind == "run" else None,
        ),
        operations=config.operation_layers(),
        target=TargetSettings(
            base_url=base_url,
            origin=origin,
            server_variables=tuple(config.servers.variables.items()),
            transport=config.transport,
            app=occasion.app,
            wait_for_schema_s=config.wait_for_schema,
            safety=config.safety,
        ),
        documents=fetch_limits(config),
        processes=_processes(config, occasion),
        sources=_case_sources(config),
        verdict=VerdictSettings(
            warnings=replace(WarningSettings.of(config.warnings), silenced=silenced_by(config.suppress_health_check)),
            baseline=_baseline(config, occasion.now),
            fail_under={
                name: float(least) for name in COVERED if (least := getattr(config, f"fail_under_{name}")) is not None
            },
            max_failures=config.max_failures,
        ),
        report=_report(config, occasion.now),
        auth=AuthSettings(
            auto_signup=config.auth.auto_signup,
            allow_refused=config.auth.allow_refused,
            wfc=_wfc(config),
            from_environment=config.from_environment,
        ),
        corpus=CorpusSettings(
            folder=_project_dir(config, occasion),
            max_bytes=bytes_in(config.corpus.max_size),
            is_recalled=config.corpus.replay,
            cache=_cache_dir(config, occasion),
        ),
    )


def fetch_limits(config: Config) -> FetchLimits:
    """Return the limits for reading the description, and the hosts that its references may lead to."""
    base_url, origin = config.target
    api = base_url or origin
    found = convert(config.documents, FetchLimits, from_attributes=True)
    return replace(found, api=None if api is None else without_userinfo(api))


def sanitization_of(config: Config) -> Sanitization:
    """Return the sensitive names, and whether reports mask their values."""
    return convert(config.output.sanitization, Sanitization, from_attributes=True)


def _seed(config: Config) -> int:
    """Return the configured seed, else a random seed, or a fixed seed if randomness is off."""
    if config.seed is not None:
        return int(config.seed)
    return 0 if config.generation.deterministic else int.from_bytes(os.urandom(8)) >> 1


def _processes(config: Config, occasion: Invocation) -> ProcessSettings:
    """Return the numbers of workers and lanes: 1 each for `run`, as many as useful for `fuzz`, unless the user gave numbers."""
    fallback = "auto" if occasion.kind == "fuzz" else 1
    workers: Any = fallback if config.workers is None else config.workers
    lanes: Any = fallback if config.lanes is None else config.lanes
    follows = workers == "auto" and config.cluster not in (None, "local")
    if workers == "auto":
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        workers = config.max_workers if follows else min(usable, 64)
    return ProcessSettings(
        workers,
        None if lanes == "auto" else lanes,
        occasion.inline,
        config.cluster,
        config.cluster_allow_loopback,
        follows,
        max_memory_bytes=None if config.max_memory is None else bytes_in(config.max_memory),
    )


def _case_sources(config: Config) -> CaseSources:
    generation, stateful = config.generation, config.phases.stateful
    own = {name: getattr(config.phases, name) for name in phase_names() if name != "stateful"}
    steps = {} if stateful.max_steps is None else {"max_steps": stateful.max_steps}
    return CaseSources(
        overrides=config.overrides(),
        queries=config.queries(),
        # Examples of earlier runs would be tried first, so no two runs would be the same.
        database="none" if generation.deterministic else generation.database,
        shrink_share=generation.shrink_share,
        reads_constants=config.analysis.constants.enabled,
        learns=config.phases.fuzzing.error_feedback.enabled,
        unordered_phases=tuple(n for n, one in own.items() if one.operation_ordering == "none"),
        reusing_phases=tuple(
            name for name in phase_names() if name not in own or own[name].extra_data_sources.responses
        ),
        sequences=SequenceSettings(
            algorithms=tuple(stateful.inference.algorithms), link_calibration=stateful.link_calibration, **steps
        ),
    )


def _report(config: Config, now: datetime | None) -> ReportSettings:
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    files = []
    for row in REPORT_FORMATS.values():
        asked = getattr(config.reports, row.name)
        if asked.enabled:
            path = asked.path or os.path.join(config.reports.directory, row.file_name(stamp))
            files.append((row, str(path)))
    return ReportSettings(
        files=tuple((row.name, path) for row, path in files),
        keeps_traffic=any(row.needs_traffic for row, _ in files),
        preserve_bytes=config.reports.preserve_bytes,
        mode=None if config.reports.mode is None else int(config.reports.mode, 8),
        max_file_bytes=bytes_in(config.reports.max_size),
        max_shown=config.output.max_shown,
        code_sample_style=config.output.code_sample_style,
        sanitization=sanitization_of(config),
        truncation=convert(config.output.truncation, Truncation, from_attributes=True),
        color=config.color,
        live_port=config.live_port,
        upload=convert(config.upload, UploadSettings, from_attributes=True),
    )


_OWN_CHECKS: Final = (
    "Your own checks are valid, too, where `checker.check` registers them before the schema is loaded, "
    "or in a module that the key 'hooks' names"
)


def _wfc(config: Config) -> str:
    """Return the text of the authentication document. Raises `ConfigError`."""
    asked = config.operation_layers().common.authentication.wfc
    if asked is None:
        return ""
    file = config.config_path
    text = read_document(asked.path, None if file is None else file.parent)
    for name in (asked.user, *asked.peers):
        chosen_users(text, name)
    return text


def _baseline(config: Config, now: datetime | None) -> Baseline:
    """Return the known failures of a file, which is written if it does not exist yet. Raises `ConfigError`, `UsageError`."""
    today = (now or datetime.now(UTC)).date().isoformat()
    allows = config.checks.intermittent == "report"
    if config.baseline is None:
        for flag in ("baseline-update", "baseline-prune"):
            if getattr(config, flag.replace("-", "_")):
                raise UsageError(f"--{flag} needs a file: give --baseline FILE")
        return Baseline(today=today, allows_intermittent=allows)
    if config.compare is not None:
        raise UsageError("--baseline and --compare exclude each other: failures are compared with only one of them")
    path = Path(config.baseline)
    is_new = not path.exists()
    return Baseline(
        source=str(path),
        today=today,
        entries=() if is_new else read_baseline(path),
        is_new=is_new,
        updates=is_new or config.baseline_update,
        prunes=config.baseline_prune,
        allows_intermittent=allows,
    )


def _shard(config: Config) -> Shard | None:
    """Return the part of the operations that is tested, None for all. Raises `ConfigError`, `UnreadableFile`, `UsageError`."""
    weights = None if config.shard_weights is None else read_weights(Path(config.shard_weights))
    return None if config.shard is None else Shard.of(config.shard, weights or ())


def _project_dir(config: Config, occasion: Invocation) -> str:
    # Unless there is a single project with a title, the location names the corpus, because two APIs must not share one.
    if len(config.titles) == 1:
        name = config.titles[0]
    else:
        parts = urlsplit(occasion.location)
        if parts.netloc:
            name = f"{parts.hostname or ''}-{parts.port or ''}{parts.path}"
        else:
            name = os.path.basename(occasion.location)
    return f".checker/{occasion.corpus or slug(name)}"


def _cache_dir(config: Config, occasion: Invocation) -> str | None:
    """Return the folder of discoveries; None without randomness, since earlier discoveries would change the requests."""
    if not config.cache.enabled or config.generation.deterministic:
        return None
    return config.cache.directory or f"{_project_dir(config, occasion)}/cache"


def slug(text: str) -> str:
    """Return a text as lower-case ASCII letters, digits and dashes; `default` if nothing is left."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80] or "default"


class LiveSettings:
    """Settings of a live configuration. They are resolved again when the configuration or the set of checks changes."""

    def __init__(self, config: Config, location: str, changed: Callable[[], None]) -> None:
        """Create the settings; `changed` is called when they differ from the previous ones."""
        self._config = config
        self._location = location
        self._changed = changed
        self._resolved: tuple[tuple[object, ...], RunSettings, OperationResolver] | None = None

    @property
    def asked(self) -> tuple[RunSettings, OperationResolver]:
        """Return the settings of the run and of each operation. Raises `ConfigError`."""
        made_of = (self._config.revision, *CUSTOM_CHECKS)
        if self._resolved is None or self._resolved[0] != made_of:
            settings = run_settings(self._config, Invocation(self._location))
            self._resolved = (made_of, settings, OperationResolver(settings.operations))
            self._changed()
        return self._resolved[1:]

    @property
    def now(self) -> RunSettings:
        """Return the settings of the run. Raises `ConfigError`."""
        return self.asked[0]

    def of(self, operation: Operation) -> OperationSettings:
        """Return the settings of one operation. Raises `ConfigError`."""
        return self.asked[1].of(operation)

    def selects(self, entry: Selectable | BrokenOperation) -> bool:
        """Whether no `[[operations]]` block disables an operation."""
        settings, operations = self.asked
        is_tested = isinstance(entry, BrokenOperation) or bool(operations.of(entry).phases)
        return is_tested and settings.selection.matches(entry)


class RunningSettings(LiveSettings):
    """The settings of a run. They do not change during the run."""

    def __init__(self, settings: RunSettings, operations: OperationResolver) -> None:
        self._asked = settings, operations

    @property
    def asked(self) -> tuple[RunSettings, OperationResolver]:
        return self._asked
