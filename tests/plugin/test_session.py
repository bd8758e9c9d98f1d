"""What a session leaves behind: reports, and the last word of classes of checks."""

import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from tests.cassettes import interactions_of

CONFIGURED = """
schema.config.reports.update(vcr_path="out/cassette.yaml", junit_path="out/junit.xml",
                             har_path="out/all.har", ndjson_path="out/events.ndjson")
"""
BY_CHANCE = """
from hypothesis import HealthCheck
settings.register_profile(
    "chance", derandomize=False, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile("chance")
"""
ALL = (
    CONFIGURED
    + """
@schema.parametrize()
def test_api(case):
    case.call_and_validate()
"""
)


def interactions(folder: Path) -> Any:
    return interactions_of(folder / "out/cassette.yaml")


def test_reports_are_written_when_the_session_ends(run, pytester) -> None:
    result = run(ALL)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*= Reports =*", "VCR: out/cassette.yaml"])
    found = interactions(pytester.path)
    assert {one["request"]["method"] for one in found} == {"GET", "POST", "DELETE"}
    by_status = {one["response"]["status"]["code"]: one for one in found}
    assert {(one["name"], one["status"]) for one in by_status["500"]["checks"]} >= {
        ("not_a_server_error", "FAILURE"),
        ("content_type_conformance", "SUCCESS"),
    }
    assert by_status["200"]["phase"]["name"] == "fuzzing"
    suite = next(iter(JUnitXml.fromfile(str(pytester.path / "out/junit.xml"))))
    assert (suite.name, suite.tests, suite.failures) == ("checker", 4, 1)
    archive = json.loads((pytester.path / "out/all.har").read_text())
    assert len(archive["log"]["entries"]) == len(found)
    events = [json.loads(one) for one in (pytester.path / "out/events.ndjson").read_text().splitlines()]
    assert next(iter(events[-1])) == "EngineFinished"


def test_each_call_is_one_interaction(run, pytester) -> None:
    text = (
        CONFIGURED
        + """
@schema.include(path="/users").parametrize()
@settings(max_examples=1)
def test_api(case):
    response = case.call()
    case.validate_response(response)
    case.call()
"""
    )
    run(text).assert_outcomes(passed=1)
    first, second = interactions(pytester.path)[:2]
    assert (first["status"], second["status"]) == ("SUCCESS", "SKIP")
    assert first["checks"]
    assert not second["checks"]


@pytest.mark.thorough
def test_processes_of_xdist_write_one_report(run, pytester) -> None:
    result = run(BY_CHANCE + ALL, "--no-usual", "-p", "no:cacheprovider", "-n", "1")
    result.assert_outcomes(passed=3, failed=1)
    assert len(_shown(result, "Seed: ")) == 1
    result.stdout.fnmatch_lines(["VCR: out/cassette.yaml"])
    found = interactions(pytester.path)
    assert {one["request"]["method"] for one in found} == {"GET", "POST", "DELETE"}
    suite = next(iter(JUnitXml.fromfile(str(pytester.path / "out/junit.xml"))))
    assert (suite.tests, suite.failures) == (4, 1)


@pytest.mark.thorough
def test_reports_say_what_they_lack_of_a_process_of_xdist_that_crashed(run) -> None:
    text = CONFIGURED + CLASS + "    import os; case.operation.path == '/users/{id}' and os._exit(3)\n"
    result = run(text, "--no-usual", "-p", "no:cacheprovider", "-n", "1")
    result.stdout.fnmatch_lines(
        [
            "AtMost: `after_run` was not called, since each process of pytest-xdist saw a part",
            "*= Reports =*",
            "Processes that crashed: 1; what they had sent is not in the reports",
        ]
    )


def test_without_configured_reports_there_are_none(run, pytester) -> None:
    result = run("@schema.parametrize()\ndef test_api(case):\n    case.call()\n")
    result.stdout.no_fnmatch_line("*Reports*")
    assert not (pytester.path / "out").exists()


def test_a_report_that_cannot_be_written_is_told(run, pytester) -> None:
    (pytester.path / "out").write_text("a file")
    result = run(ALL)
    result.stdout.fnmatch_lines(["out/cassette.yaml: the vcr report cannot be written: *"])


