"""Every key of `checker.toml`: its section, its kind of value and its default.

Defaults are defined only here. The settings structs read them with `default_of`.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from checker.checks.check import Check, CheckSetting, SettingShape
from checker.checks.table import TABLE as CHECKS
from checker.config import auth, value_kinds
from checker.config.overrides import dictionary_rule, parameter_rule, type_rule
from checker.config.value_kinds import (
    Boolean,
    Bytes,
    Choice,
    Either,
    Integer,
    ListOf,
    MapOf,
    Number,
    Secret,
    Text,
    ValueKind,
    warning_key,
    warning_name,
)
from checker.core import phases
from checker.core.blocks import DEFAULT_TRUNCATION
from checker.core.errors import InvalidRateLimit
from checker.core.redact import DEFAULT_KEYS, DEFAULT_MARKERS
from checker.core.reports import REPORT_FORMATS, ReportFormat

Path = tuple[str, ...]  # Of a section: `("output", "sanitization")`; the root is `()`.


class Key(Struct, frozen=True):
    """One option."""

    kind: ValueKind
    default: Any = None
    about: str = ""  # The help of its option of the command line, and its description in the JSON Schema of the file.
    example: Any = None  # A value for `shown`; None if the kind and the default are enough to make one.

    @property
    def shown(self) -> Any:
        """Return an example of a value, if possible not the default."""
        match self.kind:
            case _ if self.example is not None:
                return self.example
            case Boolean():
                return not self.default
            case Choice(values):
                return next(one for one in values if one != self.default)
            case ListOf(Choice(values)) if not self.default:
                return [values[0]]
            case _:
                return self.default


SAFETY_LEVELS = ("read-only", "create-own", "full")
ALGORITHMS = ("location-headers", "dependency-analysis")  # Ways to find links that the description does not declare.
MOST_STEPS = 60
MODES = ("positive", "negative", "all")
HEALTH_CHECKS = ("data_too_large", "filter_too_much", "too_slow", "large_base_example", "all")

MOST_EXAMPLES = 10**9  # For each operation: weeks of requests. A larger number is a typing error.

MOST_SECONDS = 1e8  # Three years; more milliseconds do not fit the counters of every system.

_FLAG = Boolean()
_TEXTS = ListOf(Text())
_SHAPES: Mapping[SettingShape, ValueKind] = {
    SettingShape.FLAG: _FLAG,
    SettingShape.SECONDS: Number(above=0, maximum=MOST_SECONDS),
    SettingShape.STATUSES: ListOf(Either((Integer(100, 599), Text(value_kinds.status_pattern)))),
}
"""Form of a setting of a check -> kind of its value."""

COVERED: Mapping[str, str] = {
    "operations": "operations with a 2xx response",
    "responses": "documented responses that were received",
    "parameters": "parameters that a case targets",
    "enum_values": "enum values that occur in an accepted request",
    "media_types": "documented media types that were accepted or received",
}
"""Part of a description whose coverage may be required -> the units that are counted."""

OF_OPERATIONS = {
    "warnings": Key(
        Either((_FLAG, ListOf(Text(warning_name)), MapOf(warning_key))),
        True,
        about="Warnings that are shown, and those that fail a run.",
        example={"display": True, "fail-on": ["missing_auth"]},
    ),
    "continue-on-failure": Key(_FLAG, False, about="Continue to test operations that have failed."),
    "headers": Key(MapOf(value_kinds.header), {}, about="Headers of every request.", example={"X-Tenant": "acme"}),
    "proxy": Key(Text(value_kinds.http_url), about="URL of an HTTP proxy.", example="http://127.0.0.1:3128"),
    "tls-verify": Key(
        Either((_FLAG, Text(value_kinds.certificates))),
        True,
        about="Whether to verify certificates, or a file of authorities.",
        example=False,
    ),
    "rate-limit": Key(
        Text(value_kinds.rate_limit, error=InvalidRateLimit),
        about="Maximum request rate of all workers together: `N/s`, `N/m`, `N/h`, `N/d`, or `auto`: wait as long as 429 responses ask.",
        example="50/s",
    ),
    "max-redirects": Key(Integer(minimum=0), 30, about="Redirects to follow on the same site; 0: none."),
    "max-stream-events": Key(Integer(minimum=1), 20, about="Events of a stream after which reading ends."),
    "request-timeout": Key(Number(above=0, maximum=MOST_SECONDS), 10.0, about="Seconds to wait for a response."),
    "request-retries": Key(
        Either((Integer(minimum=0), MapOf(value_kinds.retries))),
        0,
        about="Times that a request is sent again after a connection error or a time-out, after 1, 2, 4, ... 10 s.",
        example=2,
    ),
    "request-cert": Key(Text(value_kinds.certificate), about="File of the client certificate.", example="client.pem"),
    "request-cert-key": Key(
        Text(value_kinds.certificate), about="File of the client certificate's key.", example="client.key"
    ),
    "parameters": Key(
        MapOf(parameter_rule),
        {},
        about="Values of parameters and of parts of bodies: a value, or a dictionary with a probability.",
        example={"query.limit": 10, "body.name": {"dictionary": "names", "probability": 0.5}},
    ),
}
"""Root keys that an `[[operations]]` block may have, too."""

_ROOT = {
    "color": Key(_FLAG, about="Whether the output has colours; by default only on a terminal."),
    "suppress-health-check": Key(ListOf(Choice(HEALTH_CHECKS)), [], about="Health checks to leave out."),
    "seed": Key(Integer(), about="Seed of all random choices.", example=1),
    "max-failures": Key(Integer(minimum=1), about="End after this many failures or errors.", example=10),
    "max-time": Key(
        Number(above=0, maximum=MOST_SECONDS), about="Seconds for the testing, without the reports.", example=300
    ),
    "base-url": Key(
        Text(value_kinds.base_url),
        about="Base URL of the API, or unix:/path/to.sock.",
        example="http://127.0.0.1:8080/v1",
    ),
    "origin": Key(
        Text(value_kinds.site),
        about="Scheme, host and port of the API; the path of the description's own server stays.",
        example="http://127.0.0.1:8080",
    ),
    "baseline": Key(
        Text(), about="File of known failures, which fail no run; created if it does not exist.", example="known.toml"
    ),
    "baseline-update": Key(_FLAG, False, about="Write new failures into the baseline, too."),
    "baseline-prune": Key(_FLAG, False, about="Remove baseline entries that did not fail again."),
    "compare": Key(
        Text(), about="Run whose failures count as known: a folder, its name, or a JSON report.", example="last.json"
    ),
    "live-port": Key(
        Integer(0, 65535), about="Loopback port for a live page of the run; 0 chooses a free port.", example=8765
    ),
    **{
        f"fail-under-{name.replace('_', '-')}": Key(
            Number(minimum=0, maximum=100), about=f"Minimum percentage of {what}.", example=90
        )
        for name, what in COVERED.items()
    },
    "hooks": Key(Text(), about="Python module with the user's code.", example="tests.hooks"),
    "workers": Key(Either((Integer(1, 64), Choice(("auto",)))), about="Worker processes, 1-64 or `auto`.", example=4),
    "max-workers": Key(
        Integer(1, 1000), 64, about="Maximum number of workers on a cluster, when `auto` follows its machines."
    ),
    "lanes": Key(
        Either((Integer(1, 64), Choice(("auto",)))),
        about="Requests in flight in each worker, 1-64 or `auto`.",
        example=8,
    ),
    "shard": Key(
        Text(value_kinds.shard),
        about="Part of the operations that `run` tests, such as 3/8; dependent operations stay together.",
        example="3/8",
    ),
    "shard-weights": Key(
        Text(), about="File with the costs of operations, for shards of equal cost.", example="weights.json"
    ),
    "changed-since": Key(
        Text(),
        about="Path or URL of an earlier version of the description: only operations that have changed since are tested.",
        example="old.json",
    ),
    "with-dependents": Key(
        _FLAG, False, about="With `changed-since`: also test operations that need resources of changed operations."
    ),
    "cluster": Key(
        Text(value_kinds.cluster),
        about="Ray cluster that runs the workers: `ray://HOST:PORT`, `auto` (the one of this machine) or `local` (a new one).",
        example="ray://head.example:10001",
    ),
    "max-memory": Key(
        Bytes(),
        about="Bytes of memory of all processes of a run on this machine, such as `2G`: workers that grew are replaced.",
        example="2G",
    ),
    "cluster-allow-loopback": Key(
        _FLAG, False, about="Whether workers on other machines may test a target on their own loopback."
    ),
    "wait-for-schema": Key(
        Number(minimum=1, maximum=MOST_SECONDS),
        about="Seconds to wait until the API description can be loaded, and then until the API accepts connections.",
        example=30,
    ),
    "safety": Key(
        Choice(SAFETY_LEVELS),
        SAFETY_LEVELS[-1],
        about="What may be sent: `read-only`, `create-own` (changes and deletes only what the run made) or `full`.",
    ),
    "transport": Key(
        Text(value_kinds.attribute),
        about="Factory of a transport that replaces HTTP over the network.",
        example="my_transports:make",
    ),
    "dictionaries": Key(
        MapOf(dictionary_rule),
        {},
        about="Named lists of values for parameters and types.",
        example={"names": {"values": ["ada", "grace"]}, "words": {"from-file": "words.dict"}},
    ),
    **OF_OPERATIONS,
}

_AUTH: dict[Path, dict[str, Key]] = {
    ("auth",): {
        "openapi": Key(
            MapOf(auth.static_rule),
            {},
            about="Credentials of security schemes, by their names in the description.",
            example={"ApiKey": {"api_key": "${API_KEY}"}},
        ),
        "auto-signup": Key(_FLAG, True, about="Whether the run creates an account when it has no credentials."),
        "allow-refused": Key(_FLAG, False, about="Whether a run passes although its credentials opened no operation."),
    },
    auth.BASIC: {
        "username": Key(Text(value_kinds.user_name), about="User for all operations.", example="anna"),
        "password": Key(Secret(auth.sendable), about="Password of the user.", example="${API_PASSWORD}"),
        "type": Key(Choice(("basic", "digest")), "basic", about="How user and password are sent: `basic` or `digest`."),
    },
    ("auth", "dynamic"): {
        "openapi": Key(
            MapOf(auth.dynamic_rule),
            {},
            about="Requests that fetch the tokens of security schemes.",
            example={
                "Bearer": {
                    "path": "/login",
                    "payload": {"user": "anna", "password": "${API_PASSWORD}"},
                    "extract_selector": "/token",
                }
            },
        )
    },
    ("auth", "oauth2"): {
        "openapi": Key(
            MapOf(auth.oauth2_rule),
            {},
            about="Clients of OAuth 2 for security schemes, whose tokens the run fetches and renews.",
            example={"OAuth": {"client_id": "tests", "client_secret": "${CLIENT_SECRET}"}},
        )
    },
    auth.WFC: {
        "path": Key(Text(), about="Authentication document of the Web Fuzzing Commons.", example="users.yaml"),
        "user": Key(Text(), about="User of that document whose credentials requests carry.", example="anna"),
        "refresh_interval": Key(
            Integer(minimum=0), auth.REFRESH_S, about="Seconds after which a login is repeated; 0: never."
        ),
        "peers": Key(
            _TEXTS, [], about="Users whose objects must be protected from each other.", example=["anna", "bert"]
        ),
    },
}

_GENERATION = {
    "mode": Key(Choice(MODES), "all", about="Valid data, invalid data, or both."),
    "max-examples": Key(Integer(1, MOST_EXAMPLES), 100, about="Cases for each operation."),
    "no-shrink": Key(_FLAG, False, about="Show failures as they were found, without minimising them."),
    "shrink-share": Key(
        Number(above=0, below=1), 0.2, about="Share of the requests of a run that investigations of failures may take."
    ),
    "deterministic": Key(_FLAG, False, about="No randomness at all."),
    "allow-x00": Key(_FLAG, True, about="Whether strings may contain NUL."),
    "allow-extra-parameters": Key(
        _FLAG, True, about="Whether requests have parameters and properties that the description does not mention."
    ),
    "exclude-header-characters": Key(
        Text(allows_nul=True), "\r\n", about="Characters that are never generated in values of headers."
    ),
    "codec": Key(Text(value_kinds.codec), about="Codec that can encode all generated strings.", example="ascii"),
    "maximize": Key(Either((Text(), _TEXTS)), about="Metric to maximise.", example="response_time"),
    "with-security-parameters": Key(_FLAG, True, about="Whether to generate credentials."),
    "graphql-allow-null": Key(_FLAG, True, about="Whether to use null in GraphQL."),
    "database": Key(Text(), ".proptest/examples", about="Where examples are kept: `none`, `:memory:` or a folder."),
    "unique-inputs": Key(_FLAG, False, about="Never send the same case twice."),
    "dictionaries": Key(
        MapOf(type_rule),
        {},
        about="Dictionaries for all generated values of a type.",
        example={"string": {"dictionary": "names", "probability": 0.1}},
    ),
}

UPLOAD: Path = ("upload",)
_UPLOAD = {
    "url": Key(
        Text(value_kinds.http_url),
        about="URL to which the archive of the run is posted at its end.",
        example="https://reports.example.org/in",
    ),
    "token": Key(Secret(auth.sendable), about="Bearer token for the upload.", example="${UPLOAD_TOKEN}"),
    "api-name": Key(Text(), about="Name of the API in the archive.", example="shop"),
}

OF_RUNS = ("deterministic", "database", "shrink-share")  # Keys of `generation` that apply to the whole run.

OPENAPI_VERSIONS = ("2.0", "3.0", "3.1", "3.2")
_DOCUMENTS = {
    "version": Key(Choice(OPENAPI_VERSIONS), about="Version of OpenAPI that the description is read as."),
    "validate": Key(_FLAG, False, about="Whether the description must conform to the official schema of its version."),
    "max-size": Key(Integer(minimum=1), 32 << 20, about="Bytes of one document."),
    "max-total-size": Key(Integer(minimum=1), 64 << 20, about="Bytes of all documents together."),
    "max-count": Key(Integer(minimum=0), 2000, about="Documents besides the description itself."),
    "timeout": Key(Number(above=0, maximum=MOST_SECONDS), 30.0, about="Seconds for one document."),
    "max-total-time": Key(Number(above=0, maximum=MOST_SECONDS), 90.0, about="Seconds for all documents together."),
    "max-redirects": Key(Integer(minimum=0), 30, about="Redirects of one document; 0: none."),
    "other-hosts": Key(_FLAG, about="Whether references may lead to other hosts."),
}

_OUTPUT: dict[Path, dict[str, Key]] = {
    ("output", "sanitization"): {
        "enabled": Key(_FLAG, True, about="Whether to mask secrets."),
        "keys-to-sanitize": Key(
            _TEXTS, sorted(DEFAULT_KEYS), about="Names whose values are secrets.", example=["x-own-secret"]
        ),
        "sensitive-markers": Key(
            _TEXTS, list(DEFAULT_MARKERS), about="Parts of names whose values are secrets.", example=["secret"]
        ),
        "replacement": Key(Text(), "[Filtered]", about="Text in place of a secret."),
        "generated": Key(_FLAG, False, about="Whether to mask generated values, too."),
    },
    ("output",): {
        "max-shown": Key(Integer(minimum=0), 100, about="Operations whose failures are printed, the worst first."),
        "code-sample-style": Key(
            Choice(("curl", "python")), "curl", about="Reproductions as `curl` commands or as `python`."
        ),
    },
    ("output", "truncation"): {
        "enabled": Key(_FLAG, DEFAULT_TRUNCATION.enabled, about="Whether to cut payloads."),
        "max-payload-size": Key(
            Integer(minimum=1), DEFAULT_TRUNCATION.max_payload_size, about="Characters of a payload that are shown."
        ),
        "max-lines": Key(Integer(minimum=1), DEFAULT_TRUNCATION.max_lines, about="Lines of a payload that are shown."),
        "max-width": Key(
            Integer(minimum=1), DEFAULT_TRUNCATION.max_width, about="Characters of a line that are shown."
        ),
        "max-recorded-payload-size": Key(
            Integer(minimum=0),
            DEFAULT_TRUNCATION.max_recorded_payload_size,
            about="Bytes of a payload that reports keep.",
        ),
    },
}


def _phase(name: str) -> dict[str, Key]:
    row = phases.phase_named(name)
    keys = {"enabled": Key(_FLAG, row.is_default, about="Whether the phase runs.")}
    if name != "stateful":
        keys["operation-ordering"] = Key(
            Choice(("auto", "none")), "auto", about="`auto`: producers first; `none`: the order of the description."
        )
    return keys | {
        "examples": {
            "fill-missing": Key(_FLAG, False, about="Whether operations without examples get a request, too."),
            "queries": Key(_TEXTS, [], about="Files with GraphQL queries.", example=["queries/*.graphql"]),
        },
        "coverage": {
            "generate-duplicate-query-parameters": Key(_FLAG, False, about="Whether query parameters are sent twice."),
            "costly-queries": Key(
                _FLAG, False, about="Whether GraphQL queries with hundreds of aliases and of great depth are sent."
            ),
            "unexpected-methods": Key(
                ListOf(Text(value_kinds.unexpected_method)),
                about="Undeclared methods that are tried; by default all usual ones.",
                example=["PUT", "DELETE"],
            ),
        },
        "stateful": {
            "max-steps": Key(Integer(2, MOST_STEPS), about="Maximum number of requests in a sequence.", example=8),
            "link-calibration": Key(_FLAG, True, about="Whether sequences stop using values that are refused."),
        },
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
        about = "Whether values of earlier responses are used."
        found["phases", name, "extra-data-sources"] = {"responses": Key(_FLAG, True, about=about)}
    return found


def _check(check: Check) -> dict[str, Key]:
    return {"enabled": _CHECK_RUNS, **{one.name: _check_setting(one) for one in check.settings}}


def _check_setting(setting: CheckSetting) -> Key:
    return Key(_SHAPES[setting.shape], setting.default, setting.about, setting.example)


_CHECK_RUNS = Key(_FLAG, True, about="Whether the check runs.")


def _report(row: ReportFormat) -> dict[str, Key]:
    return {
        "enabled": Key(_FLAG, False, about="Whether the report is written; without this key, if it has a path."),
        "path": Key(Text(), about=f"Path of the {row.title} report.", example=row.file_name("now")),
    }


_CHECKS: dict[Path, dict[str, Key]] = {
    ("checks",): {
        "enabled": Key(_FLAG, True, about="Whether checks without a switch of their own run."),
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
    ("corpus",): {
        "max-size": Key(
            Bytes(),
            1 << 30,
            about="Bytes of the corpus on disk, such as `2G`: the oldest recorded requests are removed.",
        ),
        "replay": Key(
            _FLAG,
            False,
            about="Whether `run` also sends the requests and sequences that showed the most in earlier runs.",
        ),
    },
    ("reports",): {
        "directory": Key(Text(), "checker-report", about="Folder of the reports."),
        "preserve-bytes": Key(_FLAG, False, about="Write payloads as base64."),
        "mode": Key(Text(value_kinds.file_mode), about="Permissions of the files.", example="640"),
        "max-size": Key(Bytes(), 1 << 30, about="Bytes of one report, such as `100M`."),
    },
    **{("reports", row.name): _report(row) for row in REPORT_FORMATS.values()},
    UPLOAD: _UPLOAD,
    ("cache",): {
        "enabled": Key(_FLAG, True, about="Whether later runs use what this one learnt about the API."),
        "directory": Key(
            Text(), about="Folder of what runs learnt; without it, a folder of the project.", example="cache"
        ),
    },
    ("servers",): {
        "variables": Key(
            MapOf(value_kinds.text_value),
            {},
            about="Values of variables in the URLs of servers.",
            example={"stage": "test"},
        )
    },
    ("phases",): {"enabled": Key(_FLAG, True, about="Whether phases without a switch of their own run.")},
    **{path: keys for name in phases.phase_names() for path, keys in _sections_of_phase(name).items()},
    ("phases", "stateful", "inference"): {
        "algorithms": Key(
            ListOf(Choice(ALGORITHMS)),
            list(ALGORITHMS),
            about="Ways to find links that the description does not declare.",
        )
    },
    **_CHECKS,
    ("checks",): {
        **_CHECKS["checks",],
        "intermittent": Key(
            Choice(("fail", "report")), "fail", about="Whether failures that show only now and then fail the run."
        ),
    },
    ("phases", "fuzzing", "error-feedback"): {
        "enabled": Key(_FLAG, True, about="Whether cases respect the demands in the texts of refusals.")
    },
    ("analysis", "constants"): {
        "enabled": Key(_FLAG, True, about="Whether literals of the application's source are used as values.")
    },
    ("fuzz",): {
        "max-time": Key(
            Number(above=0, maximum=MOST_SECONDS),
            about="Seconds for the testing; without it, the first failure ends the run.",
            example=3600,
        ),
        "stop-when-saturated": Key(
            _FLAG,
            False,
            about="Whether the run ends when no operation has shown new behaviour in its last 1,000 cases.",
        ),
    },
}
SECTIONS: Mapping[Path, Mapping[str, Key]] = _SECTIONS  # Section -> key -> option.


def register_report(row: ReportFormat) -> None:
    """Add a format of reports, with `[reports.<name>]` and `--report <name>`. Raises `IncorrectUsage`."""
    REPORT_FORMATS.add_row(row)
    _SECTIONS["reports", row.name] = _report(row)
    subsections.cache_clear()


def register_phase(row: phases.Phase) -> phases.Phase:
    """Add a phase, with `[phases.<name>]` and `--phases <name>`; returns the row of the phase. Raises `IncorrectUsage`."""
    added = phases.add_phase(row)
    _SECTIONS.update(_sections_of_phase(row.name))
    subsections.cache_clear()
    return added


CUSTOM_CHECK: Mapping[str, Key] = {"enabled": _CHECK_RUNS}
"""Keys of `[checks.<name of a user's check>]`. A class check has further keys with the names of its arguments."""


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
    return tuple({known[depth]: None for known in SECTIONS if known[:depth] == path and known != path})


def section_title(path: Path) -> str:
    """Return the name of a section in messages: `root`, `[generation]`."""
    return f"[{'.'.join(path)}]" if path else "root"


_OF_PHASES = ("operation-ordering", "extra-data-sources")  # Keys of phases that are about all of their operations.
_OF_SEQUENCES = ("max-steps", "link-calibration", "inference")
"""Keys of the stateful phase that apply to all of its sequences together."""

ONLY_ELSEWHERE: Mapping[str, str] = {
    "deterministic": "the whole run has one source of randomness",
    "database": "the whole run has one store of examples",
    "shrink-share": "it is a share of the time of the whole run",
    "operation-ordering": "it orders all operations of a phase",
    "extra-data-sources": "all operations of a phase share the values of earlier responses, which sequences always use",
    "error-feedback": "all operations share what the texts of refusals demand",
    "dictionaries": "an operation has the same dictionaries in all phases",
    "maximize": "only `fuzzing` draws cases that can approach a larger value",
    "max-examples": "the description determines the number of cases",
    "queries": "each query names its operation",
    "intermittent": "it is a rule of the baseline, and the whole run has one baseline",
    **dict.fromkeys(_OF_SEQUENCES, "a sequence goes through several operations"),
}
"""Key or section -> the reason why a phase or an `[[operations]]` block cannot have it."""

NOT_IN_PROJECTS: frozenset[Path] = frozenset(
    (name,) for name in (
        "color", "seed", "reports", "cache", "corpus", "output", "dictionaries", "documents", "suppress-health-check",
        "max-failures", "max-time", "max-memory", "shard", "shard-weights", "upload",
    )
)  # fmt: skip
"""Root keys and sections that a `[[project]]` table cannot have: they apply to the run, not to the API."""

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
        ("checks", "intermittent"),
        auth.WFC,
    ]
)

_NEVER_IN_PHASES = frozenset([auth.OPENAPI, ("auth", "dynamic"), ("auth", "oauth2")])
"""Sections of an `[[operations]]` block that apply in all phases."""


GENERATED_VALUES = frozenset([("parameters",), ("generation", "dictionaries")])
"""Overrides of generated values. Workers get them as `Overrides`, not in layers."""


def keys_of_operations() -> Iterator[tuple[Path, str]]:
    """Yield section and key of each setting of an operation in one phase, for which phases have no sections of their own."""
    banned = not_in_operations() | GENERATED_VALUES | _NEVER_IN_PHASES
    for path, keys in SECTIONS.items():
        is_of_one_phase = path[:1] == ("phases",) and len(path) > 2
        for place in ((*path, key) for key in keys if not is_of_one_phase):
            starts = (place[:length] for length in range(1, len(place) + 1))
            if place[0] in OPERATION_KEYS and banned.isdisjoint(starts):
                yield path, place[-1]


def not_in_operations() -> frozenset[Path]:
    """Return the keys and sections that an `[[operations]]` block cannot have."""
    own = (("phases", phase, name) for phase in phases.phase_names() for name in _OF_PHASES)
    of_sequences = (("phases", "stateful", name) for name in _OF_SEQUENCES)
    return _NEVER_IN_OPERATIONS | {("phases", "examples", "queries"), *own, *of_sequences}
