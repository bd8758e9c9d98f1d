"""A run is gone on with when the same is made and judged; how requests travel may have changed."""

from typing import Any

import pytest

from checker.config.settings import RunSettings
from checker.supervisor.lifecycle import settings_digest
from tests.asking import saying


def digest_of(block: dict[str, Any], **root: Any) -> str:
    said = saying({}, {"include-path": "/a", **block}, **root)
    return settings_digest(RunSettings("openapi.json", "fuzz", 1, operations=said))


@pytest.mark.parametrize(
    "block",
    [
        {"generation": {"mode": "negative"}},
        {"checks": {"not_a_server_error": {"enabled": False}}},
        {"phases": {"fuzzing": {"generation": {"codec": "ascii"}}}},
        {"include-path": "/b"},
    ],
    ids=str,
)
def test_what_a_block_says_of_making_and_judging_counts(block: dict[str, Any]) -> None:
    assert digest_of(block) != digest_of({})


def test_how_requests_travel_does_not() -> None:
    assert digest_of({"request-timeout": 3}, headers={"X-Key": "new"}) == digest_of({})
