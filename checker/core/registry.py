"""What users add by name: string formats."""

from checker.core.errors import IncorrectUsage

FORMATS: dict[str, object] = {}
"""Format name -> strategy of strings, as given by users."""


def register_format(name: str, strategy: object) -> None:
    """Strings of `format: name` are drawn from `strategy`. A later one replaces an earlier one."""
    if not isinstance(name, str):
        raise IncorrectUsage(f"the name of a format must be a string, got {name!r}")
    if not hasattr(strategy, "example") or not hasattr(strategy, "map"):
        raise IncorrectUsage(
            f"format {name!r} must be a Hypothesis strategy of strings, got {strategy!r}"
        )
    FORMATS[name] = strategy
