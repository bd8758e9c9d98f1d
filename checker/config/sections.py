"""Sections of the live configuration object: attributes for keys, `update` for changes."""

from collections.abc import Callable, Iterable
from typing import Any

from checker.checks.table import BUILT_IN
from checker.config.kinds import did_you_mean
from checker.config.layers import OTHER_CHECKS, keys_of, value_in
from checker.config.plugins import know_phases
from checker.config.reading import Layer, Updates, check_value, section_error, unknown
from checker.config.table import (
    SECTIONS,
    Key,
    Path,
    is_of_checks,
    section_title,
    subsections,
)
from checker.core.errors import ConfigError
from checker.core.meta import GenerationMode

Change = tuple[Path, str, Any]
"""(section, key, value)."""


class Section:
    """A section of the configuration: `config.generation.max_examples`, with dashes as underscores."""

    def __init__(self, layers: list[Layer], path: Path = ()) -> None:
        self._layers = layers
        self._path = path

    def __repr__(self) -> str:
        return f"<Section {section_title(self._path)}>"

    def __dir__(self) -> list[str]:
        names = (*self._keys(), *subsections(self._path))
        return ["update", *(name.replace("-", "_") for name in names)]

    def __getattr__(self, name: str) -> Any:
        """Value of a key, or a section below."""
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
                return self._below((*self._path, known))
        raise AttributeError(
            f"{section_title(self._path)} has no option {name!r}{did_you_mean(name, dir(self))}"
        )

    def _below(self, path: Path) -> "Section":
        return Section(self._layers, path)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set one option, as `update` does. Raises `ConfigError`."""
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            self.update(**{name: value})

    def update(self, **options: Any) -> None:
        """Set options, keeping what earlier updates set. Raises `ConfigError` and changes nothing when one is wrong.

        None leaves an option as it is that is never without a value.
        """
        asked = [change for name, value in options.items() for change in self._changes(name, value)]
        changes = [change for change in asked if not _says_nothing(change)]
        for path, key, value in changes:
            problem = check_value(key, keys_of(path)[key], value)
            if problem:
                raise section_error(path, [problem])
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
        if key == "enabled" and self._path[:1] == ("reports",) and self._value("path") is not None:
            return True
        return value_in(self._layers, self._path, key)


def _says_nothing(change: Change) -> bool:
    path, key, value = change
    return value is None and bool(check_value(key, keys_of(path)[key], value))


def _modes(values: Any) -> list[Change]:
    names = {str(value) for value in _listed(values, "modes")}
    mode = "all" if names == {"positive", "negative"} else ", ".join(sorted(names))
    return [(("generation",), "mode", mode)]


def _phases(values: Any) -> list[Change]:
    names = _listed(values, "phases")
    known = know_phases(names)
    for name in names:
        if name not in known:
            raise section_error(("phases",), [unknown(name, list(known))])
    # What is asked for by name runs, whatever the master switch of the file says.
    chosen: list[Change] = [(("phases", phase), "enabled", phase in names) for phase in known]
    return [(("phases",), "enabled", True), *chosen]


def _included_checks(values: Any) -> list[Change]:
    names = _listed(values, "included_check_names")
    switched_on: Change = (("checks",), "enabled", True)
    selected = [name for name, check in BUILT_IN.items() if not check.switch]
    if "all" in names:
        # By name: what lies below may switch off single ones, and those of users.
        return [
            switched_on,
            *((("checks", name), "enabled", True) for name in (*selected, OTHER_CHECKS)),
        ]
    changes = [switched_on, *((("checks", name), "enabled", name in names) for name in selected)]
    changes += [(("checks", name), "enabled", True) for name in names if name not in BUILT_IN]
    changes.append((("checks", OTHER_CHECKS), "enabled", False))
    return changes


def _excluded_checks(values: Any) -> list[Change]:
    return [
        (("checks", name), "enabled", False)
        for name in _listed(values, "excluded_check_names")
        if name not in BUILT_IN or not BUILT_IN[name].switch
    ]


def _listed(values: Any, name: str) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ConfigError(f"{name!r} -> Must be an array, but got {values!r}")
    return list(values)


_MODES: tuple[Path, str] = (("generation",), "modes")
"""In Python the kinds of data are a list."""
_ALIASES: dict[tuple[Path, str], Callable[[Any], list[Change]]] = {
    _MODES: _modes,
    (("phases",), "phases"): _phases,
    (("checks",), "included_check_names"): _included_checks,
    (("checks",), "excluded_check_names"): _excluded_checks,
}
"""Options of `update` that stand for several keys."""
