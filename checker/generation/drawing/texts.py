"""Strings of a schema: plain, of formats, of patterns, with a declared content, or from a user's strategy.

A string with several constraints is drawn for one of them and filtered by the others. If few tries pass, texts of two
constraints are also combined: one after the other, or one written over the start or the end of the other.
"""

import base64
import json
import quopri
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from checker.core.errors import IncorrectUsage, Unsatisfiable
from checker.core.meta import Origin
from checker.core.request import Location
from checker.generation.drawing.files import SAMPLES, TABLES, file_type, files_of, named_columns, named_type
from checker.generation.drawing.formats import FORMATS, SizedDraw
from checker.generation.drawing.nodes import Nodes, different, refuse
from checker.generation.drawing.places import LONGEST_IN_HEAD, TextPlace, body_place, is_in_head, location_of
from checker.generation.normalization.forms import Canonical, Content
from checker.generation.regex_writing import writer
from checker.generation.regexes import UNBOUNDED, UnsupportedPattern, is_certain, is_plain, matcher, strict_format
from checker.generation.sources import alphabets
from checker.generation.sources.basic import Strategy, draw_strategy, either, finished, listed, one_of, texts
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.context import Draw, DrawContext, GivenValue, Rejected, retried
from checker.validation.formats import STRING_FORMATS

Check = Callable[[Any], bool]
_ROOM: Final = 256  # Characters beyond the minimum when there is no maximum.
_RECORDED: Final = 1000  # Strings above this length are recorded as a seed and a length.
_LONGEST: Final = 1 << 22  # Greatest `minLength` for which strings are drawn.
_LONG: Final = 0.02  # Share of long texts, if the schema has a maximum that allows them.
_USUAL: Final = (6, 48)  # Lengths that most strings of a format have.
_SEEDS: Final = 1 << 16
_OF_FORMATS: Final = "0123456789abcdefghijklmnopqrstuvwxyzTZ+-.:@"
"""Characters of the formats that need no check."""
_SHORTEST: Final = 2  # Length of the longest text that a place refuses as a whole value (`..`).
_FILES, _WHOLE_FILES = 0.3, 0.9  # Shares of valid files among binary values: for any type, and for a named type.


class _Limits(Struct, frozen=True):
    low: int
    high: int | None

    def contain(self, low: int, high: int) -> bool:
        """Whether all lengths of a range are allowed."""
        return low >= self.low and (self.high is None or self.high >= high)

    @property
    def most(self) -> int:
        return UNBOUNDED if self.high is None else self.high


def compile_string(nodes: Nodes, form: Canonical, place: TextPlace) -> Draw:
    """Draws strings of at most `max_text` characters, or of the least length if that is longer. Raises `Unsatisfiable`."""
    if place.escaped is not None:
        # Characters that need escapes are drawn only if a pattern has no text without them.
        try:
            for pattern, _ in form.strings.patterns:
                writer(pattern, place.alphabet.intervals, place.alphabet)
        except UnsupportedPattern:
            place = replace(place, alphabet=place.escaped, escaped=None)
    limits = _limits(nodes, form, place)
    certain = _certain(nodes, form, place, limits)
    if certain is not None:
        return certain
    ways, checks = _ways(nodes, form, place, limits)
    is_free = not checks and place.is_body and limits == _Limits(0, None)
    accepts = _all_of(checks, place, limits)
    if form.strings.content is not None:
        contained = _content(nodes, form, form.strings.content, place)
        if contained is not None and not is_free:
            contained = retried(contained, accepts, nodes.context, form.pointer)
            # Content keywords are annotations here: they are dropped if they contradict lengths or patterns.
            if not form.strings.content.is_asserted and not different(contained, nodes.context, 1):
                contained = None
        if contained is not None:
            return contained
    if not ways:
        plain = _plain(nodes, place, limits)
        if not checks:
            keeps_all = place.is_body or not (place.is_trimmed or place.refuses)
            return plain if keeps_all else retried(plain, place.stands_alone, nodes.context, form.pointer)
        ways = [plain]
    if _is_doubtful(form, limits):
        ways = _likely(form, limits, ways, accepts)
    elif is_free and len(ways) == 1:
        return ways[0]
    return retried(one_of(ways), accepts, nodes.context, form.pointer)


