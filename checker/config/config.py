"""The live configuration object: sections with attributes for keys, and `update` for changes."""

import os
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import cache, partial
from pathlib import Path as FilePath
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from checker.checks.table import BUILT_IN
from checker.config.files import QueryFile, read_dictionary, read_queries
from checker.config.filters import Selectable
from checker.config.operation_settings import (
    OTHER_CHECKS,
    OperationLayers,
    custom_checks_in,
    is_check_enabled,
    is_phase_enabled,
    keys_of,
    value_in,
)
from checker.config.overrides import Overrides, overrides_of
from checker.config.reading import (
    Layer,
    LayerPlace,
    OperationBlock,
    Updates,
    check_value,
    find_file,
    parse,
    read_blocks,
    read_layer,
    section_error,
    substituted,
    unknown,
    variables_in,
)
from checker.config.table import (
    GENERATED_VALUES,
    NOT_IN_PROJECTS,
    OPERATION_KEYS,
    SECTIONS,
    Key,
    Path,
    is_of_checks,
    section_title,
    subsections,
)
from checker.config.user_code import know_phases
from checker.config.value_kinds import Problem
from checker.core.errors import ConfigError, UnreadableFile, did_you_mean
from checker.core.meta import GenerationMode
from checker.core.request import canonical_url
from checker.core.system import read_local
from checker.core.user_code import require

Change = tuple[Path, str, Any]  # (section, key, value).


