"""Headers of a case as users see them, and what some are for."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from checker.core.given_values import require

CONDITIONS: Final = frozenset(
    ("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range")
)
"""Headers that make a request conditional, in lower case (RFC 9110, 13.1)."""

GivenHeaders = list[tuple[str, str]] | Mapping[str, str | Iterable[str]]


def header_pairs(headers: GivenHeaders) -> list[tuple[str, str]]:
    """Names and values of headers, one pair for each value. Raises `IncorrectUsage` for what are none."""
    try:
        found = (
            [
                (name, value)
                for name, given in headers.items()
                for value in ([given] if isinstance(given, str) else given)
            ]
            if isinstance(headers, Mapping)
            else [(name, value) for name, value in headers]
        )
        is_right = all(isinstance(text, str) for pair in found for text in pair)
    except (TypeError, ValueError):
        found, is_right = [], False
    require(is_right, "headers", "names and values, as a dict or as pairs", headers)
    return found


class HeaderFields(dict[str, Any]):
    """Values by name, in any letter case (RFC 9110, 5.1); names stay as they were first written."""

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__()
        self.update(values)

    def _known(self, name: str) -> str:
        """The name as it is written here already."""
        if super().__contains__(name):
            return name
        wanted = name.lower()
        return next((one for one in self if one.lower() == wanted), name)

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(self._known(name))

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(self._known(name), value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(self._known(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(self._known(name))

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a name, or the default."""
        return super().get(self._known(name), default)

    def pop(self, name: str, *default: Any) -> Any:
        """The value of a name, which is gone then, or the default. Raises `KeyError`."""
        return super().pop(self._known(name), *default)

    def setdefault(self, name: str, default: Any = None) -> Any:
        """The value of a name; the default is its value from now on where there is none."""
        return super().setdefault(self._known(name), default)

    def update(self, values: Any = (), /, **named: Any) -> None:
        """Set several; the last of a name counts."""
        for name, value in dict(values, **named).items():
            self[name] = value