def _limits(nodes: Nodes, form: Canonical, place: TextPlace) -> _Limits:
    """Return the allowed lengths. Raises `Unsatisfiable`, also if a format has no strings of such lengths."""
    lengths = form.strings.lengths
    refuse(lengths.conflict())
    low, high = max(lengths.low, place.min_text), lengths.high
    if high is not None and low > high:
        raise Unsatisfiable(lengths.high_pointer, f"maxLength {high} leaves nothing to send")
    if low > _LONGEST:
        raise Unsatisfiable(lengths.low_pointer, f"minLength {low} is more than the {_LONGEST} that are sent")
    for name in form.formats:
        known = FORMATS.get(name)
        if known is None or name in nodes.formats:
            continue
        if lengths.low > known.high:
            text = f"minLength {lengths.low} and format {name}, which has at most {known.high} characters"
            raise Unsatisfiable(lengths.low_pointer, text)
        if high is not None and high < known.low:
            text = f"maxLength {high} and format {name}, which has at least {known.low} characters"
            raise Unsatisfiable(lengths.high_pointer, text)
    return _Limits(low, high)


def _certain(nodes: Nodes, form: Canonical, place: TextPlace, limits: _Limits) -> Draw | None:
    """Draws texts that need no validation: those of one format or one simple pattern if all its lengths are allowed."""
    strings = form.strings
    # Validating a text takes as long as writing it.
    if strings.content is not None or len(form.formats) + len(strings.patterns) + len(form.excluded.patterns) != 1:
        return None
    if form.formats:
        name = form.formats[0]
        known = FORMATS.get(name)
        if known is None or not known.is_certain or name in nodes.formats:
            return None
        is_carried = place.is_body or (known.low > _SHORTEST and place.alphabet.permits(_OF_FORMATS))
        return known.draw if is_carried and limits.contain(known.low, known.high) else None
    if not strings.patterns or not is_certain(strings.patterns[0][0]):
        return None
    pattern = strings.patterns[0][0]
    try:
        written = writer(pattern, place.alphabet.intervals, place.alphabet)
    except UnsupportedPattern:
        return None
    # Places refuse or trim dots and blanks. These may come from the pattern, or from the text around a match.
    is_whole = pattern[0] == "^" and pattern[-1] == "$"
    is_carried = place.is_body or (is_whole and written.low > _SHORTEST and " " not in pattern)
    return written.unbounded() if is_carried and limits.contain(written.low, written.high) else None


def _ways(nodes: Nodes, form: Canonical, place: TextPlace, limits: _Limits) -> tuple[list[Draw], list[Check]]:
    """Return a draw for each format and pattern, and the conditions on all of them. Raises `Unsatisfiable`."""
    ways: list[Draw] = []
    checks: list[Check] = []
    patterns, content = form.strings.patterns, form.strings.content
    for name in form.formats:
        strategy = nodes.formats.get(name)
        known = FORMATS.get(name)
        if strategy is not None:
            ways.append(_from_user(name, strategy, location_of(place), nodes.context))
            continue
        if known is not None:
            ways.append(known.draw)
            is_usual = limits.low <= _USUAL[0] and limits.most >= _USUAL[1]
            if known.is_certain and is_usual and len(form.formats) == 1 and not patterns:
                continue
            if known.is_international:
                # All other draws use the alphabet of the place.
                checks.append(place.alphabet.permits)
        elif name == "binary" and place.is_bytes:
            ways.append(_binary(limits, *file_of(form, place)))
        if name in STRING_FORMATS:
            # Strings drawn for a format satisfy strict validators as well. Strings drawn for a pattern may not.
            checks += [STRING_FORMATS[name], strict_format(name)] if patterns else [STRING_FORMATS[name]]
    if place.is_bytes and not ways and content is not None and content.is_file:
        kind, columns = file_of(form, place)
        ways.append(_binary(limits, file_type(content.media_type) or kind, columns))
    is_table = place.is_bytes and place.file in TABLES and "form" not in place.name
    if is_table and not form.formats and not patterns and content is None and limits == _Limits(0, None):
        found = (table.decode() for table in files_of(place.file, place.columns))
        tables = tuple(table for table in found if place.alphabet.permits(table))
        if tables:
            ways.append(either(_WHOLE_FILES, listed(tables), _plain(nodes, place, limits)))
    for pattern, pointer in patterns:
        try:
            written = writer(pattern, place.alphabet.intervals, place.alphabet)
        except UnsupportedPattern:
            checks.append(matcher(pattern))
            form.opaque[pointer] = "pattern"
            continue
        checks.append(matcher(pattern, trusts=is_plain(pattern) and not ways))
        lengths = form.strings.lengths
        if limits.high is not None and written.low > limits.high:
            text = f"maxLength {limits.high} and pattern {pattern}, whose texts have at least {written.low} characters"
            raise Unsatisfiable(lengths.high_pointer or pointer, text)
        if written.high < limits.low:
            text = f"minLength {limits.low} and pattern {pattern}, whose texts have at most {written.high} characters"
            raise Unsatisfiable(lengths.low_pointer or pointer, text)
        ways.append(
            written.unbounded()
            if limits.contain(written.low, written.high)
            else partial(_written, written.write, limits.low, limits.most)
        )
    return ways, checks


