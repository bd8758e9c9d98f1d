"""Workers hear of each settled finding once, and nobody looks through all of them for nothing."""

from collections.abc import Callable

import pytest

from checker.corpus.fold import RunView
from checker.corpus.records import Finding
from checker.supervisor.settled_news import SettledNews
from tests.corpus.generated import finding

SETTLED: Callable[[RunView], dict[str, Finding]] = vars(RunView)["settled"].fget


def test_each_is_news_once_and_looked_for_when_a_version_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[RunView] = []

    def settled(view: RunView) -> dict[str, Finding]:
        looks.append(view)
        return SETTLED(view)

    monkeypatch.setattr(RunView, "settled", property(settled))
    view, news = RunView(), SettledNews()
    view.absorb(1, finding("a"))
    assert news.read(view) == ()
    view.absorb(1, finding("a", stage="minimised"))
    view.absorb(1, finding("b", stage="minimised"))
    assert [one.fingerprint for one in news.read(view)] == ["a", "b"]
    assert len(looks) == 2
    assert news.read(view) == news.read(view) == ()
    assert len(looks) == 2
    assert [*news.known] == ["a", "b"]
