"""Workers hear of each settled finding once, and a turn of the supervisor looks at new versions of findings only."""

import pytest

from checker.corpus.fold import RunView
from checker.supervisor.supervisor import SettledNews
from tests.corpus.generated import finding
from tests.reporting.samples import changed
from tests.supervisor.looking import looked_at


def test_each_is_news_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = looked_at(monkeypatch)
    view, news = RunView(), SettledNews()
    view.absorb(1, finding("a"))
    assert news.read(view) == ()
    view.absorb(1, finding("a", stage="minimised"))
    view.absorb(1, finding("b", stage="minimised"))
    assert [one.fingerprint for one in news.read(view)] == ["a", "b"]
    assert looks == ["a", "a", "b"]
    assert news.read(view) == news.read(view) == ()
    assert looks == ["a", "a", "b"]
    assert [*news.known] == ["a", "b"]


def test_a_finding_that_is_confirmed_after_it_was_withdrawn_is_news() -> None:
    view, news = RunView(), SettledNews()
    view.absorb(1, changed(finding("a", stage="minimised"), withdrawn=True))
    assert news.read(view) == ()
    view.absorb(2, finding("a", at=2.0, stage="minimised"))
    assert [one.fingerprint for one in news.read(view)] == ["a"]
