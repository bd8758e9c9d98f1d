"""The presence of optional parameters and bodies: drawn or left out."""

from typing import Any

from checker.core.case import NOT_SET
from checker.core.idempotency import is_idempotency_key
from checker.core.operation import Location, Parameter
from checker.core.request import CONDITIONS
from checker.core.resource_names import is_cursor
from checker.generation.sources.basic import EMPTY
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import OPTIONAL, Draw

_OPTIONAL = 0.5
_OPTIONAL_BODY = 0.9
SELDOM_SHARE = 0.1
"""Of headers that make a request conditional: to most values servers only say that nothing was done (304, 412); of marks of
pages, which servers make; of keys that name an earlier request; and of what was refused whenever it was there."""
DrawnBody = tuple[Any, str | None]
"""Value and media type."""
Step = tuple[str, Draw, float]
"""Name of a parameter, its draws, how likely it is there: 1 for always."""


def is_mostly_refused(parameter: Parameter) -> bool:
    """Whether it need not be there, and most of its values are good for nothing, or once only: a condition, the mark of a page, the key of a request."""
    if parameter.required:
        return False
    if parameter.location is Location.QUERY:
        return is_cursor(parameter.name)
    return parameter.location is Location.HEADER and (
        parameter.name.lower() in CONDITIONS or is_idempotency_key(parameter.name)
    )


def share_of(parameter: Parameter) -> float:
    """Return the probability that an optional parameter is present."""
    return SELDOM_SHARE if is_mostly_refused(parameter) else _OPTIONAL


def named(steps: list[Step]) -> Draw:
    """Draws the values of parameters, by name."""
    if not steps:
        return EMPTY
    if all(share == 1 for _, _, share in steps):
        pairs = [(name, make) for name, make, _ in steps]
        return lambda source: {name: make(source) for name, make in pairs}

    def draw(source: Source) -> dict[str, Any]:
        values: dict[str, Any] = {}
        # The spans of a random source are never asked for.
        has_spans = source.__class__ is not RandomSource
        for name, make, share in steps:
            if share == 1:
                values[name] = make(source)
            elif source.boolean(share):
                if has_spans:
                    source.start_span(OPTIONAL)
                value = make(source)
                # An optional null would be sent as text that the schema may not admit.
                if value is not None:
                    values[name] = value
                if has_spans:
                    source.stop_span()
        return values

    return draw


def body_draw(draws: list[tuple[Draw, str]], *, required: bool) -> Draw:
    """Draws a body, as one of its media types; (`NOT_SET`, None) for none."""
    count = len(draws)
    (first, media_type) = draws[0]

    def draw(source: Source) -> DrawnBody:
        if count == 1:
            return first(source), media_type
        make, chosen = draws[source.choice(count)]
        return make(source), chosen

    def maybe(source: Source) -> DrawnBody:
        if not source.boolean(_OPTIONAL_BODY):
            return NOT_SET, None
        if source.__class__ is RandomSource:
            return draw(source)
        source.start_span(OPTIONAL)
        drawn: DrawnBody = draw(source)
        source.stop_span()
        return drawn

    return draw if required else maybe
