"""The configuration as several APIs share it, and as one operation sees it."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from checker.config.kinds import Problem
from checker.config.reading import Layer, section_error
from checker.config.sections import Section
from checker.config.table import Path

Configured = TypeVar("Configured", bound=Section)


class ResolvedSection(Section):
    """What holds for one operation in one phase: for reading alone."""

    def update(self, **options: Any) -> None:
        """Raise `ConfigError`: what holds for one operation is worked out of all that was said."""
        told = ", ".join(options)
        reason = f"{told!r} -> It is worked out for one operation; change the configuration itself"
        raise section_error(self._path, [Problem("Invalid value", reason)])

    def _below(self, path: Path) -> Section:
        return ResolvedSection(self._layers, path)


def resolved(layers: list[Layer], key: str) -> Any:
    """Value of a key, or a section, as these layers have it. Raises `AttributeError` for one that is not there."""
    return getattr(ResolvedSection(layers), key)


class Projects(Struct, Generic[Configured], frozen=True):
    """The configurations of a file: that of each `[[project]]` table, and what holds for all other APIs."""

    default: Configured
    named: Mapping[str, Configured] = field(default_factory=dict)
    """By the title of the API."""

    @property
    def override(self) -> Section:
        """What was set since the file was read: it counts more than all that stands there."""
        return Section(self.default._layers[:1])

    def get_default(self) -> Configured:
        """The configuration of the only project of the file; else what holds for all."""
        return next(iter(self.named.values())) if len(self.named) == 1 else self.default