def _written(write: Callable[[Source, int, int], str], low: int, high: int, source: Source) -> str:
    return write(source, low, high)


def _from_user(name: str, strategy: Strategy, location: Location | None, context: DrawContext) -> Draw:
    """Draws from a user's strategy of a format. Provenance notes that its values may break the schema.

    The draw raises `IncorrectUsage` for a value that is neither a string nor bytes.
    """
    given = None if location is None else GivenValue(location, Origin.EXPLICIT)

    def drawn(source: Source) -> str | bytes:
        if given is not None:
            context.bindings.append(given)
        value = draw_strategy(strategy, source)
        if not isinstance(value, str | bytes):
            raise IncorrectUsage(
                f"format {name!r} must have a strategy of strings, and its strategy gave {value!r:.80}; "
                "convert the values, for example by `strategy.map(str)`"
            )
        return value

    return drawn


def _plain(nodes: Nodes, place: TextPlace, limits: _Limits) -> Draw:
    alphabet, low = place.alphabet, limits.low
    usual = min(nodes.max_text, LONGEST_IN_HEAD) if is_in_head(place) else nodes.max_text
    high = min(limits.most, max(low, usual))
    if low > _RECORDED:
        return lambda source: _expanded(source, place, low, min(high, low + _ROOM))
    if high <= _RECORDED:
        return texts(alphabet, low, high if limits.high is not None else min(high, max(low * 2, low + _ROOM)))
    # Long texts are rare, because one costs as much as ten short ones.
    short = max(low, _ROOM)
    if limits.high is None:
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


def file_of(form: Canonical, place: TextPlace) -> tuple[str, tuple[str, ...]]:
    """Return the file type and the columns of a binary text, by its own name and prose, or by those of the operation."""
    said: list[Any] = [facet.raw for facet in form.facets]
    names = [facet.pointer.rpartition("/properties/")[2] for facet in form.facets if not facet.is_made]
    texts = [raw.get(keyword) for raw in said for keyword in ("title", "description")]
    prose = "\n".join([*names, *(text for text in texts if isinstance(text, str))])
    return named_type(prose) or place.file, named_columns(prose) or place.columns


def _binary(limits: _Limits, file: str, columns: tuple[str, ...]) -> Draw:
    """Draws bytes, in part valid files."""
    low = limits.low
    most = min(_RECORDED, low + _ROOM if limits.high is None else limits.high)
    wanted = files_of(file, columns)
    # File decoders ignore bytes after the end of the content.
    padded = (content.ljust(low, b"\0") for content in wanted)
    files = [content for content in padded if len(content) <= limits.most]
    if not files:
        return lambda source: source.binary(min(low, most), most)
    share = _WHOLE_FILES if file else _FILES

    def draw(source: Source) -> bytes:
        if source.boolean(share) if not file else not source.boolean(1 - share):
            return files[source.choice(len(files)) if len(files) > 1 else 0]
        return source.binary(min(low, most), most)

    return draw


def _all_of(checks: list[Check], place: TextPlace, limits: _Limits) -> Check:
    needed = checks.copy()
    low, most = limits.low, limits.most
    if low > 0 or limits.high is not None:
        needed.insert(0, lambda value: low <= len(value) <= most)
    if not place.is_body:
        needed.append(place.carries)
    if len(needed) == 1 and not place.is_bytes:
        return needed[0]

    def accepts(value: Any) -> bool:
        if isinstance(value, bytes):
            return low <= len(value) <= most
        for check in needed:  # noqa: SIM110 - half the price of `all`
            if not check(value):
                return False
        return True

    return accepts


_MOST_BYTES: Final = 48  # Bytes that are encoded beyond the required minimum.


