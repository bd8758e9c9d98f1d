"""Texts that are almost right: a matching one with one thing changed, by format or at any place."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw

Change = Callable[[str], str]
_STRANGE: Final = " -_0aZ.\n\u00e9!"
_EDITS: Final = 10


def mutated(draw: Draw) -> Draw:
    """Draws texts with one edit: at an end, where anchors fail, or anywhere."""

    def changed(source: Source) -> str:
        text = draw(source)
        if not isinstance(text, str):
            return ""
        edit = source.choice(_EDITS)
        if edit < 3:
            return (text + "\n", " " + text, text + " ")[edit]
        at = source.integer(0, len(text)) if text else 0
        strange = _STRANGE[source.choice(len(_STRANGE))] if edit < 5 else ""
        return _edited(text, edit, at, strange)

    return changed


def _edited(text: str, edit: int, at: int, strange: str) -> str:
    match edit:
        case 3:
            return text[:at] + strange + text[at:]
        case 4:
            return text[:at] + strange + text[at + 1 :]
        case 5:
            return text[:at] + text[at + 1 :]
        case 6:
            # One more of what is there: the commonest slip of a hand.
            return text[: at + 1] + text[at:]
        case 7:
            return text[:at] + text[at : at + 1].swapcase() + text[at + 1 :]
        case 8:
            return text + text
        case _:
            return text[:at]


def _changed(changes: tuple[Change, ...], draw: Draw) -> Draw:
    """Draws texts with a change that is typical of the format, or with any edit."""
    count, edited = len(changes), mutated(draw)

    def miss(source: Source) -> str:
        which = source.choice(count + 2)
        if which >= count:
            value: str = edited(source)
            return value
        text = draw(source)
        return changes[which](text) if isinstance(text, str) else ""

    return miss


def _always(text: str) -> Change:
    return lambda _: text


def _spliced(start: int, stop: int | None, text: str) -> Change:
    """`text` in place of some characters."""
    return lambda whole: whole[:start] + text + ("" if stop is None else whole[stop:])


def _not_in_leap_year(text: str) -> str:
    year = int(text[:4]) if text[:4].isdecimal() else 2023
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return f"{min(year + is_leap, 9999):04d}-02-29{text[10:]}"


_DATES: Final[tuple[Change, ...]] = (
    _spliced(5, 7, "13"),
    _spliced(5, 7, "00"),
    _spliced(8, 10, "00"),
    _spliced(8, 10, "32"),
    _spliced(5, 10, "04-31"),
    _not_in_leap_year,
    _spliced(5, 6, ""),
    _spliced(0, 1, ""),
    _spliced(4, 5, "/"),
    _spliced(4, 5, ""),
)
_CLOCKS: Final = (("24", 0), ("60", 3), ("61", 6))


def _clocks(start: int) -> tuple[Change, ...]:
    """Hours, minutes and seconds that no clock shows."""
    return tuple(_spliced(start + at, start + at + 2, text) for text, at in _CLOCKS)


_CHANGES: Final[dict[str, tuple[Change, ...]]] = {
    "date": (*_DATES, lambda text: text + "Z", lambda text: " " + text),
    "date-time": (
        *_DATES,
        *_clocks(11),
        _spliced(19, None, ""),
        _spliced(10, None, ""),
        _spliced(19, None, "+25:00"),
        _spliced(10, 11, "_"),
    ),
    "time": (*_clocks(0), _spliced(8, None, "+25:00"), _spliced(5, None, ""), _spliced(2, 3, ".")),
    "uuid": (
        lambda text: text.replace("-", "", 1),
        lambda text: text.replace("-", ""),
        lambda text: text + "0",
        _spliced(-1, None, ""),
        _spliced(0, 1, "g"),
        _spliced(8, 9, "_"),
        lambda text: f"{{{text}}}",
    ),
    "email": (
        lambda text: text.replace("@", ""),
        lambda text: text.partition("@")[0] + "@",
        lambda text: "@" + text.rpartition("@")[2],
        lambda text: text.replace("@", "@@"),
        lambda text: text.replace("@", " @"),
    ),
    "hostname": (
        lambda text: "-" + text,
        lambda text: text.replace(".", "..", 1),
        lambda text: text.replace(".", " ", 1),
        lambda text: "a" * 64 + "." + text,
        _always(""),
    ),
    "ipv4": (
        lambda text: "256" + text[text.find(".") :],
        lambda text: text.rpartition(".")[0],
        lambda text: text + ".1",
        lambda text: "0" + text,
        lambda text: text.replace(".", ",", 1),
    ),
    "ipv6": (
        lambda text: text + ":1:2:3:4:5:6:7:8",
        lambda text: "g" + text,
        _always("1::2::3"),
        _always(":::"),
        _always("12345::"),
        _always("1.2.3.4"),
    ),
    "uri": (
        lambda text: text.partition("://")[2],
        lambda text: text.replace(":", "", 1),
        lambda text: text + " ",
        lambda text: text + "<>",
        lambda text: "1" + text,
        _always(""),
    ),
    "uri-reference": (
        lambda text: text + " ",
        lambda text: text + "\\",
        lambda text: "<" + text + ">",
        lambda text: text + "{}",
    ),
    "byte": (
        lambda text: text + "!",
        lambda text: text.rstrip("=") + "A===",
        _always("A"),
        lambda text: "=" + text,
    ),
    "duration": (
        _always("P"),
        _always("PT"),
        _spliced(0, 1, ""),
        _always("P1H"),
        _always("P1"),
        lambda text: text.lower(),
        lambda text: text.replace("P", "P-"),
    ),
    "json-pointer": (
        lambda text: "a" + text,
        lambda text: text + "/~2",
        lambda text: text + "/~",
    ),
    "relative-json-pointer": (
        lambda text: "-" + text,
        lambda text: "0" + text,
        _always("#"),
        _always(""),
    ),
    "regex": (
        lambda text: text + "(",
        lambda text: "[" + text,
        lambda text: "*" + text,
        lambda text: text + "a{2,1}",
        lambda text: "(?P<" + text,
    ),
}
_SAME: Final = {
    "idn-email": "email",
    "iri": "uri",
    "iri-reference": "uri-reference",
}
FORMAT_MISSES: Final[Mapping[str, Callable[[Draw], Draw]]] = {
    name: partial(_changed, changes)
    for name, changes in (_CHANGES | {name: _CHANGES[like] for name, like in _SAME.items()}).items()
}
"""Format -> from draws of it to draws of what it nearly is; now and then such a text is of the format all the same."""
