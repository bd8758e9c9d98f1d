"""`checker migrate`: a configuration of an earlier generation, rewritten with the keys of today."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Final

import click
import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import ParseError

from checker.checks.table import BUILT_IN
from checker.commands.command import Command
from checker.config.config import Config
from checker.config.table import SECTIONS, Path, subsections
from checker.core.errors import ConfigError, UsageError

Today = tuple[str, Any]
"""A key in dots, and its value. The key `operations` is a block that comes after all others."""
Rewrite = Callable[[Any], Iterator[Today]]
"""Keys of today for the value of an old one. Raises `ValueError` for a value that it never had."""

_LIBRARY_PHASES: Final[Mapping[str, Today | None]] = {
    "explicit": ("phases.examples.enabled", False),
    "reuse": ("generation.database", "none"),
    "generate": ("phases.fuzzing.enabled", False),
    "target": None,
    "shrink": ("generation.no-shrink", True),
    "explain": None,
}
"""What it means that a phase of a property-testing library does not run."""
_OF_LIBRARY: Final = ("return_value", "not_a_test_method", "function_scoped_fixture")
"""Health checks that say nothing of an API."""
_VERBOSITY: Final[Mapping[str, Today | None]] = {
    "quiet": ("output.max-shown", 0),
    "normal": None,
    "verbose": ("output.truncation.enabled", False),
    "debug": ("output.truncation.enabled", False),
}


def _is(key: str) -> Rewrite:
    return lambda value: iter([(key, value)])


def _when_on(key: str, today: Any) -> Rewrite:
    return lambda value: iter([(key, today)] if value else [])


def _unless(key: str, today: Any) -> Rewrite:
    return lambda value: iter([] if value else [(key, today)])


def _seconds(key: str) -> Rewrite:
    return lambda value: iter([(key, value / 1000)])


def _named(key: str, names: Mapping[str, Any]) -> Rewrite:
    """A value that is called otherwise today."""

    def today(value: Any) -> Iterator[Today]:
        yield key, _known(str(value), names)

    return today


def _known(name: str, names: Mapping[str, Any]) -> Any:
    if name not in names:
        raise ValueError(f"it is one of {', '.join(names)}, found {name!r}")
    return names[name]


def _listed(value: Any) -> list[str]:
    found = value if isinstance(value, list) else str(value).split(",")
    return [str(one).strip() for one in found if str(one).strip()]


def _mode(value: Any) -> Iterator[Today]:
    names = set(_listed(value))
    yield "generation.mode", "all" if {"positive", "negative"} <= names else min(names)


def _parameters(place: str) -> Rewrite:
    """Values in each operation that has the parameter: a map, or texts like `name=value`."""

    def today(value: Any) -> Iterator[Today]:
        if not isinstance(value, dict):
            value = dict(one.partition("=")[::2] for one in _listed(value))
        yield "parameters", {f"{place}.{name}": one for name, one in value.items()}

    return today


def _headers(value: Any) -> Iterator[Today]:
    if not isinstance(value, dict):
        texts = value if isinstance(value, list) else [value]
        value = {name.strip(): one.strip() for name, _, one in (x.partition(":") for x in texts)}
    yield "headers", value


def _user(value: Any) -> Iterator[Today]:
    name, _, password = str(value).partition(":")
    yield "auth.basic.username", name
    yield "auth.basic.password", password


def _only(filter_name: str) -> Rewrite:
    """A regular expression, in any letter case, for what is tested: all others are switched off."""

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


def _without_checks(value: Any) -> Iterator[Today]:
    for name in _listed(value):
        yield f"checks.{name}.enabled", False


def _phases(*, chosen: bool) -> Rewrite:
    def today(value: Any) -> Iterator[Today]:
        named = _listed(value)
        for one in named:
            _known(one, _LIBRARY_PHASES)
        for name, off in _LIBRARY_PHASES.items():
            if off is not None and (name in named) is not chosen:
                yield off

    return today


def _verbosity(value: Any) -> Iterator[Today]:
    today = _known(str(value), _VERBOSITY)
    if today is not None:
        yield today


def _health(value: Any) -> Iterator[Today]:
    kept = [one for one in _listed(value) if one not in _OF_LIBRARY]
    if kept:
        yield "suppress-health-check", kept


def _reports(value: Any) -> Iterator[Today]:
    for name in _listed(value):
        yield f"reports.{name}.enabled", True


RENAMED: Final[Mapping[str, Rewrite]] = {
    "data-generation-method": _mode,
    "generation.modes": _mode,
    "exitfirst": _when_on("max-failures", 1),
    "max-response-time": _seconds("checks.max_response_time"),
    "exclude-checks": _without_checks,
    "checks": _chosen_checks,
    "target": _named("generation.maximize", {"all": "response_time", "response_time": "response_time"}),
    "auth": _user,
    "auth-type": _is("auth.basic.type"),
    "header": _headers,
    "set-query": _parameters("query"),
    "set-header": _parameters("header"),
    "set-cookie": _parameters("cookie"),
    "set-path": _parameters("path"),
    "endpoint": _only("path"),
    "method": _only("method"),
    "tag": _only("tag"),
    "operation-id": _only("operation-id"),
    "skip-deprecated-operations": _not_deprecated,
    "request-proxy": _is("proxy"),
    "request-tls-verify": _is("tls-verify"),
    "validate-schema": _when_on("warnings.fail-on", ["unresolvable_reference", "unsupported_regex"]),
    "junit-xml": _is("reports.junit.path"),
    "cassette-path": _is("reports.vcr.path"),
    "store-network-log": _is("reports.vcr.path"),
    "debug-output-file": _is("reports.ndjson.path"),
    "report": _reports,
    "cassette-preserve-exact-body-bytes": _is("reports.preserve-bytes"),
    "sanitize-output": _is("output.sanitization.enabled"),
    "code-sample-style": _is("output.code-sample-style"),
    "no-color": _when_on("color", False),
    "force-color": _when_on("color", True),
    "verbosity": _when_on("output.truncation.enabled", False),
    "force-schema-version": _named("documents.version", {"20": "2.0", "30": "3.0"}),
    "stateful": _named("phases.stateful.enabled", {"none": False, "links": True}),
    "stateful-recursion-limit": _is("phases.stateful.max-steps"),
    "contrib-unique-data": _is("generation.unique-inputs"),
    "contrib-openapi-fill-missing-examples": _is("phases.examples.fill-missing"),
    "pre-run": _is("hooks"),
    "generation-allow-x00": _is("generation.allow-x00"),
    "generation-codec": _is("generation.codec"),
    "proptest-max-examples": _is("generation.max-examples"),
    "proptest-seed": _is("seed"),
    "proptest-derandomize": _is("generation.deterministic"),
    "proptest-database": _is("generation.database"),
    "proptest-deadline": _seconds("checks.max_response_time"),
    "proptest-phases": _phases(chosen=True),
    "proptest-no-phases": _phases(chosen=False),
    "proptest-report-multiple-bugs": _unless("max-failures", 1),
    "proptest-suppress-health-check": _health,
    "proptest-verbosity": _verbosity,
    "checker-io-url": _is("upload.url"),
    "checker-io-token": _is("upload.token"),
}
"""Old key -> keys of today. An old key that is a section today is meant where it holds no table."""

GONE: Final[Mapping[str, str]] = {
    "experimental": "what it switched on is always on",
    "fixups": "register a hook instead",
    "hosts-file": "give the token in CHECKER_TOKEN",
    "checker-io-telemetry": "nothing is ever sent to us",
    "contrib-openapi-formats-uuid": "it is always on",
    "show-trace": "it is always on",
    "show-errors-tracebacks": "it is always on",
    "dry-run": "give `--dry-run`",
    "app": "give `--app`",
}
"""Keys that are left out, with what to do instead."""


def migrated(text: str) -> tuple[str, list[str]]:
    """The file with today's keys, comments kept, and a line for each change. Raises `ConfigError`."""
    try:
        document = tomlkit.parse(text)
    except ParseError as error:
        raise ConfigError(f"The content is not valid TOML: {error}") from error
    changes = list(_changes(document))
    return tomlkit.dumps(document), changes


