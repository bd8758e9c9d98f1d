"""Every format: what it says of a small run, and that nothing makes it ill-formed."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as limits

from checker.checks.table import FAILURES
from checker.core.reports import ReportFormat
from checker.corpus.fold import fold
from checker.corpus.records import Component, OperationsSelected, ResourceMade
from checker.reporting.formats.markdown import annotations
from checker.reporting.report import report_of
from checker.reporting.shown import ReportContext

from .formats import READERS, WRITTEN, written
from .golden import assert_golden
from .hostile import hostile
from .samples import AT, ORDERS, USERS, exchange, finding, interaction, progress, records, settings, started

CONTEXT = ReportContext(
    "checker run http://127.0.0.1:8080/openapi.json",
    1,
    "http://127.0.0.1:8080/api",
    location="http://127.0.0.1:8080/openapi.json",
    title="Shop",
    specification="Open API 3.0.3",
    started_at=AT,
)
INTERACTIONS = (
    interaction(),
    interaction(case="1a", exchange=exchange(status=None, failure="timed out: 10 s"), status="ERROR"),
)
SELECTED = OperationsSelected((USERS, ORDERS, "GET /health", "DELETE /users"))


def files(name: str, context: ReportContext = CONTEXT, more: tuple[Any, ...] = ()) -> dict[str, bytes]:
    row = next(row for row in WRITTEN if row.name == name)
    found = records()
    return written(row, [found[0], SELECTED, *more, *found[1:]], INTERACTIONS, settings(), context)


def read(name: str) -> Any:
    return READERS[name](files(name))


def test_every_format_has_a_reader_that_is_not_ours_and_the_docs_say_which() -> None:
    docs = Path(__file__).parents[2].joinpath("docs/reports.md").read_text(encoding="utf-8")
    table = docs.partition("## Independent readers")[2].partition("\n## ")[0]
    told = [name for line in table.splitlines() if "|" in line for name in re.findall(r"^\| `(.+?)`", line)]
    assert sorted(told) == sorted(READERS) == sorted(row.name for row in WRITTEN)


def test_har_has_an_entry_for_each_request() -> None:
    first, second = read("har")
    assert (first["request"]["method"], first["response"]["status"]) == ("GET", 500)
    assert first["request"]["url"] == "http://127.0.0.1:8080/api/users?limit=0"
    assert first["request"]["queryString"] == [{"name": "limit", "value": "0"}]
    assert first["response"]["content"]["text"] == '{"error":"boom"}'
    assert (second["response"]["status"], second["response"]["comment"]) == (0, "timed out: 10 s")


def test_ndjson_tells_the_events_of_a_run_in_order() -> None:
    events = read("ndjson")
    names = list(dict.fromkeys(name for name, _ in events))
    assert names == [
        *("Initialize", "LoadingStarted", "LoadingFinished", "EngineStarted", "PhaseStarted"),
        *("SuiteStarted", "Finding", "NonFatalError", "Warning", "ScenarioStarted"),
        *("ScenarioFinished", "SuiteFinished", "PhaseFinished", "EngineFinished"),
    ]
    assert all({"id", "timestamp"} <= fields.keys() for _, fields in events)
    ended = next(fields for name, fields in events if name == "ScenarioFinished")
    recorder = ended["recorder"]
    (sent,) = recorder["interactions"].values()
    assert (ended["status"], recorder["label"]) == ("failure", USERS)
    assert sent["response"]["content"] == {"$base64": "eyJlcnJvciI6ImJvb20ifQ=="}
    assert events[-1][1]["stop_reason"] == "completed"


def test_json_tells_what_the_run_came_to() -> None:
    found = read("json")
    assert [one["severity"] for one in found["failures"]] == ["critical", "high", "medium"]
    assert found["operations"]["reached"] == 2
    assert {one["operation"]: one["outcome"] for one in found["operations"]["results"]} == {
        USERS: "failed",
        ORDERS: "errored",
        "GET /health": "errored",
        "DELETE /users": "skipped",
    }
    assert [group["kind"] for group in found["warnings"]] == [*("unresolvable_reference", "unusable_body")]
    assert found["complete"] is True


def test_sarif_has_a_result_for_each_finding_with_its_fingerprint() -> None:
    found = read("sarif")
    assert [one["partialFingerprints"]["checker/v1"] for one in found] == ["f1", "f2", "f3"]
    assert [one["level"] for one in found] == ["error", "error", "warning"]


def test_sarif_points_at_the_line_of_the_operation(tmp_path: Path) -> None:
    document = tmp_path / "openapi.yaml"
    document.write_text("openapi: 3.0.3\npaths:\n  /users:\n    # All of them\n    get: {}\n")
    context = ReportContext("", 1, "http://h", location=str(document))
    places = [one["locations"][0] for one in READERS["sarif"](files("sarif", context))]
    assert {one["physicalLocation"]["region"]["startLine"] for one in places} == {5}
    assert {one["logicalLocations"][0]["fullyQualifiedName"] for one in places} == {USERS}
    assert {one["physicalLocation"]["artifactLocation"]["uri"] for one in places} == {document.as_posix()}


def test_sarif_names_files_of_the_working_directory_as_a_repository_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "openapi.yaml").write_text("paths:\n  /users:\n    get: {}\n")
    monkeypatch.chdir(tmp_path)
    for location in ("api/openapi.yaml", str(tmp_path / "api" / "openapi.yaml")):
        places = [
            one["locations"][0] for one in READERS["sarif"](files("sarif", ReportContext("", 1, "", location=location)))
        ]
        assert {one["physicalLocation"]["artifactLocation"]["uri"] for one in places} == {"api/openapi.yaml"}


def test_sarif_names_files_from_the_root_of_their_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (".git", "api"):
        (tmp_path / folder).mkdir()
    for name in ("openapi.yaml", "api/openapi.yaml"):
        (tmp_path / name).write_text("paths:\n  /users:\n    get: {}\n")
    monkeypatch.chdir(tmp_path / "api")
    for location, wanted in (("openapi.yaml", "api/openapi.yaml"), ("../openapi.yaml", "openapi.yaml")):
        context = ReportContext("", 1, "", location=location)
        places = [one["locations"][0] for one in READERS["sarif"](files("sarif", context))]
        assert {one["physicalLocation"]["artifactLocation"]["uri"] for one in places} == {wanted}
        assert {one["location"]["path"] for one in READERS["codequality"](files("codequality", context))} == {wanted}


def test_sarif_explains_each_rule() -> None:
    codes = {kind.code for kind in FAILURES.values() if kind.code}
    (content,) = files("sarif", more=tuple(finding(fingerprint=f"of {code}", code=code) for code in codes)).values()
    rules = {one["id"]: one for one in json.loads(content)["runs"][0]["tool"]["driver"]["rules"]}
    assert codes <= rules.keys()
    assert all(rules[code]["help"]["text"].startswith(rules[code]["fullDescription"]["text"]) for code in codes)


def test_gitlab_gets_each_failure_on_one_line_with_its_place(tmp_path: Path) -> None:
    document = tmp_path / "öffentliche api.yaml"
    document.write_text("paths:\n  /users:\n    get: {}\n")
    found = READERS["codequality"](files("codequality", ReportContext("", 1, "http://h", location=str(document))))
    assert [one["severity"] for one in found] == ["critical", "major", "minor"]
    assert all(one["description"].startswith(f"{USERS}: ") for one in found)
    assert {one["location"]["lines"]["begin"] for one in found} == {3}
    assert {one["location"]["path"] for one in found} == {document.as_posix()}


def test_allure_has_a_result_for_each_operation() -> None:
    found = {one.name: one for one in read("allure")}
    assert {name: one.status for name, one in found.items()} == {
        USERS: "failed",
        ORDERS: "broken",
        "GET /health": "broken",
        "DELETE /users": "skipped",
    }
    assert len(found[USERS].steps) == 3
    labels = {label["name"]: label["value"] for label in found[USERS].labels}
    assert labels["severity"] == "blocker"
    assert (labels["epic"], labels["layer"]) == ("Shop", "API")


def test_html_shows_findings_with_commands_and_the_reach_of_operations() -> None:
    page = read("html")
    assert [one.get("id") for one in page.iter("details") if one.get("id")] == [*("f-f1", "f-f2", "f-f3")]
    commands = ["".join(one.itertext()) for one in page.iter("pre")]
    assert any(text.startswith("curl -X GET") for text in commands)
    rows = ["".join(row.itertext()) for row in page.iter("tr")]
    assert any("GET /health" in row and "2xx" in row for row in rows)
    source = files("html")[""].decode()
    assert "http://" not in source.split("<script>")[1]
    assert "src=" not in source


def test_html_shows_when_each_phase_was() -> None:
    row = next(row for row in WRITTEN if row.name == "html")
    (page,) = written(row, [started(), progress(at=AT + 2.0)], (), settings(), CONTEXT).values()
    assert b'aria-label="from 0.6 s to 2.0 s"' in page


def test_collections_hold_every_failure() -> None:
    assert len(read("http")) == 3
    assert read("sh")[0] == """curl -X GET "$base"'/users?limit=0'"""


@pytest.mark.parametrize(
    ("body", "is_shown"),
    [
        (b'{"a": 1}', True),
        (b'{"a": {"b": {}}}', True),
        *((body, False) for body in (b'"{{1+1}}"', b"a\n### b", b"a\n  // b", b"@a=1", b"< /etc/passwd")),
    ],
)
def test_no_body_is_what_an_editor_acts_upon(body: bytes, is_shown: bool) -> None:
    sent = interaction(exchange=exchange(method="POST", target=b"/{{x}}", body=body))
    row = next(row for row in WRITTEN if row.name == "http")
    run = [*records(), finding(label="GET /{{{y}}}", interactions=(sent,))]
    (content,) = written(row, run, (), settings(), CONTEXT).values()
    text = content.decode()
    assert "{{" not in text.replace("{{base}}", "")
    assert (body.decode() in text) == is_shown
    assert ("# base64" in text) != is_shown


def test_an_archive_holds_reports_that_are_those_of_their_own_formats() -> None:
    metadata, found = read("archive")
    assert metadata["run"]["seed"] == 1
    assert metadata["api"]["title"] == "Shop"
    formats = {"verdict.json": "json", "junit.xml": "junit", "report.html": "html"}
    for name, row in (formats | {"failures.http": "http"}).items():
        assert found.pop(name) == files(row)[""]
    assert not found
    assert files("archive") == files("archive")


@pytest.mark.parametrize("name", ["markdown", "http", "sh", "html"])
def test_what_people_read_is_kept(name: str) -> None:
    assert_golden(f"report_{name}", files(name)[""].decode().replace("\r\n", "\n"))


def test_a_long_markdown_report_is_cut_at_a_part() -> None:
    row = next(row for row in WRITTEN if row.name == "markdown")
    many = [finding(fingerprint=f"f{n}", message="x" * 2000) for n in range(200)]
    content = written(row, [*records(), *many], (), settings(), CONTEXT)[""]
    assert 50_000 < len(content) < 60_000
    assert content.decode().endswith("*There is more: see the other reports.*\n")


@limits(max_examples=60)
@given(hostile())
def test_nothing_makes_a_report_ill_formed(run: tuple[list[Any], list[Any]]) -> None:
    for row in WRITTEN:
        assert READERS[row.name](written(row, *run, settings(), CONTEXT)) is not None, row.name


@pytest.mark.parametrize("row", WRITTEN, ids=[row.name for row in WRITTEN])
def test_what_utf_8_cannot_write_leaves_a_report_well_formed(row: ReportFormat) -> None:
    label = "GET /\ud800"
    found = finding(label=label, title="\udfff", message="\ud800", reproduction="curl \ud800")
    base = records()
    run = [base[0], OperationsSelected((label,)), base[1], found, *base[5:]]
    assert READERS[row.name](written(row, run, [], settings(), CONTEXT)) is not None


@pytest.mark.parametrize("row", WRITTEN, ids=[row.name for row in WRITTEN])
def test_a_body_of_ten_megabytes_leaves_a_report_well_formed(row: ReportFormat) -> None:
    large = interaction(exchange=exchange(response_body=b"\xff" * 10_000_000))
    assert READERS[row.name](written(row, records(), [large], settings(), CONTEXT)) is not None


def test_reports_hold_no_terminal_escapes() -> None:
    evil = finding(message="\x1b]0;evil\x07", title="\x1b[2J")
    for row in WRITTEN:
        if row.is_binary:
            # Packed; what is in it are reports of other formats.
            continue
        for content in written(row, [*records(), evil], (), settings(), CONTEXT).values():
            assert b"\x1b" not in content, row.name


def test_html_escapes_what_servers_say() -> None:
    evil = finding(message="<script>alert(1)</script>", label='GET /"><img src=x onerror=alert(1)>')
    row = next(row for row in WRITTEN if row.name == "html")
    text = written(row, [*records(), evil], (), settings(), CONTEXT)[""].decode()
    assert "<script>alert" not in text
    assert "<img" not in text
    assert json.dumps(text)


def test_sarif_of_a_masked_location_is_valid() -> None:
    context = ReportContext("", 1, "http://h", location="http://[Filtered]@h/a?key=[Filtered]")
    found = READERS["sarif"](files("sarif", context))
    place = found[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "http://%5BFiltered%5D@h/a?key=%5BFiltered%5D"


@pytest.mark.parametrize(("name", "mark"), [("html", "Query</h3>"), ("markdown", "```graphql"), ("sarif", "Query:")])  # fmt: skip
def test_queries_stand_a_field_a_line_with_their_variables_apart(name: str, mark: str) -> None:
    body = json.dumps({"query": "query ($id: ID!) { book(id: $id) { id title } }", "variables": {"id": "a"}})  # fmt: skip
    asking = finding(reproduction=f"curl -X POST -d '{body}' http://127.0.0.1:8080/api")
    row = next(row for row in WRITTEN if row.name == name)
    text = written(row, [*records(), asking], (), settings(), CONTEXT)[""].decode()
    shown = html.unescape(text) if name == "html" else text.replace("\\n", "\n").replace('\\"', '"')
    assert mark in shown
    assert 'query ($id: ID!) {\n  book(id: $id) {\n    id\n    title\n  }\n}\n{"id": "a"}' in shown.replace("\xa0", " ")


NOT_OF_FINDINGS = {
    "vcr": "the traffic of the run, in which these requests are",
    "har": "the traffic of the run, in which these requests are",
    "wfc": "its schema has no field for requests",
    "weights": "the seconds of operations alone",
    "archive": "the corpus itself, read by `checker report`",
}
NEED = ResourceMade(
    "/api/users/71", "POST /users", "coverage", 0, 201,
    "curl -X POST -H 'X-Api-Key: hush' -d '{\"name\":\"needed-name\"}' http://127.0.0.1:8080/api/users",
    (Component("body", "positive", ()),),
)  # fmt: skip


@pytest.mark.parametrize("name", [row.name for row in WRITTEN if row.name not in NOT_OF_FINDINGS])
def test_every_format_prints_the_requests_that_a_failure_needs(name: str) -> None:
    row = next(row for row in WRITTEN if row.name == name)
    found = [records()[0], SELECTED, finding(needs=(NEED,))]
    texts = written(row, found, INTERACTIONS, settings(), CONTEXT).values()
    text = html.unescape(b"\n".join(texts).decode())
    assert "needed-name" in text
    assert "hush" not in text


@pytest.mark.parametrize("name", ["json", "markdown", "sarif", "html", "junit", "allure", "ndjson", "annotations"])
def test_reports_name_what_is_masked_in_a_command(name: str) -> None:
    asking = finding(reproduction="curl -X GET 'http://127.0.0.1:8080/api/users?token=hush'")
    found = [records()[0], SELECTED, asking]
    if name == "annotations":
        texts = [
            line.encode() for line in annotations(report_of(fold((1, one) for one in found), settings(), ""), CONTEXT)
        ]
    else:
        row = next(row for row in WRITTEN if row.name == name)
        texts = list(written(row, found, INTERACTIONS, settings(), CONTEXT).values())
    text = b"\n".join(texts)
    assert b"hush" not in text
    assert b"query token" in text


def test_only_formats_that_hold_no_findings_leave_them_out() -> None:
    assert NOT_OF_FINDINGS.keys() <= {row.name for row in WRITTEN}
