"""One complaint of an error body, before its place in the request is known."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from checker.core.constraints import FORBIDDEN, ITEMS, REQUIRED
from checker.refusals.sentences import Demand, demands_of

_INDEX = re.compile(r"\[(\d+|\*|[\"']?\w+[\"']?)\]")
_NAME_IN_TEXT = re.compile(r"[`'\"]([\w.-]+)[`'\"]")
_WHOLE = ("", "$", "/", "non_field_errors", "__all__", "base", "_schema", "__root__", "root")


class PlaceDemand(Struct, frozen=True):
    """One demand on one place."""

    path: tuple[str, ...]
    """Names, `*` for items; as the target calls them."""
    keyword: str
    value: Any = True
    where: str = ""
    """`query`, `path`, `header`, `cookie`, `body`; empty where nothing is said of it."""


def path_of(name: object) -> tuple[str, ...]:
    """The path that a name stands for: `address.zip`, `items[0].name`, `/items/0/name`, `$.age`, or a list of names."""
    if isinstance(name, list | tuple):
        parts = [str(part) for part in name]
    else:
        text = _INDEX.sub(lambda found: f".{found[1].strip(chr(34) + chr(39))}", str(name))
        text = text.replace("/", ".") if text.startswith("/") else text
        parts = text.split(".")
    return tuple(ITEMS if part.isdigit() else part for part in parts if part not in ("", "$"))


def sentences_at(path: tuple[str, ...], texts: object, where: str = "") -> Iterator[PlaceDemand]:
    """Return the demands of texts on a place. Names in quotes are those of members if a member is missing or unexpected."""
    for text in [texts] if isinstance(texts, str) else texts if isinstance(texts, list) else ():
        if isinstance(text, str):
            yield from demanded(path, demands_of(text), text, where)


def demanded(
    path: tuple[str, ...], demands: Iterable[Demand], text: str = "", where: str = ""
) -> Iterator[PlaceDemand]:
    """Demands on a place, or on members of it that a text names."""
    for keyword, value in demands:
        names = _NAME_IN_TEXT.findall(text) if keyword in (REQUIRED, FORBIDDEN) else []
        members = [name for name in names if not path or _plain(name) != _plain(path[-1])]
        if members:
            for name in members:
                yield PlaceDemand((*path, name), keyword, value, where)
        elif path:
            yield PlaceDemand(path, keyword, value, where)


def keyed(value: object, path: tuple[str, ...] = (), where: str = "") -> Iterator[PlaceDemand]:
    """Texts below names: `{"name": ["This field is required."], "address": {"zip": ["..."]}}`."""
    if isinstance(value, str):
        yield from sentences_at(path, value, where)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield from sentences_at(path, item, where)
            elif isinstance(item, dict) and isinstance(item.get("message"), str):
                # `{"name": [{"message": "This field is required.", "code": "required"}]}`: forms of Django.
                yield from sentences_at(path, item["message"], where)
            elif isinstance(item, dict):
                yield from keyed(item, (*path, ITEMS), where)
    elif isinstance(value, dict):
        for name, inner in value.items():
            below = path if str(name) in _WHOLE else (*path, *path_of(name))
            yield from keyed(inner, below, where)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def is_same_name(one: str, other: str) -> bool:
    """Whether two names differ by how words are joined at most: `firstName`, `first_name`, `FirstName`."""
    return _plain(one) == _plain(other)
