"""Documents read into checked layers of values, and their `[[operations]]` blocks."""

import os
import re
import stat
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, time
from itertools import product
from pathlib import Path as FilePath
from typing import Any

from msgspec import Struct, field

from checker.config.auth import layer_problems, missing_keys
from checker.config.filters import SUBJECTS, FilterSpec, OperationFilters
from checker.config.table import (
    CUSTOM_CHECK,
    ONLY_ELSEWHERE,
    OPERATION_KEYS,
    SECTIONS,
    Key,
    Path,
    is_of_checks,
    not_in_operations,
    section_title,
    subsections,
)
from checker.config.user_code import load_plugins
from checker.config.value_kinds import Boolean, Either, ListOf, MapOf, Problem, Text, invalid, wrong_type
from checker.core.errors import ConfigError, UsageError, did_you_mean

FILE_NAME = "checker.toml"

Layer = dict[Path, dict[str, Any]]  # Section -> key -> value, as given, without defaults.


class Updates(Layer):
    """The layer above all others, which `update` writes to."""

    revision = 0  # Number of changes so far. Values derived from an earlier revision are out of date.


_FEW_HOMES = 6  # If more sections than this have a key of the name, messages name none of them.
_PLACEHOLDER = re.compile(r"\$\$\{|\$\{(?P<name>[^}]*)(?P<end>\}?)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def find_file(folder: FilePath, home: FilePath | None = None) -> FilePath | None:
    """Return the nearest `checker.toml` of a folder or of its parents; None if there is none.

    The search ends at the repository root. Without a repository it ends at the home folder if `folder` is below it, else at
    `folder` itself. Raises `ConfigError` for a file above `folder` that another user may have written: its hooks are code.
    """
    for candidate in _searched(folder, FilePath(os.path.expanduser("~")) if home is None else home):
        file = candidate / FILE_NAME
        # An unreadable file is an error when it is read. The search does not skip it.
        if not os.path.exists(file) or os.path.isdir(file):
            continue
        if candidate != folder:
            owners = {os.geteuid(), os.stat(folder).st_uid}
            # Another user's symbolic link may point to a configuration that is not meant for this folder.
            for found in (os.lstat(file), os.stat(file)):
                if problem := distrust(found, owners):
                    raise ConfigError(
                        f"{file} was found above {folder}, but {problem}; pass it as `--config-file` "
                        "(in Python: `checker.Config.from_path`) to use it"
                    )
        return file
    return None


def distrust(found: os.stat_result, owners: Collection[int]) -> str:
    """Return why a configuration above the working directory is not used; empty if it is used. `owners` are trusted user IDs."""
    if found.st_uid not in owners:
        return f"its owner (user {found.st_uid}) is neither the current user nor the owner of the working directory"
    # The mode of a symbolic link is always 0777 on Linux and means nothing.
    if not stat.S_ISLNK(found.st_mode) and found.st_mode & stat.S_IWOTH:
        return "every user can write to it"
    return ""


def _searched(folder: FilePath, home: FilePath) -> Sequence[FilePath]:
    """Return the folders in which a configuration is looked for, nearest first."""
    folders = (folder, *folder.parents)
    root = repository_of(folder)
    if root is not None:
        return folders[: folders.index(root) + 1]
    home = home.resolve()
    return folders[: folders.index(home) + 1] if home in folders else folders[:1]


def repository_of(folder: FilePath) -> FilePath | None:
    """Return the root of the Git repository that contains a folder; None without one."""
    return next((one for one in (folder, *folder.parents) if os.path.exists(one / ".git")), None)


def parse(text: str) -> dict[str, Any]:
    """Return a TOML document. Raises `ConfigError`."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"The content is not valid TOML: {error}") from error
    except RecursionError:
        raise ConfigError("The content is nested too deeply; simplify it") from None


def substituted(value: Any, environment: Mapping[str, str]) -> Any:
    """Return a value with every `${NAME}` in its strings replaced; `$${` is an escape for `${`. Raises `ConfigError`."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: _replacement(found, environment), value)
    if isinstance(value, Mapping):
        return {key: substituted(item, environment) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [substituted(item, environment) for item in value]
    return value


def variables_in(value: Any) -> Iterator[str]:
    """Yield the names of the environment variables in a value (`${NAME}`)."""
    if isinstance(value, str):
        yield from (found["name"] for found in _PLACEHOLDER.finditer(value) if found["name"])
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from variables_in(item)


class LayerPlace(Struct, frozen=True):
    """The place of a layer in a file."""

    prefix: Path = ()  # The name of the place in messages.
    banned: Collection[Path] = ()  # Keys and sections that exist, but not here.
    beside: Sequence[str] = ()  # Keys of the place that are read elsewhere and are not part of the layer.
    is_of_run: bool = True  # False for `[[operations]]` blocks.


def read_layer(document: Mapping[str, Any], place: LayerPlace | None = None, *, below: Sequence[Layer] = ()) -> Layer:
    """Return the checked values of a document. Keys that it needs may be in the layers `below` it. Raises `ConfigError`."""
    place = place or LayerPlace()
    reading = _ConfigWalk(place)
    reading.section((), document)
    for path, problem in (*layer_problems(reading.layer), *missing_keys([reading.layer, *below])):
        reading.note(path, problem)
    errors = [section_error(place.prefix + path, problems) for path, problems in reading.problems.items()]
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ConfigError("\n\n".join(map(str, errors)))
    return reading.layer


def section_error(path: Path, problems: list[Problem]) -> ConfigError:
    """Return one error about one section, with the problems grouped by heading."""
    lines = [f"Error in {section_title(path)} section:"]
    for heading in dict.fromkeys(problem.heading for problem in problems):
        group = [problem for problem in problems if problem.heading == heading]
        lines += ["", f"{heading}:", ""]
        lines += [f"  - {problem.text}" for problem in group]
        for hint in dict.fromkeys(problem.hint for problem in group if problem.hint):
            lines += ["", hint]
    kinds = {problem.error for problem in problems}
    kind = kinds.pop() if len(kinds) == 1 else ConfigError
    return kind("\n".join(lines))


def unknown(written: object, known: list[str], why: str = "") -> Problem:
    """Return the problem of an unknown name, with the section that has it or the nearest known name.

    `why` is the reason why the key exists elsewhere only.
    """
    # Values of Python may have other keys than texts.
    name, listed = str(written), ", ".join(map(repr, known))
    spelled = {name, name.replace("_", "-")}
    homes = sorted((path for path, keys in SECTIONS.items() if spelled & keys.keys()), key=len)
    if not homes or len(homes) > _FEW_HOMES:
        home = ""
    else:
        home = section_title(homes[0]) if homes[0] else "the root of the file"
    hint = f". It belongs to {home}" if home else did_you_mean(name, known)
    reason = f" cannot be set here: {why}" if why else ""
    return Problem("Unknown properties", f"{name!r}{reason}{hint}", f"The following properties are valid: {listed}")


def check_value(name: str, key: Key, value: object) -> Problem | None:
    """Return what is wrong with a value; None if nothing is."""
    return None if value is None and key.default is None else key.kind.problem(value, repr(name))


class _ConfigWalk:
    """One walk through a document, which collects all problems."""

    def __init__(self, place: LayerPlace) -> None:
        self.layer: Layer = {}
        self._place = place
        self.problems: dict[Path, list[Problem]] = {}

    def section(self, path: Path, values: Mapping[str, Any]) -> None:
        keys = SECTIONS.get(path, {})
        inner = subsections(path)
        if path in (("reports",), ("phases",)) and not values.keys() <= {*keys, *inner}:
            # Plug-ins bring formats and phases of their own.
            load_plugins()
            inner = subsections(path)
        for name, value in values.items():
            if name in keys and not self._is_banned(path, name):
                self._value(path, name, keys[name], value)
            elif name in inner and not self._is_banned(path, name):
                if isinstance(value, Mapping):
                    self.section((*path, name), value)
                else:
                    self.note(path, wrong_type(MapOf(), value, repr(name)))
            elif is_of_checks(path) and name.isidentifier() and isinstance(value, Mapping):
                self._custom_check((*path, name), value)
            else:
                beside = self._place.beside if not path else ()
                known = [*beside, *(o for o in (*keys, *inner) if not self._is_banned(path, o))]
                is_elsewhere = path[:1] == ("phases",) or self._is_banned(path, name)
                self.note(path, unknown(name, known, ONLY_ELSEWHERE.get(name, "") if is_elsewhere else ""))

    def _is_banned(self, path: Path, name: str) -> bool:
        return (*path, name) in self._place.banned

    def _custom_check(self, path: Path, values: Mapping[str, Any]) -> None:
        # The checks of users and their arguments are known only after their modules are loaded, in the worker.
        self.layer.setdefault(path, {})
        for key, value in values.items():
            if key in CUSTOM_CHECK:
                self._value(path, key, CUSTOM_CHECK[key], value)
            elif path != ("checks", path[-1]) or not self._place.is_of_run:
                # A class check has one instance for the whole run.
                hint = f"Settings of your own checks hold for the whole run: write them in [checks.{path[-1]}]."
                self.note(path, Problem("Unknown properties", repr(key), hint))
            elif _has_date(value):
                # Dates and times cannot be passed to a worker.
                self.note(path, Problem("Type error", f"{key!r} -> Write dates and times as text"))
            else:
                self.layer[path][key] = value

    def _value(self, path: Path, name: str, key: Key, value: object) -> None:
        problem = check_value(name, key, value)
        if problem:
            self.note(path, problem)
        else:
            self.layer.setdefault(path, {})[name] = value

    def note(self, path: Path, problem: Problem) -> None:
        self.problems.setdefault(path, []).append(problem)


def _has_date(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_date, value.values()))
    return any(map(_has_date, value)) if isinstance(value, list) else isinstance(value, date | time)


def _replacement(found: re.Match[str], environment: Mapping[str, str]) -> str:
    name = found["name"]
    if name is None:
        return "${"
    if not found["end"] or not _VARIABLE.match(name):
        raise ConfigError(f"malformed placeholder {found[0]!r}; write ${{NAME}}, or $${{ for a literal ${{")
    if name not in environment:
        raise ConfigError(f"environment variable {name!r} is not set; {found[0]!r} needs it")
    return environment[name]


_EXACT = Either((Text(), ListOf(Text())))


class OperationBlock(Struct, frozen=True):
    """One block: its filters and its values."""

    filters: OperationFilters
    values: Layer = field(default_factory=dict)
    """Values of the keys of the block by section, as in any other layer; `enabled` is in the root section."""
    is_shared: bool = False
    """Whether the block is beside `[[project]]` tables and may match operations of any of their APIs."""

    @property
    def enabled(self) -> bool:
        return bool(self.values.get((), {}).get("enabled", True))

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Return the values that replace generated ones."""
        found: Mapping[str, Any] = self.values.get((), {}).get("parameters", {})
        return found

    @property
    def dictionaries(self) -> Mapping[str, Any]:
        """Return the dictionaries by type of value (`generation.dictionaries`)."""
        found: Mapping[str, Any] = self.values.get(("generation",), {}).get("dictionaries", {})
        return found


def read_blocks(blocks: object, *, prefix: Path = ()) -> tuple[OperationBlock, ...]:
    """Return the checked blocks, in file order. Raises `ConfigError`."""
    if not isinstance(blocks, list) or not all(isinstance(one, Mapping) for one in blocks):
        problem = Problem("Type error", "'operations' -> Must be an array of tables")
        raise section_error(prefix, [problem])
    return tuple(_block(block, (*prefix, "operations", str(index))) for index, block in enumerate(blocks))


FILTER_KEYS = {
    f"{verb}-{subject}{'-regex' * is_regex}": (verb, subject, is_regex)
    for verb in ("include", "exclude")
    for subject, is_regex in (*product(SUBJECTS, (False, True)), ("by", False))
}
"""Key -> (verb, subject, whether its value is a regular expression)."""


def _block(block: Mapping[str, Any], path: Path) -> OperationBlock:
    known = ["enabled", *FILTER_KEYS, *sorted(OPERATION_KEYS)]
    problems = [unknown(name, known) for name in block if name not in known]
    specs: list[FilterSpec] = []
    for name, value in block.items():
        if name in FILTER_KEYS:
            problem = _EXACT.problem(value, repr(name))
            problems += [problem] if problem else []
            verb, subject, is_regex = FILTER_KEYS[name]
            texts = [value] if isinstance(value, str) else value
            specs += [] if problem else [FilterSpec(verb, subject, text, is_regex) for text in texts]
    enabled = block.get("enabled", True)
    wrong = Boolean().problem(enabled, "'enabled'")
    problems += [wrong] if wrong else []
    if problems:
        raise section_error(path, problems)
    said = {name: value for name, value in block.items() if name in OPERATION_KEYS}
    values = read_layer(said, LayerPlace(path, not_in_operations(), is_of_run=False))
    if not specs:
        raise ConfigError(f"{section_error(path, [])}\n\nAt least one filter is required when defining [[operations]].")
    values.setdefault((), {})["enabled"] = enabled
    try:
        filters = OperationFilters(tuple(specs))
    except UsageError as error:
        raise section_error(path, [invalid(str(error))]) from error
    return OperationBlock(filters, values)
