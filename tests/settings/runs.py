"""Runs of the command line that show whether settings act: each is made twice, without them and with all of its settings."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit
from click.testing import CliRunner

from checker.cli import checker
from tests.apps.http import Request
from tests.apps.serving import Answer, serving
from tests.settings.shop import DOCUMENT, Shop

Place = tuple[str, ...]
ALONE = ("--inline", "-n", "1", "--mode", "positive", "--no-color")


@dataclass(frozen=True)
class Seen:
    """What a run left behind."""

    code: int
    stdout: str
    stderr: str
    requests: list[Request]
    folder: Path

    @property
    def lines(self) -> list[str]:
        """Methods and targets, in the order of arrival."""
        return [f"{one.method} {one.target.decode('latin-1')}" for one in self.requests]

    def has(self, pattern: str) -> bool:
        """Whether there is such a file."""
        return any(self.folder.glob(pattern))


@dataclass(frozen=True)
class Experiment:
    """Two runs that differ by settings alone."""

    arguments: tuple[str, ...] = ALONE
    base: Mapping[str, Any] = field(default_factory=dict)
    """What both are configured with."""
    serve: Callable[[], Answer] = Shop
    document: Mapping[str, Any] = field(default_factory=lambda: DOCUMENT)

    def run(self, folder: Path, said: Mapping[Place, Any]) -> Seen:
        """One run in an empty folder; `{url}` in values is where the service is."""
        folder.mkdir()
        (folder / ".git").mkdir()
        with serving(self.serve(), dict(self.document)) as app:
            text = tomlkit.dumps(nested(self.base, said)).replace("{url}", app.url)
            (folder / "checker.toml").write_text(text)
            arguments = ("run", app.document_url, *self.arguments)
            before = Path.cwd()
            os.chdir(folder)
            try:
                ran = CliRunner().invoke(checker, arguments, prog_name="checker", color=True)
            finally:
                os.chdir(before)
        assert isinstance(ran.exception, SystemExit | None), ran.exception
        return Seen(ran.exit_code, ran.stdout, ran.stderr, app.seen, folder)


def nested(base: Mapping[str, Any], said: Mapping[Place, Any]) -> dict[str, Any]:
    """A document of both; what is said goes over what stands in the base."""
    found: dict[str, Any] = {}
    for place, value in (*_flat(base), *said.items()):
        table = found
        for part in place[:-1]:
            table = table.setdefault(part, {})
        table[place[-1]] = value
    return found


def _flat(base: Mapping[str, Any]) -> list[tuple[Place, Any]]:
    return [(tuple(name.split(".")), value) for name, value in base.items()]
