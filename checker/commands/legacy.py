"""Options and keys of earlier generations of such tools.

Each old option stands for current ones and prints a hint. `checker migrate` rewrites the old keys of a file. This module needs
no parser of TOML that keeps comments, since every command imports it.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import click
from msgspec import Struct

from checker.checks.table import BUILT_IN
from checker.commands.command import Command, echo_line
from checker.core.errors import UsageError
from checker.core.redact import Redaction

Translation = Callable[[str], list[str]]
"""Returns the current arguments for the value of an old option; the value of a flag is empty."""


_MASK: Final = Redaction().replacement


class Legacy(Struct, frozen=True):
    """One option that has another name now."""

    flags: tuple[str, ...]
    today: Translation
    is_flag: bool = False
    shown: Callable[[str], str] = Redaction().url
    """Returns its value for hints."""


def _is(option: str) -> Translation:
    return lambda value: [option, value]


def _sets(key: str) -> Translation:
    return lambda value: ["--set", f"{key}={value}"]


def _flag(*today: str) -> Translation:
    return lambda _: list(today)


def _seconds(option: str) -> Translation:
    """Return the translation of milliseconds to an option in seconds."""
    return lambda value: [option, f"{_number(option, value) / 1000:g}"]


def _pattern(option: str) -> Translation:
    """Return the translation to a regular expression that ignores letter case."""
    return lambda value: [option, f"(?i:{value})"]


def _parameter(place: str) -> Translation:
    def today(value: str) -> list[str]:
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise UsageError(f"--set-{place}: give NAME=VALUE, got {value!r}")
        return ["--set", f'parameters."{place}.{name}"="{text}"']

    return today


def _metrics(value: str) -> list[str]:
    """Translate the metric. `all` meant every metric; `response_time` is the only one now."""
    return ["--generation-maximize", "response_time" if value == "all" else value]


def _name_alone(parameter: str) -> str:
    return f"{parameter.partition('=')[0]}={_MASK}"


_WORDY: Final = ["--output-truncate", "false"]
Today = tuple[str, Any]
"""A key in dots, and its value. The key `operations` is a block that comes after all others."""
Rewrite = Callable[[Any], Iterator[Today]]
"""Yields the current keys for the value of an old key. Raises `ValueError` for a value that it never had."""

_LIBRARY_PHASES: Final[Mapping[str, tuple[Today, ...]]] = {
    "explicit": (("phases.examples.enabled", False),),
    "reuse": (("generation.database", "none"),),
    "generate": tuple((f"phases.{name}.enabled", False) for name in ("coverage", "fuzzing", "stateful")),
    "target": (),
    "shrink": (("generation.no-shrink", True),),
    "explain": (),
}
"""Phase of a property-testing library -> the keys and values that switch it off."""
_NOT_OURS: Final = ("return_value", "not_a_test_method", "function_scoped_fixture")
"""Health checks that are not about an API."""
_VERBOSITY: Final[Mapping[str, Today | None]] = {
    "quiet": ("output.max-shown", 0),
    "normal": None,
    "verbose": ("output.truncation.enabled", False),
    "debug": ("output.truncation.enabled", False),
}


def _key(key: str) -> Rewrite:
    return lambda value: iter([(key, value)])


def _when_on(key: str, today: Any) -> Rewrite:
    return lambda value: iter([(key, today)] if value else [])


def _unless(key: str, today: Any) -> Rewrite:
    return lambda value: iter([] if value else [(key, today)])


def _key_in_seconds(key: str) -> Rewrite:
    return lambda value: iter([(key, value / 1000)])


def _renamed(key: str, names: Mapping[str, Any]) -> Rewrite:
    """Return the rewrite of a value that has another name now."""
    return lambda value: iter([(key, _known(str(value), names))])


def _known(name: str, names: Mapping[str, Any]) -> Any:
    if name not in names:
        raise ValueError(f"choose from {', '.join(names)}; got {name!r}")
    return names[name]


def _listed(value: Any) -> list[str]:
    found = value if isinstance(value, list) else str(value).split(",")
    return [str(one).strip() for one in found if str(one).strip()]


def _mode(value: Any) -> Iterator[Today]:
    names = set(_listed(value))
    yield "generation.mode", "all" if {"positive", "negative"} <= names else min(names)


def _parameters(place: str) -> Rewrite:
    """Return the rewrite to values in each operation that has the parameter: a map, or texts like `name=value`."""

    def today(value: Any) -> Iterator[Today]:
        if not isinstance(value, dict):
            value = dict(one.partition("=")[::2] for one in _listed(value))
        yield "parameters", {f"{place}.{name}": one for name, one in value.items()}

    return today


def _header_map(value: Any) -> Iterator[Today]:
    if not isinstance(value, dict):
        texts = value if isinstance(value, list) else [value]
        value = {name.strip(): one.strip() for name, _, one in (x.partition(":") for x in texts)}
    yield "headers", value


def _user(value: Any) -> Iterator[Today]:
    name, _, password = str(value).partition(":")
    yield "auth.basic.username", name
    yield "auth.basic.password", password


def _only(filter_name: str) -> Rewrite:
    """Return the rewrite of a regular expression that selects operations, in any letter case: all others are switched off."""

    def today(value: Any) -> Iterator[Today]:
        pattern = "|".join(_listed(value) if isinstance(value, list) else [str(value)])
        yield "operations", {f"exclude-{filter_name}-regex": f"(?i:{pattern})", "enabled": False}

    return today


def _not_deprecated(value: Any) -> Iterator[Today]:
    if value:
        yield "operations", {"include-by": "/deprecated == true", "enabled": False}


def _chosen_checks(value: Any) -> Iterator[Today]:
    names = _listed(value)
    for name in BUILT_IN if "all" not in names else ():
        if name not in names and name != "max_response_time":
            yield f"checks.{name}.enabled", False


def _switched(section: str, *, is_on: bool) -> Rewrite:
    """Return the rewrite of a list of names to a switch below the section of each."""
    return lambda value: iter([(f"{section}.{name}.enabled", is_on) for name in _listed(value)])


def _library_phases(*, chosen: bool) -> Rewrite:
    def today(value: Any) -> Iterator[Today]:
        named = _listed(value)
        for one in named:
            _known(one, _LIBRARY_PHASES)
        for name, off in _LIBRARY_PHASES.items():
            if (name in named) is not chosen:
                yield from off

    return today


def _library_verbosity(value: Any) -> Iterator[Today]:
    today = _known(str(value), _VERBOSITY)
    if today is not None:
        yield today


def _library_health(value: Any) -> Iterator[Today]:
    kept = [one for one in _listed(value) if one not in _NOT_OURS]
    if kept:
        yield "suppress-health-check", kept


RENAMED: Final[Mapping[str, Rewrite]] = {
    "data-generation-method": _mode,
    "generation.modes": _mode,
    "exitfirst": _when_on("max-failures", 1),
    "max-response-time": _key_in_seconds("checks.max_response_time"),
    "exclude-checks": _switched("checks", is_on=False),
    "checks": _chosen_checks,
    "target": _renamed("generation.maximize", {"all": "response_time", "response_time": "response_time"}),
    "auth": _user,
    "auth-type": _key("auth.basic.type"),
    "header": _header_map,
    "set-query": _parameters("query"),
    "set-header": _parameters("header"),
    "set-cookie": _parameters("cookie"),
    "set-path": _parameters("path"),
    "endpoint": _only("path"),
    "method": _only("method"),
    "tag": _only("tag"),
    "operation-id": _only("operation-id"),
    "skip-deprecated-operations": _not_deprecated,
    "request-proxy": _key("proxy"),
    "request-tls-verify": _key("tls-verify"),
    "validate-schema": _key("documents.validate"),
    "junit-xml": _key("reports.junit.path"),
    "cassette-path": _key("reports.vcr.path"),
    "store-network-log": _key("reports.vcr.path"),
    "debug-output-file": _key("reports.ndjson.path"),
    "report": _switched("reports", is_on=True),
    "cassette-preserve-exact-body-bytes": _key("reports.preserve-bytes"),
    "sanitize-output": _key("output.sanitization.enabled"),
    "code-sample-style": _key("output.code-sample-style"),
    "no-color": _when_on("color", False),
    "force-color": _when_on("color", True),
    "verbosity": _when_on("output.truncation.enabled", False),
    "force-schema-version": _renamed("documents.version", {"20": "2.0", "30": "3.0"}),
    "stateful": _renamed("phases.stateful.enabled", {"none": False, "links": True}),
    "stateful-recursion-limit": _key("phases.stateful.max-steps"),
    "contrib-unique-data": _key("generation.unique-inputs"),
    "contrib-openapi-fill-missing-examples": _key("phases.examples.fill-missing"),
    "pre-run": _key("hooks"),
    "generation-allow-x00": _key("generation.allow-x00"),
    "generation-codec": _key("generation.codec"),
    "proptest-max-examples": _key("generation.max-examples"),
    "proptest-seed": _key("seed"),
    "proptest-derandomize": _key("generation.deterministic"),
    "proptest-database": _key("generation.database"),
    "proptest-deadline": _key_in_seconds("checks.max_response_time"),
    "proptest-phases": _library_phases(chosen=True),
    "proptest-no-phases": _library_phases(chosen=False),
    "proptest-report-multiple-bugs": _unless("continue-on-failure", False),
    "proptest-suppress-health-check": _library_health,
    "proptest-verbosity": _library_verbosity,
    "checker-io-url": _key("upload.url"),
    "checker-io-token": _key("upload.token"),
}
"""Old key -> rewrite. An old key that is now a section is rewritten only if its value is not a table."""


def _rewritten(key: str, *, is_boolean: bool = False) -> Translation:
    """Return the translation of an option by the rewrite of the old key with the same name."""

    def today(value: str) -> list[str]:
        option = f"--{key}"
        try:
            found = list(RENAMED[key](_boolean(option, value) if is_boolean else value))
        except ValueError as error:
            raise UsageError(f"{option}: {error}") from error
        # JSON texts, numbers, booleans and arrays are TOML, too.
        return [one for name, new in found for one in ("--set", f"{name}={json.dumps(new)}")]

    return today


TABLE: Final = (
    Legacy(("-b", "--base-url"), _is("--url")),
    Legacy(("-D", "--data-generation-method"), _is("--mode")),
    Legacy(("-x", "--exitfirst"), _flag("--max-failures", "1"), is_flag=True),
    Legacy(("-E", "--endpoint"), _pattern("--include-path-regex")),
    Legacy(("-M", "--method"), _pattern("--include-method-regex")),
    Legacy(("-T", "--tag"), _pattern("--include-tag-regex")),
    Legacy(("-O", "--operation-id"), _pattern("--include-operation-id-regex")),
    Legacy(("--skip-deprecated-operations",), _flag("--exclude-deprecated"), is_flag=True),
    Legacy(("--set-query",), _parameter("query"), shown=_name_alone),
    Legacy(("--set-header",), _parameter("header"), shown=_name_alone),
    Legacy(("--set-cookie",), _parameter("cookie"), shown=_name_alone),
    Legacy(("--set-path",), _parameter("path"), shown=_name_alone),
    Legacy(("--checker-io-url",), _is("--upload-url")),
    Legacy(("--checker-io-token",), _is("--upload-token"), shown=lambda _: _MASK),
    Legacy(("-t", "--target"), _metrics),
    Legacy(("--request-proxy",), _is("--proxy")),
    Legacy(("--request-tls-verify",), _is("--tls-verify")),
    Legacy(("--validate-schema",), _rewritten("validate-schema", is_boolean=True)),
    Legacy(("--junit-xml",), _is("--report-junit-path")),
    Legacy(("--cassette-path", "--store-network-log"), _is("--report-vcr-path")),
    Legacy(("--cassette-preserve-exact-body-bytes",), _flag("--report-preserve-bytes"), is_flag=True),
    Legacy(("--sanitize-output",), _is("--output-sanitize")),
    Legacy(("--show-trace", "--show-errors-tracebacks"), _flag(), is_flag=True),
    Legacy(("--force-schema-version",), _rewritten("force-schema-version")),
    Legacy(("--stateful",), _rewritten("stateful")),
    Legacy(("--stateful-recursion-limit",), _sets("phases.stateful.max-steps")),
    Legacy(("--contrib-unique-data",), _flag("--generation-unique-inputs"), is_flag=True),
    Legacy(("--contrib-openapi-formats-uuid",), _flag(), is_flag=True),
    Legacy(
        ("--contrib-openapi-fill-missing-examples",), _flag("--set", "phases.examples.fill-missing=true"), is_flag=True
    ),
    Legacy(("--proptest-database",), _is("--generation-database")),
    Legacy(("--proptest-deadline",), _seconds("--max-response-time")),
    Legacy(("--proptest-derandomize",), _flag("--generation-deterministic"), is_flag=True),
    Legacy(("--proptest-max-examples",), _sets("generation.max-examples")),
    Legacy(("--proptest-phases",), _rewritten("proptest-phases")),
    Legacy(("--proptest-no-phases",), _rewritten("proptest-no-phases")),
    Legacy(("--proptest-report-multiple-bugs",), _rewritten("proptest-report-multiple-bugs", is_boolean=True)),
    Legacy(("--proptest-seed",), _is("--seed")),
    Legacy(("--proptest-suppress-health-check",), _rewritten("proptest-suppress-health-check")),
    Legacy(("--proptest-verbosity",), _rewritten("proptest-verbosity")),
    Legacy(("-v", "--verbosity"), _flag(*_WORDY), is_flag=True),
)
"""The current option of each old option."""

_NO_HOSTS: Final = "give the token with --upload-token, or CHECKER_TOKEN"
GONE: Final[Mapping[str, tuple[bool, str]]] = {
    "--experimental": (True, "its features are always on"),
    "--fixups": (True, "register a hook for what your framework describes wrongly"),
    "--hosts-file": (True, _NO_HOSTS),
    "--checker-io-telemetry": (True, "no telemetry is ever sent"),
    "--keep": (False, "failures stay where they are until the next run"),
    "--schema-location": (True, "requests are sent as they were recorded"),
}
"""Option without effect -> (whether it has a value, the sentence of its hint)."""
_GONE_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "--experimental": (
        *("openapi-3.1", "schema-analysis", "stateful-test-runner", "coverage-phase", "positive-data-acceptance"),
    ),
    "--fixups": ("fast_api", "utf8_bom", "all"),
}
"""Option without effect -> the values that it had; other options had any value."""
_GONE_VARIABLES: Final = {"CHECKER_HOSTS_PATH": _NO_HOSTS}
"""Environment variable without effect -> the sentence of its hint."""

_BY_FLAG: Final = {flag: row for row in TABLE for flag in row.flags}


def modern(arguments: Sequence[str], params: Sequence[click.Parameter]) -> tuple[list[str], list[str]]:
    """Return the arguments with old options replaced, and a hint for each. Raises `UsageError`.

    `params` are the options of today: their values are left alone.
    """
    valued = {
        name
        for one in params
        # The value of `--report` need not be there.
        if isinstance(one, click.Option) and not one.is_flag and one.name != "report"
        for name in one.opts
    }
    known = {name for one in params for name in one.opts}
    found: list[str] = []
    hints: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name, value = _split(argument)
        if argument == "--":
            found += [argument, *rest]
        elif name in known:
            found.append(argument)
            if name in valued and value is None:
                found += islice(rest, 1)
        elif name in GONE:
            takes_value, sentence = GONE[name]
            if takes_value and value is None:
                value = next(rest, "")
            if value is not None and value not in _GONE_VALUES.get(name, (value,)):
                raise UsageError(f"{name}: choose from {', '.join(_GONE_VALUES[name])}; got {value!r}")
            hints.append(f"{name} does nothing: {sentence}")
        elif name in _BY_FLAG:
            row = _BY_FLAG[name]
            if not row.is_flag and value is None:
                value = next(rest, None)
                if value is None:
                    raise UsageError(f"Option {name!r} requires an argument.")
            found += row.today(value or "")
            current = " ".join(row.today(row.shown(value or ""))) or "the default behaviour"
            hints.append(f"{name} is now: {current}")
        else:
            found.append(argument)
    return found, hints


def _split(argument: str) -> tuple[str, str | None]:
    """Return the name of an option, and a value that is written together with it."""
    if argument.startswith("--"):
        name, equals, value = argument.partition("=")
        return name, value if equals else None
    if argument.startswith("-") and len(argument) > 2:
        return argument[:2], argument[2:].removeprefix("=")
    return argument, None


def _number(option: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise UsageError(f"{option}: give a number, got {value!r}") from None


def _boolean(option: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise UsageError(f"{option}: choose from true, false; got {value!r}")
    return value.lower() == "true"


class LegacyCommand(Command):
    """Prints a hint with the current name of each old option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            args, hints = modern(args, self.get_params(ctx))
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from error
        hints += [f"{name} does nothing: {why}" for name, why in _GONE_VARIABLES.items() if os.environ.get(name)]
        for hint in hints:
            echo_line(f"Hint: {hint}", err=True)
        return super().parse_args(ctx, args)
