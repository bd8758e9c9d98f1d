"""Strings of a schema: plain, of a format, of a pattern, of a user's strategy."""

import base64
import json
import quopri
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.errors import Unsatisfiable
from checker.core.meta import Origin
from checker.core.request import Location
from checker.generation.drawing.formats import FORMATS, TextFormat
from checker.generation.drawing.intersections import is_doubtful, likely_ways
from checker.generation.drawing.nodes import Nodes, is_alive
from checker.generation.drawing.places import LONGEST_IN_HEAD, TextPlace, body_place, is_in_head, location_of
from checker.generation.drawing.samples import SAMPLES, file_type, padded_png
from checker.generation.normalization.forms import Canonical, Content
from checker.generation.patterns.matching import is_certain, is_plain, matcher, strict_format
from checker.generation.patterns.regexes import UNBOUNDED, UnsupportedPattern
from checker.generation.patterns.writing import PatternPart, writer
from checker.generation.sources import alphabets
from checker.generation.sources.basic import either, finished, listed, one_of, texts
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext, GivenValue, retried
from checker.generation.sources.hypothesis import Strategy, draw_strategy
from checker.validation.formats import STRING_FORMATS

_MOST_BYTES: Final = 48
"""Of what is encoded, beyond what a minimum asks for."""
_FILE_SHARE: Final = 0.9
"""Share of whole files where a kind of file is named."""
_JSON: Final = "application/json"


