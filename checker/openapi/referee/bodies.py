"""Verdicts on bodies: the content, read by its `Content-Type`, against the declaration. Forms are read property by property."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from msgspec import Struct

from checker.core.contract import Outcome, PartVerdict, RequestVerdict
from checker.core.media_types import (
    best_of,
    is_form,
    is_json,
    is_multipart,
    is_xml,
    is_yaml,
    matches,
    media_type_of,
    parse,
    stream_of,
)
from checker.core.operation import Body, Location, Operation, PropertyEncoding
from checker.core.system import later_pattern
from checker.openapi.referee.rulings import Part, Rule, Rules
from checker.openapi.responses.bodies import decoded_text
from checker.openapi.responses.texts import BeyondLimits, yaml_readings
from checker.schema.views import Outline
from checker.transport.wire import ambiguity
from checker.transport.wire.ambiguity import UNWRITTEN
from checker.transport.wire.bodies import is_opaque
from checker.transport.wire.decoding import (
    DeclaredShape,
    deep_tree,
    encoding_fault,
    grouped,
    joined_readings,
    pairs_of,
    parted_inside,
    plain,
    plus_replaced,
    query_value,
    shapes,
)
from checker.transport.wire.multipart import Encoding, is_of_its_kind
from checker.transport.wire.readings import Reading, Repeated, arrays, doubted, exact_json, objects, readings
from checker.transport.wire.styles import Pairs
from checker.transport.wire.xml import xml_readings

_USUAL = PropertyEncoding()
_NAME = later_pattern(r'(?i)\bname="((?:[^"\\]|\\.)*)"')
_FILE = later_pattern(r"(?i)\bfilename\*?=")


def form_readings(content: bytes, rule: Rule, encoding: Encoding) -> list[Reading]:
    """Return the readings of an urlencoded form. Raises `ValueError` if it is none."""
    text = content.decode("ascii")
    fault = encoding_fault(text)
    if fault is not None:
        raise ValueError(fault[1])
    pairs = plus_replaced(pairs_of(text), "%20")
    found: dict[str, list[Reading]] = {}
    used: set[str] = set()
    for name in sorted(rule.outline.names):
        mine = _pairs_of_property(pairs, name, rule.outline)
        if mine:
            used |= {plain(key) for key, _ in mine}
            found[name] = _property(mine, name, rule, encoding.get(name, _USUAL))
    rest = [pair for pair in pairs if plain(pair[0]) not in used]
    as_names = objects(found | _undeclared(rest, rule))
    host = next((name for name in encoding if _takes_rest(name, pairs, rule, encoding)), None)
    if host is None or not rest:
        return as_names
    mine = _pairs_of_property(pairs, host, rule.outline) + rest
    as_properties = objects(found | {host: _property(mine, host, rule, encoding[host])})
    return doubted(as_names + as_properties, ambiguity.REST)


def _undeclared(pairs: Pairs, rule: Rule) -> dict[str, list[Reading]]:
    found: dict[str, list[Reading]] = {}
    for key, texts in grouped(pairs).items():
        outline = rule.outline.property(key)
        found[key] = rule.likely(readings(texts, outline), outline)
    return found


def _takes_rest(name: str, pairs: Pairs, rule: Rule, encoding: Encoding) -> bool:
    """Whether a property may be an exploded object, to which undeclared pairs may belong."""
    how, inner = encoding[name], rule.outline.property(name)
    is_spread = how.is_styled and how.explode and how.style != "deepObject"
    is_open = "object" in inner.types and not inner.is_closed
    return is_spread and is_open and not any(plain(key) == name for key, _ in pairs)


def _pairs_of_property(pairs: Pairs, name: str, outline: Outline) -> Pairs:
    own = [(key, value) for key, value in pairs if plain(key) == name or plain(key).startswith(f"{name}[")]
    inner = outline.property(name)
    if own or "object" not in inner.types or "string" in inner.types:
        return own
    # An exploded object: its properties are pairs of their own.
    return [(key, value) for key, value in pairs if plain(key) not in outline.names and inner.declares(plain(key))]


def _property(pairs: Pairs, name: str, rule: Rule, how: PropertyEncoding) -> list[Reading]:
    outline = rule.outline.property(name)
    values = [plain(value) for _, value in pairs]
    if how.content_type is not None and is_json(how.content_type):
        return [Reading(exact_json(value)) for value in values[:1]]
    is_own = {plain(key) for key, _ in pairs} == {name}
    found = _json(values[0], outline.types) if is_own and len(values) == 1 else []
    if any(plain(key).startswith(f"{name}[") for key, _ in pairs):
        return rule.likely(readings(deep_tree(pairs, name), outline), outline)
    if not is_own:
        return rule.likely(readings(grouped(pairs), outline), outline)
    for shape in shapes(outline):
        if shape is DeclaredShape.OBJECT and how.explode:
            continue
        try:
            tree = query_value(pairs, name, how.style, shape, explode=how.explode)
        except ValueError:
            continue
        if tree is not None:
            parted = parted_inside(tree, how.inner)
            doubt = ambiguity.NESTED if parted is not tree else ""
            joined = "" if how.explode else how.style
            found += doubted(joined_readings(parted, joined, outline), doubt)
    return rule.likely(found or readings(Repeated(tuple(values)), outline), outline)


def _json(text: str, types: frozenset[str]) -> list[Reading]:
    try:
        value = exact_json(text)
    except ValueError:
        return []
    kind = "array" if isinstance(value, list) else "object"
    return [Reading(value)] if isinstance(value, list | dict) and kind in types else []


class FormPart(Struct, frozen=True):
    """One part of a multipart body."""

    name: str | None
    media_type: str | None
    content: bytes
    is_file: bool


def multipart_readings(content: bytes, content_type: str, rule: Rule, encoding: Encoding) -> list[Reading]:
    """Return the readings of `multipart/form-data`. Raises `ValueError` if it is none."""
    grouped: dict[str, list[FormPart]] = {}
    for number, part in enumerate(parts_of(content, content_type)):
        if part.name is None and "object" not in rule.outline.types:
            raise Undecided(_NAMELESS)
        if part.name is None:
            raise ValueError(f"part {number + 1} has no name")
        grouped.setdefault(part.name, []).append(part)
    found: dict[str, list[Reading]] = {}
    for name, parts in grouped.items():
        _require_types(name, parts, encoding.get(name))
        outline = rule.outline.property(name)
        how = encoding.get(name)
        is_declared = how is not None and how.content_type is not None
        found_here = _part_readings(parts, outline, is_declared=is_declared)
        if how is not None and how.inner:
            texts = [one.content.decode("utf-8", "replace") for one in parts]
            parted = readings(parted_inside(texts, how.inner), outline)
            found_here += doubted(parted, ambiguity.NESTED)
        found[name] = rule.likely(found_here, outline)
    return objects(found)


def _require_types(name: str, parts: list[FormPart], how: PropertyEncoding | None) -> None:
    if how is None or how.content_type is None:
        return
    wanted = [one.strip() for one in how.content_type.split(",")]
    for part in parts:
        if part.media_type is not None and not any(matches(one, part.media_type) for one in wanted):
            raise ValueError(f"the part {name!r} is {part.media_type}, not {how.content_type}")


def _part_readings(parts: list[FormPart], outline: Outline, *, is_declared: bool) -> list[Reading]:
    read = partial(_one_part, is_declared=is_declared)
    found = read(parts[0], outline) if len(parts) == 1 else []
    if "array" in outline.types or len(parts) > 1:
        made = arrays([read(part, outline.item(i)) for i, part in enumerate(parts)])
        # If an array is declared, a part that is a list already is the whole array.
        is_list = [one for one in found if isinstance(one.value, list)]
        found = is_list + made if outline.types == {"array"} else found + made
    return found


def _one_part(part: FormPart, outline: Outline, *, is_declared: bool) -> list[Reading]:
    """Return the readings of a part; `is_declared` means that the description gives its media type."""
    if part.media_type is not None and is_json(part.media_type):
        text = part.content.decode("utf-8")
        # A server that expects text accepts the part as text, whatever its media type.
        is_text = not is_declared and "string" in outline.types
        return [Reading(exact_json(text)), *(readings(text, outline) if is_text else ())]
    if part.media_type is not None and is_xml(part.media_type):
        return xml_readings(part.content, outline)
    if part.is_file:
        return [Reading(part.content.decode("latin-1"))]
    parsed = parse(part.media_type or "")
    try:
        text = part.content.decode((parsed and parsed.charset) or "utf-8")
    except (UnicodeDecodeError, LookupError):
        if part.media_type is None or part.media_type.startswith("text/"):
            raise ValueError(f"the part {part.name!r} is not in its charset") from None
        return [Reading(part.content.decode("latin-1"))]
    return readings(text, outline)


def parts_of(content: bytes, content_type: str) -> Iterator[FormPart]:
    """Yield the parts of a multipart body (RFC 2046, 5.1.1). Raises `ValueError` for a missing delimiter."""
    parsed = parse(content_type)
    boundary = None if parsed is None else parsed.parameters.get("boundary")
    if not boundary:
        raise ValueError("the Content-Type names no boundary")
    mark = b"\r\n--" + boundary.encode("latin-1", "replace")
    pieces = (b"\r\n" + content).split(mark)
    if len(pieces) < 2:
        raise ValueError("the boundary that the Content-Type names is not in the body")
    if not pieces[-1].startswith(b"--"):
        raise ValueError("the closing delimiter is missing")
    for piece in pieces[1:-1]:
        blank, _, rest = piece.partition(b"\r\n")
        if blank.strip(b" \t"):
            raise ValueError("a delimiter is not on a line of its own")
        yield _part(rest)


def _part(piece: bytes) -> FormPart:
    head, ends, content = (b"\r\n" + piece).partition(b"\r\n\r\n")
    if not ends:
        raise ValueError("the headers of a part do not end")
    fields = {}
    for line in head.decode("utf-8", "replace").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError(f"{line!r} is not a header")
        fields[name.strip().lower()] = value.strip()
    disposition = fields.get("content-disposition", "")
    named = _NAME.search(disposition)
    return FormPart(
        # HTML forms encode names so.
        None if named is None else named[1].replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n"),
        fields.get("content-type"),
        content,
        _FILE.search(disposition) is not None,
    )


_NO_DECODER = "no decoder for this media type"
_NO_BODY = "an empty body, or null, may be none at all"
_BOM = "servers differ on whether JSON may start with a byte order mark"
_YAML = "YAML 1.1 and YAML 1.2 read it differently"
_OCTETS = "nothing says whether it is text or octets"
_STREAM = "the description does not say which values the text has one after another"
_NAMELESS = "the parts have no names, and servers differ on how they match them"
_TWICE = "servers differ on which of two equal names counts"


class Undecided(Exception):
    """The meaning of the body is undecided; the message is the reason."""


def body_verdicts(
    operation: Operation, content: bytes | None, content_type: str | None, rules: Rules
) -> list[PartVerdict]:
    """Return the verdicts on the body of a request, or on its absence."""
    whole = Part(Location.BODY, "")
    doubt = next((body.doubt for body in operation.bodies if body.doubt), "")
    if doubt:
        return whole.ambiguous(doubt)
    is_declared = bool(operation.bodies or operation.unusable_bodies)
    if content is None or (content == b"" and content_type is None):
        if not is_declared or not operation.body_required:
            return whole.valid()
        # Zero bytes may be a valid body: an empty text or file, a form without required properties.
        if any(_may_be(body, b"", rules) for body in operation.bodies):
            return whole.ambiguous(_NO_BODY)
        return whole.broken("required", "a body is required and there is none")
    if not is_declared:
        return whole.undeclared("no body is declared") if content else whole.valid()
    if content_type is None:
        # A server may guess the type (RFC 9110, 8.3).
        if any(_may_be(body, content, rules) for body in operation.bodies):
            return whole.ambiguous("without a Content-Type a server may guess")
        if operation.unusable_bodies:
            return whole.ambiguous(_NO_DECODER)
        return whole.broken("content-type", "there is no Content-Type")
    received = media_type_of(content_type)
    if received is None:
        return whole.broken("content-type", "the Content-Type is malformed", content_type)
    body = best_of({body.media_type: body for body in operation.bodies}, received)
    if body is not None:
        return of_type(body, content, content_type, rules, required=operation.body_required)
    if best_of({body.media_type: body for body in operation.unusable_bodies}, received):
        return whole.ambiguous(_NO_DECODER)
    return whole.broken("content-type", "the media type is not declared", content_type)


def _may_be(body: Body, content: bytes, rules: Rules) -> bool:
    """Whether content may be a valid body."""
    found = RequestVerdict(tuple(of_type(body, content, body.media_type, rules, required=True)))
    return found.outcome is not Outcome.INVALID


def of_type(body: Body, content: bytes, content_type: str, rules: Rules, *, required: bool) -> list[PartVerdict]:
    """Return the verdicts on a body of a declared media type."""
    part = Part(Location.BODY, "", body.pointer)
    if not content and not required and not is_form(content_type):
        return part.ambiguous(_NO_BODY)
    rule = rules.of(body.schema)
    try:
        found = body_readings(body, content, content_type, rule)
    except Undecided as undecided:
        return part.ambiguous(str(undecided))
    except ValueError as error:
        return part.broken("syntax", str(error), content)
    verdicts = part.judged(found, rule)
    is_wrong = any(one.outcome is Outcome.INVALID for one in verdicts)
    if not is_wrong and (is_opaque(content_type) or not _holds_files(content, content_type)):
        return part.ambiguous(ambiguity.KIND)
    # An empty form may be no form at all, and many frameworks read `null` as no body.
    is_nothing = not content or content.strip() == b"null"
    # Servers differ on whether zero bytes are a body, so that a valid empty text may be refused where a body is required.
    is_doubtful = is_wrong != required if not content else is_wrong and not required
    return part.ambiguous(_NO_BODY) if is_nothing and is_doubtful else verdicts


def _holds_files(content: bytes, content_type: str) -> bool:
    """Whether content that is declared as an image, an archive and so on is one, also in a part: schemas cannot express that."""
    if not is_multipart(content_type):
        return is_of_its_kind(content, content_type)
    parts = parts_of(content, content_type)
    return all(is_of_its_kind(one.content, one.media_type or "") for one in parts)


def _stream(content_type: str) -> str:
    parsed = parse(content_type)
    return "" if parsed is None else stream_of(parsed)


def _stream_readings(content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    """Return the readings of values after each other: as a list, as a single value, or as a text."""
    if "string" in rule.outline.types or _stream(content_type) == "events":
        raise Undecided(_STREAM)
    values = [exact_json(text) for text in re.split("[\\n\x1e]", content.decode("utf-8")) if text.strip()]
    is_list = "array" in rule.outline.types or len(values) != 1
    return [Reading(values if is_list else values[0])]


def body_readings(body: Body, content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    """Return the values that a body can mean. Raises `ValueError` if it is not of its type, and `Undecided`."""
    if is_form(content_type):
        return form_readings(content, rule, body.encoding)
    if is_multipart(content_type):
        return multipart_readings(content, content_type, rule, body.encoding)
    for fits, read in _READERS:
        if fits(content_type):
            return read(content, content_type, rule)
    parsed = parse(content_type)
    if parsed is not None and parsed.type == "text" and parsed.subtype not in ("xml", "csv"):
        charset = parsed.parameters.get("charset", "utf-8")
        try:
            return _unstructured(content.decode(charset), rule)
        except LookupError:
            raise Undecided(f"the charset {charset!r} is not known") from None
    # The readings of octets and of unknown media types: as text if possible, and as octets.
    octets = _unstructured(content.decode("latin-1"), rule)
    if content.isascii():
        return octets
    try:
        text = _unstructured(content.decode("utf-8"), rule)
    except UnicodeDecodeError:
        return octets
    return doubted(text + octets, _OCTETS)


def _json_readings(content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    if content.startswith(b"\xef\xbb\xbf"):
        raise Undecided(_BOM)
    text = content.decode("utf-8")
    value = exact_json(text)
    found = []

    def see(pairs: list[tuple[str, Any]]) -> None:
        found.append(len(dict(pairs)) < len(pairs))

    json.loads(text, object_pairs_hook=see)
    if any(found):
        raise Undecided(_TWICE)
    return [Reading(value)]


def _yaml_readings(content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    try:
        values = yaml_readings(decoded_text(content, None))
    except BeyondLimits as error:
        raise Undecided(f"it {error}") from None
    return [Reading(value, _YAML if len(values) > 1 else "") for value in values]


def _unstructured(text: str, rule: Rule) -> list[Reading]:
    """Return the readings of a text that the schema may read as more than text. Raises `Undecided` if it must be more."""
    types = rule.outline.types
    if types and types <= {"array", "object", "null"}:
        raise Undecided(UNWRITTEN)
    others = [Reading(None, UNWRITTEN)] if types & {"array", "object"} else []
    return readings(text, rule.outline) + others


_Reader = Callable[[bytes, str, Rule], list[Reading]]
_READERS: Final[tuple[tuple[Callable[[str], object], _Reader], ...]] = (
    (is_json, _json_readings),
    (is_yaml, _yaml_readings),
    (_stream, _stream_readings),
    (is_xml, lambda content, content_type, rule: xml_readings(content, rule.outline)),
)
