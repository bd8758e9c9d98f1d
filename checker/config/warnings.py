"""`warnings`: which are shown, and which make a run fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from checker.config.kinds import did_you_mean
from checker.config.plugins import load_plugins
from checker.core.warning_table import is_warning, usually_shown, warning_rows

_KEYS: Final = ("display", "fail-on")


@dataclass(frozen=True, slots=True)
class WarningSettings:
    """What is to be made of warnings."""

    display: tuple[str, ...] | None = None
    """Kinds that are shown; None: the usual ones."""
    fail_on: tuple[str, ...] | None = ()
    """Kinds that make a run fail; None: whatever is shown."""

    def shows(self, kind: str) -> bool:
        """Whether warnings of a kind are shown."""
        return usually_shown(kind) if self.display is None else kind in self.display

    def fails_on(self, kind: str) -> bool:
        """Whether a warning of that kind makes the run fail."""
        return self.shows(kind) if self.fail_on is None else kind in self.fail_on

    @classmethod
    def of(cls, value: Any) -> "WarningSettings":
        """What a checked value of the key means."""
        if isinstance(value, Mapping):
            asked = value.get("fail-on", False)
            fail_on = None if asked is True else () if asked is False else tuple(asked)
            return cls(_display(value.get("display", True)), fail_on)
        return cls(_display(value))


def _display(value: Any) -> tuple[str, ...] | None:
    if value is True:
        return None
    return () if value is False else tuple(value)


def warning_name(name: str) -> str | None:
    """The name of a warning."""
    if not is_warning(name):
        load_plugins()
    if is_warning(name):
        return None
    known = [str(row.name) for row in warning_rows()]
    return f"Must be the name of a warning, but got {name!r}{did_you_mean(name, known)}"


def warning_key(name: str, value: object) -> str | None:
    """A key of the table `warnings`, and its value."""
    if name not in _KEYS:
        return f"Must have no keys but 'display' and 'fail-on', but got {name!r}"
    if isinstance(value, bool):
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        return f"{name!r} must be a boolean or an array of names, but got {value!r}"
    return next((broken for one in value if (broken := warning_name(one))), None)