class Section:
    """A section of the configuration: `config.generation.max_examples`, with dashes as underscores."""

    def __init__(self, layers: list[Layer], path: Path = (), *, is_resolved: bool = False) -> None:
        """`is_resolved`: these are the settings of one operation in one phase, from all layers, which cannot be changed."""
        self._layers = layers
        self._path = path
        self._is_resolved = is_resolved

    def __repr__(self) -> str:
        return f"<Section {section_title(self._path)}>"

    def __dir__(self) -> list[str]:
        names = (*self._keys(), *subsections(self._path))
        return ["update", *(name.replace("-", "_") for name in names)]

    def __getattr__(self, name: str) -> Any:
        """Return the value of a key, or a section below."""
        if name.startswith("_"):
            raise AttributeError(name)
        if (self._path, name) == _MODES:
            mode = self._value("mode")
            return [one for one in GenerationMode if mode in (one, "all")]
        key = name.replace("_", "-")
        for known in (key, name):
            if known in self._keys():
                return self._value(known)
            if known in subsections(self._path) or self._is_custom_check(known):
                return Section(self._layers, (*self._path, known), is_resolved=self._is_resolved)
        raise AttributeError(f"{section_title(self._path)} has no option {name!r}{did_you_mean(name, dir(self))}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set one option in the same way as `update`. Raises `ConfigError`."""
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            self.update(**{name: value})

    def update(self, **options: Any) -> None:
        """Set options, keeping what earlier updates set. Raises `ConfigError` and changes nothing if one is wrong.

        None leaves an option unchanged if it cannot be None.
        """
        if self._is_resolved:
            told = ", ".join(options)
            reason = f"{told!r} -> This configuration is derived for one operation; change the original one"
            raise section_error(self._path, [Problem("Invalid value", reason)])
        changes = []
        for path, key, value in (one for name, given in options.items() for one in self._changes(name, given)):
            problem = check_value(key, keys_of(path)[key], value)
            if problem and value is not None:
                raise section_error(path, [problem])
            if not problem:
                changes.append((path, key, value))
        updates = self._layers[0]
        for path, key, value in changes:
            updates.setdefault(path, {})[key] = value
        if isinstance(updates, Updates):
            updates.revision += 1

    def _changes(self, name: str, value: Any) -> list[Change]:
        alias = _ALIASES.get((self._path, name))
        if alias:
            return alias(value)
        for key in (name.replace("_", "-"), name):
            if key in self._keys():
                return [(self._path, key, value)]
        below, _, rest = name.partition("_")
        path = (*self._path, below)
        if rest.replace("_", "-") in SECTIONS.get(path, {}):
            return [(path, rest.replace("_", "-"), value)]
        known = [one.replace("-", "_") for one in self._keys()]
        raise section_error(self._path, [unknown(name, known)])

    def _keys(self) -> dict[str, Key]:
        return keys_of(self._path)

    def _is_custom_check(self, name: str) -> bool:
        path = (*self._path, name)
        return is_of_checks(self._path) and any(path in one for one in self._layers)

    def _value(self, key: str) -> Any:
        if key == "enabled" and self._path[:1] == ("reports",):
            # A path switches a report on, unless its layer or a nearer one switches it off.
            for layer in self._layers:
                own = layer.get(self._path, {})
                if "enabled" in own or own.get("path") is not None:
                    return own.get("enabled", True)
        return value_in(self._layers, self._path, key)


def _modes(values: Any) -> list[Change]:
    names = {str(value) for value in _listed(values, "modes")}
    mode = "all" if names == {"positive", "negative"} else ", ".join(sorted(names))
    return [(("generation",), "mode", mode)]


def _phase_changes(values: Any) -> list[Change]:
    names = _listed(values, "phases")
    known = know_phases(names)
    for name in names:
        if name not in known:
            raise section_error(("phases",), [unknown(name, list(known))])
    # Phases that are named run even if the master switch of the file is off.
    chosen: list[Change] = [(("phases", phase), "enabled", phase in names) for phase in known]
    return [(("phases",), "enabled", True), *chosen]


def _included_checks(values: Any) -> list[Change]:
    names = _listed(values, "included_check_names")
    switched_on: Change = (("checks",), "enabled", True)
    selected = [name for name, check in BUILT_IN.items() if not check.switch]
    if "all" in names:
        # Each check is switched on by name, because a lower layer may switch off single checks.
        return [switched_on, *((("checks", name), "enabled", True) for name in (*selected, OTHER_CHECKS))]
    changes = [switched_on, *((("checks", name), "enabled", name in names) for name in selected)]
    changes += [(("checks", name), "enabled", True) for name in names if name not in BUILT_IN]
    changes.append((("checks", OTHER_CHECKS), "enabled", False))
    return changes


def _listed(values: Any, name: str) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ConfigError(f"{name!r} -> Must be an array, but got {values!r}")
    return list(values)


_MODES: tuple[Path, str] = (("generation",), "modes")  # In Python the kinds of data are a list.
_ALIASES: dict[tuple[Path, str], Callable[[Any], list[Change]]] = {
    _MODES: _modes,
    (("phases",), "phases"): _phase_changes,
    (("checks",), "included_check_names"): _included_checks,
    (("checks",), "excluded_check_names"): lambda values: [
        (("checks", name), "enabled", False)
        for name in _listed(values, "excluded_check_names")
        if name not in BUILT_IN or not BUILT_IN[name].switch
    ],
}
"""Options of `update` that stand for several keys."""


Configured = TypeVar("Configured", bound=Section)


class Projects(Struct, Generic[Configured], frozen=True):
    """The configurations of a file: one for each `[[project]]` table, and the default for all other APIs."""

    default: Configured
    named: Mapping[str, Configured] = field(default_factory=dict)  # Keyed by the title of the API.

    @property
    def override(self) -> Section:
        """Return the options that were set since the file was read. These options override the file."""
        return Section(self.default._layers[:1])

    def get_default(self) -> Configured:
        """Return the configuration of the only project of the file, else the default."""
        return next(iter(self.named.values())) if len(self.named) == 1 else self.default


_MOST_BYTES: Final = 1 << 20

_ROOT: Final = LayerPlace(beside=("project", "operations"))
_SHORT: Final = {"checks_config": "checks"}  # Names of resolvers that are not those of keys.


class Config(Section):
    """Options of `checker.toml` as attributes; `update` changes them for cases made afterwards."""

    def __init__(self, layers: list[Layer] | None = None) -> None:
        super().__init__([Updates()] if layers is None else layers)
        self._file: FilePath | None = None
        self._titles: dict[str, tuple[Layer, tuple[OperationBlock, ...]]] = {}
        self._blocks: tuple[OperationBlock, ...] = ()
        self._words = cache(partial(read_dictionary, FilePath()))
        self._from_environment: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Config {self._file or 'defaults'}>"

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], *, environment: Mapping[str, str] | None = None) -> "Config":
        """Return the configuration in this file. Raises `ConfigError`."""
        require(isinstance(path, str | os.PathLike), "path", "the path of a file", path)
        file = FilePath(path)
        try:
            data = read_local(file, "a configuration in TOML", most_bytes=_MOST_BYTES)
            return cls._of(parse(data.decode()), environment, file)
        except UnicodeDecodeError as error:
            raise _cannot_load(file, f"The content is not UTF-8: {error}") from error
        except (ConfigError, UnreadableFile) as error:
            kind = type(error) if isinstance(error, ConfigError) else ConfigError
            raise _cannot_load(file, str(error), kind) from error

    @classmethod
    def from_str(cls, text: str, *, environment: Mapping[str, str] | None = None) -> "Config":
        """Return the configuration in this TOML text. Raises `ConfigError`."""
        require(isinstance(text, str), "text", "a text in TOML", text)
        return cls.from_dict(parse(text), environment=environment)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], *, environment: Mapping[str, str] | None = None) -> "Config":
        """Return the configuration with these nested values. Raises `ConfigError`."""
        require(isinstance(document, Mapping), "document", "a dict of names and values", document)
        return cls._of(document, environment)

    @classmethod
    def _of(
        cls, document: Mapping[str, Any], environment: Mapping[str, str] | None, file: FilePath | None = None
    ) -> "Config":
        known = os.environ if environment is None else environment
        values = substituted(document, known)
        projects = values.pop("project", [])
        blocks = values.pop("operations", [])
        config = cls([Updates(), read_layer(values, _ROOT)])
        config._from_environment = tuple(sorted({known[name] for name in variables_in(document)} - {""}))
        config._titles = _projects(projects)
        is_shared = bool(config._titles)
        config._blocks = tuple(replace(one, is_shared=is_shared) for one in read_blocks(blocks))
        if file is not None:
            config._file, config._words = file, cache(partial(read_dictionary, file.parent))
        # Dictionaries are read now, so that their errors are reported with the file that names them.
        for title in ("", *config.titles):
            config.for_project(title).overrides()
        return config

    @classmethod
    def of_operations(cls, said: OperationLayers) -> "Config":
        """Return a configuration with these settings of operations and defaults for all else."""
        config = cls([Updates(said.command), *said.wide])
        config._blocks = said.blocks
        return config

    @classmethod
    def discover(
        cls, folder: str | os.PathLike[str] | None = None, *, environment: Mapping[str, str] | None = None
    ) -> "Config":
        """Return the configuration of the nearest `checker.toml` above a folder, else the defaults. Raises `ConfigError`."""
        require(isinstance(folder, str | os.PathLike | None), "folder", "the path of a folder", folder)
        try:
            start = FilePath.cwd() if folder is None else FilePath(folder).resolve()
        except FileNotFoundError as error:
            raise ConfigError("the working directory does not exist any more; change to another one") from error
        file = find_file(start)
        return cls() if file is None else cls.from_path(file, environment=environment)

    @property
    def config_path(self) -> FilePath | None:
        """Return the file that this configuration was read from."""
        return self._file

    @property
    def from_environment(self) -> tuple[str, ...]:
        """Return the values of the environment variables that the file names."""
        return self._from_environment

    @property
    def revision(self) -> int:
        """Return the number of updates so far, those of other projects of the same file included."""
        updates = self._layers[0]
        return updates.revision if isinstance(updates, Updates) else 0

    @property
    def sources(self) -> list[tuple[Layer, str]]:
        """Return (layer, source) of all layers, nearest first."""
        file = str(self._file or "given values")
        names = ["command line", *([f"{file} [[project]]"] * (len(self._layers) - 2)), file]
        return list(zip(self._layers, names, strict=False))

    @property
    def target(self) -> tuple[str | None, str | None]:
        """Return (base URL, origin) of the layer that is nearest to the command line and has one of them."""
        for layer in self._layers:
            root = layer.get((), {})
            if root.get("base-url") or root.get("origin"):
                return _canonical(root.get("base-url")), _canonical(root.get("origin"))
        return None, None

    @property
    def projects(self) -> "Projects[Config]":
        """Return the configurations by project. Updates of one apply to all."""
        return Projects(self, {title: self.for_project(title) for title in self._titles})

    def __getattr__(self, name: str) -> Any:
        """Return the value of a key, or a section below. `KEY_for(operation=..., phase=...)` returns that of one operation.

        Without an operation, this is the value for operations without blocks.
        """
        key = name.removesuffix("_for")
        if key == name:
            return super().__getattr__(name)
        key = _SHORT.get(key, key)
        super().__getattr__(key)

        def resolver(*, operation: Selectable | None = None, phase: str = "") -> Any:
            return getattr(Section(self.operation_layers().layers_of(operation, phase), is_resolved=True), key)

        return resolver

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(self._titles)

    @property
    def operations(self) -> tuple[OperationBlock, ...]:
        """Return the `[[operations]]` blocks, in file order."""
        return self._blocks

    @property
    def custom_check_names(self) -> tuple[str, ...]:
        """Return the checks that the configuration names and that are not built in."""
        return tuple(custom_checks_in([*self._layers, *(block.values for block in self._blocks)]))

    def section_of_check(self, check: str) -> Path:
        """Return the section that names a check: of the whole run, or of a phase."""
        layers = [*self._layers, *(block.values for block in self._blocks)]
        named = (path[:-1] for layer in layers for path in layer if path[-1:] == (check,))
        return next(filter(is_of_checks, named), ("checks",))

    def is_check_enabled(self, name: str) -> bool:
        """Whether a check runs. A user's check runs unless it is switched off."""
        return is_check_enabled(self._layers, name)

    def is_phase_enabled(self, name: str) -> bool:
        """Whether a phase runs for operations without settings of their own."""
        return is_phase_enabled(self._layers, name)

    def operation_layers(self) -> OperationLayers:
        """Return the current settings of operations; later updates do not change them."""
        nearest, *others = map(_of_operations, self._layers)
        return OperationLayers(nearest, self._blocks, tuple(others))

    def overrides(self) -> Overrides:
        """Return the values in place of generated ones. Dictionary files are read once each. Raises `ConfigError`."""
        read = {
            name: tuple(table["values"]) if "values" in table else self._words(table["from-file"])
            for name, table in self.dictionaries.items()
        }
        blocks = tuple((one.filters, one.parameters, one.dictionaries) for one in self.operations)
        return overrides_of(read, self.generation.dictionaries, self.parameters, blocks)

    def queries(self) -> tuple[QueryFile, ...]:
        """Return the queries of the files that `phases.examples.queries` names. Raises `ConfigError`."""
        folder = FilePath.cwd() if self._file is None else self._file.parent
        return read_queries(self.phases.examples.queries, folder)

    def for_project(self, title: str) -> "Config":
        """Return the configuration of the API with this title. Updates of one apply to both."""
        if title not in self._titles:
            return self
        layer, blocks = self._titles[title]
        config = Config([self._layers[0], layer, *self._layers[1:]])
        config._file, config._words = self._file, self._words
        config._blocks, config._from_environment = blocks + self._blocks, self._from_environment
        return config


