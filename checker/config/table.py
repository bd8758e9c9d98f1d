"""Every key of `checker.toml`: its section, its kind of value and its default.

This is the only place of defaults. Structs of settings read theirs with `default_of`.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from checker.checks.check import Check, CheckSetting, SettingShape
from checker.checks.table import TABLE as CHECKS
from checker.config import auth, value_kinds
from checker.config.overrides import dictionary_rule, parameter_rule, type_rule
from checker.config.value_kinds import Boolean, Choice, Either, Integer, ListOf, MapOf, Number, Secret, Text, ValueKind
from checker.config.warnings import warning_key, warning_name
from checker.core import phases
from checker.core.blocks import DEFAULT_TRUNCATION
from checker.core.errors import InvalidRateLimit
from checker.core.redact import DEFAULT_KEYS, DEFAULT_MARKERS
from checker.core.reports import ReportFormat, add_report_format, report_formats

Path = tuple[str, ...]
"""Of a section: `("output", "sanitization")`; the root is `()`."""


class Key(Struct, frozen=True):
    """One option."""

    kind: ValueKind
    default: Any = None


_IN_PHASES = ("generation", "checks")
"""Sections that each phase may have of its own."""
SAFETY_LEVELS = ("read-only", "create-own", "full")
ALGORITHMS = ("location-headers", "dependency-analysis")
"""Ways to find links that the description does not declare."""
MOST_STEPS = 60
MODES = ("positive", "negative", "all")
HEALTH_CHECKS = ("data_too_large", "filter_too_much", "too_slow", "large_base_example", "all")

MOST_EXAMPLES = 10**9
"""For each operation: weeks of requests. A larger number is a typing error."""

MOST_SECONDS = 1e8
"""Three years; more milliseconds do not fit the counters of every system."""

_FLAG = Boolean()
_TEXTS = ListOf(Text())
_SHAPES: Mapping[SettingShape, ValueKind] = {
    SettingShape.FLAG: _FLAG,
    SettingShape.SECONDS: Number(above=0, maximum=MOST_SECONDS),
    SettingShape.STATUSES: ListOf(Either((Integer(100, 599), Text(value_kinds.status_pattern)))),
}
"""Kinds of values of the settings of checks."""

COVERED = ("operations", "responses", "parameters", "enum_values", "media_types")
"""Parts of a description of which a percentage may be required."""

OF_OPERATIONS = {
    "warnings": Key(Either((_FLAG, ListOf(Text(warning_name)), MapOf(warning_key))), True),
    "continue-on-failure": Key(_FLAG, False),
    "headers": Key(MapOf(value_kinds.header), {}),
    "proxy": Key(Text(value_kinds.http_url)),
    "tls-verify": Key(Either((_FLAG, Text(value_kinds.certificates))), True),
    "rate-limit": Key(Text(value_kinds.rate_limit, error=InvalidRateLimit)),
    "max-redirects": Key(Integer(minimum=0), 30),
    "max-stream-events": Key(Integer(minimum=1), 20),
    "request-timeout": Key(Number(above=0, maximum=MOST_SECONDS), 10.0),
    "request-retries": Key(Either((Integer(minimum=0), MapOf(value_kinds.retries))), 0),
    "request-cert": Key(Text(value_kinds.certificate)),
    "request-cert-key": Key(Text(value_kinds.certificate)),
    "parameters": Key(MapOf(parameter_rule), {}),
}
"""Root keys that an `[[operations]]` block may have, too."""

_ROOT = {
    "color": Key(_FLAG),
    "suppress-health-check": Key(ListOf(Choice(HEALTH_CHECKS)), []),
    "seed": Key(Integer()),
    "max-failures": Key(Integer(minimum=1)),
    "max-time": Key(Number(above=0, maximum=MOST_SECONDS)),
    "base-url": Key(Text(value_kinds.base_url)),
    "origin": Key(Text(value_kinds.site)),
    "baseline": Key(Text()),
    **{f"baseline-{name}": Key(_FLAG, False) for name in ("update", "prune")},
    "compare": Key(Text()),
    "live-port": Key(Integer(0, 65535)),
    **{f"fail-under-{name.replace('_', '-')}": Key(Number(minimum=0, maximum=100)) for name in COVERED},
    "hooks": Key(Text()),
    "workers": Key(Either((Integer(1, 64), Choice(("auto",))))),
    "lanes": Key(Either((Integer(1, 64), Choice(("auto",))))),
    "wait-for-schema": Key(Number(minimum=1, maximum=MOST_SECONDS)),
    "safety": Key(Choice(SAFETY_LEVELS), SAFETY_LEVELS[-1]),
    "transport": Key(Text(value_kinds.attribute)),
    "dictionaries": Key(MapOf(dictionary_rule), {}),
    **OF_OPERATIONS,
}

_AUTH: dict[Path, dict[str, Key]] = {
    ("auth",): {
        "openapi": Key(MapOf(auth.static_rule), {}),
        "auto-signup": Key(_FLAG, True),
        "allow-refused": Key(_FLAG, False),
    },
    auth.BASIC: {
        "username": Key(Text(value_kinds.user_name)),
        "password": Key(Secret(auth.sendable)),
        "type": Key(Choice(("basic", "digest")), "basic"),
    },
    ("auth", "dynamic"): {"openapi": Key(MapOf(auth.dynamic_rule), {})},
    ("auth", "oauth2"): {"openapi": Key(MapOf(auth.oauth2_rule), {})},
    auth.WFC: {
        "path": Key(Text()),
        "user": Key(Text()),
        "refresh_interval": Key(Integer(minimum=0), auth.REFRESH_S),
        "peers": Key(_TEXTS, []),
    },
}

_GENERATION = {
    "mode": Key(Choice(MODES), "all"),
    "max-examples": Key(Integer(1, MOST_EXAMPLES), 100),
    "no-shrink": Key(_FLAG, False),
    "shrink-share": Key(Number(above=0, below=1), 0.2),
    "deterministic": Key(_FLAG, False),
    "allow-x00": Key(_FLAG, True),
    "allow-extra-parameters": Key(_FLAG, True),
    "exclude-header-characters": Key(Text(allows_nul=True), "\r\n"),
    "codec": Key(Text(value_kinds.codec)),
    "maximize": Key(Either((Text(), _TEXTS))),
    "with-security-parameters": Key(_FLAG, True),
    "graphql-allow-null": Key(_FLAG, True),
    "database": Key(Text(), ".proptest/examples"),
    "unique-inputs": Key(_FLAG, False),
    "dictionaries": Key(MapOf(type_rule), {}),
}

UPLOAD: Path = ("upload",)
_UPLOAD = {"url": Key(Text(value_kinds.http_url)), "token": Key(Secret(auth.sendable)), "api-name": Key(Text())}

OF_RUNS = ("deterministic", "database", "shrink-share")
"""Keys of `generation` that are about the whole run."""

OPENAPI_VERSIONS = ("2.0", "3.0", "3.1", "3.2")
"""Supported versions of OpenAPI."""
_DOCUMENTS = {
    "version": Key(Choice(OPENAPI_VERSIONS)),
    "validate": Key(_FLAG, False),
    "max-size": Key(Integer(minimum=1), 32 << 20),
    "max-total-size": Key(Integer(minimum=1), 64 << 20),
    "max-count": Key(Integer(minimum=0), 2000),
    "timeout": Key(Number(above=0, maximum=MOST_SECONDS), 30.0),
    "max-total-time": Key(Number(above=0, maximum=MOST_SECONDS), 90.0),
    "max-redirects": Key(Integer(minimum=0), 30),
    "other-hosts": Key(_FLAG),
}

_OUTPUT: dict[Path, dict[str, Key]] = {
    ("output", "sanitization"): {
        "enabled": Key(_FLAG, True),
        "keys-to-sanitize": Key(_TEXTS, sorted(DEFAULT_KEYS)),
        "sensitive-markers": Key(_TEXTS, list(DEFAULT_MARKERS)),
        "replacement": Key(Text(), "[Filtered]"),
        "generated": Key(_FLAG, False),
    },
    ("output",): {
        "max-shown": Key(Integer(minimum=0), 100),
        "code-sample-style": Key(Choice(("curl", "python")), "curl"),
    },
    ("output", "truncation"): {
        "enabled": Key(_FLAG, DEFAULT_TRUNCATION.enabled),
        "max-payload-size": Key(Integer(minimum=1), DEFAULT_TRUNCATION.max_payload_size),
        "max-lines": Key(Integer(minimum=1), DEFAULT_TRUNCATION.max_lines),
        "max-width": Key(Integer(minimum=1), DEFAULT_TRUNCATION.max_width),
        "max-recorded-payload-size": Key(Integer(minimum=0), DEFAULT_TRUNCATION.max_recorded_payload_size),
    },
}


def _phase(name: str) -> dict[str, Key]:
    row = phases.phase_named(name)
    keys = {"enabled": Key(_FLAG, row.is_default)}
    if name != "stateful":
        keys["operation-ordering"] = Key(Choice(("auto", "none")), "auto")
    return keys | {
        "examples": {"fill-missing": Key(_FLAG, False), "queries": Key(_TEXTS, [])},
        "coverage": {
            "generate-duplicate-query-parameters": Key(_FLAG, False),
            "costly-queries": Key(_FLAG, False),
            "unexpected-methods": Key(ListOf(Text(value_kinds.unexpected_method))),
        },
        "stateful": {"max-steps": Key(Integer(2, MOST_STEPS)), "link-calibration": Key(_FLAG, True)},
    }.get(name, {})


def _sections_of_phase(name: str) -> dict[Path, dict[str, Key]]:
    """Return the sections of a phase: its own, and those that override sections of the run."""
    others = {*OF_RUNS, "dictionaries"}
    if phases.phase_named(name).source is phases.CaseSource.LISTED:
        # The description determines the number of listed cases.
        others.add("max-examples")
    if name != phases.FUZZING.name:
        others.add("maximize")
    ours = {key: one for key, one in _GENERATION.items() if key not in others}
    groups = {("generation",): ours} | _CHECKS
    found: dict[Path, dict[str, Key]] = {
        ("phases", name): _phase(name),
        **{("phases", name, *path): keys for path, keys in groups.items()},
    }
    if name != "stateful":
        found["phases", name, "extra-data-sources"] = {"responses": Key(_FLAG, True)}
    return found


def _check(check: Check) -> dict[str, Key]:
    return {"enabled": Key(_FLAG, True), **{one.name: _check_setting(one) for one in check.settings}}


def _check_setting(setting: CheckSetting) -> Key:
    return Key(_SHAPES[setting.shape], setting.default)


_REPORT: Mapping[str, Key] = {"enabled": Key(_FLAG, False), "path": Key(Text())}
_CHECKS: dict[Path, dict[str, Key]] = {
    ("checks",): {
        "enabled": Key(_FLAG, True),
        **{one.name: _check_setting(one.switch) for one in CHECKS if one.switch},
    },
    **{("checks", one.name): _check(one) for one in CHECKS if not one.switch},
}


_SECTIONS: dict[Path, Mapping[str, Key]] = {
    (): _ROOT,
    **_AUTH,
    ("generation",): _GENERATION,
    **_OUTPUT,
    ("documents",): _DOCUMENTS,
    ("corpus",): {"max-size": Key(Integer(minimum=1), 1 << 30)},
    ("reports",): {
        "directory": Key(Text(), "checker-report"),
        "preserve-bytes": Key(_FLAG, False),
        "mode": Key(Text(value_kinds.file_mode)),
        "max-size": Key(Integer(minimum=1), 1 << 30),
    },
    **{("reports", row.name): _REPORT for row in report_formats()},
    UPLOAD: _UPLOAD,
    ("cache",): {"enabled": Key(_FLAG, True), "directory": Key(Text())},
    ("servers",): {"variables": Key(MapOf(value_kinds.text_value), {})},
    ("phases",): {"enabled": Key(_FLAG, True)},
    **{path: keys for name in phases.phase_names() for path, keys in _sections_of_phase(name).items()},
    ("phases", "stateful", "inference"): {"algorithms": Key(ListOf(Choice(ALGORITHMS)), list(ALGORITHMS))},
    **_CHECKS,
    ("phases", "fuzzing", "error-feedback"): {"enabled": Key(_FLAG, True)},
    ("analysis", "constants"): {"enabled": Key(_FLAG, True)},
    ("fuzz",): {"max-time": Key(Number(above=0, maximum=MOST_SECONDS))},
}
SECTIONS: Mapping[Path, Mapping[str, Key]] = _SECTIONS
"""Section -> key -> option."""


def register_report(row: ReportFormat) -> None:
    """Add a format of reports, with `[reports.<name>]` and `--report <name>`. Raises `IncorrectUsage`."""
    add_report_format(row)
    _SECTIONS["reports", row.name] = _REPORT
    subsections.cache_clear()


def register_phase(row: phases.Phase) -> phases.Phase:
    """Add a phase, with `[phases.<name>]` and `--phases <name>`; gives its row. Raises `IncorrectUsage`."""
    added = phases.add_phase(row)
    _SECTIONS.update(_sections_of_phase(row.name))
    subsections.cache_clear()
    return added


CUSTOM_CHECK: Mapping[str, Key] = {"enabled": Key(_FLAG, True)}
"""Keys of `[checks.<name of a user's check>]`; a class takes more, by the names of its arguments."""


def is_of_checks(path: Path) -> bool:
    """Whether the sections directly below this one are checks: of all phases, or of one."""
    return path in SECTIONS and path[-1:] == ("checks",)


def default_of(path: Path, name: str) -> Any:
    """Return the default of a key."""
    return SECTIONS[path][name].default


@cache
def subsections(path: Path) -> tuple[str, ...]:
    """Return the names of the sections directly below this one."""
    depth = len(path)
    found = {known[depth]: None for known in SECTIONS if known[:depth] == path and known != path}
    return tuple(found)


def section_title(path: Path) -> str:
    """Return the name of a section in messages: `root`, `[generation]`."""
    return f"[{'.'.join(path)}]" if path else "root"


def option_name(path: Path, key: str) -> str:
    """Return the name of an option in messages: `[generation] unique-inputs`, or `warnings` at the root."""
    return f"{section_title(path)} {key}" if path else key


_OF_PHASES = ("operation-ordering", "extra-data-sources")
"""Keys of phases that are about all of their operations."""

NOT_IN_PROJECTS: frozenset[Path] = frozenset(
    (name,)
    for name in (
        "color",
        "seed",
        "reports",
        "cache",
        "corpus",
        "output",
        "dictionaries",
        "documents",
        "suppress-health-check",
        "max-failures",
        "max-time",
        "upload",
    )
)
"""Root keys and sections that a `[[project]]` table cannot have: they are about the run, not the API."""

OPERATION_KEYS = frozenset([*OF_OPERATIONS, "auth", "servers", "checks", "phases", "generation"])
"""Root keys and sections of an `[[operations]]` block, besides `enabled` and its filters."""

_NEVER_IN_OPERATIONS: frozenset[Path] = frozenset(
    (name,) for path in SECTIONS for name in (*SECTIONS[()], *path[:1]) if name not in OPERATION_KEYS
) | frozenset(
    [
        *(("generation", name) for name in OF_RUNS),
        ("phases", "fuzzing", "error-feedback"),
        ("auth", "auto-signup"),
        ("auth", "allow-refused"),
        auth.OPENAPI,
        ("auth", "dynamic"),
        ("auth", "oauth2"),
        auth.WFC,
    ]
)


GENERATED_VALUES = frozenset([("parameters",), ("generation", "dictionaries")])
"""Overrides of generated values. Workers get them as `Overrides`, not in layers."""


def keys_of_operations() -> Iterator[tuple[Path, str]]:
    """Yield section and key of each setting of an operation in one phase, for which phases have no sections of their own."""
    banned = not_in_operations() | GENERATED_VALUES
    for path, keys in SECTIONS.items():
        is_of_one_phase = path[:1] == ("phases",) and len(path) > 2
        for place in ((*path, key) for key in keys if not is_of_one_phase):
            starts = (place[:length] for length in range(1, len(place) + 1))
            if place[0] in OPERATION_KEYS and banned.isdisjoint(starts):
                yield path, place[-1]


def not_in_operations() -> frozenset[Path]:
    """Return the keys and sections that an `[[operations]]` block cannot have."""
    own = (("phases", phase, name) for phase in phases.phase_names() for name in _OF_PHASES)
    return _NEVER_IN_OPERATIONS | frozenset(own)
