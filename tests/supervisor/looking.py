"""Counts how often findings are looked at."""

import pytest

from checker.corpus.fold import Sights
from checker.corpus.records import Finding


def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list that will hold the fingerprint of each finding that is looked at."""
    looks: list[str] = []
    plain = Sights.version

    def version(sights: Sights, fingerprint: str) -> Finding:
        looks.append(fingerprint)
        return plain(sights, fingerprint)

    monkeypatch.setattr(Sights, "version", version)
    return looks
