"""Ways to break the keywords of numbers, strings and lists of values."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Final

from msgspec.structs import replace

from checker.core.errors import Unsatisfiable
from checker.core.schema import Dialect
from checker.generation.drawing.arrays import small_array
from checker.generation.drawing.objects import small_object
from checker.generation.drawing.places import TextPlace, is_in_head, item_of
from checker.generation.drawing.scalars import compile_listed, compile_number, nearest_float
from checker.generation.negation.mutation_sites import Breaker, Mutation, MutationSite, breaker, mixed
from checker.generation.normalization import forms
from checker.generation.normalization.forms import ArrayForm, Canonical, Numbers, ObjectForm, StringForm, same
from checker.generation.regexes import matcher
from checker.generation.sources.basic import BOOLEAN, NULL, finished, one_of, texts
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Draw, DrawContext, Rejected
from checker.schema.views import type_of
from checker.validation.ecma import ecma_pattern
from checker.validation.formats import ASSERTED_FORMATS, INTEGER_RANGES

_BOOLEAN_BOUNDS: Final = frozenset({Dialect.DRAFT4, Dialect.OPENAPI20, Dialect.OPENAPI30})
_KINDS: Final = (
    forms.STRING, forms.NULL, forms.BOOLEAN, forms.NUMBER, forms.ARRAY, forms.OBJECT,
)  # fmt: skip
_LISTS: Final = ("enum", "const")
_SCALARS: Final = (forms.NULL, forms.BOOLEAN, forms.NUMBER, forms.STRING)
_LONGEST: Final = 64  # Characters of a text that has to be empty.
_ALONE: Final = "0"  # A text that every place can carry.


def _type(site: MutationSite, keyword: str, value: Any) -> Iterator[Mutation]:
    """Yield the mutation to a type that is not declared."""
    types = frozenset([value] if isinstance(value, str) else value)
    if forms.NUMBER in types:
        types |= {forms.INTEGER}
    if forms.NULL in site.form.types:
        # OpenAPI 3.0 allows null by `nullable`, beside the type.
        types |= {forms.NULL}
    is_alone = not any(name in site.said for name in _LISTS) and not site.mentions_elsewhere("type")
    others = [kind for kind in _KINDS if kind not in types]
    if others:
        make = partial(mixed, *(partial(_of_type, site, kind, types) for kind in others))
        yield Mutation(site.pointer("type"), "type", value, make, is_alone)


def _of_type(site: MutationSite, kind: str, types: frozenset[str]) -> Draw:
    form = site.form
    if _is_free(form, kind):
        # Compiling `{"type": kind}` for each place takes three times as long (549 places of 108 operations).
        draw = _small(kind, site.place)
    elif form.enum is not None:
        # A member of the `enum` with another type breaks the type alone. Without one, `enum` is broken as well.
        members = [one for one in form.enum if kind in type_of(one) and site.place.carries_listed(one)]
        draw = compile_listed(members) if members else _small(kind, site.place)
    else:
        draw = site.replaced(("type",), f"type={kind}", {"type": kind})
    if kind == forms.NUMBER and forms.INTEGER in types:
        return site.retried(draw, lambda value: type_of(value).isdisjoint(types), "type")
    return draw


@lru_cache(maxsize=512)
def _small(kind: str, place: TextPlace) -> Draw:
    """Return draws of small values of a type. All operations share them, because most places have only a `type`."""
    if kind in (forms.NULL, forms.BOOLEAN):
        return NULL if kind == forms.NULL else BOOLEAN
    if kind == forms.NUMBER:
        return compile_number(Canonical("#"), DrawContext())
    if kind == forms.STRING:
        text = texts(place.alphabet, place.min_text, place.min_text + _LONGEST)
        return finished(text, lambda value: value if place.stands_alone(value) else _ALONE)
    inner = item_of(place)
    item = one_of([_small(one, inner) for one in _SCALARS if inner.allows_null or one != forms.NULL])
    return small_array(item, place.min_items) if kind == forms.ARRAY else small_object(item, place.min_items)


def _is_free(form: Canonical, kind: str) -> bool:
    """Whether only its `type` rejects the values of a type."""
    if form.enum is not None or form.branches or form.forbidden or form.needs_check or form.opaque:
        return False
    match kind:
        case forms.STRING:
            return form.strings == StringForm() and ASSERTED_FORMATS.keys().isdisjoint(form.formats)
        case forms.NUMBER:
            return form.numbers == Numbers() and INTEGER_RANGES.keys().isdisjoint(form.formats)
        case forms.ARRAY:
            return form.arrays == ArrayForm()
        case forms.OBJECT:
            return replace(form.objects, rules=[]) == ObjectForm()
        case _:
            return True


def _beyond(site: MutationSite, keyword: str, bound: Any) -> Draw:
    """Return draws of the number one step beyond a bound, or of any number beyond the bound."""
    is_low = keyword.endswith(("minimum", "Minimum"))
    words: tuple[str, ...] = (keyword,)
    if site.said.get("exclusive" + keyword.capitalize()) is True:
        words = (keyword, "exclusive" + keyword.capitalize())
    is_open, side = keyword.startswith("exclusive"), "maximum" if is_low else "minimum"
    near = bound + (0 if is_open else -1 if is_low else 1)
    far = {side: bound}
    if not is_open:
        exclusive = "exclusive" + side.capitalize()
        has_flags = site.compiler.canon.dialect in _BOOLEAN_BOUNDS
        far = {side: bound, exclusive: True} if has_flags else {exclusive: bound}
    # The near number comes first, because listed cases take the first draw, and only it shows a `<` in place of `<=`.
    return mixed(
        partial(site.replaced, words, f"{keyword}-near", {"type": "number", "minimum": near, "maximum": near}),
        partial(site.replaced, words, f"{keyword}-far", {"type": "number", **far}),
    )


def _exclusive(site: MutationSite, keyword: str, value: Any) -> Iterator[Mutation]:
    """Yield the mutation of an exclusive bound, which is a number, or a flag in older dialects."""
    bound = site.said.get(keyword.removeprefix("exclusive").lower())
    if value is True and bound is not None:
        exactly = {"type": "number", "minimum": bound, "maximum": bound}
        make = partial(site.replaced, (keyword,), f"{keyword}-near", exactly)
        yield Mutation(site.pointer(keyword), keyword, value, make)
    elif not isinstance(value, bool):
        yield from breaker(_beyond)(site, keyword, value)


def _no_multiple(site: MutationSite, keyword: str, step: Any) -> Draw:
    exact = Fraction(str(step))
    if exact == 1 and forms.NUMBER not in site.form.types:
        raise Unsatisfiable(site.pointer(keyword), "every integer is a multiple of 1")

    def is_clear(value: Any) -> bool:
        """Whether a number is no multiple even for servers that divide doubles."""
        if Fraction(str(value)) % exact == 0:
            return False
        quotient = nearest_float(value) / nearest_float(step)
        return abs(quotient) < 2**53 and abs(quotient - round(quotient)) > 1e-6

    return site.retried(site.replaced((keyword,), keyword, {"type": "number"}), is_clear, keyword)


_STRANGE: Final = " -_0aZ.\n\u00e9!"
_EDITS: Final = 10


def mutated(draw: Draw) -> Draw:
    """Return draws of texts with one edit: at an end, where missing anchors show, or anywhere."""

    def changed(source: Source) -> str:
        text = draw(source)
        if not isinstance(text, str):
            return ""
        edit = source.choice(_EDITS)
        if edit < 3:
            return (text + "\n", " " + text, text + " ")[edit]
        at = source.integer(0, len(text)) if text else 0
        strange = _STRANGE[source.choice(len(_STRANGE))] if edit < 5 else ""
        # Insertion, replacement, deletion, a doubled character (the most frequent typing error), the other letter case,
        # the text twice, truncation.
        before, one, after = text[:at], text[at : at + 1], text[at + 1 :]
        edits = (strange + one + after, strange + after, after, one + one + after, one.swapcase() + after)
        return before + edits[edit - 3] if edit < 8 else text + text if edit == 8 else before

    return changed


NEAR_MISSES: Final[Mapping[str, tuple[str, ...]]] = {
    "date": (
        "2023-13-01", "2023-00-10", "2023-01-00", "2023-01-32", "2023-04-31", "2023-02-29", "2023-1-01", "2023-01-1",
        "x2023-01-01", "2023-01-01x",
    ),
    "date-time": (
        "2023-01-01T00:00:00", "2023-01-01T25:00:00Z", "2023-01-01 00:00:00Z.", "2023-13-01T00:00:00Z",
        "2023-02-29T00:00:00Z", "2023-01-01T00:00:00+25:00",
    ),
    "time": ("24:00:00Z", "00:60:00Z", "00:00:61Z", "00:00:00+25:00", "00:00"),
    "uuid": (
        "123e4567e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-4266141740000", "123e4567-e89b-12d3-a456-42661417400g",
    ),
    "email": ("a.example.com", "a@", "@example.com"),
    "hostname": ("-a.example", "a..example", "a b.example", f"{'a' * 64}.example"),
    "ipv4": ("256.0.0.1", "1.2.3", "1.2.3.4.5"),
    "ipv6": ("12345::", "::g", "1::2::3"),
    "uri": ("//example.com", "http://exa mple.com"),
    "uri-reference": ("/a b", "/<a>", "\\a"),
    "byte": ("AA!=", "A", "=AAA"),
    "duration": ("P", "PT", "1D", "P1H", "P1", "P-1D"),
    "json-pointer": ("a", "/~2", "/~"),
    "relative-json-pointer": ("-1", "01", "#"),
    "regex": ("(", "[a", "*a", "a{2,1}"),
}  # fmt: skip
"""Format -> near misses, each with one wrong part."""
_LIKE: Final = {"idn-email": "email", "iri": "uri", "iri-reference": "uri-reference"}


def _misses(name: str, draw: Draw) -> Draw:
    """Return draws of typical near misses of a format, and of valid texts with one edit."""
    wrong, edited = NEAR_MISSES.get(_LIKE.get(name, name), ()), mutated(draw)

    def miss(source: Source) -> Any:
        which = source.choice(len(wrong) + 2)
        return wrong[which] if which < len(wrong) else edited(source)

    return miss if wrong else edited


_TEXT: Final = {"type": "string"}
_NO_JSON: Final = b"{:}"
_ODD: Final = (
    "", "0", " ", "a", "A", "-", "~", "\u00e9", "00", "0" * 12, "a b", "\n", "_.-", "!?", "aA0", "\U0001f600",
)  # fmt: skip
"""Texts that are tried if all near misses match."""
_TRIALS: Final = 16
_HITS: Final = 2
_RECORDED: Final = 500  # Longer texts of a pattern are composed of short ones.
_LONGEST_IN_HEAD: Final = 2_000
"""The longest text for a request head. Servers refuse heads of more than about 8,000 octets before the operation sees them."""


def _too_long(site: MutationSite, keyword: str, most: int) -> Draw:
    many = int(most) + 1
    if many > _RECORDED and (site.form.strings.patterns or site.form.formats):
        # Short texts are repeated: drawing a long text of a pattern takes too many choices.
        if many > site.compiler.max_text:
            raise Unsatisfiable(site.pointer(keyword), f"{many} characters cannot be sent")
        short = site.narrowed("maxLength-short", _TEXT | {"maxLength": 24})
        others = (*site.rest(keyword), site.made("text", _TEXT))
        fits = fitting(site.compiler.canonical(others), site.place.carries)

        def long(source: Source) -> str:
            text = short(source) or "0"
            return (text * (many // len(text) + 1))[:many]

        return site.retried(long, fits, keyword)
    return mixed(
        partial(site.replaced, (keyword,), f"{keyword}-near", _TEXT | {"minLength": many, "maxLength": many}),
        partial(site.replaced, (keyword,), f"{keyword}-far", _TEXT | {"minLength": many}),
    )


def _unmatched(site: MutationSite, keyword: str, pattern: str) -> Draw:
    known = ecma_pattern(pattern)
    if known is None:
        raise Unsatisfiable(site.pointer(keyword), "engines do not agree on what matches it")
    return _missed(site, keyword, known.finds, mutated)


def _misformatted(site: MutationSite, keyword: str, name: str) -> Draw:
    if name not in INTEGER_RANGES:
        return _missed(site, keyword, ASSERTED_FORMATS[name], partial(_misses, name))
    low, high = INTEGER_RANGES[name]
    return mixed(
        partial(site.replaced, (keyword,), "format-minimum", {"type": "integer", "minimum": high + 1}),
        partial(site.replaced, (keyword,), "format-maximum", {"type": "integer", "maximum": low - 1}),
    )


def _missed(site: MutationSite, keyword: str, matches: Callable[[str], bool], miss: Callable[[Draw], Draw]) -> Draw:
    """Return draws of strings that break one keyword and satisfy the others; most are close to a match."""
    others = (*site.rest(keyword), site.made(f"{keyword}-text", _TEXT))
    fits = fitting(site.compiler.canonical(others), site.place.carries)
    at = site.pointer(keyword)

    def is_miss(value: Any) -> bool:
        return not matches(value) and fits(value)

    def near() -> Draw:
        close = miss(site.narrowed("text", _TEXT))
        if not _is_often(close, is_miss, site.compiler.context):
            raise Unsatisfiable(at, "texts that are close to a match also match")
        return site.retried(close, is_miss, keyword)

    def far() -> Draw:
        return site.retried(site.draw(others), lambda v: not matches(v), keyword)

    def odd() -> Draw:
        texts = [text for text in _ODD if is_miss(text)]
        if not texts:
            raise Unsatisfiable(at, "even unusual texts match")
        return compile_listed(texts)

    # Near misses find more: a server that checks only a part of the pattern accepts them and refuses random text.
    return mixed(odd, near, far, shares=(1, 4, 1))


def _is_often(draw: Draw, accepts: Callable[[Any], bool], context: DrawContext) -> bool:
    """Whether enough of a few draws with fixed seeds are accepted to make retries worthwhile."""
    with context.aside():
        context.begin(None)
        try:
            found = (seed for seed in range(_TRIALS) if accepts(draw(RandomSource(seed))))
            return len(list(islice(found, _HITS))) == _HITS
        except Rejected:
            # No match can be drawn at this place: ` x`, for example, cannot be sent if surrounding blanks are stripped.
            return False


def fitting(form: Canonical, carries: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a predicate for strings that the constraints of a form admit."""
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