CLASS = """
@checker.check
class AtMost:
    made = 0

    def __init__(self, most=2):
        type(self).made += 1
        self.most, self.seen = most, 0

    def after_response(self, ctx, response, case):
        self.seen += 1

    def after_run(self, ctx):
        assert type(self).made == 1
        assert self.seen <= self.most, f"{self.seen} responses"

@schema.exclude(method="DELETE").parametrize()
def test_api(case):
    case.call_and_validate()
"""


def test_classes_of_checks_have_the_last_word(run) -> None:
    result = run(CLASS)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*= Checks of the whole session =*", "AtMost: *responses*"])


def test_classes_of_checks_have_the_last_word_also_if_no_response_was_judged(run) -> None:
    text = CLASS.replace("self.seen <= self.most", "self.seen").replace("case.call_and_validate()", "case.call()")
    result = run(text)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["AtMost: 0 responses*"])


def test_a_last_word_that_is_no_failure_says_where_it_was_raised(run) -> None:
    result = run(CONFIGURED + CLASS.replace("self.seen <= self.most", "self.seen <= self.mots"))
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["*test_a_last_word*.py*, in after_run", "check AtMost raised AttributeError: *", "VCR: out/cassette.yaml"]
    )


def test_a_content_class_of_checks_says_nothing(run) -> None:
    result = run(CLASS.replace("most=2", "most=1000"))
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*whole session*")


SHOWN = (
    BY_CHANCE
    + """
# For several failures Hypothesis would go on for ten seconds, however many cases that are.
@schema.include(path="/users/{id}").parametrize()
@settings(report_multiple_bugs=False)
def test_api(case):
    print("id:", case.path_parameters["id"])
    assert case.method != "DELETE"
"""
)


def _shown(result: pytest.RunResult, start: str) -> list[str]:
    return [line for line in result.outlines if line.startswith(start)]


def test_the_seed_that_a_session_prints_repeats_its_cases(run) -> None:
    first = run(SHOWN, "-rA")
    (told,) = _shown(first, "Seed: ")
    again = run(SHOWN, "-rA", "--hypothesis-seed", told.removeprefix("Seed: "))
    assert _shown(again, "Seed: ") == [told]
    assert sorted(_shown(again, "id:")) == sorted(_shown(first, "id:")) != []


@pytest.mark.thorough
def test_seeds_that_tests_ask_for_are_those_that_are_printed(run) -> None:
    text = (
        BY_CHANCE
        + """
from hypothesis import seed
schema.config.update(seed=5)
@schema.include(method="DELETE").parametrize()
def test_configured(case):
    case.call_and_validate()
@schema.include(method="DELETE").parametrize()
@seed(6)
def test_own(case):
    case.call_and_validate()
@schema.include(method="DELETE").parametrize()
@settings(derandomize=True)
def test_derandomized(case):
    case.call_and_validate()
"""
    )
    assert _shown(run(text), "Seed") == ["Seeds: 5, 6"]
    assert _shown(run(text, "--hypothesis-seed=7"), "Seed") == ["Seeds: 7, 6"]
    alone = text.replace("schema.config.update(seed=5)\n", "")
    assert _shown(run(alone, "-k", "derandomized"), "Seed") == []


def test_sequences_have_the_seed_of_the_configuration_and_reports(run, pytester) -> None:
    text = """
schema.config.update(seed=5)
DOCUMENT["paths"]["/users"]["get"]["responses"]["200"]["links"] = {
    "one": {"operationId": "getUser", "parameters": {"id": "$response.body#/id"}}}
schema = checker.openapi.from_wsgi("/openapi.json", app, config=schema.config)
class Shown(schema.as_state_machine()):
    def after_call(self, response, case):
        print("id:", case.path_parameters)
TestShown = Shown.TestCase
"""
    first, second = (run(CONFIGURED + text, "-rA") for _ in range(2))
    assert _shown(first, "id:") == _shown(second, "id:") != []
    assert _shown(first, "Seed") == ["Seed: 5"]
    assert interactions(pytester.path)


SECURED = """
import checker
from tests.apps.http import Reply
from tests.apps.serving import serving

limit = {{"name": "limit", "in": "query", "schema": {{"type": "integer"}}}}
operation = {{"parameters": [limit], "responses": {{"200": {{"description": ""}}, "401": {{"description": ""}}}}}}
document = {{"openapi": "3.0.3", "info": {{"title": "T", "version": "1"}}, "paths": {{"/a": {{"get": operation}}}}}}
held = serving(lambda request: Reply({status}), document)
app = held.__enter__()
schema = checker.openapi.from_url(app.document_url)

@schema.parametrize()
def test_api(case):
    case.call()
"""


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize(("status", "is_said"), [(401, True), (403, True), (200, False)])
def test_a_session_that_was_refused_says_so(pytester: pytest.Pytester, status: int, is_said: bool) -> None:
    pytester.makepyfile(SECURED.format(status=status))
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert ("responses were 401 or 403: the tests show nothing about the API" in result.stdout.str()) == is_said


