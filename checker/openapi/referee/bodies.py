"""Verdicts on bodies: what arrived, read by its `Content-Type`, against what is declared."""

import json
from collections.abc import Callable
from typing import Any, Final

from checker.core.media_types import (
    best_of,
    is_form,
    is_json,
    is_multipart,
    is_xml,
    is_yaml,
    media_type_of,
    parse,
)
from checker.core.operation import Body, Location, Operation
from checker.core.verdicts import Outcome, PartVerdict, RequestVerdict
from checker.openapi.answers.bodies import decoded_text
from checker.openapi.answers.texts import BeyondLimits
from checker.openapi.answers.yaml_readings import yaml_readings
from checker.openapi.referee.forms import form_readings, multipart_readings, parts_of
from checker.openapi.referee.rulings import Part, Rule, Rules
from checker.transport.wire import ambiguity
from checker.transport.wire.ambiguity import UNWRITTEN
from checker.transport.wire.file_kinds import is_of_its_kind
from checker.transport.wire.readings import Reading, doubted, exact_json, readings
from checker.transport.wire.xml_reading import xml_readings

_NO_DECODER = "no decoder for this media type"
_NO_BODY = "an empty body, or null, may be none at all"
_BOM = "servers differ on whether JSON may start with a byte order mark"
_YAML = "YAML 1.1 and YAML 1.2 read it differently"
_OCTETS = "nothing says whether it is text or octets"
_TWICE = "servers differ on which of two equal names counts"


class Undecided(Exception):
    """Nobody can know what the body means; the message says why."""


def body_verdicts(
    operation: Operation, content: bytes | None, content_type: str | None, rules: Rules
) -> list[PartVerdict]:
    """Verdicts on the body of a request, or on its absence."""
    whole = Part(Location.BODY, "")
    is_declared = bool(operation.bodies or operation.unusable_bodies)
    if content is None or (content == b"" and content_type is None):
        if is_declared and operation.body_required:
            return whole.broken("required", "a body is required and there is none")
        return whole.valid()
    if not is_declared:
        return whole.undeclared("no body is declared") if content else whole.valid()
    if content_type is None:
        return _untyped(operation, content, rules)
    received = media_type_of(content_type)
    if received is None:
        return whole.broken("content-type", "the Content-Type is malformed", content_type)
    body = best_of({body.media_type: body for body in operation.bodies}, received)
    if body is not None:
        return of_type(body, content, content_type, rules, required=operation.body_required)
    if best_of({body.media_type: body for body in operation.unusable_bodies}, received):
        return whole.ambiguous(_NO_DECODER)
    return whole.broken("content-type", "the media type is not declared", content_type)


def _untyped(operation: Operation, content: bytes, rules: Rules) -> list[PartVerdict]:
    """Without a `Content-Type` a server may guess (RFC 9110, 8.3)."""
    whole = Part(Location.BODY, "")
    for body in operation.bodies:
        found = RequestVerdict(tuple(of_type(body, content, body.media_type, rules, required=True)))
        if found.outcome is not Outcome.INVALID:
            return whole.ambiguous("without a Content-Type a server may guess")
    if operation.unusable_bodies:
        return whole.ambiguous(_NO_DECODER)
    return whole.broken("content-type", "there is no Content-Type")


def of_type(
    body: Body, content: bytes, content_type: str, rules: Rules, *, required: bool
) -> list[PartVerdict]:
    """Verdicts on a body of a declared media type."""
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
    if not is_wrong and not _holds_files(content, content_type):
        return part.ambiguous(ambiguity.KIND)
    # An empty form is no field, or no form; `null` is what many frameworks make of no body.
    is_nothing = not content or content.strip() == b"null"
    return part.ambiguous(_NO_BODY) if is_nothing and not required and is_wrong else verdicts


def _holds_files(content: bytes, content_type: str) -> bool:
    """Whether what is said to be an image, an archive and the like is one, be it a part: no schema speaks of that."""
    if not is_multipart(content_type):
        return is_of_its_kind(content, content_type)
    parts = parts_of(content, content_type)
    return all(is_of_its_kind(one.content, one.media_type or "") for one in parts)


def body_readings(body: Body, content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    """Values that a body can stand for. Raises `ValueError` when it is not of its type, and `Undecided`."""
    if is_form(content_type):
        return form_readings(content, rule, body.encoding)
    if is_multipart(content_type):
        return multipart_readings(content, content_type, rule, body.encoding)
    for fits, read in _READERS:
        if fits(content_type):
            return read(content, content_type, rule)
    return _octet_readings(content, content_type, rule)


def _json_readings(content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    if content.startswith(b"\xef\xbb\xbf"):
        raise Undecided(_BOM)
    text = content.decode("utf-8")
    value = exact_json(text)
    if _has_equal_names(text):
        raise Undecided(_TWICE)
    return [Reading(value)]


def _has_equal_names(text: str) -> bool:
    found = False

    def see(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        value = dict(pairs)
        found = found or len(value) < len(pairs)
        return value

    json.loads(text, object_pairs_hook=see)
    return found


def _yaml_readings(content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    try:
        values = yaml_readings(decoded_text(content, None))
    except BeyondLimits as error:
        raise Undecided(f"it {error}") from None
    return [Reading(value, _YAML if len(values) > 1 else "") for value in values]


def _xml_readings(content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    return xml_readings(content, rule.outline)


def _text_readings(content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    parsed = parse(content_type)
    charset = "utf-8" if parsed is None else parsed.parameters.get("charset", "utf-8")
    try:
        text = content.decode(charset)
    except LookupError:
        raise Undecided(f"the charset {charset!r} is not known") from None
    return _unstructured(text, rule)


def _octet_readings(content: bytes, content_type: str, rule: Rule) -> list[Reading]:
    """Of octets, and of a media type that nobody knows: text if it is text, or octets."""
    octets = _unstructured(content.decode("latin-1"), rule)
    if content.isascii():
        return octets
    try:
        text = _unstructured(content.decode("utf-8"), rule)
    except UnicodeDecodeError:
        return octets
    return doubted(text + octets, _OCTETS)


def _unstructured(text: str, rule: Rule) -> list[Reading]:
    """Readings of a text that may be more than a text if the schema admits more. Raises `Undecided` if it must be."""
    types = rule.outline.types
    if types and types <= {"array", "object", "null"}:
        raise Undecided(UNWRITTEN)
    others = [Reading(None, UNWRITTEN)] if types & {"array", "object"} else []
    return readings(text, rule.outline) + others


def _is_text(content_type: str) -> bool:
    parsed = parse(content_type)
    return parsed is not None and parsed.type == "text" and parsed.subtype not in ("xml", "csv")


_Reader = Callable[[bytes, str, Rule], list[Reading]]
_READERS: Final[tuple[tuple[Callable[[str], bool], _Reader], ...]] = (
    (is_json, _json_readings),
    (is_yaml, _yaml_readings),
    (is_xml, _xml_readings),
    (_is_text, _text_readings),
)
