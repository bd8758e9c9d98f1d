"""The public names and their signatures, written down: what changes here is noticed by users.

Write the list anew with `python -m tests.library.test_public_names`.
"""

import enum
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checker import faces

LIST = Path(__file__).with_name("public_names.txt")


def signature(value: Any) -> str:
    try:
        text = str(inspect.signature(value)).replace("typing.", "").replace("collections.abc.", "")
        # Python 3.11 writes it in a way of its own.
        text = re.sub(r"\*<class '([\w.]+)'>", r"Unpack[\1]", text)
        return re.sub(" at 0x[0-9a-f]+", "", text)
    except (TypeError, ValueError):
        return ""


def members(name: str, value: Any) -> Iterator[str]:
    """What users may ask of a class, or of an instance of one of ours."""
    kind = value if inspect.isclass(value) else type(value)
    for member in sorted(dir(kind)):
        if member.startswith("_"):
            continue
        # Not by `getattr`: it would ask properties of classes.
        found = inspect.getattr_static(kind, member)
        if isinstance(found, staticmethod | classmethod):
            found = found.__func__
        shown = signature(found) if inspect.isfunction(found) else ""
        yield f"{name}.{member}{shown}"


def described(name: str, value: Any) -> Iterator[str]:
    if inspect.ismodule(value):
        yield f"{name}: module"
    elif inspect.isclass(value) and issubclass(value, enum.Enum):
        yield f"{name}: {', '.join(value.__members__)}"
    elif inspect.isclass(value):
        yield f"{name}: class"
        yield from members(name, value)
    elif inspect.isfunction(value) or inspect.ismethod(value):
        yield f"{name}{signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"
        if type(value).__module__.startswith("checker."):
            yield from members(name, value)


def lines() -> Iterator[str]:
    for name in sorted(faces.PUBLIC):
        yield from described(f"checker.{name}", faces.resolve(name))
    errors = faces.resolve("errors")
    for name in sorted(dir(errors)):
        kind = getattr(errors, name)
        above = next(one.__name__ for one in kind.__mro__[1:])
        yield f"checker.errors.{name}({above})"


def test_public_names_are_as_written_down() -> None:
    """New names may come; none that is written down goes away, or is called in another way."""
    written = LIST.read_text().splitlines()
    assert sorted(set(written) - set(lines())) == []


if __name__ == "__main__":
    LIST.write_text("".join(f"{line}\n" for line in lines()))
