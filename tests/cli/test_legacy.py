"""Options of earlier generations: each acts as today's, and says how that is called."""

from collections.abc import Callable
from typing import Any

import pytest

from checker.commands.legacy import GONE, OPTIONS
from checker.config.settings import RunSettings

RUN = ("run", "openapi.json")
Shows = Callable[[RunSettings], Any]


def patterns(settings: RunSettings) -> list[tuple[str, str]]:
    return [(one.subject, one.value) for one in settings.selection.filters.specs]


def parameters(settings: RunSettings) -> list[tuple[str, Any]]:
    return [(str(one.location), one.path) for one in settings.sources.overrides.parameters]


ROWS: list[tuple[tuple[str, ...], Shows, Any]] = [
    (("-b", "http://127.0.0.1:1"), lambda one: one.target.base_url, "http://127.0.0.1:1"),
    (("--base-url=http://127.0.0.1:1",), lambda one: one.target.base_url, "http://127.0.0.1:1"),
    (("-D", "negative"), lambda one: one.common.cases.modes, ("negative",)),
    (("--data-generation-method", "positive"), lambda one: one.common.cases.modes, ("positive",)),
    (("-x",), lambda one: one.verdict.max_failures, 1),
    (("--exitfirst",), lambda one: one.verdict.max_failures, 1),
    (("-E", "^/a", "--endpoint=b"), patterns, [("path", "(?i:^/a)"), ("path", "(?i:b)")]),
    (("-Mpost",), patterns, [("method", "(?i:post)")]),
    (("--method", "post"), patterns, [("method", "(?i:post)")]),
    (("-T", "pets", "--tag", "x"), patterns, [("tag", "(?i:pets)"), ("tag", "(?i:x)")]),
    (("-O", "get", "--operation-id", "x"), patterns, [("operation-id", "(?i:get)"), ("operation-id", "(?i:x)")]),
    (("--skip-deprecated-operations",), patterns, [("deprecated", "")]),
    (("--set-query", "a=1"), parameters, [("query", ("a",))]),
    (("--set-header", "X-A=1"), parameters, [("header", ("X-A",))]),
    (("--set-cookie", "a=b=c"), parameters, [("cookie", ("a",))]),
    (("--set-path", "id=1"), parameters, [("path", ("id",))]),
    (("--checker-io-url", "http://127.0.0.1:9/in"), lambda one: one.report.upload.url, "http://127.0.0.1:9/in"),
    (("--checker-io-token", "s3cret"), lambda one: one.report.upload.token, "s3cret"),
    (("-t", "response_time"), lambda one: one.common.cases.maximize, ("response_time",)),
    (("--target=all",), lambda one: one.common.cases.maximize, ("response_time",)),
    (("--request-proxy", "http://127.0.0.1:9"), lambda one: one.common.http.proxy, "http://127.0.0.1:9"),
    (("--request-tls-verify=false",), lambda one: one.common.http.verify, False),
    (("--validate-schema", "true"), lambda one: one.documents.validate, True),
    (("--validate-schema", "false"), lambda one: one.documents.validate, False),
    (("--junit-xml", "j.xml"), lambda one: one.report.files, (("junit", "j.xml"),)),
    (("--cassette-path", "c.yaml"), lambda one: one.report.files, (("vcr", "c.yaml"),)),
    (("--store-network-log", "c.yaml"), lambda one: one.report.files, (("vcr", "c.yaml"),)),
    (("--cassette-path", "c.yaml", "--cassette-preserve-exact-body-bytes"), lambda one: one.report.preserve_bytes, True),
    (("--sanitize-output", "false"), lambda one: one.report.sanitization.enabled, False),
    (("--show-trace", "--show-errors-tracebacks"), lambda one: one.location, "openapi.json"),
    (("--force-schema-version", "20"), lambda one: one.documents.version, "2.0"),
    (("--force-schema-version=30",), lambda one: one.documents.version, "3.0"),
    (("--stateful", "none"), lambda one: "stateful" in one.phases, False),
    (("--stateful=links",), lambda one: "stateful" in one.phases, True),
    (("--stateful-recursion-limit", "4"), lambda one: one.sources.sequences.max_steps, 4),
    (("--contrib-unique-data",), lambda one: one.common.cases.unique_inputs, True),
    (("--contrib-openapi-formats-uuid",), lambda one: one.location, "openapi.json"),
    (("--contrib-openapi-fill-missing-examples",), lambda one: one.operations.settled((), "examples").cases.fill_missing, True),
    (("--proptest-database", ":memory:"), lambda one: one.sources.database, ":memory:"),
    (("--proptest-deadline", "500"), lambda one: one.common.check_settings["max_response_time"], {"max_response_time": 0.5}),
    (("--proptest-derandomize",), lambda one: one.seed, 0),
    (("--proptest-max-examples", "7"), lambda one: one.common.cases.max_examples, 7),
    (("--proptest-phases", "explicit,generate"), lambda one: (one.common.cases.no_shrink, one.sources.database), (True, "none")),
    (("--proptest-no-phases", "explicit"), lambda one: "examples" in one.phases, False),
    (("--proptest-phases", "explicit"), lambda one: one.phases, ("examples",)),
    (("--proptest-no-phases", "generate"), lambda one: one.phases, ("examples",)),
    (("--proptest-report-multiple-bugs", "false"), lambda one: (one.common.continue_on_failure, one.verdict.max_failures), (False, None)),
    (("--proptest-seed", "5"), lambda one: one.seed, 5),
    (("--proptest-suppress-health-check", "return_value"), lambda one: one.location, "openapi.json"),
    (("--proptest-suppress-health-check", "filter_too_much,return_value"), lambda one: one.verdict.warnings.shows("left_out"), False),
    (("--suppress-health-check", "too_slow"), lambda one: (one.verdict.warnings.shows("killed"), one.verdict.warnings.shows("left_out")), (False, True)),
    (("--suppress-health-check", "all"), lambda one: one.verdict.warnings.silenced, ("left_out", "killed")),
    (("--proptest-verbosity", "quiet"), lambda one: one.report.max_shown, 0),
    (("--proptest-verbosity=debug",), lambda one: one.report.truncation.enabled, False),
    (("-v", "--verbosity"), lambda one: one.report.truncation.enabled, False),
]  # fmt: skip