def _of_operations(layer: Layer) -> Layer:
    """Return a copy of the part of a layer that may concern operations, without overrides of values, which may be large."""
    found = {
        path: {
            key: deepcopy(value)
            for key, value in values.items()
            if (*path, key)[0] in OPERATION_KEYS and (*path, key) not in GENERATED_VALUES
        }
        for path, values in layer.items()
    }
    # An empty table of a user's check names it.
    return {path: values for path, values in found.items() if values or is_of_checks(path[:-1])}


def _cannot_load(file: FilePath, reason: str, kind: type[ConfigError] = ConfigError) -> ConfigError:
    return kind(f"Failed to load configuration file from {file}\n\n{reason}")


def _projects(tables: object) -> dict[str, tuple[Layer, tuple[OperationBlock, ...]]]:
    if not isinstance(tables, list) or not all(isinstance(one, Mapping) for one in tables):
        raise section_error((), [Problem("Type error", "'project' -> Must be an array of tables")])
    found: dict[str, tuple[Layer, tuple[OperationBlock, ...]]] = {}
    for index, table in enumerate(tables):
        values = dict(table)
        prefix = ("project", str(index))
        title = values.pop("title", None)
        if not isinstance(title, str) or not title:
            problem = Problem("Missing required property", "'title' -> The title of the API")
            raise section_error(prefix, [problem])
        if title in found:
            problem = Problem("Invalid value", f"'title' -> {title!r} is given more than once")
            raise section_error(prefix, [problem])
        blocks = read_blocks(values.pop("operations", []), prefix=prefix)
        place = LayerPlace(prefix, NOT_IN_PROJECTS, beside=("title", "operations"))
        found[title] = (read_layer(values, place), blocks)
    return found


def _canonical(url: str | None) -> str | None:
    return None if url is None else canonical_url(url)


def located(config: Config, check: str, error: ConfigError) -> ConfigError:
    """Return an error about a check, which names the configuration file if the file names the check."""
    layers = [*config._layers[1:], *(block.values for block in config._blocks)]
    if config._file is None or check not in custom_checks_in(layers):
        return error
    return _cannot_load(config._file, str(error), type(error))
