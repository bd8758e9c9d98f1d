"""Where services keep what they were given."""

from itertools import count
from threading import Lock
from typing import Any

from tests.defects.service import Problem


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

    def last(self, most: int = 20) -> list[dict[str, Any]]:
        """The newest things, newest last."""
        return list(self.things.values())[-most:]
