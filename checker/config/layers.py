"""What was said about a key in several places, nearest first, and which word on it counts."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import takewhile
from typing import Any

from checker.checks.table import BUILT_IN
from checker.config.reading import Layer
from checker.config.table import CUSTOM_CHECK, SECTIONS, Key, Path, is_of_checks
from checker.core.phases import phase_named

OTHER_CHECKS = "*"
"""Stands for users' checks that are not named, where some checks were chosen."""

Layers = Sequence[Layer]
"""Nearest first: what stands in the first one counts."""


def keys_of(path: Path) -> dict[str, Key]:
    """Keys of a section, one for a user's check included."""
    if path in SECTIONS:
        return dict(SECTIONS[path])
    return dict(CUSTOM_CHECK) if is_of_checks(path[:-1]) else {}


def value_in(layers: Layers, path: Path, key: str) -> Any:
    """The value that counts: the nearest one, or the default. Headers are those of all layers, tables of warnings are completed."""
    found = [layer[path][key] for layer in layers if key in layer.get(path, {})]
    if key == "headers" and found:
        return _merged_headers(found)
    if (path, key) == ((), "warnings") and found:
        return deepcopy(_completed(found))
    # Copied: a default belongs to everybody.
    return deepcopy(found[0] if found else keys_of(path)[key].default)


def _completed(found: Sequence[Any]) -> Any:
    """The nearest value; what it does not say, if it is a table, as the tables below it do."""
    tables = list(takewhile(lambda one: isinstance(one, Mapping), found))
    return {key: one for table in reversed(tables) for key, one in table.items()} or found[0]


def _merged_headers(found: Sequence[dict[str, str]]) -> dict[str, str]:
    """Headers of all layers; in the layers nearer to the command line a name beats the same name elsewhere."""
    merged: dict[str, tuple[str, str]] = {}
    for headers in reversed(found):
        for name, value in headers.items():
            merged[name.lower()] = (name, value)
    return dict(merged.values())


def is_check_enabled(layers: Layers, name: str) -> bool:
    """Whether a check runs; a user's check that nobody switched off does, and one with a switch that has a value."""
    check = BUILT_IN.get(name)
    if check is not None and check.switch is not None:
        return value_in(layers, ("checks",), name) is not None
    return _is_switched_on(layers, "checks", (name, OTHER_CHECKS))


def is_phase_enabled(layers: Layers, name: str) -> bool:
    """Whether a phase runs."""
    return _is_switched_on(layers, "phases", (name,), usual=phase_named(name).is_default)


def custom_checks_in(layers: Layers) -> Iterator[str]:
    """Checks that somebody named and that are not built in, each once."""
    names = {path[-1]: None for layer in layers for path in layer if is_of_checks(path[:-1])}
    return (name for name in names if name not in (*BUILT_IN, OTHER_CHECKS))


def check_settings_in(layers: Layers) -> dict[str, dict[str, Any]]:
    """Name of a check -> settings of it that differ from its defaults."""
    found: dict[str, dict[str, Any]] = {}
    for check in BUILT_IN.values():
        for setting in check.all_settings:
            path = ("checks",) if setting is check.switch else ("checks", check.name)
            value = value_in(layers, path, setting.name)
            if value != setting.default:
                found.setdefault(check.name, {})[setting.name] = value
    for name in custom_checks_in(layers):
        for layer in reversed(layers):
            given = layer.get(("checks", name), {})
            own = {key: value for key, value in given.items() if key not in CUSTOM_CHECK}
            if own:
                found.setdefault(name, {}).update(deepcopy(own))
    return found


def _is_switched_on(
    layers: Layers, group: str, names: tuple[str, ...], *, usual: bool = True
) -> bool:
    """The nearest word on it: a master switch that is off speaks of what was not named beside it or nearer."""
    master = None
    for layer in layers:
        for name in names:
            if "enabled" in layer.get((group, name), {}):
                return bool(layer[(group, name)]["enabled"])
        if master is None:
            master = layer.get((group,), {}).get("enabled")
            if master is False:
                return False
    return usual
