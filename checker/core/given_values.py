"""Values by name that callers give, refused with one sentence where they are none."""

from collections.abc import Mapping

from checker.core.errors import IncorrectUsage


def require_names(**given: object) -> None:
    """Raise `IncorrectUsage` for the first argument that is neither None nor a mapping."""
    for name, values in given.items():
        if values is not None and not isinstance(values, Mapping):
            raise IncorrectUsage(f"`{name}` must be a dict of names and values, got {values!r:.80}")
