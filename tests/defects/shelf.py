"""Where services keep what they were given, and how they show and remove it."""

from collections.abc import Callable
from itertools import count
from threading import Lock
from typing import Any

from tests.defects.book import Asked
from tests.defects.service import Answer, Handler, Problem

Find = Callable[[Asked], dict[str, Any]]
"""What a request is about. Raises `Problem`."""


class Shelf:
    """Things by number; gone is gone."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._lock = Lock()
        self.things: dict[int, dict[str, Any]] = {}

    def add(self, thing: dict[str, Any]) -> dict[str, Any]:
        """Keep a thing under a new number, which becomes its `id`."""
        with self._lock:
            number = next(self._numbers)
            self.things[number] = {**thing, "id": number}
            return self.things[number]

    def get(self, number: str) -> dict[str, Any]:
        """The thing with that number. Raises `Problem` 404."""
        found = self.things.get(int(float(number)))
        if found is None:
            raise Problem(404, "nothing has this number")
        return found

    def remove(self, number: str) -> None:
        """Forget a thing. Raises `Problem` 404."""
        self.get(number)
        self.things.pop(int(float(number)), None)

    def at(self, parameter: str) -> Find:
        """Finds the thing whose number stands in the path."""
        return lambda asked: self.get(asked.path[parameter])

    def last(self, most: int = 20) -> list[dict[str, Any]]:
        """The newest things, newest last."""
        return list(self.things.values())[-most:]


def shows(find: Find) -> Handler:
    """Answers GET of one thing."""
    return lambda asked: Answer(find(asked))


def removes(find: Find, shelf: Shelf, *, stays: bool = False) -> Handler:
    """Answers DELETE of one thing; a planted defect lets it stay."""

    def removed(asked: Asked) -> Answer:
        thing = find(asked)
        if not stays:
            shelf.remove(str(thing["id"]))
        return Answer(status=204)

    return removed
