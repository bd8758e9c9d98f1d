"""An independent judge of requests: from the bytes on the wire and the declared operation to a verdict on every part.

It shares the tables of styles and the decoders with the code that generates invalid requests, and shares nothing with
the code that writes them. Beside the keywords of JSON Schema, `keyword`
of a verdict is one of: `method`, `path` (the template does not match), `required` (missing), `style`, `duplicate`,
`percent-encoding`, `utf-8`, `header-octets`, `cookie-octets`, `content-type`, `syntax`.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.contract import Outcome, PartVerdict, RequestVerdict, SchemaViolation
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
from checker.core.operation import Body, Operation, Parameter, PropertyEncoding
from checker.core.request import Location, WireRequest
from checker.core.schema import Direction, Schema
from checker.core.system import later, later_pattern
from checker.openapi.response_bodies import BeyondLimits, decoded_text, yaml_readings
from checker.openapi.routes import PathTemplate, RequestTarget, has_dot_segment
from checker.schema.discriminators import Family, Heir, family_of, has_bases
from checker.schema.views import AppliedSchema, Outline, outline_of
from checker.transport.wire import ambiguity
from checker.transport.wire.ambiguity import UNKNOWN, UNWRITTEN
from checker.transport.wire.bodies import is_opaque
from checker.transport.wire.decoding import (
    DeclaredShape,
    Decoding,
    Malformed,
    OwnedPairs,
    decode_header,
    decode_parameter,
    decode_path,
    decode_querystring,
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
    shares,
)
from checker.transport.wire.multipart import Encoding, is_of_its_kind
from checker.transport.wire.readings import Reading, Repeated, arrays, doubted, exact_json, objects, readings
from checker.transport.wire.styles import Pairs
from checker.transport.wire.xml import xml_readings

if TYPE_CHECKING:
    import checker.validation.referee as opinions
    from checker.validation.referee import Referee
else:
    # Imported with the first value that is judged, because jsonschema takes a sixth of the import time of a worker.
    opinions = later("checker.validation.referee", by_all=False)

_INVERTING: Final = frozenset({"contains", "if", "not", "oneOf", "then"})
"""Keywords that may reject a value because it fits a schema."""
_ENGINES: Final = "engines of regular expressions do not agree whether it matches"
_CLASSES: Final = later_pattern(r"\\[bBdDsSwW]")

_UNNAMED: Final = "its discriminator names no schema, or a schema that the value fits only in part"


def _is_read_otherwise(violation: SchemaViolation) -> bool:
    """Whether a text that violates a pattern may match it in the regular expression engine of the service."""
    schema, value = violation.schema, violation.value
    if violation.keyword != "pattern" or not isinstance(schema, dict) or not isinstance(value, str):
        return False
    pattern = str(schema.get("pattern"))
    # `$` matches before a final line break in Python, Perl and PHP.
    if value.endswith("\n") and "$" in pattern:
        return True
    # Engines differ on digits, letters and white space beyond ASCII.
    return not value.isascii() and _CLASSES.search(pattern) is not None


class Rule:
    """A schema with its outline and its referee."""

    __slots__ = ("_families", "_has_bases", "_parts", "outline", "referee", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.outline = outline_of(schema)
        self.referee = opinions.referee(schema, Direction.REQUEST)
        self._parts: dict[str, Referee] = {}
        self._families: dict[str, Family | None] = {}
        self._has_bases = has_bases(schema.document)

    def errors(self, value: Any) -> tuple[list[SchemaViolation], str]:
        """Return the violations of a value. If there are none, also return a reason to doubt its validity.

        A value of a base schema must also fit the heir that its discriminator names.
        """
        wrong, doubt = self.referee.errors(value), next(iter(self.referee.doubts), "")
        if doubt:
            # A schema that is not understood may be narrower than it seems, which makes these errors uncertain.
            wrong = [one for one in wrong if _INVERTING.isdisjoint(one.schema_path)]
        # The referee reads discriminators beside `oneOf` and `anyOf` only, so those of base schemas are read in this
        # walk. A fault counts only if the base surely applies (`is_sure`): inside an alternative, another one may be
        # valid.
        todo: list[tuple[Outline, Any, tuple[str | int, ...], bool]] = []
        if self._has_bases and not wrong:
            todo.append((self.outline, value, (), True))
        while todo:
            outline, inner, path, is_sure = todo.pop()
            todo += [(one, inner, path, False) for some in outline.alternatives() for one in some]
            if isinstance(inner, list):
                todo += [(outline.item(i), item, (*path, i), is_sure) for i, item in enumerate(inner)]
            if not isinstance(inner, dict):
                continue
            for named in self._named(outline, inner):
                if named is None:
                    doubt = doubt or _UNNAMED
                    continue
                heir = self.outline.schema_at(named.raw, named.where)
                faults = [
                    replace(one, instance_path=(*path, *one.instance_path))
                    for one in self._part(AppliedSchema(heir.raw, heir.pointer)).errors(inner)
                ]
                if faults and is_sure:
                    return faults, ""
                doubt = doubt or (_UNNAMED if faults else "")
                outline = outline_of(heir)
            todo += [(outline.property(name), item, (*path, name), is_sure) for name, item in inner.items()]
        return wrong, doubt

    def _named(self, outline: Outline, value: dict[str, Any]) -> Iterator[Heir | None]:
        """Yield the heir that the discriminator of each base schema names; None if it names none."""
        facets = outline.facets()
        places = {facet.pointer for facet in facets}
        for base in facets:
            if not isinstance(base.raw, dict) or "discriminator" not in base.raw:
                continue
            if base.pointer not in self._families:
                root = self.schema.document.root
                self._families[base.pointer] = family_of(base.raw, base.pointer, root, outline.lookup)
            family = self._families[base.pointer]
            if family is not None and places.isdisjoint(heir.where for heir in family.heirs):
                tag = value.get(family.property_name)
                if tag not in family.own_names:
                    yield next((heir for heir in family.heirs if tag in heir.names), None)

    def likely(self, found: list[Reading], outline: Outline) -> list[Reading]:
        """Return the readings of a part of the value that satisfy the schemas of this part; the first reading if none does.

        If a part violates its own schemas, the whole value is invalid.
        """
        if len(found) == 1:
            return found
        judges = [self._part(facet) for facet in outline.facets() if isinstance(facet.raw, dict)]
        fits = [one for one in found if not any(judge.errors(one.value) for judge in judges)]
        # Without the most likely reading, two doubtful readings that fit would make the part valid.
        if fits and found[0] not in fits and all(one.doubt for one in fits):
            # The most likely reading does not fit.
            return [found[0], *fits]
        return fits or [one for i, one in enumerate(found) if i == 0 or one.doubt in UNKNOWN]

    def _part(self, facet: AppliedSchema) -> "Referee":
        judge = self._parts.get(facet.pointer)
        if judge is None:
            schema = replace(self.schema, raw=facet.raw, pointer=facet.pointer)
            judge = self._parts[facet.pointer] = opinions.referee(schema, Direction.REQUEST)
        return judge


class Part(Struct, frozen=True):
    """The part of a request that a verdict is about."""

    location: Location
    name: str
    pointer: str = ""  # Pointer of the parameter, or of the media type object.

    @classmethod
    def of(cls, parameter: Parameter) -> "Part":
        return cls(parameter.location, parameter.name, parameter.pointer)

    def valid(self) -> list[PartVerdict]:
        return [PartVerdict(self.location, self.name, Outcome.VALID, self.pointer)]

    def ambiguous(self, reason: str, value: object = None) -> list[PartVerdict]:
        """Return the verdict of a part that may be right or wrong."""
        return [self._verdict(Outcome.AMBIGUOUS, "", reason, value)]

    def undeclared(self, reason: str) -> list[PartVerdict]:
        """Return the verdict of a part that the description does not declare."""
        return [self._verdict(Outcome.UNDECLARED, "", reason, None)]

    def broken(self, keyword: str, reason: str, value: object = None) -> list[PartVerdict]:
        """Return the verdict of a part that breaks a rule outside of schemas: style, encoding, presence."""
        return [self._verdict(Outcome.INVALID, keyword, reason, value)]

    def judged(self, found: list[Reading], rule: Rule) -> list[PartVerdict]:
        """Return valid if a reading without doubt is valid, invalid if every reading is invalid, ambiguous otherwise."""
        errors: list[tuple[Reading, list[SchemaViolation]]] = []
        read_only: set[str] = set()
        doubts: list[str] = []
        for reading in found:
            wrong, doubt = rule.errors(reading.value)
            errors.append((replace(reading, doubt=doubt) if doubt and not reading.doubt else reading, wrong))
            if not wrong:
                read_only |= rule.referee.read_only
                doubts.append(doubt)
        fits = [reading for reading, wrong in errors if not wrong]
        unknown = next((one.doubt for one in found if one.doubt in UNKNOWN), None)
        # Readings that were not tried may be valid, so such a part is never called wrong.
        if not fits and unknown is not None:
            return self.ambiguous(unknown)
        if not fits:
            # Violations of patterns on which regular expression engines disagree prove nothing.
            reading, violations = errors[0]
            certain = [
                PartVerdict(
                    self.location,
                    self.name,
                    Outcome.INVALID,
                    one.schema_pointer,
                    one.keyword,
                    one.instance_path,
                    one.value,
                    one.message,
                    one.schema,
                )
                for one in violations
                if not _is_read_otherwise(one)
            ]
            return certain or self.ambiguous(_ENGINES, reading.value)
        if all(doubts):
            return self.ambiguous(doubts[0])
        if read_only:
            # A server may refuse or ignore read-only properties in requests (OpenAPI 3.0, Schema Object).
            return self.ambiguous(f"it has read-only properties: {', '.join(sorted(read_only))}")
        if len(fits) == len(errors) > 1 or not all(reading.doubt for reading in fits):
            # If several readings are all valid, it does not matter which of them the server takes.
            return self.valid()
        return self.ambiguous(fits[0].doubt, fits[0].value)

    def _verdict(self, outcome: Outcome, keyword: str, reason: str, value: object) -> PartVerdict:
        return PartVerdict(self.location, self.name, outcome, self.pointer, keyword, value=value, reason=reason)


class Rules(Struct):
    """Rules by schema, made on demand."""

    _by_pointer: dict[tuple[str, int], Rule] = field(default_factory=dict)

    def of(self, schema: Schema) -> Rule:
        key = (schema.pointer, id(schema.raw))
        found = self._by_pointer.get(key)
        if found is None:
            found = self._by_pointer[key] = Rule(schema)
        return found


_USUAL = PropertyEncoding()
_NAME = later_pattern(r'(?i)\bname="((?:[^"\\]|\\.)*)"')
_FILE = later_pattern(r"(?i)\bfilename\*?=")


def form_readings(content: bytes, rule: Rule, encoding: Encoding) -> list[Reading]:
    """Return the readings of an urlencoded form. Raises `ValueError` if it is none."""
    text = content.decode("ascii")
    fault = encoding_fault(text)
    if fault is not None:
        raise ValueError(fault[1])
    # In an urlencoded form `+` is a space (WHATWG URL, 5.1).
    pairs = plus_replaced(pairs_of(text), "%20")
    found: dict[str, list[Reading]] = {}
    used: set[str] = set()
    for name in sorted(rule.outline.names):
        mine = _pairs_of_property(pairs, name, rule.outline)
        if mine:
            used |= {plain(key) for key, _ in mine}
            found[name] = _property(mine, name, rule, encoding.get(name, _USUAL))
    rest = [pair for pair in pairs if plain(pair[0]) not in used]
    undeclared: dict[str, list[Reading]] = {}
    for plain_name, texts in grouped(rest).items():
        outline = rule.outline.property(plain_name)
        undeclared[plain_name] = rule.likely(readings(texts, outline), outline)
    as_names = objects(found | undeclared)
    host = next((name for name in encoding if _takes_rest(name, pairs, rule, encoding)), None)
    if host is None or not rest:
        return as_names
    mine = _pairs_of_property(pairs, host, rule.outline) + rest
    as_properties = objects(found | {host: _property(mine, host, rule, encoding[host])})
    return doubted(as_names + as_properties, ambiguity.REST)


def _takes_rest(name: str, pairs: Pairs, rule: Rule, encoding: Encoding) -> bool:
    """Whether a property may be an exploded object. Undeclared pairs may belong to this property."""
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
        declared = encoding.get(name)
        if declared is not None and declared.content_type is not None:
            wanted = [one.strip() for one in declared.content_type.split(",")]
            for each in parts:
                if each.media_type is not None and not any(matches(one, each.media_type) for one in wanted):
                    raise ValueError(f"the part {name!r} is {each.media_type}, not {declared.content_type}")
        outline = rule.outline.property(name)
        how = encoding.get(name)
        is_declared = how is not None and how.content_type is not None
        read = partial(_one_part, is_declared=is_declared)
        found_here = read(parts[0], outline) if len(parts) == 1 else []
        if "array" in outline.types or len(parts) > 1:
            made = arrays([read(part, outline.item(i)) for i, part in enumerate(parts)])
            # If an array is declared, a part that is a list already is the whole array.
            is_list = [one for one in found_here if isinstance(one.value, list)]
            found_here = is_list + made if outline.types == {"array"} else found_here + made
        if how is not None and how.inner:
            texts = [one.content.decode("utf-8", "replace") for one in parts]
            parted = readings(parted_inside(texts, how.inner), outline)
            found_here += doubted(parted, ambiguity.NESTED)
        found[name] = rule.likely(found_here, outline)
    return objects(found)


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
    # The line break before a delimiter belongs to it, except that the first one may stand at the very beginning (RFC
    # 2046, 5.1.1).
    pieces = (b"\r\n" + content).split(mark)
    if len(pieces) < 2:
        raise ValueError("the boundary that the Content-Type names is not in the body")
    if not pieces[-1].startswith(b"--"):
        raise ValueError("the closing delimiter is missing")
    for piece in pieces[1:-1]:
        blank, _, rest = piece.partition(b"\r\n")
        # Blanks after a delimiter are transport padding (RFC 2046, 5.1.1).
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
        # HTML forms encode names in this way.
        None if named is None else named[1].replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n"),
        fields.get("content-type"),
        content,
        _FILE.search(disposition) is not None,
    )


_NO_DECODER = "no decoder for this media type"
_NO_BODY = "an empty body, or null, may count as no body"
# RFC 8259, 8.1: no byte order mark may be added, and a parser may ignore one.
_BOM = "servers differ on whether JSON may start with a byte order mark"
_YAML = "YAML 1.1 and YAML 1.2 read it differently"
_OCTETS = "no standard defines whether it is text or bytes"
_STREAM = "the description does not say which values the text has one after another"
_NAMELESS = "the parts have no names, and servers differ on how they match them"
# RFC 8259, 4: names should be unique; how receivers treat equal ones is unpredictable.
_TWICE = "servers differ on which of two equal names counts"


class Undecided(Exception):
    """The meaning of the body cannot be decided; the message is the reason."""


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
        # Zero bytes may be a valid body, such as an empty text or file, or a form without required properties.
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
    # Servers may read an empty form as no body, and many frameworks read `null` as no body.
    is_nothing = not content or content.strip() == b"null"
    # Servers differ on whether zero bytes are a body, so a valid empty text may be refused if a body is required.
    is_doubtful = is_wrong != required if not content else is_wrong and not required
    return part.ambiguous(_NO_BODY) if is_nothing and is_doubtful else verdicts


def _holds_files(content: bytes, content_type: str) -> bool:
    """Whether content that is declared as an image, an archive or the like has this type, also in a part. Schemas cannot express this."""
    if not is_multipart(content_type):
        return is_of_its_kind(content, content_type)
    parts = parts_of(content, content_type)
    return all(is_of_its_kind(one.content, one.media_type or "") for one in parts)


def _stream(content_type: str) -> str:
    parsed = parse(content_type)
    return "" if parsed is None else stream_of(parsed)


def _stream_readings(content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    """Return the readings of consecutive values: as a list, as a single value, or as a text."""
    if "string" in rule.outline.types or _stream(content_type) == "events":
        raise Undecided(_STREAM)
    values = [exact_json(text) for text in re.split("[\\n\x1e]", content.decode("utf-8")) if text.strip()]
    is_list = "array" in rule.outline.types or len(values) != 1
    return [Reading(values if is_list else values[0])]


def body_readings(body: Body, content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    """Return the values that a body can mean. Raises `ValueError` if it does not have its media type, and `Undecided`."""
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
    # Octets and unknown media types are read as text, if possible, and as octets.
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
    """Return the readings of a text. The schema may also allow other types. Raises `Undecided` if the schema requires another type."""
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


Header = tuple[str, str]  # Name and value of a header field, each octet a character.
# RFC 9110: an `If-Modified-Since` that is no date must be ignored (13.1.3), and a server may ignore `Range` (14.2).
# OpenAPI 3 ignores header parameters named `Authorization`.
_PASSED_OVER = frozenset(
    ["accept-charset", "accept-encoding", "accept-language", "authorization", "if-modified-since", "if-unmodified-since",
     "prefer", "range"]
)  # fmt: skip
"""Headers whose values servers may ignore if they do not understand them, or whose parameters OpenAPI ignores."""
_QUERYSTRING = "querystring"
"""Style of a parameter that is the whole query (OpenAPI 3.2): no other parameter may stand beside it."""


def path_verdicts(parameters: Iterable[Parameter], target: RequestTarget, rules: Rules) -> Iterator[PartVerdict]:
    """Yield the verdicts on the variables of a path that matches its template."""
    for parameter in parameters:
        texts = [split[parameter.name] for split in target.variables if parameter.name in split]
        if not texts:
            continue
        outline = rules.of(parameter.schema).outline
        # In `/{a}-{b}` a value with a hyphen can be split in several ways, and servers differ in the way that they choose.
        ways = [decode_path(parameter, text, outline) for text in dict.fromkeys(texts)]
        readings = [one for way in ways if isinstance(way, list) for one in way]
        if target.is_cut:
            found: Decoding = doubted(readings or [Reading(None)], ambiguity.MANY)
        else:
            found = doubted(readings, ambiguity.SPLIT if len(ways) > 1 else "") if readings else ways[0]
        if found is None and not parameter.doubt:
            part = Part.of(parameter)
            yield from part.broken("required", "the variable is empty", texts[0])
        else:
            yield from _verdicts(parameter, found, texts[0], rules)


def query_verdicts(parameters: Iterable[Parameter], query: str, rules: Rules) -> Iterator[PartVerdict]:
    """Yield the verdicts on the parameters of a query, and on undeclared pairs."""
    declared = [(one, rules.of(one.schema).outline) for one in parameters]
    for parameter, outline in declared:
        if parameter.style == _QUERYSTRING:
            found = decode_querystring(parameter, query, outline)
            yield from _verdicts(parameter, found, query, rules)
            return
    found_shares, undeclared = shares(declared, pairs_of(query))
    for share in found_shares:
        if share.parameter.allow_empty and [value for _, value in share.own] == [""]:
            yield from Part.of(share.parameter).valid()
        else:
            yield from _share_verdicts(share, rules)
    if not any(share.rest for share in found_shares):
        for name in dict.fromkeys(plain(name) for name, _ in undeclared):
            yield from Part(Location.QUERY, name).undeclared("no such parameter is declared")


def cookie_verdicts(parameters: Iterable[Parameter], headers: Sequence[Header], rules: Rules) -> Iterator[PartVerdict]:
    """Yield the verdicts on cookies (RFC 6265)."""
    pairs = [
        (name.strip(), value.strip())
        for field, text in headers
        if field.lower() == "cookie"
        for name, _, value in (piece.partition("=") for piece in text.split(";"))
    ]
    declared = [(one, rules.of(one.schema).outline) for one in parameters]
    for share in shares(declared, pairs)[0]:
        yield from _share_verdicts(share, rules)


def _share_verdicts(share: OwnedPairs, rules: Rules) -> list[PartVerdict]:
    parameter = share.parameter
    if share.is_contested:
        return Part.of(parameter).ambiguous(ambiguity.SHARED, _shown(share.own))
    # If all pairs may be undeclared properties, the parameter may be absent.
    may_be_absent = bool(share.rest) and not share.own
    if may_be_absent and not parameter.required:
        return Part.of(parameter).valid()
    found = decode_parameter(parameter, share.own, share.outline, share.rest)
    verdicts = _verdicts(parameter, found, _shown(share.own), rules)
    # An empty text is certainly wrong only if an absent parameter would be wrong too.
    is_needed = parameter.required and "array" not in share.outline.types
    is_wrong = is_needed and verdicts[0].outcome is Outcome.INVALID
    is_empty = not share.rest and [value for _, value in share.own] == [""]
    if is_empty and not is_wrong:
        return Part.of(parameter).ambiguous(ambiguity.EMPTY, "")
    if may_be_absent and verdicts[0].outcome is Outcome.VALID:
        return Part.of(parameter).ambiguous(ambiguity.REST, _shown(share.rest))
    return verdicts


def header_verdicts(parameters: Iterable[Parameter], headers: Sequence[Header], rules: Rules) -> Iterator[PartVerdict]:
    """Yield the verdicts on header parameters. Fields of one name are one list (RFC 9110, 5.3)."""
    for parameter in parameters:
        values = [value for name, value in headers if name.lower() == parameter.name.lower()]
        text = ", ".join(value.strip(" \t") for value in values)
        outline = rules.of(parameter.schema).outline
        found = decode_header(parameter, text, outline) if values else None
        verdicts = _verdicts(parameter, found, text, rules)
        is_wrong = bool(values) and verdicts[0].outcome is Outcome.INVALID
        if is_wrong and parameter.name.lower() in _PASSED_OVER:
            yield from Part.of(parameter).ambiguous(ambiguity.PASSED_OVER, text)
        else:
            yield from verdicts


def _verdicts(parameter: Parameter, found: Decoding, shown: object, rules: Rules) -> list[PartVerdict]:
    part = Part.of(parameter)
    if found is None and not parameter.required:
        return part.valid()
    if parameter.doubt:
        return part.ambiguous(parameter.doubt, shown)
    if isinstance(found, Malformed):
        return part.broken(found.keyword, found.reason, shown)
    if found is None:
        return part.broken("required", "it is required and not there")
    return part.judged(found, rules.of(parameter.schema))


def _shown(pairs: Pairs) -> object:
    values = [value for _, value in pairs]
    return values[0] if len(values) == 1 else values


_KEPT: Final = 64  # Parts of requests whose verdicts are kept.
_LONGEST: Final = 4096  # Longest of these parts, in octets.


class RequestReferee:
    """Judges the requests to one operation."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._template = PathTemplate(operation.path)
        self._rules = Rules()
        # Requests that test the same parameter have all other parts in common.
        self._kept_target = lru_cache(_KEPT)(self._target_verdicts)
        self._kept_body = lru_cache(_KEPT)(self._body_verdicts)
        self._parameters: dict[Location, list[Parameter]] = {place: [] for place in Location}
        for parameter in operation.parameters:
            self._parameters[parameter.location].append(parameter)

    def judge(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        """Return the verdicts on all parts; `base_path` is the path before every operation path."""
        return RequestVerdict(tuple(self._verdicts(request, base_path)))

    def _verdicts(self, request: WireRequest, base_path: str) -> Iterator[PartVerdict]:
        target = request.target.decode("latin-1")
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
        content_type = request.header(b"content-type")
        said = None if content_type is None else content_type.decode("latin-1")
        body, rules = request.body, self._rules
        # Long targets rarely occur twice, so keeping them would only fill the memory.
        is_short = len(target) + len(base_path) <= _LONGEST
        if self._operation.method not in (request.method, request.method.upper()):
            whole = Part(Location.PATH, "")
            yield from whole.broken("method", "it is another operation's", request.method)
        yield from (self._kept_target if is_short else self._target_verdicts)(target, base_path)
        declared = self._parameters[Location.HEADER]
        yield from header_verdicts(declared, headers, rules)
        yield from cookie_verdicts(self._parameters[Location.COOKIE], headers, rules)
        is_short = len(body or b"") + len(said or "") <= _LONGEST
        yield from (self._kept_body if is_short else self._body_verdicts)(body, said)

    def _body_verdicts(self, content: bytes | None, said: str | None) -> list[PartVerdict]:
        return body_verdicts(self._operation, content, said, self._rules)

    def _target_verdicts(self, text: str, base_path: str) -> list[PartVerdict]:
        whole = Part(Location.PATH, "")
        target = self._template.split(text, base_path)
        path = text.partition("?")[0]
        if not target.variables:
            found = whole.broken("path", f"it is not of {self._operation.path}", path)
        elif has_dot_segment(path):
            found = whole.ambiguous(ambiguity.DOTS, path)
        else:
            found = list(path_verdicts(self._parameters[Location.PATH], target, self._rules))
        return [*found, *query_verdicts(self._parameters[Location.QUERY], target.query, self._rules)]
