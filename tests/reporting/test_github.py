from pathlib import Path

from checker.corpus.fold import fold
from checker.reporting.formats.markdown import MOST, add_summary, annotations
from checker.reporting.report import Report, report_of
from checker.reporting.shown import ReportContext

from .samples import finding, records, settings


def report(*more: object) -> Report:
    found = [*records(), *more]
    return report_of(fold((1, one) for one in found), settings(), "completed")


def test_failures_are_errors_at_the_line_of_their_operation(tmp_path: Path) -> None:
    document = tmp_path / "api.yaml"
    document.write_text("paths:\n  /users:\n    get: {}\n")
    context = ReportContext("", 1, "http://h", location=str(document))
    lines = list(annotations(report(), context))
    assert len(lines) == 4
    assert lines[0].startswith(f"::error file={document},line=3,title=Server error::GET /users%0A")
    assert lines[3] == ("::error title=Schema Error::POST /orders: #/components/schemas/Order: no such schema")


def test_what_a_server_says_ends_no_annotation() -> None:
    evil = finding(fingerprint="x", title="a,b::c%\n::error::d", message="e\r\n::warning::f")
    (line,) = [one for one in annotations(report(evil), ReportContext("", 1, "")) if "a%2Cb" in one]
    assert "\n" not in line
    assert "\r" not in line
    assert "title=a%2Cb%3A%3Ac%25%0A%3A\\%3Aerror%3A%3Ad::" in line


def test_no_more_are_written_than_are_shown() -> None:
    many = [finding(fingerprint=f"x{n}") for n in range(30)]
    assert len(list(annotations(report(*many), ReportContext("", 1, "")))) == MOST


def test_the_summary_of_a_job_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("# Before\n")
    add_summary(path, report(), ReportContext("", 1, "", title="Shop"))
    assert path.read_text().startswith("# Before\n## API test of Shop\n")