def _changes(document: TOMLDocument) -> Iterator[str]:
    yield from _respelt(document, ())
    for name, rewrite in RENAMED.items():
        if (value := _taken(document, name)) is not None:
            try:
                today = list(rewrite(value.unwrap() if hasattr(value, "unwrap") else value))
            except (ValueError, TypeError) as error:
                raise ConfigError(f"{name} cannot be rewritten: {error}") from error
            for key, new in today:
                is_new = _put(document, key, new)
                yield f"{name} -> {key} = {new!r}" + ("" if is_new else ": left out, it is set already")
            if not today:
                yield f"{name} is left out: it asks for nothing"
    for name, instead in GONE.items():
        if _taken(document, name) is not None:
            yield f"{name} is left out: {instead}"


def _respelt(table: Any, path: Path) -> Iterator[str]:
    """Underscores become dashes where keys have dashes."""
    keys, inner = SECTIONS.get(path, {}), subsections(path)
    old = {name.partition(".")[0]: name for name in (*RENAMED, *GONE)} if not path else {}
    for name in list(table):
        dashed = str(name).replace("_", "-")
        if name not in keys and dashed != name and (dashed in keys or dashed in (*inner, *old)):
            table[dashed] = table.pop(name)
            yield f"{'.'.join((*path, str(name)))} -> {dashed}"
            name = dashed
        if name in inner and isinstance(table[name], dict):
            yield from _respelt(table[name], (*path, str(name)))


