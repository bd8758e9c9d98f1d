"""The live configuration object."""

import os
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path as FilePath
from typing import Any, Final

from msgspec.structs import replace

from checker.config.blocks import OperationBlock, read_blocks
from checker.config.dictionaries import overrides_of
from checker.config.dictionary_files import DictionaryFiles
from checker.config.filters import Selectable
from checker.config.kinds import Problem
from checker.config.layers import custom_checks_in, is_check_enabled, is_phase_enabled
from checker.config.operation_settings import OperationLayers
from checker.config.overrides import Overrides
from checker.config.projects import Projects, resolved
from checker.config.query_files import QueryFile, read_queries
from checker.config.reading import (
    Layer,
    LayerPlace,
    Updates,
    find_file,
    parse,
    read_layer,
    section_error,
    substituted,
)
from checker.config.scopes import GENERATED_VALUES, NOT_IN_PROJECTS, OPERATION_KEYS
from checker.config.sections import Section
from checker.config.table import Path, is_of_checks
from checker.core.errors import ConfigError, UnreadableFile
from checker.core.given_values import require
from checker.core.local_files import read_local
from checker.core.request import canonical_url

_MOST_BYTES: Final = 1 << 20

_ROOT: Final = LayerPlace(beside=("project", "operations"))
_SHORT: Final = {"checks_config": "checks"}
"""Names of resolvers that are not those of keys."""


