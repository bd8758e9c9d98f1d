"""Paths that are refused as such: what to leave out of later ones."""

from collections.abc import Iterator

from checker.core.case import Case
from checker.core.constraints import Constraint, constraint
from checker.core.locations import Location
from checker.core.odd_paths import is_bare_refusal, patterns_broken
from checker.core.response import Response


def refused_characters(case: Case, response: Response) -> Iterator[Constraint]:
    """For a 400 that gives no reason: that each odd kind of character in the path of the case is not to be there.

    What of the demands is not the reason is dropped as soon as a path with it is accepted.
    """
    if not is_bare_refusal(response):
        return
    for name, value in case.path_parameters.items():
        for pattern in patterns_broken(value) if isinstance(value, str) else ():
            found = constraint(Location.PATH, (name,), "pattern", pattern)
            if found is not None:
                yield found
