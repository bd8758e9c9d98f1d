"""Options of earlier generations of such tools: each stands for options of today, and says so in a line."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import click
from msgspec import Struct

from checker.commands.command import Command
from checker.commands.output import echo_line
from checker.core.errors import UsageError
from checker.core.redact import Redaction

Translation = Callable[[str], list[str]]
"""From the value of a legacy option (empty for a flag) to arguments of today."""


_MASK: Final = Redaction().replacement


class Legacy(Struct, frozen=True):
    """One option that is not called so any more."""

    flags: tuple[str, ...]
    today: Translation
    is_flag: bool = False
    shown: Callable[[str], str] = Redaction().url
    """Its value as hints show it."""


def _is(option: str) -> Translation:
    """An option that takes its value as it is."""
    return lambda value: [option, value]


def _sets(key: str) -> Translation:
    """A key of the configuration that has no option."""
    return lambda value: ["--set", f"{key}={value}"]


def _flag(*today: str) -> Translation:
    return lambda _: list(today)


def _seconds(option: str) -> Translation:
    """Milliseconds, in seconds."""

    def today(value: str) -> list[str]:
        return [option, f"{_number(option, value) / 1000:g}"]

    return today


def _pattern(option: str) -> Translation:
    """A regular expression for which letter case does not matter."""
    return lambda value: [option, f"(?i:{value})"]


def _parameter(place: str) -> Translation:
    def today(value: str) -> list[str]:
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise UsageError(f"--set-{place}: give NAME=VALUE, got {value!r}")
        return ["--set", f'parameters."{place}.{name}"="{text}"']

    return today


def _metrics(value: str) -> list[str]:
    """`all` were those that there are, which is one."""
    return ["--generation-maximize", "response_time" if value == "all" else value]


def _name_alone(parameter: str) -> str:
    return f"{parameter.partition('=')[0]}={_MASK}"


def _phases(*, chosen: bool) -> Translation:
    """Phases of a property-testing library: those that run, or those that do not."""

    def today(value: str) -> list[str]:
        named = {one.strip() for one in value.split(",") if one.strip()}
        unknown = named - set(_LIBRARY_PHASES)
        if unknown:
            shown = ", ".join(_LIBRARY_PHASES)
            raise UsageError(f"unknown phase {min(unknown)!r}; choose from {shown}")
        off = set(_LIBRARY_PHASES) - named if chosen else named
        return [one for name in _LIBRARY_PHASES if name in off for one in _LIBRARY_PHASES[name]]

    return today


_LIBRARY_PHASES: Final[Mapping[str, tuple[str, ...]]] = {
    "explicit": ("--set", "phases.examples.enabled=false"),
    "reuse": ("--generation-database", "none"),
    "generate": ("--set", "phases.fuzzing.enabled=false"),
    "target": (),
    "shrink": ("--set", "generation.no-shrink=true"),
    "explain": (),
}
"""What it means today that one of them does not run."""


def _stateful(value: str) -> list[str]:
    if value not in ("none", "links"):
        raise UsageError(f"--stateful: choose from none, links; got {value!r}")
    return ["--set", f"phases.stateful.enabled={str(value == 'links').lower()}"]


def _version(value: str) -> list[str]:
    versions = {"20": "2.0", "30": "3.0"}
    if value not in versions:
        raise UsageError(f"--force-schema-version: choose from 20, 30; got {value!r}")
    return ["--set", f'documents.version="{versions[value]}"']


def _verbosity(value: str) -> list[str]:
    known = {"quiet": ["--max-shown", "0"], "normal": [], "verbose": _WORDY, "debug": _WORDY}
    if value not in known:
        raise UsageError(f"--proptest-verbosity: choose from {', '.join(known)}; got {value!r}")
    return list(known[value])


_WORDY: Final = ["--output-truncate", "false"]
_NOT_OURS: Final = ("return_value", "not_a_test_method", "function_scoped_fixture")
"""Health checks of a library that say nothing of an API."""


def _health(value: str) -> list[str]:
    names = [one.strip() for one in value.split(",")]
    kept = [one for one in names if one and one not in _NOT_OURS]
    return ["--suppress-health-check", ",".join(kept)] if kept else []


def _one_bug(value: str) -> list[str]:
    return [] if _boolean("--proptest-report-multiple-bugs", value) else ["--max-failures", "1"]


def _validated(value: str) -> list[str]:
    if not _boolean("--validate-schema", value):
        return []
    return ["--set", 'warnings={fail-on=["unresolvable_reference", "unsupported_regex"]}']


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
    Legacy(("--validate-schema",), _validated),
    Legacy(("--junit-xml",), _is("--report-junit-path")),
    Legacy(("--cassette-path", "--store-network-log"), _is("--report-vcr-path")),
    Legacy(("--cassette-preserve-exact-body-bytes",), _flag("--report-preserve-bytes"), is_flag=True),
    Legacy(("--sanitize-output",), _is("--output-sanitize")),
    Legacy(("--show-trace", "--show-errors-tracebacks"), _flag(), is_flag=True),
    Legacy(("--force-schema-version",), _version),
    Legacy(("--stateful",), _stateful),
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
    Legacy(("--proptest-phases",), _phases(chosen=True)),
    Legacy(("--proptest-no-phases",), _phases(chosen=False)),
    Legacy(("--proptest-report-multiple-bugs",), _one_bug),
    Legacy(("--proptest-seed",), _is("--seed")),
    Legacy(("--proptest-suppress-health-check",), _health),
    Legacy(("--proptest-verbosity",), _verbosity),
    Legacy(("-v", "--verbosity"), _flag(*_WORDY), is_flag=True),
)
"""What each stands for today."""

GONE: Final[Mapping[str, tuple[bool, str]]] = {
    "--experimental": (True, "what it switched on is always on"),
    "--fixups": (True, "register a hook for what your framework describes wrongly"),
    "--hosts-file": (True, "give the token with --upload-token, or CHECKER_TOKEN"),
    "--checker-io-telemetry": (True, "nothing is ever sent to us"),
    "--keep": (False, "failures stay where they are until the next run"),
    "--schema-location": (True, "requests are sent as they were recorded"),
}
"""Options that do nothing: whether they have a value, and the sentence that is said."""

_BY_FLAG: Final = {flag: row for row in TABLE for flag in row.flags}


def modern(arguments: Sequence[str], params: Sequence[click.Parameter]) -> tuple[list[str], list[str]]:
    """Arguments with those of earlier generations replaced, and a line for each. Raises `UsageError`.

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
                found += _next(rest)
        elif name in GONE:
            takes_value, sentence = GONE[name]
            if takes_value and value is None:
                _next(rest)
            hints.append(f"{name} does nothing: {sentence}")
        elif name in _BY_FLAG:
            row = _BY_FLAG[name]
            if not row.is_flag and value is None:
                value = next(rest, None)
                if value is None:
                    raise UsageError(f"Option {name!r} requires an argument.")
            found += row.today(value or "")
            said = " ".join(row.today(row.shown(value or ""))) or "what always happens"
            hints.append(f"{name} is today: {said}")
        else:
            found.append(argument)
    return found, hints


def _split(argument: str) -> tuple[str, str | None]:
    """Name of an option, and a value that is written together with it."""
    if argument.startswith("--"):
        name, equals, value = argument.partition("=")
        return name, value if equals else None
    if argument.startswith("-") and len(argument) > 2:
        return argument[:2], argument[2:].removeprefix("=")
    return argument, None


def _next(rest: Iterator[str]) -> list[str]:
    value = next(rest, None)
    return [] if value is None else [value]


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
    """Says of each old option how it is called today."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line."""
        try:
            args, hints = modern(args, self.get_params(ctx))
        except UsageError as error:
            raise click.UsageError(str(error), ctx) from error
        for hint in hints:
            echo_line(f"Hint: {hint}", err=True)
        return super().parse_args(ctx, args)
