"""Projects of a file, and what holds for one operation."""

from typing import Any

import pytest

import checker

TEXT = """
request-timeout = 3
headers = { X-All = "1" }

[generation]
max-examples = 7

[phases.stateful.generation]
max-examples = 9

[[operations]]
include-path = "/slow"
request-timeout = 30
checks.not_a_server_error.enabled = false

[[project]]
title = "Users"
request-timeout = 5
"""


def operation(path: str) -> Any:
    responses = {"200": {"description": ""}}
    paths = {one: {"get": {"responses": responses}} for one in ("/slow", "/fast")}
    raw = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths}
    return checker.openapi.from_dict(raw)[path]["GET"]


@pytest.fixture
def config() -> checker.Config:
    return checker.Config.from_str(TEXT, environment={})


def test_projects_by_title(config) -> None:
    projects = config.projects
    assert projects.default is config
    assert projects.named["Users"].request_timeout == 5
    assert projects.get_default().request_timeout == 5
    assert checker.Config().projects.get_default().request_timeout == 10


def test_what_is_set_later_counts_for_all_projects(config) -> None:
    config.projects.override.update(request_timeout=1)
    assert config.request_timeout == config.projects.named["Users"].request_timeout == 1


def test_what_holds_for_an_operation(config) -> None:
    slow, fast = operation("/slow"), operation("/fast")
    assert config.request_timeout_for(operation=slow) == 30
    assert config.request_timeout_for(operation=fast) == config.request_timeout_for() == 3
    assert config.headers_for(operation=slow) == {"X-All": "1"}
    assert config.generation_for(operation=slow, phase="fuzzing").max_examples == 7
    assert config.generation_for(operation=slow, phase="stateful").max_examples == 9
    assert config.checks_config_for(operation=slow).not_a_server_error.enabled is False
    assert config.checks_for(operation=fast).not_a_server_error.enabled is True
    config.update(request_timeout=1)
    assert config.request_timeout_for(operation=slow) == 1


def test_what_holds_for_an_operation_is_for_reading(config) -> None:
    found = config.generation_for(operation=operation("/slow"))
    with pytest.raises(checker.config.ConfigError, match="derived for one operation"):
        found.update(max_examples=1)
    with pytest.raises(checker.config.ConfigError, match="derived for one operation"):
        found.max_examples = 1


def test_there_are_resolvers_of_keys_alone(config) -> None:
    with pytest.raises(AttributeError, match="no option 'reqest_timeout'"):
        _ = config.reqest_timeout_for


@pytest.mark.parametrize("section", ["generation", "checks.not_a_server_error", "output.sanitization"])
def test_assignment_works_or_raises(config, section: str) -> None:
    found: Any = config
    for name in section.split("."):
        found = getattr(found, name)
    with pytest.raises(checker.config.ConfigError, match="no_such_option"):
        found.no_such_option = 1
    with pytest.raises(checker.config.ConfigError):
        config.generation = {"max_examples": 1}
    config.generation.max_examples = 3
    assert config.generation.max_examples == 3
