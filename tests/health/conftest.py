"""Examinations of outages that look twice whether the target serves again, where users wait four seconds."""

from collections.abc import Iterator

import pytest

from checker.workers import examination


@pytest.fixture(autouse=True, scope="module")
def _two_looks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(examination, "REFUSED_PATIENCE_S", 0.3)
        yield
