"""Archive: the result of a run in one file, with reports for programs, CI and people, and its upload to a receiver."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote, urlsplit

from checker import __version__
from checker.config.operation_settings import HttpSettings
from checker.config.settings import UploadSettings
from checker.core.credentials import basic_authorization
from checker.core.redact import Redaction
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import Response
from checker.core.send import send_alone
from checker.core.terminal import one_line
from checker.reporting.formats import collections, html, junit, verdict
from checker.reporting.masking import masked_url
from checker.reporting.report import Report
from checker.reporting.shown import ReportContext
from checker.transport.factories import NETWORK

FORMAT: Final = 1  # Version of the archive. It is raised when a file changes its name or meaning.
_FILES: Final[Mapping[str, Callable[[Report, ReportContext], Iterable[str]]]] = {
    "verdict.json": verdict.write,
    "junit.xml": junit.write,
    "report.html": html.write,
    "failures.http": collections.requests,
}


def write(report: Report, context: ReportContext) -> Iterator[bytes]:
    """Yield a `tar.gz` of `metadata.json` and the reports that it lists. Equal runs give equal archives."""
    whole = io.BytesIO()
    packed = gzip.GzipFile(fileobj=whole, mode="wb", mtime=int(context.started_at))
    with packed, tarfile.open(fileobj=packed, mode="w") as archive:
        _add(archive, context, "metadata.json", json.dumps(metadata(report, context), indent=2))
        for name, make in _FILES.items():
            _add(archive, context, name, "".join(make(report, context)))
    yield whole.getvalue()


def metadata(report: Report, context: ReportContext) -> dict[str, Any]:
    """Return the metadata of the run as JSON, with secrets masked."""
    return {
        "format_version": FORMAT,
        "tool": {"name": "checker", "version": __version__},
        "api": {
            "name": context.api_name or None,
            "title": context.title,
            "specification": context.specification,
            "location": context.location,
            "base_url": masked_url(context.base_url, context.sanitization),
        },
        "run": {
            "kind": context.kind,
            "command": context.command,
            "seed": context.seed,
            "started_at": datetime.fromtimestamp(context.started_at, UTC).isoformat(),
            "outcome": report.outcome,
        },
        "files": sorted(_FILES),
    }


def _add(archive: tarfile.TarFile, context: ReportContext, name: str, text: str) -> None:
    content = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime = len(content), int(context.started_at)
    archive.addfile(entry, io.BytesIO(content))


TIMEOUT_S: Final = 30.0
_SHOWN: Final = 200
_URL_CHARACTERS: Final = "!#$%&'()*+,/:;=?@[]~"
"""Characters of a URL that are not escaped: those of RFC 3986, and percent signs."""


def upload(
    archive: bytes,
    asked: UploadSettings,
    timeout_s: float = TIMEOUT_S,
    given_up: Callable[[], bool] = lambda: False,
    hide: Callable[[str], str] = str,
) -> str:
    """Post an archive. Return a sentence if the receiver did not accept it, otherwise an empty text.

    The response is read within the limits of tested responses; `timeout_s` is for the whole exchange. Redirects are not
    followed. `given_up` is called several times a second. `hide` masks secrets in a text before it is cut.
    """
    assert asked.url is not None
    shown = f"the report archive was not accepted by {Redaction().url(asked.url)}"

    def stop_if_given_up() -> None:
        if given_up():
            raise InterruptedError

    try:
        origin = BaseUrl.from_url(asked.url)
        lanes = NETWORK(origin, HttpSettings().with_options(timeout_s=timeout_s), 1)
        try:
            headers = {"Content-Type": "application/gzip", "User-Agent": f"checker/{__version__}"}
            if asked.token:
                headers["Authorization"] = f"Bearer {asked.token}"
            elif origin.userinfo:
                user, _, password = origin.userinfo.partition(":")
                headers["Authorization"] = basic_authorization(user, password)
            if asked.api_name:
                headers["Checker-Api-Name"] = quote(asked.api_name)
            place = urlsplit(quote(asked.url or "", safe=_URL_CHARACTERS))
            target = (place.path or "/") + (f"?{place.query}" if place.query else "")
            fields = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
            outcome = send_alone(
                lanes, WireRequest("POST", target.encode(), fields, archive), meanwhile=stop_if_given_up
            )
        finally:
            lanes.close()
    except InterruptedError:
        return f"{shown}: interrupted"
    except (ValueError, OSError) as error:
        return f"{shown}: {one_line(str(error) or type(error).__name__)}"
    if not isinstance(outcome, Response):
        return f"{shown}: {one_line(outcome.message)}"
    if 200 <= outcome.status_code < 300:
        return ""
    reply = one_line(hide(outcome.readable.content.decode("utf-8", "replace").strip())[:_SHOWN])
    return f"{shown}: it returned {outcome.status_code}{f': {reply}' if reply else ''}"
