"""Counts how often findings are looked at."""

import pytest

from checker.corpus.fold import RunView
from checker.corpus.records import Finding


def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list that will hold the fingerprint of each finding that is looked at."""
    looks: list[str] = []
    plain = RunView.version

    def version(view: RunView, fingerprint: str) -> Finding:
        looks.append(fingerprint)
        return plain(view, fingerprint)

    monkeypatch.setattr(RunView, "version", version)
    return looks
