import re

import pytest
from msgspec.structs import replace

from checker.commands.options import FUZZ_SETTINGS, RUN_SETTINGS, SETTINGS
from checker.commands.run import masked_command
from checker.config.auth import BasicAuth
from checker.config.filters import FilterSpec
from checker.config.operation_settings import OperationSettings
from checker.core.redact import Redaction

RUN = ("run", "openapi.json")
DEFAULT_CHECKS = OperationSettings().checks


def test_every_working_option_arrives(settings_of) -> None:
    found = settings_of(
        *RUN,
        *("--url", "http://127.0.0.1:8081/api", "-w", "3", "--lanes=4", "-n", "7", "--seed", "11"),
        *("--max-failures", "2", "--continue-on-failure", "--no-shrink", "-H", "X-A: b:c"),
        *("--request-timeout", "1.5", "--wait-for-schema", "2", "--proxy", "http://127.0.0.1:9"),
        *("--tls-verify", "false", "--report", "vcr", "--report-vcr-path", "a/b.yaml"),
        *("--report-preserve-bytes", "--output-sanitize", "no", "--output-truncate", "off"),
        *("--generation-database", "none", "--generation-allow-x00", "0", "--inline"),
        *("--mode", "positive", "--phases", "fuzzing", "--no-color"),
    )
    assert found.location == "openapi.json"
    assert (found.kind, found.target.base_url) == ("run", "http://127.0.0.1:8081/api")
    assert (found.processes.workers, found.processes.lanes, found.common.cases.max_examples, found.seed) == (
        3,
        4,
        7,
        11,
    )
    assert (found.verdict.max_failures, found.common.continue_on_failure, found.common.cases.no_shrink) == (
        2,
        True,
        True,
    )
    assert found.common.headers == (("X-A", "b:c"),)
    assert (found.common.http.timeout_s, found.target.wait_for_schema_s) == (1.5, 2.0)
    assert (found.common.http.proxy, found.common.http.verify) == ("http://127.0.0.1:9", False)
    assert (found.report.files, found.report.preserve_bytes) == ((("vcr", "a/b.yaml"),), True)
    assert (found.report.sanitization.enabled, found.report.truncation.enabled) == (False, False)
    assert (found.sources.database, found.common.cases.allow_x00) == ("none", False)
    assert (found.processes.inline, found.report.color) == (True, False)


def test_a_file_may_ask_for_bytes_though_no_report_keeps_any(settings_of, invoke, folder) -> None:
    assert "--report-preserve-bytes needs" in invoke(*RUN, "--report-preserve-bytes").stderr
    (folder / "checker.toml").write_text("[reports]\npreserve-bytes = true")
    assert settings_of(*RUN).report.preserve_bytes
    assert settings_of(*RUN, "--report", "junit").report.preserve_bytes


@pytest.mark.parametrize("named", ["file", "command line"])
def test_the_key_of_a_certificate_needs_one_wherever_it_is_named(settings_of, invoke, folder, named) -> None:
    file = folder / "checker.toml"
    key = "request-cert-key = 'openapi.json'\n"
    file.write_text(key)
    assert "--request-cert-key needs --request-cert, or `request-cert`" in invoke(*RUN).stderr
    file.write_text("request-cert = 'openapi.json'\n" + (key if named == "file" else ""))
    found = settings_of(*RUN, *(() if named == "file" else ("--request-cert-key", "openapi.json"))).common
    assert (found.http.cert, found.http.cert_key) == ("openapi.json", "openapi.json")


def test_the_place_that_is_given_by_hand_beats_one_of_the_environment(settings_of, invoke, monkeypatch) -> None:
    monkeypatch.setenv("CHECKER_ORIGIN", "http://127.0.0.1:9")
    found = settings_of("run", "openapi.json", "--url", "http://127.0.0.1:8")
    assert (found.target.base_url, found.target.origin) == ("http://127.0.0.1:8", None)
    monkeypatch.setenv("CHECKER_BASE_URL", "http://127.0.0.1:8")
    assert "exclude each other" in invoke("run", "openapi.json").stderr


def test_filters_arrive(settings_of) -> None:
    found = settings_of(*RUN, "--include-method", "get", "--exclude-operation-id-regex=^x", "--exclude-deprecated")
    assert found.selection.filters.specs == (
        FilterSpec("include", "method", "get"),
        FilterSpec("exclude", "operation-id", "^x", True),
        FilterSpec("exclude", "deprecated", ""),
    )


def test_checks_are_chosen_from_comma_lists(settings_of) -> None:
    chosen = settings_of(
        *RUN, "-c", "status_code_conformance,not_a_server_error", "-c", "content_type_conformance"
    ).common.checks
    assert chosen == ("not_a_server_error", "status_code_conformance", "content_type_conformance")
    left = settings_of(*RUN, "--exclude-checks", "status_code_conformance").common.checks
    assert left == tuple(name for name in DEFAULT_CHECKS if name != "status_code_conformance")


