from collections.abc import Callable
from pathlib import Path

import pytest

import checker.config
from checker.config.config import Config
from checker.core.errors import ConfigError
from checker.core.meta import GenerationMode


def test_config_error_is_public() -> None:
    assert checker.config.ConfigError is ConfigError


def test_keys_are_attributes_with_underscores() -> None:
    config = Config.from_str("request-timeout = 3\n[generation]\nmax-examples = 7")
    assert (config.request_timeout, config.generation.max_examples) == (3, 7)
    assert (config.generation.allow_x00, config.output.truncation.max_width) == (True, 80)
    assert config.checks.response_schema_conformance.validate_formats is True


def test_unknown_attribute_suggests_the_nearest() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'max_examples'"):
        _ = Config().generation.max_example


def test_update_returns_nothing_and_keeps_what_earlier_ones_set() -> None:
    config = Config.from_str("workers = 2")
    update: Callable[..., object] = config.update
    assert update(base_url="http://127.0.0.1:1") is None
    config.update(request_timeout=2.5)
    config.generation.update(max_examples=3)
    found = (config.workers, config.base_url, config.request_timeout, config.generation.max_examples)
    assert found == (2, "http://127.0.0.1:1", 2.5, 3)


def test_assignment_is_an_update() -> None:
    config = Config()
    config.generation.codec = "ascii"
    config.base_url = "http://127.0.0.1:1"
    assert (config.generation.codec, config.base_url) == ("ascii", "http://127.0.0.1:1")
    assert config.revision == 2


@pytest.mark.parametrize("name", ["codecs", "generation", "operations"])
def test_assignment_of_what_is_no_option_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"'{name}'"):
        setattr(Config(), name, "ascii")


def test_none_leaves_an_option_that_always_has_a_value() -> None:
    config = Config()
    config.update(request_timeout=3.0, proxy="http://127.0.0.1:1")
    config.update(request_timeout=None, proxy=None)
    assert (config.request_timeout, config.proxy) == (3.0, None)


def test_the_path_of_a_report_switches_it_on() -> None:
    config = Config()
    assert not config.reports.vcr.enabled
    config.reports.update(vcr_path="cassette.yaml")
    assert config.reports.vcr.enabled
    assert not config.reports.har.enabled


def test_wrong_update_changes_nothing() -> None:
    config = Config()
    with pytest.raises(ConfigError, match="'workers' -> Must be at most 64"):
        config.update(seed=1, workers=100)
    with pytest.raises(ConfigError, match=r"'max_exampels'\. Did you mean 'max_examples'"):
        config.generation.update(max_exampels=1)
    assert (config.seed, config.workers) == (None, None)


def test_update_knows_short_names_for_several_keys() -> None:
    config = Config()
    config.generation.update(modes=[GenerationMode.POSITIVE])
    config.phases.update(phases=["fuzzing"])
    config.checks.update(included_check_names=["not_a_server_error"])
    config.reports.update(vcr_path="a.yaml", preserve_bytes=True)
    assert config.generation.mode == "positive"
    assert [config.phases.fuzzing.enabled, config.phases.coverage.enabled] == [True, False]
    assert config.checks.not_a_server_error.enabled is True
    assert config.checks.status_code_conformance.enabled is False
    assert config.reports.vcr.path == "a.yaml"


def test_both_modes_are_all() -> None:
    config = Config()
    config.generation.update(modes=list(GenerationMode))
    assert config.generation.mode == "all"


def test_defaults_belong_to_nobody() -> None:
    Config().headers["X"] = "y"
    assert Config().headers == {}


def test_variables_are_replaced_everywhere() -> None:
    text = """
    headers = { "X-Token" = "${TOKEN}-1", "X-Plain" = "$${TOKEN} $5" }
    [[operations]]
    enabled = false
    include-tag = ["${TAG}"]
    """
    config = Config.from_str(text, environment={"TOKEN": "s3", "TAG": "slow"})
    assert config.headers == {"X-Token": "s3-1", "X-Plain": "${TOKEN} $5"}
    assert config.operations[0].filters.specs[0].value == "slow"


def test_a_removed_working_directory_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigError, match="the working directory does not exist any more; change to another one"):
        Config.discover()


def test_discovery_walks_up_to_the_repository(tmp_path) -> None:
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "checker.toml").write_text("seed = 1")
    (tmp_path / "repo" / ".git").mkdir()
    assert Config.discover(inner).config_path is None
    (tmp_path / "repo" / "checker.toml").write_text("seed = 2")
    assert Config.discover(inner).seed == 2
    (inner / "checker.toml").write_text("seed = 3")
    found = Config.discover(inner)
    assert (found.seed, found.config_path) == (3, inner / "checker.toml")


def test_project_stands_between_updates_and_the_rest_of_the_file() -> None:
    config = Config.from_str(
        """
        request-timeout = 1
        headers = { A = "top", B = "top" }
        [[project]]
        title = "Shop"
        request-timeout = 2
        proxy = "http://127.0.0.1:3"
        headers = { b = "shop" }
        [project.generation]
        max-examples = 5
        """
    )
    shop = config.for_project("Shop")
    assert (shop.request_timeout, shop.generation.max_examples) == (2, 5)
    assert shop.headers == {"A": "top", "b": "shop"}
    config.update(request_timeout=9)
    assert (shop.request_timeout, config.for_project("Other").proxy) == (9, None)


def test_project_cannot_have_keys_of_the_run() -> None:
    with pytest.raises(ConfigError, match=r"Error in \[project.0\] section"):
        Config.from_str("[[project]]\ntitle = 'a'\nseed = 1")