ALLURE = """
import allure, json
from pathlib import Path
from httpx import URL
schema.config.reports.update(allure_path="out/allure")

@schema.parametrize()
def test_api(case):
    allure.dynamic.title(f"Call {case.method}")
    allure.dynamic.description("What it does")
    allure.dynamic.severity(allure.severity_level.MINOR)
    allure.dynamic.tag("smoke", "nightly")
    allure.dynamic.feature("Billing")
    allure.dynamic.issue("https://bugs.example/1", name="Bug 1")
    allure.link(URL("https://example.com/docs"))
    allure.dynamic.parameter("region", 7)
    allure.attach("a note", name=Path("note"), attachment_type=allure.attachment_type.TEXT)
    allure.attach(b"\\x89PNG", name="picture", attachment_type=allure.attachment_type.PNG)
    case.call_and_validate()

def test_between():
    allure.dynamic.title("Not of an operation")

@schema.include(path="/orders").parametrize()
def test_more(case):
    allure.dynamic.tag("orders")
    case.call()
"""


@pytest.mark.thorough
@pytest.mark.parametrize("options", [(), ("--no-usual", "-p", "no:cacheprovider", "-n", "2")], ids=["alone", "xdist"])
def test_calls_of_allure_reach_the_result_of_their_operation(run, pytester, options) -> None:
    result = run(ALLURE, *options)
    result.assert_outcomes(passed=5, failed=1)
    folder = pytester.path / "out/allure"
    results = [json.loads(path.read_text()) for path in folder.glob("*-result.json")]
    assert sorted(one["name"] for one in results) == ["Call DELETE", "Call GET", "Call GET", "Call POST"]
    found = next(one for one in results if one["name"] == "Call POST")
    assert found["description"] == "What it does"
    labels = [(one["name"], one["value"]) for one in found["labels"]]
    assert {("severity", "minor"), ("tag", "smoke"), ("tag", "nightly"), ("tag", "orders")} <= set(labels)
    assert [value for name, value in labels if name == "feature"] == ["Billing"]
    assert [value for name, value in labels if name == "story"] == ["POST /orders"]
    assert {(one["name"], one["type"]) for one in found["links"]} == {
        ("Bug 1", "issue"),
        ("https://example.com/docs", "link"),
    }
    assert found["parameters"] == [{"name": "region", "value": "7"}]
    contents = {one["name"]: (one["type"], (folder / one["source"]).read_bytes()) for one in found["attachments"]}
    assert contents == {"note": ("text/plain", b"a note"), "picture": ("image/png", b"\x89PNG")}


HEADERS = """
import allure
schema.config.update(headers={"Authorization": "Bearer t0p-s3cret", "X-Tenant": "acme-north"})
schema.config.reports.update(allure_path="out/allure", vcr_path="out/cassette.yaml")

@schema.include(path="/orders").parametrize()
@settings(max_examples=1)
def test_api(case):
    allure.dynamic.parameter("header", "Bearer t0p-s3cret")
    allure.attach("It was t0p-s3cret", name="note", attachment_type=allure.attachment_type.TEXT)
    allure.attach(b"\\x89 t0p-s3cret", name="picture", attachment_type=allure.attachment_type.PNG)
    case.call()
"""


def test_reports_hide_configured_credentials_and_show_other_headers(run, pytester) -> None:
    run(HEADERS).assert_outcomes(passed=1)
    headers = interactions(pytester.path)[0]["request"]["headers"]
    assert (headers["Authorization"], headers["X-Tenant"]) == (["[Filtered]"], ["acme-north"])
    folder = pytester.path / "out/allure"
    (result,) = (json.loads(path.read_text()) for path in folder.glob("*-result.json"))
    assert result["parameters"] == [{"name": "header", "value": "[Filtered]"}]
    contents = [(folder / one["source"]).read_bytes() for one in result["attachments"]]
    assert contents == [b"It was [Filtered]", b"\x89 [Filtered]"]