def test_the_limit_of_the_response_time_switches_its_check_on_whatever_is_selected(settings_of) -> None:
    assert "max_response_time" not in settings_of(*RUN, "-c", "all").common.checks
    limited = ("--max-response-time", "1.5")
    for options in ((), ("--exclude-checks", "max_response_time")):
        found = settings_of(*RUN, *limited, *options).common
        assert found.checks == (*DEFAULT_CHECKS, "max_response_time")
        assert found.check_settings == {"max_response_time": {"max_response_time": 1.5}}
    alone = settings_of(*RUN, *limited, "--checks", "max_response_time").common
    assert alone.checks == ("max_response_time",)


def test_check_named_on_the_command_line_runs_though_the_file_disables_it(settings_of, folder) -> None:
    (folder / "checker.toml").write_text("[checks.not_a_server_error]\nenabled = false")
    assert "not_a_server_error" not in settings_of(*RUN).common.checks
    assert settings_of(*RUN, "-c", "not_a_server_error").common.checks == ("not_a_server_error",)
    assert settings_of(*RUN, "-c", "all").common.checks == DEFAULT_CHECKS
    left = settings_of(*RUN, "-c", "all", "--exclude-checks", "not_a_server_error").common.checks
    assert left == tuple(name for name in DEFAULT_CHECKS if name != "not_a_server_error")


def test_checks_of_hooks_may_be_named(settings_of, monkeypatch) -> None:
    monkeypatch.setenv("CHECKER_HOOKS", "hooks.py")
    found = settings_of(*RUN, "--checks", "my_check")
    assert (found.common.checks, found.hooks) == (("my_check",), ("hooks.py",))


def test_environment_stands_in_for_options(settings_of, monkeypatch) -> None:
    monkeypatch.setenv("CHECKER_BASE_URL", "http://127.0.0.1:5")
    monkeypatch.setenv("CHECKER_WAIT_FOR_SCHEMA", "3.5")
    found = settings_of(*RUN)
    assert (found.target.base_url, found.target.wait_for_schema_s) == ("http://127.0.0.1:5", 3.5)
    assert settings_of(*RUN, "-u", "http://127.0.0.1:6").target.base_url == "http://127.0.0.1:6"


def test_command_line_beats_the_file_and_headers_merge(settings_of, folder) -> None:
    (folder / "checker.toml").write_text("seed = 1\nworkers = 2\nheaders = { A = 'file', B = 'file' }")
    found = settings_of(*RUN, "--seed", "9", "-H", "a: line")
    assert (found.seed, found.processes.workers) == (9, 2)
    assert found.common.headers == (("a", "line"), ("B", "file"))


def test_command_line_beats_project_tables(settings_of, folder) -> None:
    (folder / "checker.toml").write_text(
        "[[project]]\ntitle = 'Shop'\nrequest-timeout = 3\n[project.generation]\nmax-examples = 5"
    )
    shop = settings_of(*RUN, "-n", "8").for_project("Shop")
    assert (shop.common.cases.max_examples, shop.common.http.timeout_s) == (8, 3.0)


def test_what_the_command_line_names_runs_although_the_file_switches_all_off(settings_of, folder) -> None:
    (folder / "checker.toml").write_text("checks.enabled = false\nphases.enabled = false")
    found = settings_of(*RUN, "-c", "not_a_server_error", "--phases", "fuzzing")
    assert (found.common.checks, found.phases) == (("not_a_server_error",), ("fuzzing",))
    assert settings_of(*RUN, "-c", "all").common.checks == DEFAULT_CHECKS
    assert (settings_of(*RUN).common.checks, settings_of(*RUN).phases) == ((), ())


def test_fuzz_has_its_own_time_limit_and_defaults(settings_of) -> None:
    found = settings_of("fuzz", "openapi.json", "--max-time", "30")
    assert (found.kind, found.max_time_s, found.processes.lanes) == ("fuzz", 30.0, None)


def test_run_has_a_time_limit_too(settings_of) -> None:
    assert settings_of(*RUN, "--max-time", "2.5").max_time_s == 2.5
    assert settings_of(*RUN).max_time_s is None


def test_options_after_an_equals_sign_are_the_same(settings_of) -> None:
    assert settings_of(*RUN, "--seed=4").seed == settings_of(*RUN, "--seed", "4").seed


def test_no_color_before_the_command_counts(settings_of) -> None:
    assert settings_of("--no-color", *RUN).report.color is False
    assert settings_of(*RUN, "--force-color").report.color is True
    assert settings_of(*RUN).report.color is None


def test_options_are_declared_once() -> None:
    for own in (RUN_SETTINGS, FUZZ_SETTINGS):
        flags = [flag for setting in (*own, *SETTINGS) for flag in setting.flags]
        assert len(flags) == len(set(flags))


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["-H", "X-Token: abc"], "checker run -H 'X-Token: [Filtered]'"),
        (["--header=X-Token:abc"], "checker run '--header=X-Token: [Filtered]'"),
        (["-HX-Token:abc"], "checker run '-HX-Token: [Filtered]'"),
        (["-a", "user:password"], "checker run -a 'user: [Filtered]'"),
        (["http://a:b@127.0.0.1/"], "checker run 'http://[Filtered]@127.0.0.1/'"),
        (["--seed", "1"], "checker run --seed 1"),
    ],
)
def test_command_is_shown_without_secrets(arguments: list[str], shown: str) -> None:
    assert masked_command(["/bin/checker", "run", *arguments], Redaction()) == shown


