from datetime import UTC, datetime

import pytest

from checker.checks.custom import CUSTOM_CHECKS, CustomCheck
from checker.config.config import Config
from checker.config.filters import FilterSpec, OperationFilters
from checker.config.resolve import Invocation, run_settings, slug
from checker.config.settings import RunSettings
from checker.core import phases
from checker.core.errors import ConfigError


def settings(text: str = "", kind: str = "run", **environment: str) -> RunSettings:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    occasion = Invocation("dir/openapi.json", kind, now=moment)
    return run_settings(Config.from_str(text, environment={}), occasion, environment)


def test_defaults_of_run_and_of_fuzz() -> None:
    run, fuzz = settings(), settings(kind="fuzz")
    assert (run.processes.workers, run.processes.lanes, run.phases) == (1, 1, phases.phase_names())
    assert fuzz.processes.lanes is None
    assert fuzz.processes.workers >= 1
    assert phases.default_phases() == phases.phase_names()


def test_a_phase_that_is_named_runs_whatever_the_master_switch_says() -> None:
    off = "[phases]\nenabled = false\n"
    assert settings(off).phases == ()
    assert settings(f"{off}[phases.fuzzing]\nenabled = true").phases == ("fuzzing",)
    assert settings(f"{off}[phases.fuzzing]\nenabled = false").phases == ()


def test_the_nearest_master_switch_counts() -> None:
    off = "[[project]]\ntitle = 'A'\n[project.checks]\nenabled = false"
    named = "[checks.not_a_server_error]\nenabled = true"
    config = Config.from_str(f"{named}\n{off}", environment={})
    assert config.is_check_enabled("not_a_server_error")
    assert not config.for_project("A").is_check_enabled("not_a_server_error")
    config.checks.update(included_check_names=["all"])
    assert config.for_project("A").is_check_enabled("not_a_server_error")


def test_random_seeds_differ_and_given_ones_stay() -> None:
    assert settings().seed != settings().seed
    assert settings("seed = 5").seed == 5


def test_checks_that_were_switched_off_do_not_run() -> None:
    text = "[checks.content_type_conformance]\nenabled = false"
    assert "content_type_conformance" not in settings(text).common.checks
    assert settings("[checks]\nenabled = false").common.checks == ()
    named = "[checks]\nenabled = false\n[checks.not_a_server_error]\nenabled = true"
    assert settings(named).common.checks == ("not_a_server_error",)


def test_unknown_check_needs_hooks_that_may_define_it() -> None:
    text = "[checks.my_check]\nenabled = true"
    with pytest.raises(ConfigError, match="'my_check'"):
        settings(text)
    assert settings(f"hooks = 'mine'\n{text}").common.checks[-1] == "my_check"


def test_an_unknown_check_is_wrong_with_the_file_that_names_it(tmp_path) -> None:
    occasion = Invocation("dir/openapi.json", "run", now=datetime(2026, 1, 1, tzinfo=UTC))
    file = tmp_path / "checker.toml"
    file.write_text("[checks.my_check]\nenabled = true")
    said = rf"Failed to load configuration file from {file}\n\nError in \[checks\] section"
    with pytest.raises(ConfigError, match=said):
        run_settings(Config.from_path(file), occasion, {})


def test_hooks_of_environment_and_file_both_load() -> None:
    assert settings("hooks = 'b'", CHECKER_HOOKS="a.py").hooks == ("a.py", "b")
    assert settings("hooks = 'b'", CHECKER_HOOKS="b").hooks == ("b",)


def test_cassette_has_a_place_when_it_is_wanted() -> None:
    assert settings().report.files == ()
    wanted = settings("[reports.vcr]\nenabled = true")
    assert wanted.report.files == (("vcr", "checker-report/vcr-20260101T000000Z.yaml"),)
    assert settings("[reports.vcr]\npath = 'a.yaml'").report.files == (("vcr", "a.yaml"),)


