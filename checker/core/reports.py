"""The formats of reports: one row each. Settings, options, file names and the kept traffic depend on these rows alone."""

from typing import Any, Final

from msgspec import Struct

from checker.core.registry import LOWER_CASE, NameRule, Registry


class ReportFormat(Struct, frozen=True):
    """The row of a report format."""

    name: str  # In `--report NAME`, `[reports.NAME]` and the names of files: one word in lower case.
    title: str  # For people: `JUnit`.
    extension: str  # Extension of its file, without a dot; empty for a report that is a folder.
    writer: Any
    """The writer, or its `module:attribute`.

    A streaming format has a `StreamWriter` class. Any other has a function from a report and its context to pieces of
    text, or for a folder to (file name, text) pairs.
    """
    streams: bool = False
    """Whether the report is written event by event from the files of the run; otherwise it is written from the result."""
    needs_traffic: bool = False  # Whether it shows every request, so that all must be kept.
    keeps_bytes: bool = False  # Whether `reports.preserve-bytes` changes it.
    is_binary: bool = False  # Whether its writer returns bytes instead of text.

    @property
    def is_folder(self) -> bool:
        """Whether the report consists of several files."""
        return not self.extension

    def file_name(self, stamp: str) -> str:
        """Return the file name if no path is given; `stamp` is the time at which the run began."""
        return f"{self.name}-{stamp}.{self.extension}" if self.extension else f"{self.name}-{stamp}"


_FORMATS: Final = "checker.reporting.formats"
BUILT_IN: Final = (
    ReportFormat("junit", "JUnit", "xml", f"{_FORMATS}.junit:write"),
    ReportFormat("vcr", "VCR", "yaml", f"{_FORMATS}.vcr:Cassette", streams=True, needs_traffic=True, keeps_bytes=True),
    ReportFormat("har", "HAR", "json", f"{_FORMATS}.har:Archive", streams=True, needs_traffic=True, keeps_bytes=True),
    ReportFormat("ndjson", "NDJSON", "ndjson", f"{_FORMATS}.ndjson:EventLines", streams=True, needs_traffic=True),
    ReportFormat("json", "JSON", "json", f"{_FORMATS}.verdict:write"),
    ReportFormat("wfc", "WFC", "json", f"{_FORMATS}.wfc:write"),
    ReportFormat("pytest", "pytest", "py", f"{_FORMATS}.pytest_file:write"),
    ReportFormat("allure", "Allure", "", f"{_FORMATS}.allure:write"),
    ReportFormat("html", "HTML", "html", f"{_FORMATS}.html:write"),
    ReportFormat("sarif", "SARIF", "sarif", f"{_FORMATS}.sarif:write"),
    ReportFormat("codequality", "Code quality", "json", f"{_FORMATS}.sarif:code_quality"),
    ReportFormat("markdown", "Markdown", "md", f"{_FORMATS}.markdown:write"),
    ReportFormat("http", "HTTP requests", "http", f"{_FORMATS}.collections:requests"),
    ReportFormat("sh", "Shell script", "sh", f"{_FORMATS}.collections:script"),
    ReportFormat("weights", "Shard weights", "json", f"{_FORMATS}.verdict:weights"),
    ReportFormat("archive", "Archive", "tar.gz", f"{_FORMATS}.archive:write", is_binary=True),
)

REPORT_FORMATS: Final[Registry[ReportFormat]] = Registry(
    "report format", ((row.name, row) for row in BUILT_IN), names=NameRule("[a-z][a-z0-9]*", LOWER_CASE.words)
)
"""All formats by name, those of plug-ins that are loaded included."""
