"""Runs in this process, of small services."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.core.system import Interrupts
from checker.corpus.fold import RunView
from checker.supervisor.supervisor import RunEnvironment, RunOutcome, execute
from tests.apps.serving import serving
from tests.asking import changed
from tests.health.services import Service


@dataclass(frozen=True)
class Ran:
    outcome: RunOutcome

    @property
    def view(self) -> RunView:
        return self.outcome.view

    @property
    def findings(self) -> list[tuple[str, str]]:
        """(operation, title)."""
        return sorted((one.label, one.title) for one in self.view.findings.values())

    def notes(self, kind: str) -> list[tuple[str, str]]:
        """(operation, text)."""
        return sorted((one.label, one.text) for one in self.view.notes.get(kind, {}).values())


def run(
    folder: Path,
    service: Service,
    said: dict[str, Any] | None = None,
    *,
    interrupts: Interrupts | None = None,
    before: Callable[[str], None] = lambda url: None,
    **fields: Any,
) -> Ran:
    """A run of all phases over a service; `before` is told its URL first."""
    values = {"seed": 1, "generation": {"database": "none", "max-examples": 6}, **(said or {})}
    with serving(service, service.document) as app:
        config = Config.from_dict(values, environment={})
        asked = run_settings(config, Invocation(app.document_url, inline=True), {})
        asked = changed(asked, folder=str(folder / "corpus"), **fields)
        before(app.url)
        around = RunEnvironment(interrupts=interrupts or Interrupts())
        return Ran(execute(asked, lambda *_: None, around))
