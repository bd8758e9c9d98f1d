"""How the keywords of strings, and lists of values, are broken."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final

from checker.core.errors import Unsatisfiable
from checker.generation.drawing.places import is_in_head
from checker.generation.drawing.scalars import compile_listed
from checker.generation.negation.mutation_sites import Breaker, Mutation, MutationSite, mixed
from checker.generation.negation.near_misses import FORMAT_MISSES, mutated
from checker.generation.normalization import forms
from checker.generation.normalization.forms import Canonical, same
from checker.generation.patterns.matching import matcher
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Draw, DrawContext, Rejected, retried
from checker.validation.ecma import ecma_pattern
from checker.validation.formats import ASSERTED_FORMATS, INTEGER_RANGES

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


def _too_short(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    if value < 1:
        return
    few = int(value) - 1
    near = partial(_sized, spot, "minLength", "near", {"minLength": few, "maxLength": few})
    any_size = partial(_sized, spot, "minLength", "far", {"maxLength": few})
    yield Mutation(spot.pointer("minLength"), "minLength", value, partial(mixed, near, any_size))


def _too_long(spot: MutationSite, value: Any) -> Iterator[Mutation]:
    many = int(value) + 1
    if many > _LONGEST_IN_HEAD and is_in_head(spot.place):
        return
    if many > _RECORDED and (spot.form.patterns or spot.form.formats):
        yield Mutation(
            spot.pointer("maxLength"), "maxLength", value, partial(_repeated, spot, many)
        )
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
        return partial(
            spot.replaced, ("format",), f"format-{side}", {"type": "integer", side: bound}
        )

    return mixed(beyond("minimum", high + 1), beyond("maximum", low - 1))


def _missed(
    spot: MutationSite,
    keyword: str,
    matches: Callable[[str], bool],
    miss: Callable[[Draw], Draw],
) -> Draw:
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
    low, high = form.lengths.low, form.lengths.high
    checks = [matcher(pattern) for pattern, _ in form.patterns]
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
    "minLength": _too_short,
    "maxLength": _too_long,
    "pattern": _pattern,
    "format": _format,
    "enum": partial(_listed, keyword="enum"),
    "const": partial(_listed, keyword="const"),
    "contentEncoding": partial(_content, keyword="contentEncoding"),
    "contentMediaType": partial(_content, keyword="contentMediaType"),
}
"""Keyword -> ways to break it."""