class Config(Section):
    """Options of `checker.toml` as attributes; `update` changes them for cases made afterwards."""

    def __init__(self, layers: list[Layer] | None = None) -> None:
        super().__init__([Updates()] if layers is None else layers)
        self._file: FilePath | None = None
        self._titles: dict[str, tuple[Layer, tuple[OperationBlock, ...]]] = {}
        self._blocks: tuple[OperationBlock, ...] = ()
        self._words = DictionaryFiles(FilePath())

    def __repr__(self) -> str:
        return f"<Config {self._file or 'defaults'}>"

    @classmethod
    def from_path(
        cls, path: str | os.PathLike[str], *, environment: Mapping[str, str] | None = None
    ) -> "Config":
        """Configuration in this file. Raises `ConfigError`."""
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
        """Configuration in this TOML text. Raises `ConfigError`."""
        require(isinstance(text, str), "text", "a text in TOML", text)
        return cls.from_dict(parse(text), environment=environment)

    @classmethod
    def from_dict(
        cls, document: Mapping[str, Any], *, environment: Mapping[str, str] | None = None
    ) -> "Config":
        """Configuration of these nested values. Raises `ConfigError`."""
        require(isinstance(document, Mapping), "document", "a dict of names and values", document)
        return cls._of(document, environment)

    @classmethod
    def _of(
        cls,
        document: Mapping[str, Any],
        environment: Mapping[str, str] | None,
        file: FilePath | None = None,
    ) -> "Config":
        values = substituted(document, os.environ if environment is None else environment)
        projects = values.pop("project", [])
        blocks = values.pop("operations", [])
        config = cls([Updates(), read_layer(values, _ROOT)])
        config._titles = _projects(projects)
        is_shared = bool(config._titles)
        config._blocks = tuple(replace(one, is_shared=is_shared) for one in read_blocks(blocks))
        if file is not None:
            config._file, config._words = file, DictionaryFiles(file.parent)
        # What is wrong with a dictionary is wrong with the file that names it.
        for title in ("", *config.titles):
            config.for_project(title).overrides()
        return config

    @classmethod
    def of_operations(cls, said: OperationLayers) -> "Config":
        """Return a configuration that says this of operations; all else has its default."""
        config = cls([Updates(said.command), *said.wide])
        config._blocks = said.blocks
        return config

    @classmethod
    def discover(
        cls,
        folder: str | os.PathLike[str] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> "Config":
        """Configuration of the nearest `checker.toml` upwards of a folder, else the defaults. Raises `ConfigError`."""
        is_right = isinstance(folder, str | os.PathLike | None)
        require(is_right, "folder", "the path of a folder", folder)
        file = find_file(FilePath.cwd() if folder is None else FilePath(folder).resolve())
        return cls() if file is None else cls.from_path(file, environment=environment)

    @property
    def config_path(self) -> FilePath | None:
        """The file that this configuration was read from."""
        return self._file

    @property
    def revision(self) -> int:
        """Number of updates until now, those of other projects of the same file included."""
        updates = self._layers[0]
        return updates.revision if isinstance(updates, Updates) else 0

    @property
    def sources(self) -> list[tuple[Layer, str]]:
        """(what was said, where), nearest first."""
        file = str(self._file or "given values")
        names = ["command line", *([f"{file} [[project]]"] * (len(self._layers) - 2)), file]
        return list(zip(self._layers, names, strict=False))

    @property
    def target(self) -> tuple[str | None, str | None]:
        """(base URL, origin): the one that was said nearest to the command line."""
        for layer in self._layers:
            root = layer.get((), {})
            if root.get("base-url") or root.get("origin"):
                return _canonical(root.get("base-url")), _canonical(root.get("origin"))
        return None, None

    @property
    def projects(self) -> "Projects[Config]":
        """Configurations by project; updates of each are seen by all of them."""
        return Projects(self, {title: self.for_project(title) for title in self._titles})

    def __getattr__(self, name: str) -> Any:
        """Value of a key, or a section below; `KEY_for(operation=..., phase=...)` gives what holds for one operation.

        Without an operation it is what holds for those of which nothing is said.
        """
        key = name.removesuffix("_for")
        if key == name:
            return super().__getattr__(name)
        key = _SHORT.get(key, key)
        super().__getattr__(key)

        def resolver(*, operation: Selectable | None = None, phase: str = "") -> Any:
            return resolved(self.operation_layers().layers_of(operation, phase), key)

        return resolver

    @property
    def titles(self) -> tuple[str, ...]:
        """Titles of the `[[project]]` tables."""
        return tuple(self._titles)

    @property
    def operations(self) -> tuple[OperationBlock, ...]:
        """`[[operations]]` blocks, in file order."""
        return self._blocks

    @property
    def custom_check_names(self) -> tuple[str, ...]:
        """Checks that somebody named and that are not built in."""
        return tuple(custom_checks_in([*self._layers, *(block.values for block in self._blocks)]))

    def section_of_check(self, check: str) -> Path:
        """The section that names a check: of the whole run, or of a phase."""
        layers = [*self._layers, *(block.values for block in self._blocks)]
        named = (path[:-1] for layer in layers for path in layer if path[-1:] == (check,))
        return next(filter(is_of_checks, named), ("checks",))

    def is_check_enabled(self, name: str) -> bool:
        """Whether a check runs; a user's check that nobody switched off does."""
        return is_check_enabled(self._layers, name)

    def is_phase_enabled(self, name: str) -> bool:
        """Whether a phase runs for operations that have nothing of their own."""
        return is_phase_enabled(self._layers, name)

    def operation_layers(self) -> OperationLayers:
        """All that was said about operations until now: later updates do not change it."""
        nearest, *others = map(_of_operations, self._layers)
        return OperationLayers(nearest, self._blocks, tuple(others))

    def overrides(self) -> Overrides:
        """Values that stand in place of generated ones; reads dictionary files, each once. Raises `ConfigError`."""
        return overrides_of(
            self.dictionaries,
            self.generation.dictionaries,
            self.parameters,
            tuple((one.filters, one.parameters, one.dictionaries) for one in self.operations),
            self._words.entries,
        )

    def queries(self) -> tuple[QueryFile, ...]:
        """Queries of the files that the examples phase is given, beside the configuration. Raises `ConfigError`."""
        folder = FilePath.cwd() if self._file is None else self._file.parent
        return read_queries(self.phases.examples.queries, folder)

    def for_project(self, title: str) -> "Config":
        """Configuration of the API with this title; later updates of either are seen by both."""
        if title not in self._titles:
            return self
        layer, blocks = self._titles[title]
        config = Config([self._layers[0], layer, *self._layers[1:]])
        config._file, config._words = self._file, self._words
        config._blocks = blocks + self._blocks
        return config


def _of_operations(layer: Layer) -> Layer:
    """What of a layer may be about operations, copied: not what may be large, and is about the run."""
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
    """An error about a check, with the file of the configuration before it if that names the check."""
    layers = [*config._layers[1:], *(block.values for block in config._blocks)]
    if config._file is None or check not in custom_checks_in(layers):
        return error
    return _cannot_load(config._file, str(error), type(error))