def _taken(document: Any, name: str) -> Any:
    """The value of an old key, which is taken out; None where there is none."""
    *sections, key = name.split(".")
    table = document
    for section in sections:
        table = table.get(section, {})
    # A section of today may be called as a key was.
    is_section = (*sections, key) in SECTIONS or key in subsections(tuple(sections))
    if key not in table or (isinstance(table[key], dict) and is_section):
        return None
    return table.pop(key)


def _put(document: Any, name: str, value: Any) -> bool:
    """Set a key of today; whether that changed anything: what stands there already is kept."""
    if name == "operations":
        document.setdefault(name, tomlkit.aot()).append(tomlkit.item(value))
        return True
    *sections, key = name.split(".")
    table = document
    for section in sections:
        if section not in table:
            table[section] = tomlkit.table()
        table = table[section]
        if not isinstance(table, dict):
            return False
    if isinstance(value, dict) and isinstance(table.get(key), dict):
        new = {one: said for one, said in value.items() if one not in table[key]}
        table[key].update(new)
        return bool(new)
    if key in table:
        return False
    table[key] = value
    return True


@click.command(cls=Command)
@click.argument("file", metavar="CONFIG", type=click.Path(exists=True, dir_okay=False, path_type=FilePath))
@click.option("--dry-run", is_flag=True, help="Print the new file instead of writing it.")
def migrate(file: FilePath, *, dry_run: bool) -> None:
    """Rewrite CONFIG with the keys of today, and tell each change; the old file stays beside it as CONFIG.before."""
    try:
        before = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    text, changes = migrated(before)
    for change in changes:
        click.echo(change, err=dry_run)
    if dry_run:
        click.echo(text, nl=False)
        return
    if changes:
        file.with_name(f"{file.name}.before").write_text(before, encoding="utf-8")
        file.write_text(text, encoding="utf-8")
    else:
        click.echo("nothing to change")
    Config.from_path(file)