class _Encoding(Struct, frozen=True):
    """An encoding of byte groups as character groups (RFC 4648, 4 to 8)."""

    encode: Callable[[bytes], bytes]
    bytes_in: int
    characters_out: int

    def encoded(self, content: str | bytes) -> str:
        return self.encode(content.encode() if isinstance(content, str) else content).decode("ascii")

    def sizes(self, low: int, high: int | None) -> tuple[int, int]:
        """Return the least and the greatest number of bytes for a length; least > greatest if no number fits."""
        groups = -(-low // self.characters_out)
        least = max(0, self.bytes_in * (groups - 1) + 1) if groups else 0
        most = least + _MOST_BYTES
        return least, most if high is None else min(most, self.bytes_in * (high // self.characters_out))


_ENCODINGS: Final = {
    "base64": _Encoding(base64.b64encode, 3, 4),
    "base64url": _Encoding(base64.urlsafe_b64encode, 3, 4),
    "base32": _Encoding(base64.b32encode, 5, 8),
    "base16": _Encoding(base64.b16encode, 1, 2),
    "quoted-printable": _Encoding(lambda content: quopri.encodestring(content, True), 1, 1),
}


def _content(nodes: Nodes, form: Canonical, content: Content, place: TextPlace) -> Draw | None:
    """Draws texts with the declared content, encoded; None for unknown content. Lengths are respected as far as possible."""
    encoding = _ENCODINGS.get(content.encoding)
    if content.media_type == "application/json":
        document: Draw = _any_document
        if content.schema is not None:
            text = place.alphabet if place.is_body else alphabets.VISIBLE
            try:
                draw = nodes.compile((content.schema,), body_place(text, is_form=False, is_bytes=False))
                document = finished(draw, json.dumps)
            except Unsatisfiable:
                if content.is_asserted:
                    raise
        return document if encoding is None else finished(document, encoding.encoded)
    if encoding is None:
        return None
    least, most = encoding.sizes(form.strings.lengths.low, form.strings.lengths.high)
    if least > most:
        return None
    plain: Draw = lambda source: source.binary(least, most)  # noqa: E731
    file = SAMPLES.get(content.media_type)
    if file is not None and least <= len(file):
        plain = either(_WHOLE_FILES, listed((file,)), plain)
    return finished(plain, encoding.encoded)


def _any_document(source: Source) -> str:
    text = source.string(alphabets.NAME, 0, 12)
    return (text.join('""'), str(source.integer(-99, 99)), f'{{"{text}": []}}')[source.choice(3)]


_TRIED: Final = 8
_OFTEN: Final = 4  # Accepted tries from which a draw is used alone.
_PAIRED: Final = 3


def _is_doubtful(form: Canonical, limits: _Limits) -> bool:
    """Whether a string drawn for one constraint may break another."""
    patterns, count = form.strings.patterns, len(form.strings.patterns) + len(form.formats)
    if count == 0 or count + len(form.excluded.patterns) > 1:
        return count > 0
    # Sequences of characters and classes are written to fit the length.
    is_sized = all(is_certain(pattern) for pattern, _ in patterns)
    return limits != _Limits(0, None) and not (is_sized and not any(name in FORMATS for name in form.formats))


def _likely(form: Canonical, limits: _Limits, ways: list[Draw], accepts: Check) -> list[Draw]:
    """Return the draws whose values are often accepted.

    If there are none, return all draws with accepted values, including texts written to the length and two combined texts.
    """
    forbidden = [matcher(pattern) for pattern in form.excluded.patterns]

    def is_wanted(value: Any) -> bool:
        return accepts(value) and not any(matches(value) for matches in forbidden)

    # A draw for one constraint meets the others only by luck: for `format: email` with `@example\.com$`, no value would
    # be sent.
    often = [way for way in ways if _hits(way, is_wanted) >= _OFTEN]
    if often:
        return often
    chosen = ways[:_PAIRED]
    formats = [FORMATS[name] for name in form.formats if name in FORMATS]
    sized = [(one.of_size, min(limits.most, one.high, limits.low + _ROOM)) for one in formats if one.of_size]
    ways = ways + [partial(_of_size, draw, limits.low, most) for draw, most in sized if most >= limits.low]
    # One pattern may be open at its end and another at its start, or one may describe the start or end of another's
    # text. Of 4,134 schemas, 16 texts (all in the 59 large schemas) have values only this way.
    pairs = [(left, right) for left in chosen for right in chosen if left is not right]
    ways = ways + [partial(put, left, right) for put in (_joined, _begun, _ended) for left, right in pairs]
    for is_good in (is_wanted, accepts):
        if found := [way for way in ways if _hits(way, is_good)]:
            return found
    return ways


def _hits(way: Draw, accepts: Check) -> int:
    source, found = RandomSource(), 0
    for seed in range(_TRIED):
        source.reset(seed)
        # A user's strategy may find no value.
        with suppress(Rejected):
            found += accepts(way(source))
    return found


def _joined(left: Draw, right: Draw, source: Source) -> str:
    return f"{left(source)}{right(source)}"


def _of_size(draw: SizedDraw, low: int, most: int, source: Source) -> str:
    return draw(source, source.integer(low, most))


def _begun(start: Draw, rest: Draw, source: Source) -> str:
    begin = start(source)
    return f"{begin}{rest(source)[len(begin) :]}"


def _ended(end: Draw, rest: Draw, source: Source) -> str:
    last, text = end(source), rest(source)
    return f"{text[: max(0, len(text) - len(last))]}{last}"
