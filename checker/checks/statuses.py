"""Status patterns of the configuration: `404`, `2XX`, `20X`."""

from collections.abc import Iterable


def matches_status(status: int, patterns: Iterable[str]) -> bool:
    """Whether a status fits one of the patterns; `X` stands for any digit, in either case."""
    digits = f"{status:03d}"
    return any(
        len(pattern) == 3
        and all(p in "xX" or p == d for p, d in zip(pattern, digits, strict=False))
        for pattern in patterns
    )
