"""Whether two requests are about one thing, by the values in their paths."""

from collections.abc import Sequence

from checker.core.case import Case
from checker.core.resource_names import singular
from checker.core.resources import named_values


def concrete_path(case: Case) -> tuple[str, ...]:
    """Segments of the path of a case: values in place of variables, all others as singular words after a slash.

    Nothing when a value is missing: who does not say what he is about is about nothing that others are about.
    """
    found = []
    values = named_values(case)
    for segment in case.operation.resource_path.split("/"):
        if "{" not in segment:
            found.append(f"/{singular(segment)}")
            continue
        for name, value in values.items():
            segment = segment.replace("{" + name + "}", f"{value}")
        if case.operation.resource_places and "{" in segment:
            return ()
        found.append(segment)
    return tuple(segment for segment in found if segment != "/")


def concerns(case: Case, other: Case) -> bool:
    """Whether the resource of `case` is that of `other`, or stands below it.

    By the values in their paths: `/users/5/orders` is below `/users/5`, `/user/5` and `/users/5:archive` are the same.
    """
    return is_within(concrete_path(case), concrete_path(other))


def is_within(path: Sequence[str], around: Sequence[str]) -> bool:
    """Whether one concrete path begins with the other; what follows a colon is an action, no name."""
    pairs = zip(path, around, strict=False)
    return 0 < len(around) <= len(path) and all(
        one == two or one.partition(":")[0] == two for one, two in pairs
    )
