"""A service as handlers of labels, for any framework: the frameworks route, decode and refuse methods as they do."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.defects.book import Asked, Book, Refusal


@dataclass(frozen=True)
class Answer:
    """What a handler says."""

    value: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str | None = "application/json"
    raw: bytes | None = None
    """Instead of the value."""


Handler = Callable[[Asked], Answer]


class Problem(Exception):
    """Ends a handler with a documented refusal."""

    def __init__(self, status: int, detail: str = "no") -> None:
        super().__init__(detail)
        self.status = status


class Service:
    """Handlers by label, each behind the rules of the description."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.book = Book(document)
        self.handlers: dict[str, Handler] = {}
        self.undeclared: dict[str, Answer] = {}
        """Path template -> answer to methods that nobody declared, instead of the framework's."""
        self.options: dict[str, Answer] = {}
        """Path template -> answer to OPTIONS, instead of the framework's."""

    def operation(self, label: str, *, lenient: Iterable[str] = ()) -> Callable[[Handler], Handler]:
        """Register a handler; what is named as lenient is not looked at."""
        passed = tuple(lenient)

        def register(handler: Handler) -> Handler:
            self.handlers[label] = lambda asked: self._answered(label, passed, handler, asked)
            return handler

        return register

    def _answered(self, label: str, passed: tuple[str, ...], handler: Handler, asked: Asked) -> Answer:
        refusal = self.book.refusal(label, asked, passed)
        if refusal is not None:
            return refused(refusal)
        try:
            return handler(asked)
        except Problem as problem:
            return refused(Refusal(problem.status, str(problem)))

    def dispatch(self, path: str, method: str, asked: Asked) -> Answer | None:
        """The answer of a path; None leaves an undeclared method to the framework."""
        declared = self.handlers.get(f"{method} {path}")
        if method == "HEAD" and declared is None:
            declared = self.handlers.get(f"GET {path}")
        if declared is not None:
            return declared(asked)
        special = self.options if method == "OPTIONS" else self.undeclared
        return special.get(path)


def refused(refusal: Refusal) -> Answer:
    """A refusal as it is documented."""
    headers = {"Allow": ", ".join(refusal.allow)} if refusal.allow else {}
    return Answer({"detail": refusal.detail}, refusal.status, headers)


def maybe(is_planted: bool, *names: str) -> tuple[str, ...]:
    """What a planted defect does not look at."""
    return names if is_planted else ()
