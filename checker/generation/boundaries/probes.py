"""Values that are wrong in a known way: of another type, or not quite of a format."""

from typing import Any, Final

WRONG_TYPES: Final[tuple[Any, ...]] = (
    {}, [None, None], "AAA", None, False, True, 0, 2, 0.5, -1, "", [], {"AAA": None},
)  # fmt: skip
"""Of each type the usual one first; what stays wrong as text: `2` is no boolean, `0.5` no integer; and other cells."""

NOT_LISTED: Final[tuple[Any, ...]] = ("AAA", "", 0, False, None, 0.5, {}, [None, None])

WRONG_FORMATS: Final = {
    "date": (
        "2023-13-01", "2023-00-10", "2023-01-00", "2023-01-32", "2023-04-31", "2023-02-29", "2023-1-01", "2023-01-1",
        "x2023-01-01", "2023-01-01x",
    ),
    "uuid": (
        "123e4567e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-4266141740000", "123e4567-e89b-12d3-a456-42661417400g",
    ),
    "date-time": ("2023-01-01T00:00:00", "2023-01-01T25:00:00Z", "2023-01-01 00:00:00Z.", "2023-13-01T00:00:00Z"),
    "email": ("a.example.com", "a@", "@example.com"),
    "ipv4": ("256.0.0.1", "1.2.3", "1.2.3.4.5"),
    "ipv6": ("12345::", "::g"),
    "uri": ("//example.com", "http://exa mple.com"),
}  # fmt: skip
"""Format -> texts that just miss it, different parts of it in turn."""
