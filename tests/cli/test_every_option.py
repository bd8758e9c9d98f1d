"""Every option of `run` and `fuzz`: what a good value comes to, and what is said of a bad one. A new option needs a row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
import pytest

from checker.commands.options import RUN_SETTINGS, SETTINGS
from checker.commands.run import fuzz, run
from checker.config.auth import BASIC
from checker.config.settings import RunSettings
from checker.config.table import COVERED
from checker.core.reports import REPORT_FORMATS
from tests.asking import changed

Shows = Callable[[RunSettings], Any]
RUN = ("run", "openapi.json")


@dataclass(frozen=True)
class Row:
    """One option."""

    good: tuple[str, ...]
    """Its arguments after its name; those of other options that it needs may follow."""
    shows: Shows
    expected: Any
    bad: str | None = None
    """A value that is refused; None where any value is good, and for flags."""
    message: str = ""


def checks(settings: RunSettings) -> tuple[str, ...]:
    return settings.common.checks


def check_setting(name: str) -> Shows:
    return lambda settings: settings.common.check_settings.get(name)


def wfc_user(settings: RunSettings) -> str | None:
    asked = settings.common.authentication.wfc
    return None if asked is None else asked.user


ROWS: dict[str, Row] = {
    "--force-color": Row((), lambda one: one.report.color, True),
    "--no-color": Row((), lambda one: one.report.color, False),
    "--phases": Row(("fuzzing",), lambda one: one.phases, ("fuzzing",), "walking", "unknown name 'walking'"),
    "--checks": Row(("not_a_server_error",), checks, ("not_a_server_error",), "no_such", "unknown name 'no_such'"),
    "--exclude-checks": Row(("ignored_auth",), lambda one: "ignored_auth" in one.common.checks, False, "no_such", "unknown name"),
    "--report": Row(("junit", "--report-dir", "r"), lambda one: [name for name, _ in one.report.files], ["junit"], "paper", "unknown name 'paper'"),
    "--header": Row(("X-A: b",), lambda one: one.common.headers, (("X-A", "b"),), "nothing", "KEY:VALUE"),
    "--auth": Row(("u:p",), lambda one: one.common.headers[0][0], "Authorization", "nobody", "USER:PASSWORD"),
    "--auth-type": Row(("digest", "-a", "u:p"), lambda one: one.common.authentication.is_digest, True, "oath", "Valid values are"),
    "--auth-wfc": Row(("wfc.json",), lambda one: bool(one.auth.wfc), True, "no.json", "no.json"),
    "--auth-wfc-user": Row(("anna", "--auth-wfc", "wfc.json"), wfc_user, "anna"),
    "--max-examples": Row(("7",), lambda one: one.common.cases.max_examples, 7, "0", "at least 1"),
    "--no-shrink": Row((), lambda one: one.common.cases.no_shrink, True),
    "--max-time": Row(("9",), lambda one: one.max_time_s, 9.0, "0", "greater than 0"),
    "--shard": Row(("3/8",), lambda one: one.selection.shard and str(one.selection.shard), "3/8", "3/2", "number of a shard"),
    "--shard-weights": Row(
        ("weights.json", "--shard", "3/8"), lambda one: one.selection.shard and one.selection.shard.weights, (("GET /a", 2.5),), "no.json", "no.json"
    ),
    "--corpus": Row((), lambda one: one.corpus.is_recalled, True),
    "--max-memory": Row(("2GiB",), lambda one: one.processes.max_memory_bytes, 2 << 30, "2 gigs", "Must be a number of bytes"),
    "--max-disk": Row(("512m",), lambda one: one.corpus.max_bytes, 512 << 20, "0", "at least 1"),
    "--changed-since": Row(("old.json",), lambda one: one.selection.changed_since, "old.json"),
    "--with-dependents": Row(("--changed-since", "old.json"), lambda one: one.selection.with_dependents, True),
    "--url": Row(("http://127.0.0.1:1/a",), lambda one: one.target.base_url, "http://127.0.0.1:1/a", "ftp://x", "absolute http(s) URL"),
    "--origin": Row(("http://127.0.0.1:1",), lambda one: one.target.origin, "http://127.0.0.1:1", "http://127.0.0.1:1/path", "scheme, host and port alone"),
    "--workers": Row(("3",), lambda one: one.processes.workers, 3, "65", "at most 64"),
    "--lanes": Row(("3",), lambda one: one.processes.lanes, 3, "none", "auto"),
    "--max-workers": Row(("9", "--workers", "auto", "--cluster", "auto"), lambda one: one.processes.workers, 9, "1001", "at most 1000"),
    "--cluster": Row(("auto",), lambda one: one.processes.cluster, "auto", "ray://x", "'ray://HOST:PORT'"),
    "--seed": Row(("5",), lambda one: one.seed, 5, "five", "an integer"),
    "--max-failures": Row(("2",), lambda one: one.verdict.max_failures, 2, "0", "at least 1"),
    "--continue-on-failure": Row((), lambda one: one.common.continue_on_failure, True),
    "--wait-for-schema": Row(("2",), lambda one: one.target.wait_for_schema_s, 2.0, "0.5", "at least 1"),
    "--safety": Row(("read-only",), lambda one: one.target.safety, "read-only", "bold", "Valid values are"),
    "--request-timeout": Row(("3",), lambda one: one.common.http.timeout_s, 3.0, "0", "greater than 0"),
    "--proxy": Row(("http://127.0.0.1:9",), lambda one: one.common.http.proxy, "http://127.0.0.1:9", "nowhere", "absolute http(s) URL"),
    "--tls-verify": Row(("false",), lambda one: one.common.http.verify, False, "no-such-file", "existing file or folder"),
    "--rate-limit": Row(("5/m",), lambda one: one.common.http.rate, "5/m", "fast", "requests per time"),
    "--max-redirects": Row(("0",), lambda one: one.common.http.max_redirects, 0, "-1", "at least 0"),
    "--request-retries": Row(("2",), lambda one: one.common.http.retries, 2, "-1", "at least 0"),
    "--request-cert": Row(("openapi.json",), lambda one: one.common.http.cert, "openapi.json", "no.pem", "existing file"),
    "--request-cert-key": Row(("openapi.json", "--request-cert", "openapi.json"), lambda one: one.common.http.cert_key, "openapi.json", "no.pem", "existing file"),
    "--suppress-health-check": Row(("all",), lambda one: bool(one.verdict.warnings.silenced), True, "flu", "Valid values are"),
    "--warnings": Row(("missing_auth",), lambda one: one.verdict.warnings.display, ("missing_auth",), "no_such", "name of a warning"),
    "--mode": Row(("negative",), lambda one: one.common.cases.modes, ("negative",), "both", "Valid values are"),
    "--generation-allow-x00": Row(("no",), lambda one: one.common.cases.allow_x00, False, "maybe", "a boolean"),
    "--generation-codec": Row(("ascii",), lambda one: one.common.cases.codec, "ascii", "klingon", "known codec"),
    "--generation-deterministic": Row((), lambda one: one.seed, 0),
    "--generation-with-security-parameters": Row(("off",), lambda one: one.common.cases.security_parameters, False, "maybe", "a boolean"),
    "--generation-graphql-allow-null": Row(("f",), lambda one: one.common.cases.graphql_allow_null, False, "maybe", "a boolean"),
    "--generation-database": Row((":memory:",), lambda one: one.sources.database, ":memory:"),
    "--generation-maximize": Row(("response_time",), lambda one: one.common.cases.maximize, ("response_time",)),
    "--generation-unique-inputs": Row((), lambda one: one.common.cases.unique_inputs, True),
    "--max-response-time": Row(("0.5",), check_setting("max_response_time"), {"max_response_time": 0.5}, "0", "greater than 0"),
    "--upload-url": Row(("http://127.0.0.1:9/in",), lambda one: one.report.upload.url, "http://127.0.0.1:9/in", "nowhere", "absolute http(s) URL"),
    "--upload-token": Row(("t0ken",), lambda one: one.report.upload.token, "t0ken", "a\nb", "Must not hold CR"),
    "--report-dir": Row(("r", "--report", "junit"), lambda one: one.report.files[0][1][:2], "r/"),
    "--report-preserve-bytes": Row(("--report", "vcr"), lambda one: one.report.preserve_bytes, True),
    "--debug-output-file": Row(("e",), lambda one: one.report.files, (("ndjson", "e"),)),
    "--output-sanitize": Row(("false",), lambda one: one.report.sanitization.enabled, False, "maybe", "a boolean"),
    "--output-truncate": Row(("false",), lambda one: one.report.truncation.enabled, False, "maybe", "a boolean"),
    "--live-port": Row(("0",), lambda one: one.report.live_port, 0, "65536", "at most 65535"),
    "--max-shown": Row(("3",), lambda one: one.report.max_shown, 3, "-1", "at least 0"),
    "--exclude-deprecated": Row((), lambda one: one.selection.filters.specs[0].subject, "deprecated"),
    "--app": Row(("a:b",), lambda one: one.target.app, "a:b", "a", "module:variable"),
    "--dry-run": Row((), lambda one: (one.target.transport, one.common.checks), ("checker.transport.applications:nothing_sent", ())),
    "--set": Row(("seed=4",), lambda one: one.seed, 4, "nothing", "NAME=VALUE"),
    **{
        f"--report-{row.name}-path": Row(("p",), lambda one: one.report.files[0][1], "p")
        for row in REPORT_FORMATS.values()
        if row.writer is not None
    },
    **{
        f"--{verb}-{subject}": Row(("a",), lambda one: [(x.verb, x.subject, x.value, x.is_regex) for x in one.selection.filters.specs], [(verb, subject, "a", False)])
        for verb in ("include", "exclude")
        for subject in ("path", "method", "name", "tag", "operation-id")
    },
    **{
        f"--{verb}-{subject}-regex": Row(("^a",), lambda one: [(x.verb, x.subject, x.value, x.is_regex) for x in one.selection.filters.specs], [(verb, subject, "^a", True)], "(", "regular expression")
        for verb in ("include", "exclude")
        for subject in ("path", "method", "name", "tag", "operation-id")
    },
    **{
        f"--{verb}-by": Row(("/x == 1",), lambda one: one.selection.filters.specs[0].verb, verb, "/x", "==")
        for verb in ("include", "exclude")
    },
}  # fmt: skip
ROWS |= {
    f"--fail-under-{name.replace('_', '-')}": Row(("50",), lambda one: list(one.verdict.fail_under.values()), [50], "101", "at most 100")
    for name in COVERED
}  # fmt: skip
ELSEWHERE = {
    "--help-all": "tests/cli/test_config_command.py",
    "--code-sample-style": "tests/reporting",
    "--baseline": "tests/reporting and tests/cli",
    "--baseline-update": "tests/reporting and tests/cli",
    "--baseline-prune": "tests/reporting and tests/cli",
    "--compare": "tests/reporting and tests/cli",
    "--stop-when-saturated": "tests/e2e/test_fuzz_shares.py",
}
"""Options whose effect has tests of its own."""


def options(command: click.Command) -> set[str]:
    return {one.opts[-1] for one in command.params if isinstance(one, click.Option) and not one.hidden}


def test_every_option_has_a_row() -> None:
    assert options(run) | options(fuzz) == ROWS.keys() | ELSEWHERE.keys()


WFC = '{"auth": [{"name": "anna", "fixedHeaders": [{"name": "X-A", "value": "b"}]}]}'


@pytest.mark.parametrize("option", ROWS)
def test_a_good_value_arrives_and_is_not_the_default(
    settings_of: Callable[..., RunSettings], folder: Any, option: str
) -> None:
    (folder / "wfc.json").write_text(WFC)
    (folder / "weights.json").write_text('{"weights": {"GET /a": 2.5}}')
    row = ROWS[option]
    assert row.shows(settings_of(*RUN, option, *row.good)) == row.expected
    try:
        usual = row.shows(settings_of(*RUN, "--seed", "99"))
    except (AttributeError, IndexError, TypeError):
        # Without it there is nothing of the kind.
        return
    assert usual != row.expected


def plain(settings: RunSettings) -> RunSettings:
    """Settings without what only the moment knows."""
    reports = tuple((name, path[:2]) for name, path in settings.report.files)
    return changed(settings, command="", files=reports)


def test_an_option_says_what_its_key_says(settings_of: Callable[..., RunSettings], folder: Any) -> None:
    """`tests/settings` shows what the key changes."""
    (folder / "wfc.json").write_text(WFC)
    (folder / "weights.json").write_text('{"weights": {"GET /a": 2.5}}')
    compared = 0
    for setting in (*RUN_SETTINGS, *SETTINGS):
        option = setting.flags[-1]
        row = ROWS.get(option)
        if row is None or setting.path == BASIC or option == "--auth-wfc-user":
            # Keys that mean nothing alone cannot be set alone: `tests/e2e/test_authentication.py`, `test_wfc.py`.
            continue
        value, others = ("true", row.good) if setting.is_flag else (row.good[0], row.good[1:])
        seed = () if setting.key in ("seed", "deterministic") else ("--seed", "99")
        key = ".".join((*setting.path, setting.key))
        if key == "warnings":
            # About what is shown alone.
            value = f"{{ enabled = true, display = ['{value}'] }}"
        given = settings_of(*RUN, option, *row.good, *seed)
        said = settings_of(*RUN, "--set", f"{key}={value}", *others, *seed)
        assert plain(given) == plain(said), option
        compared += 1
    assert compared > 60


@pytest.mark.parametrize("option", [name for name, row in ROWS.items() if row.bad is not None])
def test_a_bad_value_has_one_sentence(invoke: Callable[..., Any], option: str) -> None:
    row = ROWS[option]
    result = invoke(*RUN, option, row.bad)
    assert result.exit_code == 2
    assert row.message in result.output
    assert "Traceback" not in result.output
