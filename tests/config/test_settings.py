import pickle

import pytest
from msgspec.structs import replace

from checker.config.filters import FilterSpec, OperationFilters
from checker.config.settings import RunSettings, Sanitization
from checker.core import phases
from checker.core.errors import UsageError
from tests.asking import run_settings, saying


def settings() -> RunSettings:
    return run_settings(
        "openapi.json",
        "run",
        seed=1 << 80,
        operations=saying(
            {"checks": {"not_a_server_error": {"expected-statuses": ["2XX", 404]}}},
            {"include-path": "/a", "headers": {"X-Key": "b"}},
            headers={"X-Key": "é"},
        ),
        filters=OperationFilters((FilterSpec("include", "path", "/a"),)),
        sanitization=Sanitization(keys=("a",), markers=()),
        projects=(("Shop", {"target": {"base_url": "http://127.0.0.1:1"}, "operations": saying(headers={"A": "b"})}),),
    )


def test_settings_survive_pickle() -> None:
    assert settings() == pickle.loads(pickle.dumps(settings()))


def test_project_changes_apply_to_its_title_alone() -> None:
    shop = settings().for_project("Shop")
    assert (shop.target.base_url, shop.projects) == ("http://127.0.0.1:1", ())
    assert shop.common.headers == (("A", "b"),)
    assert settings() == settings().for_project("Other")


def test_settings_without_a_phase_are_refused() -> None:
    with pytest.raises(UsageError, match="every phase is disabled"):
        replace(settings(), phases=()).for_project("Other")
    idle = replace(settings(), projects=(("Shop", {"phases": ()}),))
    with pytest.raises(UsageError, match="every phase is disabled"):
        idle.for_project("Shop")
    assert idle.for_project("Other").phases == phases.default_phases()
