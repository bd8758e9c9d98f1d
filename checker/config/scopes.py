"""Which keys may stand in a `[[project]]` table, and which in an `[[operations]]` block."""

from collections.abc import Iterator

from checker.config import auth
from checker.config.table import OF_OPERATIONS, OF_RUNS, SECTIONS, Path
from checker.core import phases

_OF_PHASES = ("operation-ordering", "extra-data-sources")
"""Keys of phases that are about all of their operations."""

NOT_IN_PROJECTS: frozenset[Path] = frozenset(
    (name,)
    for name in (
        "color",
        "seed",
        "reports",
        "cache",
        "corpus",
        "output",
        "dictionaries",
        "documents",
        "suppress-health-check",
        "max-failures",
        "max-time",
        "upload",
    )
)
"""Root keys and sections that a `[[project]]` table cannot have: they are about the run, not the API."""

OPERATION_KEYS = frozenset([*OF_OPERATIONS, "auth", "servers", "checks", "phases", "generation"])
"""Root keys and sections of an `[[operations]]` block, besides `enabled` and its filters."""

_NEVER_IN_OPERATIONS: frozenset[Path] = frozenset(
    (name,)
    for path in SECTIONS
    for name in (*SECTIONS[()], *path[:1])
    if name not in OPERATION_KEYS
) | frozenset(
    [
        *(("generation", name) for name in OF_RUNS),
        ("phases", "fuzzing", "error-feedback"),
        (*auth.OPENAPI[:1], "auto-signup"),
        auth.OPENAPI,
        ("auth", "auto-signup"),
        ("auth", "dynamic"),
        auth.WFC,
    ]
)


GENERATED_VALUES = frozenset([("parameters",), ("generation", "dictionaries")])
"""Values in place of generated ones: they travel as `Overrides`, not in layers."""


def keys_of_operations() -> Iterator[tuple[Path, str]]:
    """Yield section and key of each setting of an operation in one phase, for which phases have no sections of their own."""
    banned = not_in_operations() | GENERATED_VALUES
    for path, keys in SECTIONS.items():
        is_of_one_phase = path[:1] == ("phases",) and len(path) > 2
        for place in ((*path, key) for key in keys if not is_of_one_phase):
            starts = (place[:length] for length in range(1, len(place) + 1))
            if place[0] in OPERATION_KEYS and banned.isdisjoint(starts):
                yield path, place[-1]


def not_in_operations() -> frozenset[Path]:
    """What an `[[operations]]` block cannot have."""
    own = (("phases", phase, name) for phase in phases.phase_names() for name in _OF_PHASES)
    return _NEVER_IN_OPERATIONS | frozenset(own)