def _unlisted(site: MutationSite, keyword: str, value: Any) -> Draw:
    """Return draws of unlisted values of the same types: near misses of a listed text, or any value."""
    values = [value] if keyword == "const" else list(value)
    words = _LISTS if all(name in site.said for name in _LISTS) else (keyword,)

    def is_other(value: Any) -> bool:
        return not any(same(value, one) for one in values)

    others = site.rest(*words)
    texts = [one for one in values if isinstance(one, str) and site.place.carries(one)]

    def near() -> Draw:
        form = site.compiler.canonical(others)
        if not texts or forms.STRING not in form.types:
            raise Unsatisfiable(site.pointer(keyword), "no member of the enum is a text that can be sent")
        fits = fitting(form, site.place.carries)
        return site.retried(mutated(compile_listed(texts)), lambda v: is_other(v) and fits(v), keyword)

    return mixed(lambda: site.retried(site.draw(others), is_other, keyword), near, shares=(1, 2))


def _undecodable(site: MutationSite, keyword: str, value: Any) -> Draw:
    """Return draws of texts that cannot be decoded, or whose content does not have the media type."""
    draw = site.narrowed("text", _TEXT)
    if keyword == "contentEncoding":
        return lambda source: f"{draw(source)}%"
    is_encoded = "contentEncoding" in site.said
    return lambda source: b64encode(_NO_JSON).decode() if is_encoded else f"{draw(source)}{{"


SCALARS: Final[Mapping[str, Breaker]] = {
    "type": _type,
    "minimum": breaker(_beyond),
    "maximum": breaker(_beyond),
    "exclusiveMinimum": _exclusive,
    "exclusiveMaximum": _exclusive,
    "multipleOf": breaker(_no_multiple),
    "maxLength": breaker(_too_long, lambda site, most: most < _LONGEST_IN_HEAD or not is_in_head(site.place)),
    "pattern": breaker(_unmatched),
    "format": breaker(
        _misformatted,
        lambda site, name: name in INTEGER_RANGES or (name in ASSERTED_FORMATS and name not in site.compiler.formats),
    ),
    "enum": breaker(_unlisted),
    "const": breaker(_unlisted),
    "contentEncoding": breaker(_undecodable),
    "contentMediaType": breaker(_undecodable),
}
"""Keyword -> ways to break it."""
