"""Every key of the configuration: a good value, where its effect shows, and a bad value with what is said of it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from checker.checks.check import SettingShape
from checker.checks.table import TABLE as CHECKS
from checker.config.table import SECTIONS
from checker.core import phases
from checker.core.reports import REPORT_FORMATS
from tests.settings.runs import Place, Seen
from tests.settings.shop import FIRST

Shows = Callable[[Seen], bool]


@dataclass(frozen=True)
class InRun:
    """The effect shows in a run: what is true with the setting, and not without it."""

    run: str
    """Name of an experiment. All rows of one are set together, those with a value of `apart` by themselves."""
    shows: Shows
    apart: str = ""


@dataclass(frozen=True)
class Row:
    """One key."""

    good: Any
    effect: InRun | str
    """Where it shows; a text names the test that shows it, `path::test`."""
    bad: Any
    message: str


FLAG: Final = ("yes", "Must be a boolean, but got string")
TEXT: Final = (3, "Must be a string, but got integer")
BLOCK: Final = "workers/test_operation_settings.py::test_a_key_of_a_block_acts_for_its_operations_alone"
AUTH: Final = "e2e/test_authentication.py::test_each_scheme_is_served_where_it_is_asked_for"
USER: Final = "e2e/test_authentication.py::test_a_user_and_a_password_are_for_all_operations"
WFC: Final = "e2e/test_wfc.py::test_the_user_that_is_named_calls_everything"
PEERS: Final = "cli/test_peers.py::test_a_note_that_any_user_reads_is_found_with_a_command_that_shows_it"
UPLOAD: Final = "cli/test_archive.py::test_it_is_sent_to_the_receiver_that_is_named"
FETCHING: Final = "hostile/test_fetching.py::test_a_hostile_target_of_a_reference_ends_in_one_sentence"
DESCRIPTION: Final = "hostile/test_fetching.py::test_a_hostile_server_of_the_description_ends_in_one_sentence"
VALIDATION: Final = (
    "openapi/test_conformance.py::test_a_description_that_breaks_the_official_schema_is_refused_with_each_place"
)
CACHE: Final = "e2e/test_learning.py::test_the_cache_is_where_it_is_wanted"
STATUSES: Final = (["XXX"], "Must be a status from 100 to 599")
CERTIFICATE: Final = ("no.pem", "existing file")


def told(shows: Shows) -> InRun:
    return InRun("told", shows)


def plain(shows: Shows) -> InRun:
    return InRun("plain", shows)


def says(text: str) -> Shows:
    return lambda seen: text in seen.stdout + seen.stderr


def hides(text: str) -> Shows:
    return lambda seen: text not in seen.stdout


def made_items(seen: Seen) -> bool:
    return any(line.startswith("POST ") and line.endswith("/items") for line in seen.lines)


def asked_for_an_item(seen: Seen) -> bool:
    """Whether a request asked for one item: the smallest cases of a run, which need no names, never do."""
    return any(line.startswith("GET ") and "/items/" in line for line in seen.lines)


def uses(seen: Seen) -> list[str]:
    """Requests about items that were made."""
    return [line for line in seen.lines if re.search(f"/items/{FIRST // 100}[0-9][0-9]$", line)]


def longest(seen: Seen) -> int:
    """Most requests about one item."""
    found = [line.rpartition("/")[2] for line in uses(seen)]
    return max(map(found.count, found), default=0)


_ROOT: Final[dict[str, Row]] = {
    "color": Row(True, told(says("\x1b[")), *FLAG),
    "suppress-health-check": Row(["filter_too_much"], InRun("listed", hides("no value satisfies them"), "health"), ["flu"], "Valid values are"),
    "seed": Row(77, told(says("Seed: 77\n")), "1", "Must be an integer, but got string"),
    "max-failures": Row(1, "e2e/test_options.py::test_max_failures_ends_the_run", 0, "at least 1"),
    "max-memory": Row("1K", "e2e/test_memory_limit.py::test_too_little_memory_ends_a_run_with_a_sentence_and_its_reports", "many", "Must be a number of bytes"),
    "max-time": Row(9.5, "e2e/test_max_time.py::test_requests_that_never_end_do_not_keep_a_run", 0, "greater than 0"),
    "base-url": Row("{url}/below", told(lambda seen: all("/below/" in line for line in seen.lines)), "ftp://x", "absolute http(s) URL"),
    "origin": Row("http://127.0.0.1:9", InRun("nothing", lambda seen: not seen.requests and seen.code == 1), "http://h/path", "scheme, host and port alone"),
    "baseline": Row("known.toml", InRun("listed", lambda seen: seen.has("known.toml")), *TEXT),
    "baseline-update": Row(True, "reporting/test_baseline.py::test_a_file_keeps_what_people_wrote", *FLAG),
    "baseline-prune": Row(True, "reporting/test_baseline.py::test_a_file_keeps_what_people_wrote", *FLAG),
    "compare": Row("run", "settings/test_every_key.py::test_failures_of_another_run_are_known", *TEXT),
    "live-port": Row(0, told(says("Live: http://127.0.0.1:")), 65536, "at most 65535"),
    "fail-under-operations": Row(99, told(says("Too little: operations")), 101, "at most 100"),
    "fail-under-responses": Row(99, told(says("Too little: responses")), 101, "at most 100"),
    "fail-under-parameters": Row(100, told(says("Too little: parameters")), -1, "at least 0"),
    "fail-under-enum-values": Row(99, told(says("Too little: enum")), 101, "at most 100"),
    "fail-under-media-types": Row(99, told(says("Too little: media")), 101, "at most 100"),
    "hooks": Row("mine", "cli/test_hooks.py::test_hooks_and_checks_of_a_file_work_in_a_run", *TEXT),
    "workers": Row(2, "e2e/test_dynamic_tokens.py::test_four_workers_share_each_token", 65, "at most 64"),
    "lanes": Row(2, "workers/test_loop.py::test_every_case_is_sent_once_whatever_is_made_ahead", 0, "at least 1"),
    "shard": Row("3/8", "e2e/test_shards.py::test_eight_shards_send_each_request_of_the_whole_run_once", "3/2", "Must be the number of a shard"),
    "shard-weights": Row("weights.json", "e2e/test_shards.py::test_weights_decide_which_shard_tests_an_operation", *TEXT),
    "changed-since": Row("old.json", "e2e/test_changed.py::test_changed_operations_are_tested_with_resources_of_others", *TEXT),
    "with-dependents": Row(True, "e2e/test_changed.py::test_dependents_are_tested_where_they_are_wanted", *FLAG),
    "max-workers": Row(2, "fleet/test_distant.py::test_workers_follow_the_cluster_up_to_their_limit_and_get_a_lease_in_time", 1001, "at most 1000"),
    "cluster": Row("local", "cluster/test_ray.py::test_a_cluster_of_two_machines_finds_what_processes_find", "ray://x", "'ray://HOST:PORT'"),
    "cluster-allow-loopback": Row(True, "fleet/test_distant.py::test_loopback_is_no_target_for_other_machines_unless_that_is_allowed", *FLAG),
    "wait-for-schema": Row(2, "hostile/test_fetching.py::test_a_description_that_is_late_is_waited_for", 0.5, "at least 1"),
    "safety": Row("read-only", InRun("listed", lambda seen: not made_items(seen), "safety"), "bold", "Valid values are"),
    "transport": Row("a:b", "seams/test_transport.py::test_a_whole_run_goes_over_it", "a", "module:"),
    "dictionaries": Row({"words": {"values": ["w"]}}, BLOCK, 3, "Must be a table"),
    "warnings": Row(False, "cli/test_warnings_of_operations.py::test_they_are_shown_and_fail_a_run_as_the_block_says", ["flu"], "name of a warning"),
    "continue-on-failure": Row(True, "workers/test_operation_settings.py::test_fuzz_goes_on_after_failures_of_operations_that_say_so", *FLAG),
    "headers": Row({"X-Own": "7"}, BLOCK, {"X": 1}, "must be a string"),
    "proxy": Row("http://127.0.0.1:9", BLOCK, "nowhere", "absolute http(s) URL"),
    "tls-verify": Row(False, BLOCK, 3, "Must be a boolean"),
    "rate-limit": Row("auto", BLOCK, "fast", "requests per time"),
    "max-redirects": Row(0, BLOCK, -1, "at least 0"),
    "max-stream-events": Row(1, "transport/test_lanes.py::test_a_stream_is_not_listened_to_beyond_its_events", 0, "at least 1"),
    "request-timeout": Row(0.05, BLOCK, 0, "greater than 0"),
    "request-retries": Row(1, BLOCK, -1, "at least 0"),
    "request-cert": Row(__file__, BLOCK, *CERTIFICATE),
    "request-cert-key": Row(__file__, BLOCK, *CERTIFICATE),
    "parameters": Row({"q": 77}, BLOCK, 3, "Must be a table"),
}  # fmt: skip

_AUTH: Final[dict[str, Row]] = {
    "auth.openapi": Row({"K": {"api_key": "k"}}, AUTH, {"K": {"key": "k"}}, "'key'"),
    "auth.auto-signup": Row(False, "cli/test_signup.py::test_nobody_signs_up_where_somebody_says_who_is_calling", *FLAG),
    "auth.allow-refused": Row(True, "e2e/test_refused_credentials.py::test_credentials_that_open_no_operation_fail_the_run", *FLAG),
    "auth.basic.username": Row("anna", USER, "a:b", "colon"),
    "auth.basic.password": Row("s", USER, 3, "Must be a string"),
    "auth.basic.type": Row("digest", "e2e/test_providers.py::test_digest_signs_each_operation_and_asks_once", "oath", "Valid values are"),
    "auth.dynamic.openapi": Row({"K": {"path": "/login", "extract_selector": "/token"}}, "e2e/test_dynamic_tokens.py::test_a_token_comes_from_anywhere_and_goes_where_its_scheme_says", {"K": {"extract_selector": "/t"}}, "'path'"),
    "auth.oauth2.openapi": Row({"K": {"client_id": "c", "client_secret": "s"}}, "e2e/test_oauth2.py::test_each_set_of_scopes_has_a_token_for_all_workers", {"K": {"client_id": "c"}}, "'client_secret'"),
    "auth.wfc.path": Row("users.json", WFC, *TEXT),
    "auth.wfc.user": Row("anna", WFC, *TEXT),
    "auth.wfc.refresh_interval": Row(5, "workers/test_credentials.py::test_old_ones_are_fetched_anew_and_serve_on_where_there_are_no_newer_ones", -1, "at least 0"),
    "auth.wfc.peers": Row(["anna", "bert"], PEERS, ["anna"], "two users or more"),
}  # fmt: skip

_GENERATION: Final[dict[str, Row]] = {
    "mode": Row("negative", BLOCK, "both", "Valid values are"),
    "max-examples": Row(3, BLOCK, 0, "at least 1"),
    "no-shrink": Row(True, BLOCK, *FLAG),
    "shrink-share": Row(0.5, "workers/test_investigation_budget.py::test_a_finding_may_take_what_is_left_of_the_share_of_its_operation", 1, "less than 1"),
    "deterministic": Row(True, plain(says("Seed: 0\n")), *FLAG),
    "allow-x00": Row(False, BLOCK, *FLAG),
    "allow-extra-parameters": Row(False, BLOCK, *FLAG),
    "exclude-header-characters": Row("\0\r\nabc", BLOCK, *TEXT),
    "codec": Row("ascii", BLOCK, "klingon", "known codec"),
    "maximize": Row("response_time", "cli/test_maximize.py::test_fuzz_climbs_to_what_chance_would_not_meet", 3, "Must be a string or an array"),
    "with-security-parameters": Row(False, "generation/test_security.py::test_nothing_is_made_up_that_a_user_gives_or_does_not_want", *FLAG),
    "graphql-allow-null": Row(False, "graphql_kind/test_null.py::test_neither_is_sent_where_users_do_not_want_it", *FLAG),
    "database": Row("kept-here", told(lambda seen: seen.has("kept-here/**/*")), *TEXT),
    "unique-inputs": Row(True, BLOCK, *FLAG),
    "dictionaries": Row({"string": {"dictionary": "words", "probability": 1.0}}, BLOCK, {"text": {"dictionary": "a"}}, "'text'"),
}  # fmt: skip

_OUTPUT: Final[dict[str, Row]] = {
    "output.max-shown": Row(1, told(says("`--max-shown` shows more")), -1, "at least 0"),
    "output.code-sample-style": Row("python", told(says("import http.client")), "ruby", "Valid values are"),
    "output.sanitization.enabled": Row(False, plain(says("t-masked")), *FLAG),
    "output.sanitization.keys-to-sanitize": Row(["a"], told(hides("sh0wn")), "a", "Must be an array"),
    "output.sanitization.sensitive-markers": Row(["zor"], told(hides("h1dden")), [1], "Must be a string"),
    "output.sanitization.replacement": Row("MASK3D", told(says("MASK3D")), *TEXT),
    "output.sanitization.generated": Row(True, "e2e/test_masking.py::test_what_was_drawn_is_masked_where_that_is_wanted", *FLAG),
    "output.truncation.enabled": Row(False, plain(says("line 59")), *FLAG),
    "output.truncation.max-payload-size": Row(50, told(hides("x" * 170)), 0, "at least 1"),
    "output.truncation.max-lines": Row(3, told(hides("line 3")), 0, "at least 1"),
    "output.truncation.max-width": Row(20, "checks/test_conformance.py::test_excerpts_are_as_wide_as_the_settings_say", 0, "at least 1"),
    "output.truncation.max-recorded-payload-size": Row(9, "e2e/test_records.py::test_long_answers_are_cut_and_their_size_is_told", -1, "at least 0"),
}  # fmt: skip

_OTHERS: Final[dict[str, Row]] = {
    "documents.version": Row("2.0", InRun("nothing", says("Open API 2.0"), "version"), "4", "Valid values are"),
    "documents.validate": Row(True, VALIDATION, *FLAG),
    "documents.max-size": Row(10, InRun("nothing", says("raise `max-size` in [documents]"), "size"), 0, "at least 1"),
    "documents.max-total-size": Row(20000, FETCHING, 0, "at least 1"),
    "documents.max-count": Row(7, FETCHING, -1, "at least 0"),
    "documents.timeout": Row(0.4, DESCRIPTION, 0, "greater than 0"),
    "documents.max-total-time": Row(0.4, FETCHING, 0, "greater than 0"),
    "documents.max-redirects": Row(3, DESCRIPTION, -1, "at least 0"),
    "documents.other-hosts": Row(True, "hostile/test_leading_away.py::test_a_description_of_another_host_than_the_api_leads_to_no_third_host", *FLAG),
    "corpus.max-size": Row("9", "e2e/test_records.py::test_the_corpus_keeps_to_its_size_and_what_is_gone_is_told", 0, "at least 1"),
    "corpus.replay": Row(True, "e2e/test_recalled.py::test_a_rare_response_is_seen_again", *FLAG),
    "reports.directory": Row("here", told(lambda seen: seen.has("here/*.xml")), *TEXT),
    "reports.preserve-bytes": Row(True, plain(lambda seen: "base64_string" in "".join(one.read_text() for one in seen.folder.glob("out-vcr"))), *FLAG),
    "reports.mode": Row("640", "cli/test_report.py::test_a_key_decides_on_the_permissions", "rw-r-----", "Must be three octal digits"),
    "reports.max-size": Row(9, "reporting/test_writing.py::test_a_report_that_would_be_too_large_ends_with_a_whole_entry_and_says_so", 0, "at least 1"),
    "upload.url": Row("http://127.0.0.1:9/in", UPLOAD, "nowhere", "absolute http(s) URL"),
    "upload.token": Row("t", UPLOAD, "a\nb", "Must not hold CR"),
    "upload.api-name": Row("shop", UPLOAD, *TEXT),
    "cache.enabled": Row(False, CACHE, *FLAG),
    "cache.directory": Row("found", CACHE, *TEXT),
    "servers.variables": Row({"stage": "x"}, "cli/test_servers.py::test_variables_reach_the_wire", {"a": 1}, "must be a string"),
    "analysis.constants.enabled": Row(False, "workers/test_constants.py::test_it_can_be_switched_off", *FLAG),
    "fuzz.max-time": Row(9, "e2e/test_max_time.py::test_requests_that_never_end_do_not_keep_a_run", 0, "greater than 0"),
    "fuzz.stop-when-saturated": Row(True, "e2e/test_fuzz_shares.py::test_a_run_ends_when_no_operation_shows_anything_new", *FLAG),
    "checks.enabled": Row(False, BLOCK, *FLAG),
    "checks.intermittent": Row("report", "e2e/test_stability.py::test_intermittent_failures_can_be_allowed", "never", "Valid values are"),
    "checks.max_response_time": Row(1e-6, BLOCK, 0, "greater than 0"),
}  # fmt: skip

_PHASES: Final[dict[str, Row]] = {
    "phases.enabled": Row(False, InRun("nothing", says("every phase is disabled"), "phases"), *FLAG),
    "phases.examples.enabled": Row(False, InRun("listed", says("Examples (disabled)")), *FLAG),
    "phases.coverage.enabled": Row(False, told(says("Coverage (disabled)")), *FLAG),
    "phases.fuzzing.enabled": Row(False, told(says("Fuzzing (disabled)")), *FLAG),
    "phases.stateful.enabled": Row(False, InRun("listed", says("Stateful (disabled)")), *FLAG),
    "phases.examples.fill-missing": Row(True, plain(asked_for_an_item), *FLAG),
    "phases.examples.queries": Row(["q.graphql"], "graphql_kind/test_query_files.py::test_files_are_found_beside_the_configuration", "a", "Must be an array"),
    "phases.coverage.generate-duplicate-query-parameters": Row(True, InRun("listed", lambda seen: any(line.count("token=") > 1 for line in seen.lines)), *FLAG),
    "phases.coverage.costly-queries": Row(True, "graphql_kind/test_forms.py::test_what_costs_is_asked_for", *FLAG),
    "phases.coverage.unexpected-methods": Row(["trace"], InRun("listed", lambda seen: not any(line.startswith("PUT") for line in seen.lines)), ["head"], "head"),
    "phases.stateful.max-steps": Row(2, InRun("stateful", lambda seen: longest(seen) == 1, "steps"), 1, "at least 2"),
    "phases.stateful.link-calibration": Row(False, "settings/test_every_key.py::test_what_was_refused_is_taken_again_without_calibration", *FLAG),
    "phases.stateful.inference.algorithms": Row([], InRun("stateful", lambda seen: not uses(seen), "links"), ["magic"], "Valid values are"),
    "phases.fuzzing.error-feedback.enabled": Row(False, "e2e/test_learning.py::test_what_one_phase_heard_the_next_one_respects", *FLAG),
}  # fmt: skip


def _of_phases() -> Iterator[tuple[Place, Row]]:
    for name in ("examples", "coverage", "fuzzing"):
        at = ("phases", name)

        def is_as_listed(seen: Seen) -> bool:
            return not seen.lines[0].startswith("POST")

        listed = InRun(name, is_as_listed, "order")
        yield (*at, "operation-ordering"), Row("none", listed, "best", "Valid values are")
        guessed = InRun(name, lambda seen: not uses(seen), "guesses")
        yield (*at, "extra-data-sources", "responses"), Row(False, guessed, *FLAG)
    for name in phases.phase_names():
        for key, row in _GENERATION.items():
            if key in SECTIONS["phases", name, "generation"]:
                yield ("phases", name, "generation", key), row


OFF: Final = "cli/test_peers.py::test_the_check_can_be_switched_off"
_LOUD: Final = {
    "unsupported_method": "Unsupported methods",
    "negative_data_rejection": "API accepted schema-violating request",
    "status_code_conformance": "Undocumented HTTP status code",
    "not_a_server_error": "Server error",
}
"""Checks that fail in the service, with their titles."""
_CARELESS: Final = {
    "content_type_conformance": "Undocumented Content-Type",
    "response_headers_conformance": "Missing required headers",
    "response_schema_conformance": "Response violates schema",
    "positive_data_acceptance": "API rejected schema-compliant request",
    "missing_required_header": "Missing header not rejected",
    "allow_header_conformance": "Invalid Allow header",
    "use_after_free": "Use after free",
    "ensure_resource_availability": "Resource is not available after creation",
    "ignored_auth": "API accepts requests without authentication",
    "error_disclosure": "Error response discloses internals",
}
"""Those that fail in one that is careless of them."""
_OF_SETTINGS: Final = {
    "negative_data_rejection": "checks/test_negative_data.py::test_other_statuses_may_be_expected",
    "ensure_resource_availability": "e2e/test_unique_names.py::test_a_resource_that_is_shown_late_is_no_failure_and_is_counted",
    "injection": "checks/test_races.py::test_a_run_checks_for_races_only_if_it_is_told_to",
    "mass_assignment": "checks/test_races.py::test_a_run_checks_for_races_only_if_it_is_told_to",
    "object_level_writes": "checks/test_races.py::test_a_run_checks_for_races_only_if_it_is_told_to",
    "races": "checks/test_races.py::test_a_run_checks_for_races_only_if_it_is_told_to",
    "session_ends": "checks/test_races.py::test_a_run_checks_for_races_only_if_it_is_told_to",
    "missing_required_header": "e2e/test_checks.py::test_what_the_configuration_says_of_a_check_counts",
}


def _switched_off(name: str) -> InRun | str:
    if name in _LOUD:
        return InRun("listed", hides(_LOUD[name]), "checks")
    return InRun("careless", hides(_CARELESS[name]), "checks") if name in _CARELESS else OFF


_GOOD_AND_BAD: Final[dict[SettingShape, tuple[Any, tuple[Any, str]]]] = {
    SettingShape.FLAG: (False, FLAG),
    SettingShape.SECONDS: (0.01, (0, "greater than 0")),
    SettingShape.STATUSES: ([200, "5XX"], STATUSES),
}


def _checks() -> Iterator[tuple[Place, Row]]:
    for check in CHECKS:
        if not check.switch:
            yield ("checks", check.name, "enabled"), Row(False, _switched_off(check.name), *FLAG)
        for setting in check.settings:
            good, bad = _GOOD_AND_BAD[setting.shape]
            good = not setting.default if setting.shape is SettingShape.FLAG else good
            effect = _OF_SETTINGS.get(check.name, BLOCK)
            yield ("checks", check.name, setting.name), Row(good, effect, *bad)


def _reports() -> Iterator[tuple[Place, Row]]:
    for row in REPORT_FORMATS.values():
        at = ("reports", row.name)

        def is_there(seen: Seen, name: str = row.name) -> bool:
            return seen.has(f"here/{name}*") or seen.has(f"here/*{name}*")

        def is_at_its_place(seen: Seen, name: str = row.name) -> bool:
            return seen.has(f"out-{name}")

        yield (*at, "enabled"), Row(True, told(is_there), *FLAG)
        yield (*at, "path"), Row(f"out-{row.name}", plain(is_at_its_place), *TEXT)


def _all() -> Iterator[tuple[Place, Row]]:
    yield from (((name,), row) for name, row in _ROOT.items())
    yield from ((("generation", name), row) for name, row in _GENERATION.items())
    for rows in (_AUTH, _OUTPUT, _OTHERS, _PHASES):
        yield from ((tuple(name.split(".")), row) for name, row in rows.items())
    yield from _of_phases()
    checks = dict(_checks())
    yield from checks.items()
    of_all = [(("checks", name), _OTHERS[f"checks.{name}"]) for name in ("enabled", "max_response_time")]
    for phase in phases.phase_names():
        yield from ((("phases", phase, *place), row) for place, row in (*of_all, *checks.items()))
    yield from _reports()


ROWS: Final[dict[Place, Row]] = dict(_all())
