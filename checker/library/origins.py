"""Where calls of a loaded schema go."""

from collections.abc import Iterable

from checker.config.credentials import target
from checker.core.errors import UsageError
from checker.core.given_values import require_texts
from checker.core.request import BaseUrl
from checker.kinds.protocol import ApiSchema
from checker.transport.applications import Application


def origin_of(
    schema: ApiSchema,
    location: str | None,
    application: Application | None,
    given: str | None,
    credentials: Iterable[str],
) -> BaseUrl | None:
    """The base URL that was given, or the one that the description declares; None when nobody says.

    `location` is the URL that the user gave for the description. Raises `UsageError` where credentials must not go there,
    `IncorrectUsage` for what is no text.
    """
    require_texts(base_url=given)
    declared = schema.base_url
    if given is None and application is not None:
        given = declared
    if given is None and declared is None:
        return None
    try:
        return target(declared or "", location, given, credentials)
    except ValueError as error:
        raise UsageError(str(error)) from error