def test_a_report_that_is_switched_off_is_not_written_at_its_path() -> None:
    assert settings("[reports.har]\npath = 'a.har'\nenabled = false").report.files == ()
    config = Config.from_dict({"reports": {"har": {"enabled": False}}}, environment={})
    config.reports.har.update(path="a.har")
    assert config.reports.har.enabled, "the path of the command line is nearer"


def test_traffic_is_kept_for_reports_that_show_it() -> None:
    assert settings("[reports.vcr]\nenabled = true").report.keeps_traffic
    assert not settings("[reports.junit]\nenabled = true").report.keeps_traffic


def test_time_limit_of_fuzz_goes_first_there() -> None:
    text = "[fuzz]\nmax-time = 7"
    assert (settings(text).max_time_s, settings(text, "fuzz").max_time_s) == (None, 7)
    text = f"max-time = 9\n{text}"
    assert (settings(text).max_time_s, settings(text, "fuzz").max_time_s) == (9, 7)
    assert settings("max-time = 9", "fuzz").max_time_s == 9


def test_project_tables_become_differences() -> None:
    text = "[[project]]\ntitle = 'Shop'\n[project.generation]\nmax-examples = 3"
    found = settings(text)
    assert [(title, list(changes)) for title, changes in found.projects] == [("Shop", ["operations"])]
    shop = found.for_project("Shop")
    assert (found.common.cases.max_examples, shop.common.cases.max_examples) == (100, 3)


def test_disabled_operations_join_the_filters() -> None:
    config = Config.from_str("[[operations]]\nenabled = false\ninclude-path = '/slow'")
    filters = OperationFilters((FilterSpec("include", "method", "GET"),))
    selection = run_settings(config, Invocation("a.json", filters=filters), {}).selection
    assert selection.filters == filters
    assert selection.disabled[0].specs[0].value == "/slow"


def test_corpus_has_the_name_of_the_only_project_or_of_the_location() -> None:
    assert settings().corpus.folder == ".checker/openapi-json"
    assert settings("[[project]]\ntitle = 'My Shop'").corpus.folder == ".checker/my-shop"
    found = run_settings(Config(), Invocation("http://a:81/v1/openapi.json?x=1"), {})
    assert found.corpus.folder == ".checker/a-81-v1-openapi-json"


def test_slug_is_never_empty() -> None:
    assert slug("ÄÖ") == "default"


def test_checks_of_users_join_when_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings("hooks = 'a'\n[checks.third]\nenabled = false")
    before = found.common.checks
    for name in ("mine", "third"):
        monkeypatch.setitem(CUSTOM_CHECKS, name, CustomCheck(print))
    assert found.common.checks == (*before, "mine")


def test_checks_of_users_stay_out_where_some_were_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config.from_str("hooks = 'a'")
    config.checks.update(included_check_names=["second", "not_a_server_error"])
    found = run_settings(config, Invocation("a.json"), {})
    for name in ("mine", "second"):
        monkeypatch.setitem(CUSTOM_CHECKS, name, CustomCheck(print))
    assert found.common.checks == ("not_a_server_error", "second")


def test_settings_of_class_checks_are_theirs_and_those_of_the_nearest_layer_count() -> None:
    text = "hooks = 'mine'\n[checks.Mine]\nenabled = true\nmost = 3\nnames = ['a', {b = 1}]"
    given = {"most": 3, "names": ["a", {"b": 1}]}
    assert settings(text).common.check_settings == {"Mine": given}
    project = "[[project]]\ntitle = 'A'\n[project.checks.Mine]\nmost = 4"
    config = Config.from_str(f"{text}\n{project}", environment={}).for_project("A")
    assert config.operation_layers().common.check_settings == {"Mine": given | {"most": 4}}


@pytest.mark.parametrize("value", ["2026-01-01", "[07:00:00]", "{a = 2026-01-01T07:00:00Z}"])
def test_dates_among_the_settings_of_a_class_check_are_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="'since' -> Write dates and times as text"):
        settings(f"hooks = 'mine'\n[checks.Mine]\nsince = {value}")
