"""Which findings are settled, and which of them the workers have not heard of."""

from msgspec import Struct, field

from checker.corpus.fold import RunView
from checker.workers.messages import SettledFinding


class SettledNews(Struct):
    """Those that a run told of until now."""

    known: dict[str, SettledFinding] = field(default_factory=dict)
    """By fingerprint."""
    _versions: int = 0
    """Of findings, when somebody looked last: to look takes as long as there are many."""

    def read(self, view: RunView) -> tuple[SettledFinding, ...]:
        """What was settled since the last call, withdrawn findings left out."""
        if view.versions == self._versions:
            return ()
        self._versions = view.versions
        settled = view.settled
        news = {
            name: SettledFinding.of(settled[name])
            for name in sorted(settled.keys() - self.known.keys())
            if not settled[name].withdrawn
        }
        self.known |= news
        return tuple(news.values())
