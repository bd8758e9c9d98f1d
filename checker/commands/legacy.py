"""Options and keys of earlier tools of this kind.

Each old option is replaced with current ones and prints a hint. `checker migrate` rewrites the old keys of a file. Every
command imports this module, so it does without a TOML parser that keeps comments.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import click

from checker.checks.table import BUILT_IN
from checker.commands.command import Command, echo_line
from checker.core.errors import UsageError
from checker.core.redact import Redaction

_MASK: Final = Redaction().replacement
Today = tuple[str, Any]  # A key in dots, and its value. The key `operations` is a block that comes after all others.
Rewrite = str | Today | Callable[[Any], Iterable[Today]]
"""The rewrite of an old key: the current key of the same value, the key and value for a true value, or a function that yields the current keys.

The function raises `ValueError` for a value that the old key never had.
"""

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
_SWITCH: Final = {"true": True, "false": False}
_VERBOSITY: Final[Mapping[str, Today | None]] = {
    "quiet": ("output.max-shown", 0),
    "normal": None,
    "verbose": ("output.truncation.enabled", False),
    "debug": ("output.truncation.enabled", False),
}


def _seconds(key: str) -> Rewrite:
    def today(milliseconds: Any) -> Iterator[Today]:
        try:
            yield key, float(milliseconds) / 1000
        except ValueError:
            raise ValueError(f"give a number, got {milliseconds!r}") from None

    return today


def _renamed(key: str, names: Mapping[str, Any]) -> Rewrite:
    """Return the rewrite of a key that now has another name."""
    return lambda value: iter([(key, _known(value, names))])


def _known(value: Any, names: Mapping[str, Any]) -> Any:
    name = str(value).lower()
    if name not in names:
        raise ValueError(f"choose from {', '.join(names)}; got {name!r}")
    return names[name]


def _listed(value: Any) -> list[str]:
    found = value if isinstance(value, list) else str(value).split(",")
    return [str(one).strip() for one in found if str(one).strip()]


def _mode(value: Any) -> Iterator[Today]:
    names = set(_listed(value))
    yield "generation.mode", "all" if {"positive", "negative"} <= names else min(names)


def _pairs(value: Any, sign: str) -> dict[str, Any]:
    """Return a map, or the map of one or more texts like `name=value`."""
    if isinstance(value, dict):
        return value
    found = {}
    for text in value if isinstance(value, list) else [value]:
        name, separator, one = str(text).partition(sign)
        if not separator or not name:
            raise ValueError(f"give NAME{sign}VALUE, got {text!r}")
        found[name.strip()] = one.strip()
    return found


def _parameters(place: str) -> Rewrite:
    """Return the rewrite to forced values for each operation that has the parameter."""
    return lambda value: iter([("parameters", {f"{place}.{name}": one for name, one in _pairs(value, "=").items()})])


def _only(filter_name: str) -> Rewrite:
    """Return the rewrite of a regular expression that selects operations, in any letter case: all others are switched off."""

    def today(value: Any) -> Iterator[Today]:
        pattern = "|".join(_listed(value) if isinstance(value, list) else [str(value)])
        yield "operations", {f"exclude-{filter_name}-regex": f"(?i:{pattern})", "enabled": False}

    return today


def _chosen_checks(value: Any) -> Iterator[Today]:
    names = _listed(value)
    for name in BUILT_IN if "all" not in names else ():
        if name not in names and name != "max_response_time":
            yield f"checks.{name}.enabled", False


def _switched(section: str, *, is_on: bool) -> Rewrite:
    """Return the rewrite of a list of names to a switch below the section of each."""
    return lambda value: [(f"{section}.{name}.enabled", is_on) for name in _listed(value)]


def _library_phases(*, chosen: bool) -> Rewrite:
    def today(value: Any) -> Iterator[Today]:
        named = _listed(value)
        for one in named:
            _known(one, _LIBRARY_PHASES)
        for name, off in _LIBRARY_PHASES.items():
            if (name in named) is not chosen:
                yield from off

    return today


RENAMED: Final[Mapping[str, Rewrite]] = {
    "data-generation-method": _mode,
    "generation.modes": _mode,
    "exitfirst": ("max-failures", 1),
    "max-response-time": _seconds("checks.max_response_time"),
    "exclude-checks": _switched("checks", is_on=False),
    "checks": _chosen_checks,
    "target": _renamed("generation.maximize", {"all": "response_time", "response_time": "response_time"}),
    "auth": lambda value: zip(
        ("auth.basic.username", "auth.basic.password"), str(value).partition(":")[::2], strict=True
    ),
    "auth-type": "auth.basic.type",
    "header": lambda value: iter([("headers", _pairs(value, ":"))]),
    "set-query": _parameters("query"),
    "set-header": _parameters("header"),
    "set-cookie": _parameters("cookie"),
    "set-path": _parameters("path"),
    "endpoint": _only("path"),
    "method": _only("method"),
    "tag": _only("tag"),
    "operation-id": _only("operation-id"),
    "skip-deprecated-operations": ("operations", {"include-by": "/deprecated == true", "enabled": False}),
    "request-proxy": "proxy",
    "request-tls-verify": "tls-verify",
    "validate-schema": _renamed("documents.validate", _SWITCH),
    "junit-xml": "reports.junit.path",
    "cassette-path": "reports.vcr.path",
    "store-network-log": "reports.vcr.path",
    "debug-output-file": "reports.ndjson.path",
    "report": _switched("reports", is_on=True),
    "cassette-preserve-exact-body-bytes": "reports.preserve-bytes",
    "sanitize-output": "output.sanitization.enabled",
    "code-sample-style": "output.code-sample-style",
    "no-color": ("color", False),
    "force-color": ("color", True),
    "verbosity": ("output.truncation.enabled", False),
    "force-schema-version": _renamed("documents.version", {"20": "2.0", "30": "3.0"}),
    "stateful": _renamed("phases.stateful.enabled", {"none": False, "links": True}),
    "stateful-recursion-limit": "phases.stateful.max-steps",
    "contrib-unique-data": "generation.unique-inputs",
    "contrib-openapi-fill-missing-examples": "phases.examples.fill-missing",
    "pre-run": "hooks",
    "generation-allow-x00": "generation.allow-x00",
    "generation-codec": "generation.codec",
    "proptest-max-examples": "generation.max-examples",
    "proptest-seed": "seed",
    "proptest-derandomize": "generation.deterministic",
    "proptest-database": "generation.database",
    "proptest-deadline": _seconds("checks.max_response_time"),
    "proptest-phases": _library_phases(chosen=True),
    "proptest-no-phases": _library_phases(chosen=False),
    "proptest-report-multiple-bugs": lambda value: [] if _known(value, _SWITCH) else [("continue-on-failure", False)],
    "proptest-suppress-health-check": lambda value: (
        [("suppress-health-check", kept)] if (kept := [one for one in _listed(value) if one not in _NOT_OURS]) else []
    ),
    "proptest-verbosity": lambda value: [] if (today := _known(value, _VERBOSITY)) is None else [today],
    "checker-io-url": "upload.url",
    "checker-io-token": "upload.token",
}
"""Old key -> rewrite. An old key that is now a section is rewritten only if its value is not a table."""


def rewritten(name: str, value: Any) -> list[Today]:
    """Return the current keys for the value of an old key. Raises `ValueError` for a value that it never had."""
    match RENAMED[name]:
        case str(key):
            return [(key, value)]
        case (key, today):
            return [(key, today)] if value else []
        case rewrite:
            return list(rewrite(value))


_ROWS: Final[Mapping[str, str | None]] = {
    "-b --base-url": "--url {}",
    "-D --data-generation-method": "--mode {}",
    "-x --exitfirst": "--max-failures 1",
    "-E --endpoint": "--include-path-regex (?i:{})",
    "-M --method": "--include-method-regex (?i:{})",
    "-T --tag": "--include-tag-regex (?i:{})",
    "-O --operation-id": "--include-operation-id-regex (?i:{})",
    "--skip-deprecated-operations": "--exclude-deprecated",
    "--set-query": None,
    "--set-header": None,
    "--set-cookie": None,
    "--set-path": None,
    "--checker-io-url": "--upload-url {}",
    "--checker-io-token": "--upload-token {}",
    "-t --target": None,
    "--request-proxy": "--proxy {}",
    "--request-tls-verify": "--tls-verify {}",
    "--validate-schema": None,
    "--junit-xml": "--report-junit-path {}",
    "--cassette-path --store-network-log": "--report-vcr-path {}",
    "--cassette-preserve-exact-body-bytes": "--report-preserve-bytes",
    "--sanitize-output": "--output-sanitize {}",
    "--show-trace --show-errors-tracebacks": "",
    "--force-schema-version": None,
    "--stateful": None,
    "--stateful-recursion-limit": "--set phases.stateful.max-steps={}",
    "--contrib-unique-data": "--generation-unique-inputs",
    "--contrib-openapi-formats-uuid": "",
    "--contrib-openapi-fill-missing-examples": "--set phases.examples.fill-missing=true",
    "--proptest-database": "--generation-database {}",
    "--proptest-deadline": None,
    "--proptest-derandomize": "--generation-deterministic",
    "--proptest-max-examples": "--set generation.max-examples={}",
    "--proptest-phases": None,
    "--proptest-no-phases": None,
    "--proptest-report-multiple-bugs": None,
    "--proptest-seed": "--seed {}",
    "--proptest-suppress-health-check": None,
    "--proptest-verbosity": None,
    "-v --verbosity": "--output-truncate false",
}
"""Old option -> current ones, with `{}` for its value; None: the current keys of the old key of that name."""
OPTIONS: Final = {flag: (flags.split()[-1][2:], today) for flags, today in _ROWS.items() for flag in flags.split()}
"""Old option -> (old key of that name, current options)."""

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


def translated(option: str, value: str) -> list[str]:
    """Return the current arguments for an old option. Raises `UsageError`."""
    key, today = OPTIONS[option]
    if today is not None:
        return [word.replace("{}", value) for word in today.split()]
    try:
        found = rewritten(key, value)
    except ValueError as error:
        raise UsageError(f"--{key}: {error}") from error
    # JSON texts, numbers, booleans and arrays are also TOML.
    plain = [(name, new) for name, new in found if not isinstance(new, dict)]
    plain += [(f'{name}."{one}"', new) for name, of in found if isinstance(of, dict) for one, new in of.items()]
    return [one for name, new in plain for one in ("--set", f"{name}={json.dumps(new)}")]


def _shown(option: str, value: str) -> str:
    """Return the value of an old option for its hint, without secrets."""
    if option.startswith("--set-"):
        return f"{value.partition('=')[0]}={_MASK}"
    return _MASK if option == "--checker-io-token" else Redaction().url(value)


def modern(arguments: Sequence[str], params: Sequence[click.Parameter]) -> tuple[list[str], list[str]]:
    """Return the arguments with old options replaced, and a hint for each. Raises `UsageError`.

    `params` are the current options: their values are not changed.
    """
    valued = {
        name
        for one in params
        # `--report` may have no value.
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
        elif name in OPTIONS and known.issuperset(_flags_of(name)):
            _, today = OPTIONS[name]
            if (today is None or "{}" in today) and value is None:
                value = next(rest, None)
                if value is None:
                    raise UsageError(f"Option {name!r} requires an argument.")
            found += translated(name, value or "")
            current = " ".join(translated(name, _shown(name, value or ""))) or "the default behaviour"
            hints.append(f"{name} is now: {current}")
        else:
            found.append(argument)
    return found, hints


def _flags_of(option: str) -> list[str]:
    """Return the current options that an old one becomes."""
    _, today = OPTIONS[option]
    return ["--set"] if today is None else [word for word in today.split() if word.startswith("--")]


def _split(argument: str) -> tuple[str, str | None]:
    """Return the name of an option, and a value that is written together with it."""
    if argument.startswith("--"):
        name, equals, value = argument.partition("=")
        return name, value if equals else None
    if argument.startswith("-") and len(argument) > 2:
        return argument[:2], argument[2:].removeprefix("=")
    return argument, None


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
