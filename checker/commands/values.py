"""Values of options, and options that name phases, checks and formats of reports."""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import islice
from typing import Any, Final
from urllib.parse import urlsplit

import click
from msgspec import Struct

from checker.checks.table import BUILT_IN
from checker.commands.command import Root, echo_line
from checker.config import value_kinds
from checker.config.config import Config
from checker.config.operation_settings import keys_of
from checker.config.reading import read_layer
from checker.config.table import SECTIONS, Path
from checker.config.user_code import has_plugins, know_phases, load_plugins
from checker.config.value_kinds import Boolean, Bytes, Choice, Either, Integer, ListOf, MapOf, Number, ValueKind
from checker.core.errors import ConfigError, UsageError, did_you_mean
from checker.core.redact import Redaction
from checker.core.reports import REPORT_FORMATS, ReportFormat
from checker.core.request import canonical_url
from checker.core.scalars import BOOLEAN_WORDS


class KeyValue(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """The value of a configuration key, by the rules of the table."""

    def __init__(self, path: Path, key: str) -> None:
        self._key = SECTIONS[path][key]
        self.name = _metavar(self._key.kind).lower()

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the placeholder of the value on help pages: choices as they are written, kinds in upper case."""
        return _metavar(self._key.kind)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value of a text. Raises `click.BadParameter`."""
        if not isinstance(value, str):
            return value
        parsed = parsed_text(value, self._key.kind)
        problem = self._key.kind.problem(parsed, "it")
        if problem:
            sentence = problem.text.partition(" -> ")[2] or problem.text
            sentence = sentence.replace("but got string: ", "but got ")
            separator = " " if sentence.endswith("?") else ". "
            self.fail(separator.join(filter(None, (sentence, problem.hint))), param, ctx)
        return parsed


def configured(ctx: click.Context) -> Config:
    """Return the configuration of a command, without its options. Raises `ConfigError`."""
    root = ctx.find_object(Root) or Root()
    return Config.from_path(root.config_file) if root.config_file else Config.discover()


def parsed_text(text: str, kind: ValueKind) -> Any:
    """Return the value of a text for a kind, choices in any letter case; the text itself if it is no such value."""
    match kind:
        case Boolean():
            return BOOLEAN_WORDS.get(text.lower(), text)
        case Integer():
            return _number(text, int)
        case Number():
            return _number(text, float)
        case ListOf():
            return [parsed_text(one, kind.item) for one in comma_list([text])]
        case Choice():
            return text.lower() if text.lower() in kind.values else text
        case Either():
            found = [parsed_text(text, one) for one in kind.kinds]
            return next((value for value in found if value != text), text)
        case _:
            return text


def comma_list(values: Iterable[str]) -> list[str]:
    """Return the items of repeated comma lists, in order, each once."""
    items = (item.strip() for value in values for item in value.split(","))
    return list(dict.fromkeys(item for item in items if item))


def headers(_: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Return headers by name, for `-H`; a repeated name keeps its last value."""
    found: dict[str, str] = {}
    for text in values:
        name, separator, value = text.partition(":")
        if not separator:
            # The text is not shown, because it may be the secret value without its name.
            raise click.BadParameter("a header is not in the KEY:VALUE form", param=param)
        name, value = name.strip(), value.strip(" \t")
        problem = value_kinds.header(name, value)
        if problem:
            raise click.BadParameter(problem, param=param)
        found[name] = value
    return found


def credentials(_: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the value of `--auth`: `USER:PASSWORD`."""
    if value is None:
        return None
    user, separator, _password = value.partition(":")
    if not separator:
        raise click.BadParameter("it is not in the USER:PASSWORD form", param=param)
    if not user:
        raise click.BadParameter("the user name is empty", param=param)
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        raise click.BadParameter("it must hold Latin-1 characters only", param=param) from None
    return value


def application(_: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the value of `--app`: `module:variable`."""
    if value is not None and (problem := value_kinds.attribute(value)):
        raise click.BadParameter(problem.replace("module:attribute", "module:variable"), param=param)
    return value


def location(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Return the value of LOCATION: an http(s) URL, also behind a unix socket, or an existing file."""
    if not value or "\0" in value:
        raise click.BadParameter("give a URL or the path of an API description", param=param)
    shown = Redaction().url(value)
    try:
        canonical = canonical_url(value)
        parts = urlsplit(canonical)
    except ValueError as error:
        raise click.BadParameter(f"{shown!r} is not a URL: {error}", param=param) from error
    if parts.netloc:
        if parts.scheme not in ("http", "https"):
            raise click.BadParameter(f"{shown!r} is not an http(s) URL", param=param)
        problem = value_kinds.base_url(value)
        if problem:
            raise click.BadParameter(problem, param=param)
    elif not os.path.exists(value) and not ctx.params.get("app"):
        raise click.BadParameter(f"file {shown!r} does not exist{_meant(value)}", param=param)
    return canonical


_MOST_NAMES: Final = 1_000  # Names of a folder that are compared with a misspelt one.


def _meant(location: str) -> str:
    """Return a hint for a location that is no file: `localhost:8000/openapi.json` lacks its scheme, other names may be misspelt."""
    if re.match(r"[\w.-]+:\d+(/|\Z)", location):
        return f"; a URL begins with its scheme: 'http://{location}'"
    folder = os.path.dirname(location)
    try:
        with os.scandir(folder or ".") as found:
            names = [os.path.join(folder, one.name) for one in islice(found, _MOST_NAMES)]
    except OSError:
        # The folder does not exist either.
        return ""
    # Paths have their folders and endings in common.
    return did_you_mean(location, names, alike=0.8)


def _number(text: str, kind: type[int] | type[float]) -> float | str:
    try:
        return kind(text)
    except ValueError:
        return text


def _metavar(kind: ValueKind) -> str:
    match kind:
        case Boolean():
            return "BOOLEAN"
        case Integer():
            return "INTEGER"
        case Number():
            return "NUMBER"
        case Choice():
            return "|".join(kind.values)
        case Bytes():
            return "BYTES"
        case ListOf():
            return "LIST"
        case Either():
            return "|".join(_metavar(one) for one in kind.kinds)
        case _:
            return "TEXT"


_PAIR: Final = re.compile(r'((?:"[^"]*"|[^"=])*)=(.*)', re.DOTALL)
"""Matches name and value; names in quotes may contain the sign."""


def apply_keys(config: Config, given: Iterable[str]) -> None:
    """Put keys of the command line on top of a configuration. Raises `UsageError`."""
    document: dict[str, Any] = {}
    for text in given:
        pair = _PAIR.fullmatch(text)
        if pair is None:
            raise UsageError(f"--set: give NAME=VALUE, got {text!r}")
        name, value = pair[1].strip(), pair[2].strip()
        try:
            tree: Any = tomllib.loads(f"{name} = 0")
        except tomllib.TOMLDecodeError:
            raise UsageError(f"--set: {name!r} is not the name of a key") from None
        found = []
        while isinstance(tree, dict):
            [(key, tree)] = tree.items()
            found.append(key)
        table = document
        for name in found[:-1]:
            table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise UsageError(f"--set: {'.'.join(found)} is below a key that has a value")
        try:
            table[found[-1]] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            declared = keys_of(tuple(found[:-1])).get(found[-1])
            table[found[-1]] = value if declared is None else parsed_text(value, declared.kind)
    try:
        layer = read_layer(document, below=[one for one, _ in config.sources])
    except ConfigError as error:
        raise UsageError(f"--set: {error}") from error
    for path, values in layer.items():
        section = reduce(getattr, path, config)
        for key, value in values.items():
            known = keys_of(path).get(key)
            if known is not None and isinstance(known.kind, MapOf) and isinstance(value, Mapping):
                # Merge entry by entry, so that entries with other names are kept.
                section.update(**{_attribute(key): {**getattr(section, _attribute(key)), **value}})
            else:
                section.update(**{_attribute(key): value})


def _attribute(key: str) -> str:
    return key.replace("-", "_")


class SettingOption(Struct, frozen=True):
    """An option that sets one key of the configuration."""

    flags: tuple[str, ...]
    path: Path
    key: str
    is_flag: bool = False  # The option takes no value and means true.
    variable: str | None = None  # Environment variable that replaces it.

    @property
    def name(self) -> str:
        """Return the name of the Python parameter."""
        return self.flags[-1].lstrip("-").replace("-", "_")

    @property
    def help(self) -> str:
        return keys_of(self.path)[self.key].about


def setting(flags: str, key: str = "", *, is_flag: bool = False, variable: str | None = None) -> SettingOption:
    """Return an option for a key with dots between the sections; by default, for the key at the root with the name of the option.

    `flags` as in `-u/--url`.
    """
    names = tuple(flags.split("/"))
    *path, own = (key or names[-1][2:]).split(".")
    return SettingOption(names, tuple(path), own, is_flag, variable)


_ARCHIVE: Final = "archive"  # The format that stands for `--report` alone.
_OF_PEERS: Final = "object_level_authorization"
_DOT: Final = "."  # Occurs in names of files, and in no name of a format.


class _Lines(click.types.StringParamType):
    """A text. An environment variable has one in each line, because paths may contain spaces; `true` means the option without a value."""

    envvar_list_splitter = "\n"

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        if rv.strip().lower() in ("true", "false"):
            return [_ARCHIVE] if rv.strip().lower() == "true" else []
        return super().split_envvar_value(rv)


LIST_OPTIONS: Final = (
    click.option("--phases", multiple=True, metavar="NAMES", help="Run only these phases."),
    click.option("-c", "--checks", multiple=True, metavar="NAMES", help="Run only these checks."),
    click.option("--exclude-checks", multiple=True, metavar="NAMES", help="Leave out these checks."),
    click.option(
        "--report",
        multiple=True,
        is_flag=False,
        flag_value=_ARCHIVE,
        type=_Lines(),
        envvar="CHECKER_REPORT",
        metavar="[FORMATS|PATH]",
        help="Reports to write; a path means one archive.",
    ),
)


def apply_lists(config: Config, options: Mapping[str, Any], *, has_hooks: bool) -> None:
    """Put those options on top of a configuration. Raises `UsageError`."""
    phases = _chosen_names(options, "phases", know_phases(comma_list(options["phases"])))
    # Hooks and plug-ins may define any check. Workers load them, and report unknown names.
    may_bring = has_hooks or has_plugins()
    included = _chosen_names(options, "checks", () if may_bring else (*BUILT_IN, "all"))
    excluded = _chosen_names(options, "exclude_checks", () if may_bring else tuple(BUILT_IN))
    wanted = _chosen_names(options, "report", ())
    archives = [one for one in wanted if os.sep in one or _DOT in one]
    names = [one for one in wanted if one not in archives]
    formats = _named("--report", names, _known_formats(names))
    if phases:
        config.phases.update(phases=phases)
    for name in included:
        if name in BUILT_IN and BUILT_IN[name].switch and getattr(config.checks, name) is None:
            raise UsageError(f"--checks {name} needs a value for it: give --{name.replace('_', '-')}")
    if included:
        config.checks.update(included_check_names=included)
    if _OF_PEERS in included and not config.auth.wfc.peers:
        echo_line(f"Hint: {_OF_PEERS} needs `peers` in `[auth.wfc]`; without them it judges nothing", err=True)
    if excluded:
        config.checks.update(excluded_check_names=excluded)
    if archives:
        config.reports.archive.update(path=archives[-1])
    for name in formats:
        getattr(config.reports, name).update(enabled=True)


def _chosen_names(options: Mapping[str, Any], option: str, known: tuple[str, ...]) -> list[str]:
    flag, names = f"--{option.replace('_', '-')}", comma_list(options[option])
    if options[option] and not names:
        raise UsageError(f"{flag} needs a name")
    return _named(flag, names, known)


def _named(flag: str, names: list[str], known: tuple[str, ...]) -> list[str]:
    for name in names:
        if known and name not in known:
            shown = ", ".join(known)
            raise UsageError(f"{flag}: unknown name {name!r}{did_you_mean(name, known)}; choose from {shown}")
    return names


def _known_formats(asked: Iterable[str]) -> tuple[str, ...]:
    """Return the names of formats; those of plug-ins, too, if a name is unknown here."""
    if not REPORT_FORMATS.keys() >= set(comma_list(asked)):
        load_plugins()
    return tuple(REPORT_FORMATS)


def formats_named(asked: Iterable[str]) -> list[ReportFormat]:
    """Return the formats of repeated comma lists. Raises `UsageError` for unknown ones."""
    names = _named("--format", comma_list(asked), _known_formats(asked))
    return [REPORT_FORMATS[name] for name in names]
