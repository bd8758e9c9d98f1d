"""The command line without Ray."""

import sys
from pathlib import Path

import pytest

from tests.e2e.runner import Command


@pytest.mark.parametrize("kind", ["run", "fuzz"])
def test_a_cluster_without_ray_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "checker.fleet.ray_cluster", raising=False)
    ran = Command(tmp_path).here(kind, "http://127.0.0.1:9/openapi.json", "--cluster", "local")
    assert ran.code == 2
    assert 'a cluster needs Ray: install it with `pip install "checker-api[ray]"`' in ran.stderr
