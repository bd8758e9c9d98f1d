"""Mutations that break the keywords of numbers and strings, and lists of values."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.core.schema import Dialect
from checker.generation.drawing.places import is_in_head
from checker.generation.drawing.scalars import compile_listed, nearest_float
from checker.generation.negation.mutation_sites import Breaker, Mutation, MutationSite, first_of, mixed, too_small
from checker.generation.normalization import forms
from checker.generation.normalization.forms import Canonical, same
from checker.generation.patterns.regexes import matcher
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Draw, DrawContext, Rejected, retried
from checker.validation.ecma import ecma_pattern
from checker.validation.formats import ASSERTED_FORMATS, INTEGER_RANGES

_BOOLEAN_BOUNDS: Final = frozenset({Dialect.DRAFT4, Dialect.OPENAPI20, Dialect.OPENAPI30})
_KINDS: Final = (
    forms.STRING, forms.NULL, forms.BOOLEAN, forms.NUMBER, forms.ARRAY, forms.OBJECT,
)  # fmt: skip
_LISTS: Final = ("enum", "const")


def _type(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    """One way for each type that is not declared."""
    types = frozenset([value] if isinstance(value, str) else value)
    if forms.NUMBER in types:
        types |= {forms.INTEGER}
    if forms.NULL in spot.form.types:
        # OpenAPI says it beside the type.
        types |= {forms.NULL}
    is_alone = not any(name in spot.said for name in _LISTS) and not spot.is_said_elsewhere("type")
    for kind in _KINDS:
        if kind not in types:
            make = partial(_of_type, spot, kind, types)
            yield Mutation(spot.pointer("type"), "type", value, make, is_alone)


_SCALARS: Final = {"type": [forms.NULL, forms.BOOLEAN, forms.NUMBER, forms.STRING]}
_SMALL: Final[dict[str, dict[str, Any]]] = {
    forms.ARRAY: {"maxItems": 3, "items": _SCALARS},
    forms.OBJECT: {"maxProperties": 3, "additionalProperties": _SCALARS},
}
"""Where any array or object is wrong, a small one does."""


def _of_type(spot: MutationSite, kind: str, types: frozenset[str]) -> Draw:
    words = ("type", *_LISTS) if any(name in spot.said for name in _LISTS) else ("type",)
    small = {"type": kind, **_SMALL.get(kind, {})}
    draw = first_of(
        partial(spot.replaced, ("type",), f"type={kind} small", small),
        partial(spot.replaced, ("type",), f"type={kind}", {"type": kind}),
        # Listed values have a type themselves: both go, or neither.
        partial(spot.replaced, words, f"type={kind}", {"type": kind}),
    )
    if kind == forms.NUMBER and forms.INTEGER in types:
        return retried(draw, _is_fractional, spot.compiler.context, spot.pointer("type"))
    return draw


def _is_fractional(value: Any) -> bool:
    return isinstance(value, float) and not value.is_integer()


def _bound(spot: MutationSite, value: Any, *, keyword: str, is_low: bool) -> Iterator[Mutation]:
    yield Mutation(spot.pointer(keyword), keyword, value, partial(_beyond, spot, keyword, is_low=is_low))


def _beyond(spot: MutationSite, keyword: str, *, is_low: bool) -> Draw:
    """One step beyond a bound, or anywhere beyond it."""
    bound = spot.said[keyword]
    words: tuple[str, ...] = (keyword,)
    if spot.said.get("exclusive" + keyword.capitalize()) is True:
        words = (keyword, "exclusive" + keyword.capitalize())
    is_open = keyword.startswith("exclusive")
    step = 0 if is_open else -1 if is_low else 1
    near = bound + step
    side = "maximum" if is_low else "minimum"
    far = {"type": "number", side: bound}
    if not is_open:
        far = {"type": "number", **_open_bound(spot, side, bound)}
    return mixed(
        partial(spot.replaced, words, f"{keyword}-near", {"type": "number", "minimum": near, "maximum": near}),
        partial(spot.replaced, words, f"{keyword}-far", far),
    )  # fmt: skip


def _open_bound(spot: MutationSite, side: str, bound: Any) -> dict[str, Any]:
    exclusive = "exclusive" + side.capitalize()
    if spot.compiler.canon.dialect in _BOOLEAN_BOUNDS:
        return {side: bound, exclusive: True}
    return {exclusive: bound}


def _exclusive(spot: MutationSite, value: Any, *, keyword: str, is_low: bool) -> Iterator[Mutation]:
    if value is True:
        bound = spot.said.get("minimum" if is_low else "maximum")
        if bound is not None:
            exactly = {"type": "number", "minimum": bound, "maximum": bound}
            make = partial(spot.replaced, (keyword,), f"{keyword}-near", exactly)
            yield Mutation(spot.pointer(keyword), keyword, value, make)
    elif value is not False:
        yield from _bound(spot, value, keyword=keyword, is_low=is_low)


def _multiple(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    yield Mutation(spot.pointer("multipleOf"), "multipleOf", value, partial(_no_multiple, spot, value))


def _no_multiple(spot: MutationSite, step: Any) -> Draw:
    exact = Fraction(str(step))
    if exact == 1 and forms.NUMBER not in spot.form.types:
        raise Unsatisfiable(spot.pointer("multipleOf"), "every integer is a multiple of 1")

    def is_clear(value: Any) -> bool:
        """Not a multiple, for those who divide floats as well."""
        if Fraction(str(value)) % exact == 0:
            return False
        quotient = nearest_float(value) / nearest_float(step)
        return abs(quotient) < 2**53 and abs(quotient - round(quotient)) > 1e-6

    draw = spot.replaced(("multipleOf",), "multipleOf", {"type": "number"})
    return retried(draw, is_clear, spot.compiler.context, spot.pointer("multipleOf"))


NUMBERS: Final[Mapping[str, Breaker]] = {
    "type": _type,
    "minimum": partial(_bound, keyword="minimum", is_low=True),
    "maximum": partial(_bound, keyword="maximum", is_low=False),
    "exclusiveMinimum": partial(_exclusive, keyword="exclusiveMinimum", is_low=True),
    "exclusiveMaximum": partial(_exclusive, keyword="exclusiveMaximum", is_low=False),
    "multipleOf": _multiple,
}
"""Keyword -> ways to break it."""


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
    "byte": (lambda text: text + "!", lambda text: text.rstrip("=") + "A===", _always("A"), lambda text: "=" + text),
    "duration": (
        _always("P"),
        _always("PT"),
        _spliced(0, 1, ""),
        _always("P1H"),
        _always("P1"),
        lambda text: text.lower(),
        lambda text: text.replace("P", "P-"),
    ),
    "json-pointer": (lambda text: "a" + text, lambda text: text + "/~2", lambda text: text + "/~"),
    "relative-json-pointer": (lambda text: "-" + text, lambda text: "0" + text, _always("#"), _always("")),
    "regex": (
        lambda text: text + "(",
        lambda text: "[" + text,
        lambda text: "*" + text,
        lambda text: text + "a{2,1}",
        lambda text: "(?P<" + text,
    ),
}
_SAME: Final = {"idn-email": "email", "iri": "uri", "iri-reference": "uri-reference"}
FORMAT_MISSES: Final[Mapping[str, Callable[[Draw], Draw]]] = {
    name: partial(_changed, changes)
    for name, changes in (_CHANGES | {name: _CHANGES[like] for name, like in _SAME.items()}).items()
}
"""Format -> from draws of it to draws of what it nearly is; now and then such a text is of the format all the same."""


_TEXT: Final = {"type": "string"}
_NO_JSON: Final = b"{:}"
_ODD: Final = (
    "", "0", " ", "a", "A", "-", "~", "\u00e9", "00", "0" * 12, "a b", "\n", "_.-", "!?", "aA0", "\U0001f600",
)  # fmt: skip
"""Tried where texts that are close to a match are matches too."""
_TRIALS: Final = 16
_HITS: Final = 2
_RECORDED: Final = 500
"""Longer texts of a pattern are made of short ones."""
_LONGEST_IN_HEAD: Final = 2_000
"""Longer ones are refused by servers, not by operations, wherever a head has room for some 8,000 octets."""


def _too_long(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    many = int(value) + 1
    if many > _LONGEST_IN_HEAD and is_in_head(spot.place):
        return
    if many > _RECORDED and (spot.form.strings.patterns or spot.form.formats):
        yield Mutation(spot.pointer("maxLength"), "maxLength", value, partial(_repeated, spot, many))
        return
    near = partial(_sized, spot, "maxLength", "near", {"minLength": many, "maxLength": many})
    any_size = partial(_sized, spot, "maxLength", "far", {"minLength": many})
    yield Mutation(spot.pointer("maxLength"), "maxLength", value, partial(mixed, near, any_size))


def _repeated(spot: MutationSite, size: int) -> Draw:
    """Short texts over and over: long ones of a pattern cost too many choices."""
    if size > spot.compiler.max_text:
        raise Unsatisfiable(spot.pointer("maxLength"), f"{size} characters cannot be sent")
    short = spot.draw((*spot.rest(), spot.made("maxLength-short", _TEXT | {"maxLength": 24})))
    others = (*spot.rest("maxLength"), spot.made("text", _TEXT))
    fits = fitting(spot.compiler.canonical(others), spot.place.carries)

    def long(source: Source) -> str:
        text = short(source) or "0"
        return (text * (size // len(text) + 1))[:size]

    return retried(long, fits, spot.compiler.context, spot.pointer("maxLength"))


def _sized(spot: MutationSite, keyword: str, name: str, sizes: dict[str, int]) -> Draw:
    return spot.replaced((keyword,), f"{keyword}-{name}", _TEXT | sizes)


def _pattern(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    yield Mutation(spot.pointer("pattern"), "pattern", value, partial(_unmatched, spot, value))


def _unmatched(spot: MutationSite, pattern: str) -> Draw:
    known = ecma_pattern(pattern)
    if known is None:
        raise Unsatisfiable(spot.pointer("pattern"), "engines do not agree on what matches it")
    return _missed(spot, "pattern", known.finds, mutated)


def _format(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    at = spot.pointer("format")
    if value in INTEGER_RANGES:
        yield Mutation(at, "format", value, partial(_out_of_range, spot, value))
    elif value in ASSERTED_FORMATS and value not in spot.compiler.formats:
        miss = FORMAT_MISSES.get(value, mutated)
        make = partial(_missed, spot, "format", ASSERTED_FORMATS[value], miss)
        yield Mutation(at, "format", value, make)


def _out_of_range(spot: MutationSite, name: str) -> Draw:
    low, high = INTEGER_RANGES[name]

    def beyond(side: str, bound: int) -> Callable[[], Draw]:
        return partial(spot.replaced, ("format",), f"format-{side}", {"type": "integer", side: bound})

    return mixed(beyond("minimum", high + 1), beyond("maximum", low - 1))


def _missed(spot: MutationSite, keyword: str, matches: Callable[[str], bool], miss: Callable[[Draw], Draw]) -> Draw:
    """Strings close to those that match, and any others, as long as everything else holds."""
    others = (*spot.rest(keyword), spot.made(f"{keyword}-text", _TEXT))
    fits = fitting(spot.compiler.canonical(others), spot.place.carries)
    context, at = spot.compiler.context, spot.pointer(keyword)

    def is_miss(value: Any) -> bool:
        return not matches(value) and fits(value)

    def near() -> Draw:
        close = miss(spot.draw((*spot.rest(), spot.made("text", _TEXT))))
        if not _is_often(close, is_miss, context):
            raise Unsatisfiable(at, "what is close to a match is one")
        return retried(close, is_miss, context, at)

    def far() -> Draw:
        return retried(spot.draw(others), lambda v: not matches(v), context, at)

    def odd() -> Draw:
        texts = [text for text in _ODD if is_miss(text)]
        if not texts:
            raise Unsatisfiable(at, "no odd text is a miss")
        return compile_listed(texts)

    return mixed(odd, near, far, shares=(1, 4, 1))


def _is_often(draw: Draw, accepts: Callable[[Any], bool], context: DrawContext) -> bool:
    """True when a few draws from fixed seeds show that attempts are worth it."""
    with context.aside():
        context.begin(None)
        try:
            found = (seed for seed in range(_TRIALS) if accepts(draw(RandomSource(seed))))
            return len(list(islice(found, _HITS))) == _HITS
        except Rejected:
            # Matches themselves are not to be had here: ` x` where blanks at the ends are lost.
            return False


def fitting(form: Canonical, carries: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """True for strings that a form admits, as far as it speaks of strings."""
    low, high = form.strings.lengths.low, form.strings.lengths.high
    checks = [matcher(pattern) for pattern, _ in form.strings.patterns]
    checks += [ASSERTED_FORMATS[name] for name in form.formats if name in ASSERTED_FORMATS]
    listed = form.enum

    def fits(value: Any) -> bool:
        return (
            isinstance(value, str)
            and low <= len(value)
            and (high is None or len(value) <= high)
            and carries(value)
            and all(check(value) for check in checks)
            and (listed is None or value in listed)
        )

    return fits


def _listed(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    values = [value] if keyword == "const" else list(value)
    make = partial(_unlisted, spot, keyword, values)
    yield Mutation(spot.pointer(keyword), keyword, value, make)


def _unlisted(spot: MutationSite, keyword: str, values: list[Any]) -> Draw:
    """Other values of the same types: close to a member, or any."""
    context, at = spot.compiler.context, spot.pointer(keyword)
    words: tuple[str, ...] = (keyword,)
    if all(name in spot.said for name in ("enum", "const")):
        words = ("enum", "const")

    def is_other(value: Any) -> bool:
        return not any(same(value, one) for one in values)

    others = spot.rest(*words)
    texts = [one for one in values if isinstance(one, str) and spot.place.carries(one)]

    def near() -> Draw:
        form = spot.compiler.canonical(others)
        if not texts or forms.STRING not in form.types:
            raise Unsatisfiable(at, "no member is a text that can be sent")
        fits = fitting(form, spot.place.carries)
        miss = mutated(compile_listed(texts))
        return retried(miss, lambda v: is_other(v) and fits(v), context, at)

    return mixed(lambda: retried(spot.draw(others), is_other, context, at), near, shares=(1, 2))


def _content(spot: MutationSite, value: Any, *, keyword: str) -> Iterator[Mutation]:
    """Texts that cannot be decoded, or are not of the media type when they are."""
    yield Mutation(spot.pointer(keyword), keyword, value, partial(_undecodable, spot, keyword))


def _undecodable(spot: MutationSite, keyword: str) -> Draw:
    draw = spot.draw((*spot.rest(), spot.made("text", _TEXT)))
    if keyword == "contentEncoding":
        return lambda source: f"{draw(source)}%"
    is_encoded = "contentEncoding" in spot.said
    return lambda source: b64encode(_NO_JSON).decode() if is_encoded else f"{draw(source)}{{"


TEXTS: Final[Mapping[str, Breaker]] = {
    "minLength": partial(too_small, lowest="minLength", highest="maxLength"),
    "maxLength": _too_long,
    "pattern": _pattern,
    "format": _format,
    "enum": partial(_listed, keyword="enum"),
    "const": partial(_listed, keyword="const"),
    "contentEncoding": partial(_content, keyword="contentEncoding"),
    "contentMediaType": partial(_content, keyword="contentMediaType"),
}
"""Keyword -> ways to break it."""
