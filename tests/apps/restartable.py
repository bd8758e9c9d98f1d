"""A service that starts again, empty, on the same port: what printed reproductions are run against."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.defects.frameworks import flask_app
from tests.defects.service import Service
from tests.defects.serving import serving_wsgi
from tests.defects.words import Defect


@dataclass
class Restartable:
    """A WSGI application with planted defects."""

    document: dict[str, Any]
    config: str
    """The text of `checker.toml`."""
    defects: tuple[Defect, ...]
    build: Callable[[frozenset[str]], Service]
    log_in: Callable[[str], Mapping[str, str]]
    """Returns the variables that printed texts read, given the URL."""
    url: str = ""
    _app: Any = field(init=False)

    def __post_init__(self) -> None:
        self.restart(self.all)

    @property
    def all(self) -> frozenset[str]:
        """The ids of its defects."""
        return frozenset(defect.id for defect in self.defects)

    def restart(self, on: frozenset[str]) -> None:
        """Forget everything; serve with these defects."""
        self._app = flask_app(self.build(on))

    def __call__(self, environ: Any, start: Any) -> Any:
        return self._app(environ, start)

    @contextmanager
    def serving(self) -> "Iterator[Restartable]":
        """Serve it on loopback."""
        with serving_wsgi(self) as self.url:
            yield self
