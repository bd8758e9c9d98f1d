"""Archive: the result of a run in one file, with reports for programs, for CI and for people."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from checker import __version__
from checker.reporting.formats import collections, html, junit, verdict
from checker.reporting.masking import masked_url
from checker.reporting.report import Report
from checker.reporting.shown import ReportContext

FORMAT: Final = 1
"""Version of the archive. It grows when a file changes its name or its meaning."""
_FILES: Final[Mapping[str, Callable[[Report, ReportContext], Iterable[str]]]] = {
    "verdict.json": verdict.write,
    "junit.xml": junit.write,
    "report.html": html.write,
    "failures.http": collections.requests,
}


def write(report: Report, context: ReportContext) -> Iterator[bytes]:
    """Yield a `tar.gz` of `metadata.json` and the reports that it lists. Equal runs have equal archives."""
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
