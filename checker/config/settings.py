"""What a run was asked to do: one frozen value that the supervisor, the workers and the reporters take."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from checker.checks.table import AVAILABLE
from checker.config.filters import Selection
from checker.config.overrides import NO_OVERRIDES, Overrides
from checker.core.blocks import Truncation
from checker.core.errors import UsageError
from checker.core.redact import DEFAULT_KEYS, DEFAULT_MARKERS, Redaction

DEFAULT_CHECKS = tuple(name for name, check in AVAILABLE.items() if check.switch is None)
"""Names of the checks that run unless told otherwise."""

DEFAULT_KEYS_TO_SANITIZE = tuple(sorted(DEFAULT_KEYS))
"""Lower-case names whose values reports mask."""


def modes_of(mode: str) -> tuple[str, ...]:
    """Kinds of data that `generation.mode` stands for."""
    return ("positive", "negative") if mode == "all" else (mode,)


@dataclass(frozen=True, slots=True)
class Sanitization:
    """What reports mask (`output.sanitization`)."""

    enabled: bool = True
    keys: tuple[str, ...] = DEFAULT_KEYS_TO_SANITIZE
    markers: tuple[str, ...] = DEFAULT_MARKERS
    replacement: str = "[Filtered]"

    @property
    def redaction(self) -> Redaction:
        """Which names are sensitive, whether or not anything is masked for it."""
        keys = frozenset(key.lower() for key in self.keys)
        markers = tuple(marker.lower() for marker in self.markers)
        return Redaction(keys, markers, self.replacement)


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What reading a description may cost (`documents`): one document, and all that it leads to."""

    max_size: int = 32 << 20
    """Decoded bytes of one document."""
    max_total_size: int = 64 << 20
    max_count: int = 2000
    """Documents beside the main one."""
    timeout_s: float = 30.0
    """For one document, whole, with all of its redirects."""
    max_total_time_s: float = 90.0
    max_redirects: int = 30
    """Of one document."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Everything that `run` or `fuzz` needs to know, after command line, environment and file are merged."""

    location: str
    """URL or path of the API description."""
    kind: str
    """`run` or `fuzz`."""
    seed: int
    base_url: str | None = None
    """None: the description's own servers."""
    server_variables: tuple[tuple[str, str], ...] = ()
    """Values of variables in the URLs of those servers, in place of their defaults."""
    document: str | None = None
    """Digest of the normalised description in the corpus, once the first worker has fetched it."""
    started_at: float | None = None
    """Of `time.monotonic`: from when on a worker accounts for its time; None: from when it runs."""
    workers: int = 1
    """Processes."""
    lanes: int | None = 1
    """Sequences in flight in each worker; None: as many as pay."""
    inline: bool = False
    """One worker, in this process."""
    max_examples: int = 100
    """Cases for each operation, in `run`."""
    max_time_s: float | None = None
    max_failures: int | None = None
    continue_on_failure: bool = False
    modes: tuple[str, ...] = ("positive",)
    """Kinds of data that cases are made of; with several each case is of one."""
    phases: tuple[str, ...] = ("fuzzing",)
    """Phases that run, in order."""
    unavailable_phases: tuple[str, ...] = ()
    """On by default, but not built yet: the console names them."""
    headers: tuple[tuple[str, str], ...] = ()
    """Sent with every request, and with the request for the description."""
    request_timeout_s: float = 10.0
    tls_verify: bool | str = True
    """A text is the path of a CA bundle."""
    proxy: str | None = None
    wait_for_schema_s: float | None = None
    checks: tuple[str, ...] = DEFAULT_CHECKS
    """Enabled names, in the order in which they run; names that are not built in are custom checks."""
    adds_custom_checks: bool = True
    """Whether users' checks run that nobody named; they are known when hooks are loaded."""
    excluded_checks: tuple[str, ...] = ()
    """Users' checks that do not run even so."""
    check_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Name of a check -> settings of it that differ from its defaults."""
    selection: Selection = field(default_factory=Selection)
    no_shrink: bool = False
    shrink_share: float = 0.2
    """Of the requests of a run: those that may go into making failures small."""
    database: str = ".proptest/examples"
    """`none`, `:memory:` or a folder."""
    allow_x00: bool = True
    codec: str | None = None
    """Codec that generated text can be written in; None: any Unicode."""
    exclude_header_characters: str = "\r\n"
    allow_extra_parameters: bool = True
    """Requests may have parameters and properties that the description does not speak of."""
    unique_inputs: bool = False
    """No request of an operation is sent twice."""
    overrides: Overrides = NO_OVERRIDES
    """Values in place of generated ones."""
    hooks: tuple[str, ...] = ()
    """Modules or `.py` files, loaded in this order by every worker."""
    documents: FetchLimits = field(default_factory=FetchLimits)
    sanitization: Sanitization = field(default_factory=Sanitization)
    truncation: Truncation = field(default_factory=Truncation)
    corpus_dir: str = ".checker/default"
    vcr_path: str | None = None
    """Where the cassette goes; None: no cassette."""
    preserve_bytes: bool = False
    memory_limit_mib: int = 1024
    """A worker that grows beyond it is replaced."""
    color: bool | None = None
    """None: colours if the output is a terminal."""
    command: str = ""
    """The command line, secrets masked."""
    projects: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """(title, fields that differ): `[[project]]` tables, applied once the title is known."""

    @property
    def validate_formats(self) -> bool:
        """Whether formats count in `response_schema_conformance`."""
        check = AVAILABLE["response_schema_conformance"]
        return bool(check.config(self.check_settings.get(check.name, {}))["validate-formats"])

    @property
    def certain_hooks(self) -> tuple[str, ...]:
        """Hooks that are loaded whatever the title of the description is."""
        others = [set(changes["hooks"]) for _, changes in self.projects if "hooks" in changes]
        return tuple(hook for hook in self.hooks if all(hook in one for one in others))

    def for_project(self, title: str) -> "RunSettings":
        """Settings for an API description with this title: those of its `[[project]]` table, if there is one.

        Raises `UsageError` when they leave nothing to do.
        """
        changes = next((changes for name, changes in self.projects if name == title), None)
        chosen = self if changes is None else _restored(replace(self, projects=()), changes)
        if not chosen.phases:
            raise UsageError("nothing would be tested: every phase is disabled; enable one")
        return chosen

    def with_custom_checks(self, names: Iterable[str]) -> "RunSettings":
        """The same with those of the users' checks `names` that are to run, once hooks are loaded."""
        if not self.adds_custom_checks:
            return self
        added = [name for name in names if name not in (*self.checks, *self.excluded_checks)]
        return replace(self, checks=(*self.checks, *added))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able form. Holds the secrets of the headers: for pipes, never for disk."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return {name: _plain(value) for name, value in plain.items()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "RunSettings":
        """Back from `to_dict`."""
        return _restored(cls(plain["location"], plain["kind"], plain["seed"]), plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Selection | Overrides):
        return value.to_dict()
    if isinstance(value, FetchLimits | Sanitization | Truncation):
        return asdict(value)
    return value


def _restored(settings: RunSettings, plain: Mapping[str, Any]) -> RunSettings:
    return replace(settings, **{name: _restore(name, value) for name, value in plain.items()})


def _restore(name: str, value: Any) -> Any:
    """A field's value from its plain form; JSON has turned tuples into lists."""
    if name == "selection":
        return Selection.from_dict(value)
    if name == "overrides":
        return Overrides.from_dict(value)
    if name == "sanitization":
        return Sanitization(**{key: _tuples(part) for key, part in value.items()})
    if name == "truncation":
        return Truncation(**value)
    if name == "documents":
        return FetchLimits(**value)
    if name == "check_settings":
        return value
    if name == "projects":
        return tuple((title, changes) for title, changes in value)
    return _tuples(value)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value
