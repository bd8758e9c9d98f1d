"""Each warning: a run that triggers it, and one that nearly does."""

from collections.abc import Iterable
from typing import Any

import pytest

from checker.config.config import Config
from checker.config.operation_settings import OperationLayers
from checker.config.value_kinds import WarningSettings, warning_key
from checker.core.errors import ConfigError
from checker.corpus.fold import fold
from checker.corpus.records import Note, OperationDescribed, RefusalCounted
from checker.reporting import warnings
from checker.reporting.report import report_of
from checker.reporting.summary import summary_lines, total_line
from checker.reporting.warnings import notes_of

from .samples import USERS, changed, opened, progress, settings, started

Counts = tuple[tuple[int, int], ...]


def told(
    statuses: Counts, wrong: Counts = (), more: Iterable[Any] = (), declared_path: str = "", **changes: Any
) -> dict[str, str]:
    """Kind -> text of the warnings of a run with one operation."""
    done = progress(
        statuses=tuple((USERS, *pair) for pair in (*statuses, *wrong)), wrong=tuple((USERS, *pair) for pair in wrong)
    )
    records: list[Any] = [started(), changed(opened(), declared_path=declared_path), *more, done]
    everything = WarningSettings(
        ("unreached", "missing_auth", "rate_limited", "base_url_mismatch", "missing_test_data",
         "validation_mismatch", "method_not_allowed", "low_valid_rate", "timeout_units")
    )  # fmt: skip
    view = fold((1, record) for record in records)
    found, _ = notes_of(view, settings(warnings=everything, **changes))
    return {note.kind: note.text for note in found}


def described(*statuses: str) -> OperationDescribed:
    return OperationDescribed(USERS, (), statuses, (), False)


def said(values: dict[str, Any]) -> OperationLayers:
    return Config.from_dict(values, environment={}).operation_layers()


AT_V1: dict[str, Any] = {"base_url": "http://127.0.0.1:8080", "declared_path": "/v1"}

TRIGGERED: list[tuple[str, dict[str, Any]]] = [
    ("unreached", {"statuses": ((302, 2), (404, 8))}),
    ("missing_auth", {"statuses": ((401, 9), (400, 1))}),
    ("missing_auth", {"statuses": ((403, 5), (401, 5))}),
    ("missing_auth", {"statuses": ((401, 9), (200, 1))}),
    ("rate_limited", {"statuses": ((429, 9), (200, 1))}),
    ("base_url_mismatch", {"statuses": ((404, 3),), **AT_V1}),
    ("missing_test_data", {"statuses": ((404, 1), (400, 9))}),
    ("missing_test_data", {"statuses": ((404, 2), (500, 1))}),
    ("missing_test_data", {"statuses": ((404, 10), (200, 90))}),
    ("validation_mismatch", {"statuses": ((422, 1), (404, 9))}),
    ("validation_mismatch", {"statuses": ((422, 6), (400, 4), (200, 90))}),
    # What was meant to be refused says nothing.
    ("validation_mismatch", {"statuses": ((422, 1),), "wrong": ((200, 50),)}),
    ("low_valid_rate", {"statuses": ((200, 1), (400, 9))}),
    ("timeout_units", {"statuses": ((200, 1),), "operations": said({"request-timeout": 100})}),
    ("timeout_units", {"statuses": ((200, 1),), "operations": said({"checks": {"max_response_time": 500}})}),
    ("method_not_allowed", {"statuses": ((405, 10),), "more": [described("200")]}),
]
NEARLY: list[tuple[str, dict[str, Any]]] = [
    ("unreached", {"statuses": ((204, 1), (404, 8))}),
    ("unreached", {"statuses": (), "wrong": ((400, 5),)}),
    ("missing_auth", {"statuses": ((401, 8), (400, 2))}),
    ("missing_auth", {"statuses": ((401, 89), (200, 11))}),
    ("missing_auth", {"statuses": ((200, 1),), "wrong": ((401, 99),)}),
    ("rate_limited", {"statuses": ((429, 8), (200, 2))}),
    ("base_url_mismatch", {"statuses": ((404, 3), (200, 1)), **AT_V1}),
    ("base_url_mismatch", {"statuses": ((404, 3),), **AT_V1, "base_url": "http://h/v1/"}),
    ("base_url_mismatch", {"statuses": ((404, 3),), "declared_path": "/v1"}),
    ("missing_test_data", {"statuses": ((404, 1), (400, 10))}),
    ("missing_test_data", {"statuses": ((404, 9), (200, 91))}),
    ("missing_test_data", {"statuses": ((404, 1), (401, 10))}),
    # The base URL is to blame, and is told.
    ("missing_test_data", {"statuses": ((404, 3),), **AT_V1}),
    ("validation_mismatch", {"statuses": ((422, 1), (404, 10))}),
    ("validation_mismatch", {"statuses": ((422, 9), (200, 91))}),
    ("validation_mismatch", {"statuses": ((409, 5), (429, 5))}),
    ("validation_mismatch", {"statuses": ((405, 10),)}),
    ("validation_mismatch", {"statuses": ((200, 5),), "wrong": ((422, 50),)}),
    ("low_valid_rate", {"statuses": ((200, 2), (400, 8))}),
    ("low_valid_rate", {"statuses": ((200, 1), (400, 8))}),
    ("low_valid_rate", {"statuses": ((400, 10),)}),
    ("timeout_units", {"statuses": ((200, 1),), "operations": said({"request-timeout": 99})}),
    ("method_not_allowed", {"statuses": ((405, 9),), "more": [described("200")]}),
    ("method_not_allowed", {"statuses": ((405, 10), (404, 1)), "more": [described("200")]}),
    ("method_not_allowed", {"statuses": ((405, 10),), "more": [described("200", "405")]}),
    ("method_not_allowed", {"statuses": ((405, 10),), "more": [described("default")]}),
]


