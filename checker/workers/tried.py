"""What a case was about: the place that an edge or a mistake is in, for the coverage of the description."""

from collections.abc import Iterator

from checker.core.meta import CaseMetadata, GenerationMode

EDGE = "edge"
"""In place of a keyword: valid data at an edge of what is allowed."""


def tried_by(meta: CaseMetadata) -> Iterator[tuple[str, str]]:
    """(place, keyword that is broken there or `edge`); the place is `query limit`, or `query` where nobody knows the name.

    Nothing for a valid case that is about no place of its own.
    """
    data = meta.phase.data
    location, name = data.get("parameter_location"), data.get("parameter")
    if meta.mode is GenerationMode.POSITIVE:
        if location and name:
            yield _place(location, name), EDGE
        return
    for part, provenance in meta.components.items():
        if provenance.violation is not None:
            named = name if name and location == str(part) else ""
            yield _place(str(part), named or ""), provenance.violation.keyword


def _place(location: str, name: str) -> str:
    return location if location == "body" or not name else f"{location} {name}"
