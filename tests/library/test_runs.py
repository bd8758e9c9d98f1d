"""Whole runs from Python: results, records one by one, stopping."""

import json
from typing import Any

import pytest
from junitparser import JUnitXml

import checker
from checker.corpus.records import Finding, RunFinished, RunStarted, SchemaOpened
from tests.cassettes import interactions_of

OK = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Shop", "version": "1"},
    "paths": {"/good": {"get": {"responses": OK}}, "/bad": {"get": {"responses": OK}}},
}
CONFIG = {"generation": {"max-examples": 5, "database": "none"}, "checks": {}}


def app(environ, start):
    if environ["PATH_INFO"] == "/openapi.json":
        start("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(DOCUMENT).encode()]
    is_bad = environ["PATH_INFO"] == "/bad"
    start("500 Oh" if is_bad else "200 OK", [("Content-Type", "application/json")])
    return [b"{}"]


def loaded() -> Any:
    config = checker.Config.from_dict(CONFIG, environment={})
    config.phases.update(phases=["fuzzing"])
    config.checks.update(included_check_names=["not_a_server_error"])
    return checker.openapi.from_wsgi("/openapi.json", app, config=config)


def test_records_come_one_by_one() -> None:
    kinds = [type(one) for one in checker.engine.from_schema(loaded()).execute()]
    assert (kinds[0], kinds[-1]) == (RunStarted, RunFinished)
    assert SchemaOpened in kinds
    assert Finding in kinds


def test_the_result_holds_the_findings() -> None:
    result = checker.engine.from_schema(loaded()).execute().finish()
    assert [(one.label, one.check) for one in result.findings] == [("GET /bad", "not_a_server_error")]
    assert (result.exit_code, result.passed, result.errors) == (1, False, ())
    assert 0 < result.cases < result.requests
    # Where a test of a user asserts that there are none.
    (found,) = result.findings
    assert repr(found).startswith("<Finding not_a_server_error of GET /bad: Server error; curl ")
    assert repr(result).startswith("RunResult(exit_code=1, findings=[<Finding ")
    assert len(repr(result)) < 300


def test_only_selected_operations_are_run() -> None:
    result = checker.engine.from_schema(loaded().include(path="/good")).execute().finish()
    assert (result.exit_code, result.findings, result.passed) == (0, (), True)


def test_a_run_is_stopped() -> None:
    schema = loaded()
    # Far more than are made until somebody looks whether the run is to stop.
    schema.config.generation.update(max_examples=100_000)
    stream = checker.engine.from_schema(schema).execute()
    records = iter(stream)
    next(records)
    stream.stop()
    assert isinstance(list(records)[-1], RunFinished)
    assert stream.finish().exit_code == 130


def test_only_schemas_are_run() -> None:
    with pytest.raises(checker.errors.IncorrectUsage, match="takes a loaded schema, got 1"):
        checker.engine.from_schema(1)  # type: ignore[arg-type]
    with pytest.raises(checker.errors.IncorrectUsage, match="no operation is selected"):
        checker.engine.from_schema(loaded().include(path="/none")).execute()


def test_a_location_is_run(api, tmp_path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(DOCUMENT))
    api.status = 500
    config = checker.Config.from_dict({**CONFIG, "base-url": api.url}, environment={})
    config.phases.update(phases=["fuzzing"])
    config.checks.update(included_check_names=["not_a_server_error"])
    result = checker.run(str(tmp_path / "openapi.json"), config=config)
    assert sorted(one.label for one in result.findings) == ["GET /bad", "GET /good"]
    assert result.exit_code == 1
    assert all(one.investigation.reproduction.startswith("curl -X GET") for one in result.findings)


def test_configured_reports_are_written_with_what_was_sent(tmp_path) -> None:
    schema = loaded()
    cassette, table = tmp_path / "out/all.yaml", tmp_path / "out/junit.xml"
    schema.config.reports.update(vcr_path=str(cassette), junit_path=str(table))
    result = checker.run(schema)
    assert (result.exit_code, result.error) == (1, "")
    assert len(interactions_of(cassette)) == result.requests
    suite = next(iter(JUnitXml.fromfile(str(table))))
    assert (suite.tests, suite.failures) == (2, 1)


def test_a_report_that_cannot_be_written_is_told_before_anything_is_sent(tmp_path) -> None:
    schema = loaded()
    schema.config.reports.update(junit_path=str(tmp_path))
    with pytest.raises(checker.errors.UsageError, match="it is a directory"):
        checker.run(schema)


def test_coverage_that_is_demanded_fails_a_run_from_python() -> None:
    schema = loaded()
    schema.config.checks.update(included_check_names=["response_headers_conformance"])
    schema.config.update(fail_under_operations=50)
    assert (checker.run(schema).exit_code, checker.run(schema).findings) == (0, ())
    schema.config.update(fail_under_operations=51)
    assert (checker.run(schema).exit_code, checker.run(schema).findings) == (1, ())


def test_exploration_ends_with_its_first_failure(api, tmp_path) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(DOCUMENT))
    api.status = 500
    config = checker.Config.from_dict({**CONFIG, "base-url": api.url}, environment={})
    config.checks.update(included_check_names=["not_a_server_error"])
    assert checker.fuzz(str(tmp_path / "openapi.json"), config=config).exit_code == 1


def test_checks_of_this_process_judge(api, tmp_path) -> None:
    @checker.check
    def never(ctx, response, case) -> None:
        raise AssertionError("never")

    schema = loaded().include(path="/good")
    schema.config.checks.update(included_check_names=["never"])
    result = checker.engine.from_schema(schema).execute().finish()
    assert {one.check for one in result.findings} == {"never"}


def test_what_cannot_be_opened_is_told(tmp_path) -> None:
    (tmp_path / "openapi.json").write_text("{}")
    config = checker.Config.from_dict({"base-url": "http://127.0.0.1:9"}, environment={})
    with pytest.raises(checker.errors.LoaderError, match="Unable to determine the Open API version"):
        checker.run(str(tmp_path / "openapi.json"), config=config)


def test_a_run_leaves_no_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    schema = checker.openapi.from_dict(DOCUMENT, config=loaded().config)
    schema.config.update(base_url="http://127.0.0.1:1")
    stream = checker.engine.from_schema(schema).execute()
    assert list(tmp_path.glob("checker-*")) == []
    assert stream.finish().exit_code != 0
    assert list(tmp_path.glob("checker-*")) == []
