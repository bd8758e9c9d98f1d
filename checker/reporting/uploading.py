"""Sends the archive of a run to the receiver that its user named: one request, described in `docs/reports.md`."""

from typing import Final
from urllib.parse import quote

import httpx

from checker import __version__
from checker.config.settings import UploadSettings
from checker.core.redact import Redaction

TIMEOUT_S: Final = 30.0
_SHOWN: Final = 200


def upload(archive: bytes, asked: UploadSettings, timeout_s: float = TIMEOUT_S) -> str:
    """Post an archive; why the receiver does not have it, as a sentence, or nothing. Redirects are not followed."""
    assert asked.url is not None
    headers = {"Content-Type": "application/gzip", "User-Agent": f"checker/{__version__}"}
    if asked.token:
        headers["Authorization"] = f"Bearer {asked.token}"
    if asked.api_name:
        headers["Checker-Api-Name"] = quote(asked.api_name)
    shown = Redaction().url(asked.url)
    try:
        with httpx.Client(timeout=timeout_s) as client:
            answer = client.post(asked.url, content=archive, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return f"the report archive was not taken by {shown}: {str(error) or type(error).__name__}"
    if answer.is_success:
        return ""
    said = answer.text[:_SHOWN].strip()
    return (
        f"the report archive was not taken by {shown}: it answered {answer.status_code}"
        f"{f': {said}' if said else ''}"
    )