@pytest.mark.parametrize(
    ("label", "parameters", "needs_credentials", "is_told"),
    [
        ("POST /api/login", ("body",), False, False),
        ("POST /api/login", ("body",), True, True),
        ("GET /session", (), False, True),
        ("POST /orders", ("body",), False, True),
    ],
)
def test_who_logs_in_with_made_up_names_lacks_no_credentials(
    label: str, parameters: tuple[str, ...], needs_credentials: bool, is_told: bool
) -> None:
    records: list[Any] = [
        started(),
        opened(),
        OperationDescribed(label, (), ("200",), parameters, needs_credentials),
        progress(statuses=((label, 401, 10),)),
    ]
    report = report_of(fold((1, record) for record in records), settings(), "completed")
    assert bool(report.unauthorized) is is_told


@pytest.mark.parametrize(
    ("given", "declared", "wanted"),
    [
        ("http://h", "/api/v1", "http://h/api/v1"),
        ("http://h/api", "/api/v1", "http://h/api/v1"),
        ("http://h/a/api/", "/api/v1", "http://h/a/api/v1"),
        ("http://h/api/v2", "/api/v1", "http://h/api/v2/api/v1"),
        ("http://h/myapi", "/api/v1", "http://h/myapi/api/v1"),
        ("http://h/v1", "/v1/v1", "http://h/v1/v1"),
    ],
)
def test_the_base_url_that_is_proposed_joins_what_both_paths_have(given: str, declared: str, wanted: str) -> None:
    text = told(((404, 3),), base_url=given, declared_path=declared)["base_url_mismatch"]
    assert text.endswith(f"`--url {wanted}`")


@pytest.mark.parametrize(("kind", "run"), TRIGGERED)
def test_a_warning_is_told_when_it_should_be(kind: str, run: dict[str, Any]) -> None:
    assert kind in told(**run)


@pytest.mark.parametrize(("kind", "run"), NEARLY)
def test_a_warning_is_not_told_when_it_only_nearly_should_be(kind: str, run: dict[str, Any]) -> None:
    assert kind not in told(**run)


def test_a_base_url_without_the_declared_path_is_told_with_the_right_one() -> None:
    text = told(((404, 3),), **AT_V1)["base_url_mismatch"]
    assert "try `--url http://127.0.0.1:8080/v1`" in text


@pytest.mark.parametrize(
    ("value", "shown", "failing"),
    [
        (True, True, ()),
        (False, False, ()),
        (["missing_auth"], True, ()),
        (["rate_limited"], False, ()),
        ({"fail-on": True}, True, ("missing_auth",)),
        ({"fail-on": ["unreached"]}, True, ("unreached",)),
        ({"display": False, "fail-on": ["missing_auth"]}, False, ("missing_auth",)),
        ({"display": ["missing_auth"], "fail-on": ["rate_limited"]}, True, ()),
    ],
)
def test_display_and_fail_on_are_two_things(value: Any, shown: bool, failing: tuple[str, ...]) -> None:
    records: list[Any] = [started(), opened(), progress(statuses=((USERS, 401, 10),))]
    asked = settings(warnings=WarningSettings.of(value))
    report = report_of(fold((1, record) for record in records), asked, "completed")
    assert ("missing_auth" in {note.kind for note in report.notes}) is shown
    assert report.failing_warnings == failing
    assert bool(failing) == ("warnings fail the run" in total_line(report))


@pytest.mark.parametrize(
    ("statuses", "kind", "text"),
    [
        (((404, 100),), "missing_test_data", "404 in 100% of valid cases"),
        (((401, 85), (404, 12), (500, 3)), "missing_test_data", "404 in 12% of valid cases"),
        (((422, 5), (400, 6)), "validation_mismatch", "400, 422 in 100% of valid cases"),
    ],
)
def test_a_warning_of_statuses_has_their_share_of_valid_cases(
    statuses: tuple[tuple[int, int], ...], kind: str, text: str
) -> None:
    assert told(statuses)[kind] == text