@pytest.mark.parametrize(("options", "shows", "expected"), ROWS, ids=[" ".join(row[0]) for row in ROWS])
def test_each_acts_as_what_it_is_today(
    settings_of: Callable[..., RunSettings], options: tuple[str, ...], shows: Shows, expected: Any
) -> None:
    assert shows(settings_of(*RUN, *options)) == expected


def test_each_has_a_row() -> None:
    told = {option.partition("=")[0] for options, *_ in ROWS for option in options}
    told |= {option[:2] for options, *_ in ROWS for option in options if option[:2] != "--"}
    assert OPTIONS.keys() <= told


def test_a_hint_says_how_it_is_called_today(invoke, settings_of) -> None:
    settings_of(*RUN)
    result = invoke(*RUN, "-E", "^/a")
    assert result.stderr == "Hint: -E is now: --include-path-regex (?i:^/a)\n"


@pytest.mark.parametrize(
    "options",
    [
        ("--set-header", "Authorization=s3c=ret"),
        ("--checker-io-token", "s3c=ret"),
        ("--request-proxy", "http://user:s3c=ret@127.0.0.1:9"),
    ],
)
def test_a_hint_tells_no_secret(invoke, settings_of, options: tuple[str, ...]) -> None:
    settings_of(*RUN)
    result = invoke(*RUN, *options)
    assert result.stderr.startswith(f"Hint: {options[0]} is now: --")
    assert "s3c" not in result.stderr
    assert "ret" not in result.stderr


