"""The live configuration object (requirements 13-15)."""

import os
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from checker.checks.table import AVAILABLE, BUILT_IN
from checker.config.blocks import OperationBlock, read_blocks
from checker.config.dictionaries import overrides_of
from checker.config.kinds import Problem
from checker.config.overrides import Overrides
from checker.config.reading import (
    Layer,
    Updates,
    find_file,
    parse,
    read_layer,
    section_error,
    substituted,
)
from checker.config.sections import OTHER_CHECKS, Section
from checker.config.table import CUSTOM_CHECK, NOT_IN_PROJECTS
from checker.core.errors import ConfigError, NotAvailableYet


class Config(Section):
    """Options of `checker.toml` as attributes; `update` changes them for cases made afterwards."""

    def __init__(self, layers: list[Layer] | None = None) -> None:
        super().__init__([Updates()] if layers is None else layers)
        self._file: FilePath | None = None
        self._titles: dict[str, tuple[Layer, tuple[OperationBlock, ...]]] = {}
        self._blocks: tuple[OperationBlock, ...] = ()

    def __repr__(self) -> str:
        return f"<Config {self._file or 'defaults'}>"

    @classmethod
    def from_path(
        cls, path: str | os.PathLike[str], *, environment: Mapping[str, str] | None = None
    ) -> "Config":
        """Configuration in this file. Raises `ConfigError`."""
        file = FilePath(path)
        try:
            return cls._of(parse(file.read_text(encoding="utf-8")), environment, file)
        except FileNotFoundError as error:
            raise _cannot_load(file, "The file does not exist.") from error
        except OSError as error:
            raise _cannot_load(file, f"{error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise _cannot_load(file, f"The content is not UTF-8: {error}") from error
        except ConfigError as error:
            raise _cannot_load(file, str(error)) from error
        except NotAvailableYet as error:
            raise NotAvailableYet(f"{file}: {error.what}") from error

    @classmethod
    def from_str(cls, text: str, *, environment: Mapping[str, str] | None = None) -> "Config":
        """Configuration in this TOML text. Raises `ConfigError`."""
        return cls.from_dict(parse(text), environment=environment)

    @classmethod
    def from_dict(
        cls, document: Mapping[str, Any], *, environment: Mapping[str, str] | None = None
    ) -> "Config":
        """Configuration of these nested values. Raises `ConfigError`."""
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
        config = cls([Updates(), read_layer(values)])
        config._blocks = read_blocks(blocks)
        config._titles = _projects(projects)
        config._file = file
        # What is wrong with a dictionary is wrong with the file that names it.
        for title in ("", *config.titles):
            config.for_project(title).overrides()
        return config

    @classmethod
    def discover(
        cls,
        folder: str | os.PathLike[str] | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> "Config":
        """Configuration of the nearest `checker.toml` upwards of a folder, else the defaults. Raises `ConfigError`."""
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
        paths = [path for layer in self._layers for path in layer if path[:1] == ("checks",)]
        names = dict.fromkeys(path[1] for path in paths if len(path) == 2)
        return tuple(name for name in names if name not in (*BUILT_IN, OTHER_CHECKS))

    def is_check_enabled(self, name: str) -> bool:
        """Whether a check runs; a user's check that nobody switched off does."""
        check = BUILT_IN.get(name)
        if check is not None and check.switch is not None:
            return getattr(self.checks, name) is not None
        return self._is_switched_on("checks", (name, OTHER_CHECKS))

    def check_settings(self) -> dict[str, dict[str, Any]]:
        """Name of a check -> settings of it that differ from its defaults."""
        found: dict[str, dict[str, Any]] = {}
        for check in AVAILABLE.values():
            for setting in check.all_settings:
                section = (
                    self.checks if setting is check.switch else getattr(self.checks, check.name)
                )
                value = getattr(section, setting.name.replace("-", "_"))
                if value != setting.default:
                    found.setdefault(check.name, {})[setting.name] = value
        for name in self.custom_check_names:
            layers = [layer.get(("checks", name), {}) for layer in reversed(self._layers)]
            given = {key: value for layer in layers for key, value in layer.items()}
            found[name] = {key: value for key, value in given.items() if key not in CUSTOM_CHECK}
        return {name: given for name, given in found.items() if given}

    def is_phase_enabled(self, name: str) -> bool:
        """Whether a phase runs."""
        return self._is_switched_on("phases", (name,))

    def _is_switched_on(self, group: str, names: tuple[str, ...]) -> bool:
        """The nearest word on it: a master switch that is off speaks of what was not named beside it or nearer."""
        master = None
        for layer in self._layers:
            for name in names:
                if "enabled" in layer.get((group, name), {}):
                    return bool(layer[(group, name)]["enabled"])
            if master is None:
                master = layer.get((group,), {}).get("enabled")
                if master is False:
                    return False
        return True

    def overrides(self) -> Overrides:
        """Values that stand in place of generated ones; reads dictionary files. Raises `ConfigError`."""
        return overrides_of(
            self.dictionaries,
            self.generation.dictionaries,
            self.parameters,
            tuple((block.filters, block.parameters) for block in self.operations),
            None if self._file is None else self._file.parent,
        )

    def for_project(self, title: str) -> "Config":
        """Configuration of the API with this title; later updates of either are seen by both."""
        if title not in self._titles:
            return self
        layer, blocks = self._titles[title]
        config = Config([self._layers[0], layer, *self._layers[1:]])
        config._file = self._file
        config._blocks = blocks + self._blocks
        return config


def _cannot_load(file: FilePath, reason: str) -> ConfigError:
    return ConfigError(f"Failed to load configuration file from {file}\n\n{reason}")


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
        found[title] = (read_layer(values, prefix=prefix, banned=NOT_IN_PROJECTS), blocks)
    return found
