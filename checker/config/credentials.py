"""Credentials that a user gave, and where they may go: to whom the user named, never to whom a description names."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from checker.config.overrides import Override
from checker.config.settings import RunSettings
from checker.core.errors import UsageError
from checker.core.locations import Location
from checker.core.redact import Redaction
from checker.core.request import BaseUrl

_IN_REQUESTS: Final = (Location.HEADER, Location.COOKIE, Location.QUERY)
_SHOWN: Final = 3


def credentials_in(settings: RunSettings) -> tuple[str, ...]:
    """Names of what a run would send to prove who is calling: `header Authorization`, `query api_key`."""
    redaction = settings.sanitization.redaction
    headers = dict.fromkeys(
        pair for one in settings.operations.everywhere() for pair in one.headers
    )
    found = [f"header {name}" for name, value in headers if redaction.is_sensitive(name) and value]
    found += [name for one in settings.operations.everywhere() for name in one.authentication.names]
    found += [
        f"{one.location or 'parameter'} {one.path[0]}"
        for one in sensitive_overrides(settings)
        if one.location is None or one.location in _IN_REQUESTS
    ]
    return tuple(dict.fromkeys(found))


def credentials_of_call(
    redaction: Redaction, places: Iterable[tuple[str, Mapping[str, Any]]]
) -> tuple[str, ...]:
    """Names of credentials among what a call was given, place by place: `header Authorization`."""
    return tuple(
        f"{place} {name}" for place, given in places for name in _sensitive(redaction, given)
    )


def without_credentials(
    redaction: Redaction, headers: Iterable[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Those headers of every request that do not say who is calling."""
    return tuple((name, value) for name, value in headers if not redaction.is_sensitive(name))


def sensitive_overrides(settings: RunSettings) -> Iterator[Override]:
    """Values of sensitive names that stand in place of generated ones."""
    redaction = settings.sanitization.redaction
    for one in settings.overrides.parameters:
        if any(redaction.is_sensitive(name) for name in one.path):
            yield one


def target(
    declared: str, location: str | None, given: str | None, credentials: Iterable[str]
) -> BaseUrl:
    """Where requests go: what was given, else what the description declares, on the server that it came from.

    User info in its location counts for that server. Raises `UsageError` where credentials would go to a server that
    nobody but the description named, `ValueError` for what is no URL.
    """
    if given is not None:
        return BaseUrl.from_url(given)
    found = BaseUrl.from_url(declared)
    own = _origin(location)
    if own is not None and own.site == found.site:
        return found.with_userinfo(found.userinfo or own.userinfo)
    names = list(credentials)
    if names:
        shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        raise UsageError(
            f"credentials ({shown}) are not sent to {found.url}, which nobody but the description names; "
            f"give the base URL of the API with `--url` (`base-url` in checker.toml, `base_url` in Python)"
        )
    return found


def _sensitive(redaction: Redaction, given: Mapping[str, Any]) -> Iterator[str]:
    return (name for name, value in given.items() if redaction.is_sensitive(name) and value)


def _origin(location: str | None) -> BaseUrl | None:
    try:
        return None if location is None else BaseUrl.from_url(location)
    except ValueError:
        # A file, or an application in this process.
        return None
