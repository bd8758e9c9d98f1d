"""`warnings`: which are shown, and which make a run fail."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from checker.config.user_code import load_plugins
from checker.config.value_kinds import did_you_mean_or_all
from checker.core.schema import WarningKind
from checker.core.warning_table import WARNINGS

_KEYS: Final = ("enabled", "display", "fail-on", "low_valid_rate")
_HEALTH: Final = {"filter_too_much": WarningKind.LEFT_OUT.value, "too_slow": "killed"}
"""Health check of a property-testing library -> our warning that means as much. The others, about the size of data, have
none: sizes are bounded where data are drawn."""
_NEVER_FAILING: Final = frozenset(("timeout_units",))
"""Kinds that are about the command line: no run fails for them."""
LOW_VALID_RATE: Final = 0.2
"""Share of valid requests that are let in below which `low_valid_rate` warns."""


class WarningSettings(Struct, frozen=True):
    """The warnings that are shown, and those that make a run fail."""

    display: tuple[str, ...] | None = None
    """Kinds that are shown; None: the usual ones."""
    fail_on: tuple[str, ...] | None = ()
    """Kinds that make a run fail; None: all that are shown."""
    low_valid_rate: float = LOW_VALID_RATE
    """Threshold of the warning `low_valid_rate`."""
    silenced: tuple[str, ...] = ()
    """Kinds that are never shown and never make a run fail (`suppress-health-check`)."""

    def shows(self, kind: str) -> bool:
        """Whether warnings of a kind are shown."""
        if kind in self.silenced:
            return False
        return WARNINGS[kind].is_usual if self.display is None else kind in self.display

    def fails_on(self, kind: str) -> bool:
        """Whether a warning of that kind makes the run fail."""
        is_named = self.shows(kind) if self.fail_on is None else kind in self.fail_on
        return is_named and kind not in (*_NEVER_FAILING, *self.silenced)

    @classmethod
    def of(cls, value: Any) -> "WarningSettings":
        """Return the settings that a checked value of the key means."""
        if isinstance(value, Mapping):
            asked = value.get("fail-on", False)
            fail_on = None if asked is True else () if asked is False else tuple(asked)
            display = _display(value.get("display", True)) if value.get("enabled", True) else ()
            rate = value.get("low_valid_rate", {}).get("threshold", LOW_VALID_RATE)
            return cls(display, fail_on, rate)
        return cls(_display(value))


def silenced_by(health_checks: Iterable[str]) -> tuple[str, ...]:
    """Return the warnings that correspond to these health checks."""
    asked = set(health_checks)
    every = "all" in asked
    return tuple(kind for name, kind in _HEALTH.items() if every or name in asked)


def _display(value: Any) -> tuple[str, ...] | None:
    if value is True:
        return None
    return () if value is False else tuple(value)


def warning_name(name: str) -> str | None:
    """Return what is wrong with the name of a warning; None if nothing is."""
    if name not in WARNINGS:
        load_plugins()
    if name in WARNINGS:
        return None
    return f"Must be the name of a warning, but got {name!r}{did_you_mean_or_all(name, list(WARNINGS))}"


def warning_key(name: str, value: object) -> str | None:
    """Return what is wrong with a key of the table `warnings`; None if nothing is."""
    if name not in _KEYS:
        return f"Must have no keys but {', '.join(map(repr, _KEYS))}, but got {name!r}"
    if name == "low_valid_rate":
        rate = value.get("threshold") if isinstance(value, Mapping) and len(value) == 1 else None
        if isinstance(rate, int | float) and not isinstance(rate, bool) and 0 <= rate <= 1:
            return None
        return f"'low_valid_rate' must be a table with a 'threshold' from 0 to 1, but got {value!r}"
    if name == "enabled" and not isinstance(value, bool):
        return f"{name!r} must be a boolean, but got {value!r}"
    if isinstance(value, bool):
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        return f"{name!r} must be a boolean or an array of names, but got {value!r}"
    return next((broken for one in value if (broken := warning_name(one))), None)
