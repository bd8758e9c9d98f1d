"""The settled findings that workers have not been told about."""

from msgspec import Struct, field

from checker.corpus.fold import RunView
from checker.workers.messages import SettledFinding


class SettledNews(Struct):
    """The findings that a run has reported until now."""

    known: dict[str, SettledFinding] = field(default_factory=dict)
    """By fingerprint."""
    _read: int = 0
    """How many changes of findings were read."""

    def read(self, view: RunView) -> tuple[SettledFinding, ...]:
        """Return the findings that were settled since the last call, without withdrawn ones."""
        changed = view.changes[self._read :]
        self._read += len(changed)
        news = {}
        for name in sorted(set(changed) - self.known.keys()):
            finding = view.version(name)
            if finding.stage == "minimised" and not finding.withdrawn:
                news[name] = SettledFinding.of(finding)
        self.known |= news
        return tuple(news.values())