def test_a_run_in_which_nothing_answered_2xx_says_so_in_its_last_line() -> None:
    def line(*statuses: tuple[str, int, int]) -> str:
        records: list[Any] = [started(), opened(), progress(statuses=statuses)]
        view = fold((1, record) for record in records)
        return total_line(report_of(view, settings(), "completed"))

    assert line((USERS, 404, 10)).startswith("No operation returned 2xx")
    assert "o operation returned 2xx" not in line((USERS, 404, 9), (USERS, 200, 1))


def test_the_summary_names_operations_without_a_2xx_answer_and_what_they_answered() -> None:
    statuses = (
        *((USERS, 200, 9), ("GET /a", 404, 8), ("GET /a", 302, 2), ("GET /b", 0, 3)),
        *(("GET /c", 0, 2), ("GET /c", 500, 1)),
    )
    records: list[Any] = [started(), opened(), progress(statuses=statuses)]
    view = fold((1, one) for one in records)
    lines = list(summary_lines(report_of(view, settings(), "completed"), lambda _: "*"))
    at = lines.index("  With a 2xx response: 1")
    assert lines[at + 1 : at + 4] == [
        "    - GET /a: no 2xx: 404 in 8 of 10 cases",
        "    - GET /b: no response",
        "    - GET /c: no 2xx: no response in 2 of 3 cases",
    ]


def test_the_summary_groups_unreached_operations_by_their_most_common_refusal() -> None:
    statuses = (("GET /a", 404, 8), ("GET /b", 409, 5), ("GET /c", 404, 4), (USERS, 200, 3), (USERS, 404, 30))
    refusals = (
        *(("GET /a", 404, "no such project", 8), ("GET /a", 404, "gone", 1), ("GET /c", 404, "no such project", 4)),
        *(("GET /b", 409, "", 4), (USERS, 404, "no such user", 16)),
    )
    counted = [RefusalCounted(*one) for one in refusals]
    records: list[Any] = [started(), opened(), progress(statuses=statuses), *counted]
    report = report_of(fold((1, one) for one in records), settings(), "completed")
    lines = list(summary_lines(report, lambda _: "*"))
    at = lines.index("  With a 2xx response: 1")
    assert lines[at + 1 : at + 6] == [
        "    404 no such project: give values that exist in [parameters], or a link or hook that finds them",
        "    - GET /a: no 2xx: 404 in 8 of 8 cases",
        "    - GET /c: no 2xx: 404 in 4 of 4 cases",
        "    409 Conflict: bring the service into the required state with a hook or a link",
        "    - GET /b: no 2xx: 409 in 5 of 5 cases",
    ]


def test_a_trigger_that_breaks_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checker.reporting.warnings.rate_limited", lambda facts: 1 / 0)
    kinds = told(((401, 10),))
    assert "missing_auth" in kinds
    assert kinds["broken_warning"].startswith("the warning rate_limited cannot be worked out")


def test_a_broken_plug_in_costs_its_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> None:
        raise ConfigError("cannot load the plug-in 'bad'")

    monkeypatch.setattr(warnings, "load_plugins", load)
    notes, _ = notes_of(fold([]), settings())
    (text,) = [note.text for note in notes if note.kind == "broken_warning"]
    assert text.startswith("warnings of plug-ins are missing: ")
    assert "cannot load the plug-in 'bad'" in text


def test_notes_that_are_no_warnings_are_shown_whatever_is_displayed() -> None:
    records: list[Any] = [started(), opened(), Note("opaque", USERS, "#/a", "pattern")]
    view = fold((1, record) for record in records)
    notes, _ = notes_of(view, settings(warnings=WarningSettings(())))
    assert [note.kind for note in notes] == ["opaque"]


def test_times_that_look_like_milliseconds_fail_no_run() -> None:
    asked = WarningSettings(("timeout_units",), None)
    assert asked.shows("timeout_units")
    assert not asked.fails_on("timeout_units")


def test_warnings_can_be_switched_off_and_their_share_be_chosen() -> None:
    assert not WarningSettings.of({"enabled": False}).shows("missing_auth")
    assert WarningSettings.of({"low_valid_rate": {"threshold": 0.5}}).low_valid_rate == 0.5
    assert "low_valid_rate" not in told(((200, 4), (400, 6)))


@pytest.mark.parametrize(
    ("name", "value"),
    [("low_valid_rate", {"threshold": 2}), ("low_valid_rate", 0.5), ("enabled", "no"), ("shown", True)],
)
def test_wrong_keys_of_warnings_are_named(name: str, value: object) -> None:
    assert name in (warning_key(name, value) or "")
