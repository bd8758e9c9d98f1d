"""The paths of the resources that a run has made at its target, as responses tell them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from msgspec import Struct, field

from checker.core.operation import Label
from checker.core.resource_names import identifier_in
from checker.core.response import Response

_LONGEST = 1024


class MadeResources(Struct):
    """Paths of what this run, or one before it, has made and not removed."""

    write: Callable[[str, str], None] = lambda path, label: None
    """Keeps (path, label of what made it); an empty label: it is gone."""
    news: Callable[[], Iterator[tuple[str, str]]] = lambda: iter(())
    """What others have written since it was asked last."""
    paths: dict[str, str] = field(default_factory=dict)
    """Path -> label of what made it, oldest first."""

    def add(self, path: str, label: Label) -> None:
        """One more was made."""
        if path and path not in self.paths and len(path) <= _LONGEST:
            self.paths[path] = label
            self.write(path, label)

    def remove(self, path: str) -> None:
        """One is gone."""
        if self.paths.pop(path, None) is not None:
            self.write(path, "")

    def owns(self, path: str) -> bool:
        """Whether a path is that of something made, or stands below it."""
        return self._has(path) or (self.catch_up() and self._has(path))

    def catch_up(self) -> bool:
        """Take in what others have written; whether there was anything."""
        found = False
        for path, label in self.news():
            found = True
            if label:
                self.paths.setdefault(path, label)
            else:
                self.paths.pop(path, None)
        return found

    def _has(self, path: str) -> bool:
        while path:
            if path in self.paths:
                return True
            path = path.rpartition("/")[0]
        return False


def made_paths(collection: str, answer: Response, names: Sequence[str]) -> Iterator[str]:
    """Paths of what an answer to `POST collection` says was made. `names`: variables right below the collection.

    `Location` first (RFC 9110, 10.2.2); a 200 or 202 without it counts where something can stand below the collection.
    """
    location = next(iter(answer.headers.get("location", ())), "")
    if location:
        yield urlsplit(location).path.rstrip("/")
        return
    if not names:
        return
    value = identifier_in(_json_of(answer), names)
    if value is not None:
        yield f"{collection}/{quote(str(value), safe='')}"


def _json_of(answer: Response) -> Any:
    try:
        return answer.json()
    except (ValueError, RecursionError):
        return None