@pytest.mark.parametrize("option", GONE)
def test_what_does_nothing_says_so_in_a_sentence(invoke, settings_of, option: str) -> None:
    settings_of(*RUN)
    takes_value, _ = GONE[option]
    value = {"--experimental": "openapi-3.1", "--fixups": "fast_api"}.get(option, "value")
    result = invoke(*RUN, option, *((value,) if takes_value else ()))
    assert result.exit_code == 0
    assert result.stderr.startswith(f"Hint: {option} does nothing: ")


def test_the_file_of_a_hosted_platform_is_named_as_unused(invoke, settings_of, monkeypatch) -> None:
    monkeypatch.setenv("CHECKER_HOSTS_PATH", "hosts.toml")
    settings_of(*RUN)
    assert invoke(*RUN).stderr.startswith("Hint: CHECKER_HOSTS_PATH does nothing: ")


@pytest.mark.parametrize(("value", "formats"), [("true", ["archive"]), ("FALSE", []), ("junit", ["junit"])])
def test_the_variable_for_reports_may_be_a_switch(settings_of, monkeypatch, value: str, formats: list[str]) -> None:
    monkeypatch.setenv("CHECKER_REPORT", value)
    assert [name for name, _ in settings_of(*RUN).report.files] == formats


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--stateful", "deep"), "choose from none, links"),
        (("--force-schema-version", "31"), "choose from 20, 30"),
        (("--proptest-phases", "sing"), "choose from explicit, reuse"),
        (("--set-query", "a"), "give NAME=VALUE"),
        (("--proptest-deadline", "soon"), "give a number"),
        (("--validate-schema", "maybe"), "choose from true, false"),
        (("-E",), "requires an argument"),
        (("--proptest-max-examples", "0"), "Must be at least 1"),
        (("--fixups", "zzz"), "choose from fast_api, utf8_bom, all; got 'zzz'"),
        (("--experimental=zzz",), "choose from openapi-3.1, schema-analysis"),
    ],
)
def test_bad_values_have_one_sentence(invoke, options: tuple[str, ...], message: str) -> None:
    result = invoke(*RUN, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_values_of_other_options_are_left_alone(settings_of) -> None:
    found = settings_of(*RUN, "-H", "-E: x", "--header", "X-B: 1", "--include-path", "-x")
    assert found.common.headers == (("-E", "x"), ("X-B", "1"))
    assert patterns(found) == [("path", "-x")]


def test_modules_before_the_command_are_hooks(settings_of, folder) -> None:
    (folder / "mine.py").write_text("")
    assert settings_of("--pre-run", "mine", *RUN).hooks == ("mine",)


def test_any_key_can_be_set(settings_of) -> None:
    found = settings_of(
        *RUN,
        *("--set", "phases.stateful.max-steps=3", "--set", "generation.mode=negative"),
        *("--set", 'headers.X-A="1"', "--set", "headers.X-B=b", "--set", "checks.enabled=false"),
    )
    assert found.sources.sequences.max_steps == 3
    assert found.common.cases.modes == ("negative",)
    assert found.common.headers == (("X-A", "1"), ("X-B", "b"))
    assert found.common.checks == ()


@pytest.mark.parametrize("text", ["nothing", "no.such=1", "seed=a", "=1", "a b=1"])
def test_a_key_that_is_wrong_is_named(invoke, text: str) -> None:
    result = invoke(*RUN, "--set", text)
    assert result.exit_code == 2
    assert "--set" in result.stderr


@pytest.mark.parametrize("option", ["-v", "--stateful=links"])
def test_a_command_without_the_current_option_does_not_know_the_old_one(invoke, option: str) -> None:
    result = invoke("replay", option)
    assert result.exit_code == 2
    assert "Hint" not in result.stderr
    assert f"No such option '{option.partition('=')[0]}'." in result.stderr