class _Encoding(Struct, frozen=True):
    """Groups of bytes that become groups of characters (RFC 4648, 4 to 8)."""

    encode: Callable[[bytes], bytes]
    bytes_in: int
    characters_out: int

    def sizes(self, low: int, high: int | None) -> tuple[int, int]:
        """Numbers of bytes whose texts have such lengths; the wrong way round when there are none."""
        groups = -(-low // self.characters_out)
        least = max(0, self.bytes_in * (groups - 1) + 1) if groups else 0
        if high is None:
            return least, least + _MOST_BYTES
        return least, min(least + _MOST_BYTES, self.bytes_in * (high // self.characters_out))


_ENCODINGS: Final = {
    "base64": _Encoding(base64.b64encode, 3, 4),
    "base64url": _Encoding(base64.urlsafe_b64encode, 3, 4),
    "base32": _Encoding(base64.b32encode, 5, 8),
    "base16": _Encoding(base64.b16encode, 1, 2),
    "quoted-printable": _Encoding(lambda content: quopri.encodestring(content, True), 1, 1),
}


def content_draw(nodes: Nodes, canonical: Canonical, place: TextPlace) -> Draw | None:
    """Draws the declared content of a text, encoded; None for unknown content. Lengths are kept as far as possible."""
    content = canonical.strings.content
    if content is None:
        return None
    encoding = _ENCODINGS.get(content.encoding)
    if content.media_type == _JSON:
        document = _document(nodes, content, place)
        return document if encoding is None else finished(document, _encoded(encoding))
    if encoding is None:
        return None
    least, most = encoding.sizes(canonical.strings.lengths.low, canonical.strings.lengths.high)
    if least > most:
        return None
    plain: Draw = _bytes(least, most)
    file = SAMPLES.get(content.media_type)
    if file is not None and least <= len(file):
        plain = either(_FILE_SHARE, listed((file,)), plain)
    return finished(plain, _encoded(encoding))


def _bytes(least: int, most: int) -> Draw:
    return lambda source: source.binary(least, most)


def _encoded(encoding: _Encoding) -> Callable[[Any], str]:
    def encode(content: str | bytes) -> str:
        raw = content.encode() if isinstance(content, str) else content
        return encoding.encode(raw).decode("ascii")

    return encode


def _document(nodes: Nodes, content: Content, place: TextPlace) -> Draw:
    """A JSON document, of a schema if there is one that can be satisfied."""
    if content.schema is not None:
        text = place.alphabet if place.is_body else alphabets.VISIBLE
        try:
            draw = nodes.compile((content.schema,), body_place(text, is_form=False, is_bytes=False))
            return finished(draw, json.dumps)
        except Unsatisfiable:
            if content.is_asserted:
                raise
    return _any_document


def _any_document(source: Source) -> str:
    text = source.string(alphabets.NAME, 0, 12)
    return (text.join('""'), str(source.integer(-99, 99)), f'{{"{text}": []}}')[source.choice(3)]


def with_escapes(canonical: Canonical, place: TextPlace) -> TextPlace:
    """The place of such strings: with the characters that are escaped there, if a pattern cannot do without."""
    if place.escaped is None or all(_has_texts(one, place) for one, _ in canonical.strings.patterns):
        return place
    return replace(place, alphabet=place.escaped, escaped=None)


def _has_texts(pattern: str, place: TextPlace) -> bool:
    try:
        writer(pattern, place.alphabet.intervals, place.alphabet)
    except UnsupportedPattern:
        return False
    return True


_ROOM = 256
"""Characters beyond the minimum when there is no maximum."""
_RECORDED = 1000
"""Longer strings are recorded as a seed and a length."""
_LONGEST = 1 << 22
"""Characters of a text that is drawn because it has to be that long."""
_LONG = 0.02
_USUAL = (6, 48)
"""Lengths that most values of a format have anyway."""
_SEEDS = 1 << 16
_UNKNOWN = TextFormat(texts(alphabets.NAME, 0, 0))
_OF_FORMATS = "0123456789abcdefghijklmnopqrstuvwxyzTZ+-.:@"
"""Characters of their texts; URIs may be short, which has them looked at wherever these matter."""
_SHORTEST = 2
"""Only texts of so many characters are refused for what they are."""
_FILES, _WHOLE_FILES = 0.3, 0.9
"""Share of valid files among binary values: of any kind, where one kind is named."""


def compile_string(nodes: Nodes, canonical: Canonical, place: TextPlace) -> Draw:
    """Draws strings of at most `max_text` characters, or as few as there have to be. Raises `Unsatisfiable`."""
    context, place = nodes.context, with_escapes(canonical, place)
    sizes = low, high = _sizes(canonical, place)
    usual = min(nodes.max_text, LONGEST_IN_HEAD) if is_in_head(place) else nodes.max_text
    limit = max(low, usual)
    _refuse_lengths(canonical, nodes.formats)
    certain = _certain(canonical, place, nodes.formats, sizes)
    if certain is not None:
        return certain
    ways, checks = _ways(nodes, canonical, place, sizes)
    if any(FORMATS[name].is_international for name in canonical.formats if name in FORMATS):
        # All other ways keep to the alphabet by themselves.
        checks.append(place.alphabet.permits)
    is_free = not checks and place.is_body and sizes == (0, None)
    accepts = _all_of(checks, place, low, high)
    contained = _contained(nodes, canonical, place, None if is_free else accepts)
    if contained is not None:
        return contained
    if not ways:
        plain = _plain(place, low, limit if high is None else min(high, limit), has_maximum=high is not None)
        if not checks:
            return _standing_alone(plain, place, context, canonical.pointer)
        ways = [plain]
    if is_doubtful(canonical, sizes):
        ways = likely_ways(nodes, canonical, place, ways, accepts)
    elif is_free and len(ways) == 1:
        return ways[0]
    make = ways[0] if len(ways) == 1 else one_of(ways)
    return retried(make, accepts, context, canonical.pointer)


def _sizes(canonical: Canonical, place: TextPlace) -> tuple[int, int | None]:
    """Return the least and the greatest length. Raises `Unsatisfiable`."""
    lengths = canonical.strings.lengths
    conflict = lengths.conflict()
    if conflict is not None:
        raise Unsatisfiable(*conflict)
    low, high = max(lengths.low, place.min_text), lengths.high
    if high is not None and low > high:
        raise Unsatisfiable(lengths.high_pointer, f"maxLength {high} leaves nothing to send")
    if low > _LONGEST:
        raise Unsatisfiable(lengths.low_pointer, f"minLength {low} is more than the {_LONGEST} that are sent")
    return low, high


def _contained(
    nodes: Nodes, canonical: Canonical, place: TextPlace, accepts: Callable[[Any], bool] | None
) -> Draw | None:
    """Draws what the string is said to contain, as far as it is accepted; None where that comes to nothing."""
    draw = content_draw(nodes, canonical, place)
    if canonical.strings.content is None or draw is None or accepts is None:
        return draw
    made = retried(draw, accepts, nodes.context, canonical.pointer)
    # Lengths and patterns may leave nothing of what is only said.
    is_kept = canonical.strings.content.is_asserted or is_alive(made, nodes.context)
    return made if is_kept else None


def _certain(
    canonical: Canonical, place: TextPlace, user_formats: Mapping[str, Strategy], sizes: tuple[int, int | None]
) -> Draw | None:
    """Draws texts that need no second look: of one format or one simple pattern, whose lengths all fit."""
    said = len(canonical.formats) + len(canonical.strings.patterns) + len(canonical.excluded.patterns)
    if canonical.strings.content is not None or said != 1:
        return None
    low, high = sizes
    for name in canonical.formats:
        known = FORMATS.get(name, _UNKNOWN)
        fits = known.low >= low and (high is None or high >= known.high)
        is_carried = place.is_body or (known.low > _SHORTEST and place.alphabet.permits(_OF_FORMATS))
        if known.is_certain and name not in user_formats and fits and is_carried:
            return known.draw
    for pattern, _ in canonical.strings.patterns:
        if not is_certain(pattern):
            return None
        try:
            written = writer(pattern, place.alphabet.intervals, place.alphabet)
        except UnsupportedPattern:
            return None
        fits = written.low >= low and (high is None or high >= written.high)
        # What is refused or trimmed in some places are dots and blanks: those of the pattern, or around a match.
        is_whole = pattern[0] == "^" and pattern[-1] == "$"
        is_carried = place.is_body or (is_whole and written.low > _SHORTEST and " " not in pattern)
        return written.unbounded() if fits and is_carried else None
    return None


def _standing_alone(plain: Draw, place: TextPlace, context: DrawContext, pointer: str) -> Draw:
    """Text of the characters of a place: all that can be wrong with it is what does not arrive as it is."""
    refuses = place.refuses
    if place.is_trimmed:
        return retried(plain, lambda text: text == text.strip() and text not in refuses, context, pointer)
    if refuses:
        return retried(plain, lambda text: text not in refuses, context, pointer)
    return plain


def _refuse_lengths(canonical: Canonical, user_formats: Mapping[str, Strategy]) -> None:
    """Raise `Unsatisfiable` when a format has no strings of such lengths."""
    lengths = canonical.strings.lengths
    for name in canonical.formats:
        known = FORMATS.get(name)
        if known is None or name in user_formats:
            continue
        if lengths.low > known.high:
            text = f"minLength {lengths.low} and format {name}, which has at most {known.high} characters"
            raise Unsatisfiable(lengths.low_pointer, text)
        if lengths.high is not None and lengths.high < known.low:
            text = f"maxLength {lengths.high} and format {name}, which has at least {known.low} characters"
            raise Unsatisfiable(lengths.high_pointer, text)


Checks = list[Callable[[str], bool]]


def _ways(
    nodes: Nodes, canonical: Canonical, place: TextPlace, sizes: tuple[int, int | None]
) -> tuple[list[Draw], Checks]:
    """Return the ways to make such strings, and the conditions on them."""
    ways: list[Draw] = []
    checks: Checks = []
    low, high = sizes
    for name in canonical.formats:
        strategy = nodes.formats.get(name)
        if strategy is not None:
            ways.append(_users(strategy, location_of(place), nodes.context))
            continue
        if name in FORMATS:
            ways.append(FORMATS[name].draw)
            is_usual = low <= _USUAL[0] and (high is None or high >= _USUAL[1])
            if is_usual and FORMATS[name].is_certain and len(canonical.formats) == 1 and not canonical.strings.patterns:
                continue
        elif name == "binary" and place.is_bytes:
            ways.append(_binary(low, high, place.file))
        checks.extend(_checks_of(name, is_alone=not canonical.strings.patterns))
    content = canonical.strings.content
    if place.is_bytes and not ways and content is not None and content.is_file:
        ways.append(_binary(low, high, file_type(content.media_type) or place.file))
    _add_patterns(canonical, place, sizes, (ways, checks))
    return ways, checks


def _users(strategy: Strategy, location: Location | None, context: DrawContext) -> Draw:
    """Draws from a strategy of a user, who alone knows what its values are."""
    if location is None:
        return partial(draw_strategy, strategy)
    given = GivenValue(location, Origin.EXPLICIT)

    def drawn(source: Source) -> Any:
        context.bindings.append(given)
        return draw_strategy(strategy, source)

    return drawn


def _checks_of(name: str, *, is_alone: bool) -> Checks:
    if name not in STRING_FORMATS:
        return []
    # What is made as the format says satisfies strict readers as well; what a pattern writes may not.
    return [STRING_FORMATS[name]] if is_alone else [STRING_FORMATS[name], strict_format(name)]


def _add_patterns(
    canonical: Canonical, place: TextPlace, sizes: tuple[int, int | None], found: tuple[list[Draw], Checks]
) -> None:
    (low, high), (ways, checks) = sizes, found
    for pattern, pointer in canonical.strings.patterns:
        try:
            written = writer(pattern, place.alphabet.intervals, place.alphabet)
            checks.append(matcher(pattern, trusts=is_plain(pattern) and len(ways) == 0))
        except UnsupportedPattern:
            checks.append(matcher(pattern))
            canonical.opaque[pointer] = "pattern"
            continue
        if high is not None and written.low > high:
            text = f"maxLength {high} and pattern {pattern}, whose texts have at least {written.low} characters"
            raise Unsatisfiable(canonical.strings.lengths.high_pointer or pointer, text)
        if written.high < low:
            text = f"minLength {low} and pattern {pattern}, whose texts have at most {written.high} characters"
            raise Unsatisfiable(canonical.strings.lengths.low_pointer or pointer, text)
        ways.append(_matching(written, low, high))


def _plain(place: TextPlace, low: int, high: int, *, has_maximum: bool) -> Draw:
    alphabet = place.alphabet
    if low > _RECORDED:
        return lambda source: _expanded(source, place, low, min(high, low + _ROOM))
    if high <= _RECORDED:
        most = high if has_maximum else min(high, max(low * 2, low + _ROOM))
        return texts(alphabet, low, most)
    short = max(low, _ROOM)
    if not has_maximum:
        return texts(alphabet, low, short)

    def draw(source: Source) -> str:
        if source.boolean(_LONG):
            return _expanded(source, place, short, high)
        return source.string(alphabet, low, short)

    return draw


def _expanded(source: Source, place: TextPlace, low: int, high: int) -> str:
    size = source.integer(low, high) if low < high else low
    seed = source.integer(0, _SEEDS - 1)
    return place.alphabet.slice(seed % place.alphabet.pool_size, size)


def _binary(low: int, high: int | None, file: str) -> Draw:
    most = min(_RECORDED, low + _ROOM if high is None else high)
    longest = UNBOUNDED if high is None else high
    wanted = [SAMPLES[file]] if file else [*SAMPLES.values()]
    if file in ("", "image/png"):
        wanted.append(padded_png(low))
    files = [content for content in dict.fromkeys(wanted) if low <= len(content) <= longest]
    if not files:
        return lambda source: source.binary(min(low, most), most)
    # What is said to be an image is one, but for a few.
    share = _WHOLE_FILES if file else _FILES

    def draw(source: Source) -> bytes:
        if source.boolean(share):
            return files[source.choice(len(files)) if len(files) > 1 else 0]
        return source.binary(min(low, most), most)

    return draw


def _matching(written: PatternPart, low: int, high: int | None) -> Draw:
    write, most = written.write, UNBOUNDED if high is None else high
    if low <= written.low and most >= written.high:
        return written.unbounded()
    return lambda source: write(source, low, most)


def _all_of(
    checks: Iterable[Callable[[str], bool]], place: TextPlace, low: int, high: int | None
) -> Callable[[Any], bool]:
    """All that a string has to satisfy; the usual case, one check and nothing else, costs nothing more."""
    needed = list(checks)
    if low > 0 or high is not None:
        most = UNBOUNDED if high is None else high
        needed.insert(0, lambda value: low <= len(value) <= most)
    if not place.is_body:
        needed.append(place.carries)
    if place.is_bytes:
        return lambda value: all(_of_value(check, value) for check in needed)
    if len(needed) == 1:
        return needed[0]
    if len(needed) == 2:
        first, second = needed
        return lambda value: first(value) and second(value)
    if len(needed) == 3:
        first, second, third = needed
        return lambda value: first(value) and second(value) and third(value)
    return lambda value: all(check(value) for check in needed)


def _of_value(check: Callable[[Any], bool], value: Any) -> bool:
    """Bytes have a length and nothing else that could be checked."""
    try:
        return check(value)
    except TypeError:
        return isinstance(value, bytes)