def test_the_debug_output_is_the_ndjson_report(settings_of) -> None:
    found = settings_of("run", "openapi.json", "-u", "http://h", "--debug-output-file", "a.ndjson")
    assert (found.report.files, found.report.keeps_traffic) == ((("ndjson", "a.ndjson"),), True)


def test_several_reports_are_asked_for_at_once(settings_of) -> None:
    options = ("--report", "junit,html", "--report-sarif-path", "x.sarif", "--report-dir", "out")
    found = settings_of("run", "openapi.json", "-u", "http://h", *options)
    assert [name for name, _ in found.report.files] == ["junit", "html", "sarif"]
    assert found.report.files[0][1].startswith("out/junit-")
    assert found.report.files[2][1] == "x.sarif"
    assert not found.report.keeps_traffic


@pytest.mark.parametrize("path", ["a.tgz", "out.gz", "my.tar", "rep.zip", "a.tar.gz", "out/a"])
def test_a_path_in_place_of_a_format_is_one_archive(settings_of, path: str) -> None:
    found = settings_of(*RUN, "--report", f"junit,{path}").report.files
    assert ("archive", path) in found
    assert [name for name, _ in found] == ["junit", "archive"]


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        (("--mode", "Negative"), "positive|negative|all"),
        (("--lanes", "AUTO"), "INTEGER|auto"),
        (("--code-sample-style", "PYTHON"), "curl|python"),
        (("--safety", "READ-ONLY"), "read-only|create-own|full"),
        (("--suppress-health-check", "TOO_SLOW,all"), "LIST"),
        (("--set", "generation.mode=NEGATIVE"), "NAME=VALUE"),
    ],
    ids=" ".join,
)
def test_choices_are_shown_as_they_are_written_and_taken_in_any_case(
    settings_of, invoke, option: tuple[str, str], shown: str
) -> None:
    name, value = option
    lower = replace(settings_of(*RUN, "--seed", "1", name, value.lower()), command="")
    assert replace(settings_of(*RUN, "--seed", "1", name, value), command="") == lower
    assert re.search(rf"{name} {re.escape(shown)}\s", invoke("run", "--help-all").output)


def test_a_near_miss_of_a_format_is_no_path(invoke) -> None:
    refused = invoke(*RUN, "--report", "junitt")
    assert refused.exit_code == 2
    assert "--report: unknown name 'junitt'. Did you mean 'junit'?" in refused.stderr


def test_warnings_are_chosen_by_name(settings_of, invoke) -> None:
    run = ("run", "openapi.json", "-u", "http://h", "--warnings")
    assert settings_of(*run, "off").verdict.warnings.display == ()
    assert settings_of(*run, "missing_auth,unreached").verdict.warnings.display == (*("missing_auth", "unreached"),)
    refused = invoke(*run, "mising_auth")
    assert refused.exit_code == 2
    assert "Did you mean 'missing_auth'?" in refused.stderr


@pytest.mark.parametrize("shown", ["missing_auth", "off"])
def test_warnings_of_the_command_line_are_about_what_is_shown(settings_of, folder, shown: str) -> None:
    (folder / "checker.toml").write_text(
        "[warnings]\nenabled = false\nfail-on = ['missing_test_data']\nlow_valid_rate = { threshold = 0.5 }"
    )
    for found in (
        settings_of(*RUN, "--warnings", shown).verdict.warnings,
        settings_of(*RUN, "--warnings", shown).common.warnings,
    ):
        assert found.display == (() if shown == "off" else (shown,))
        assert (found.fail_on, found.low_valid_rate) == (("missing_test_data",), 0.5)


@pytest.mark.parametrize(
    ("file", "arguments"),
    [
        ("", ("--auth", "u:p", "--set", "auth.basic.type=digest")),
        ('username = "u"\npassword = "p"', ("--set", "auth.basic.type=digest")),
        ('type = "digest"\nusername = "u"\npassword = "x"', ("--set", "auth.basic.password=p")),
        ('type = "digest"\nusername = "x"\npassword = "y"', ("--auth", "u:p")),
    ],
)
def test_keys_of_one_section_may_come_from_several_places(
    settings_of, folder, file: str, arguments: tuple[str, ...]
) -> None:
    if file:
        (folder / "checker.toml").write_text(f"[auth.basic]\n{file}\n")
    found = settings_of(*RUN, *arguments).common.authentication.basic
    assert found == BasicAuth("u", "p", "digest")


@pytest.mark.parametrize("given", ["auth.basic.type=digest", "auth.basic.password=p"])
def test_a_section_that_all_places_together_do_not_fill_is_refused(invoke, given: str) -> None:
    result = invoke(*RUN, "--set", given)
    assert result.exit_code == 2
    assert "Missing required property" in result.output
    assert "'username'" in result.output
