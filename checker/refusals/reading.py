"""The demands that a refusal states, read from the error bodies of frameworks."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any, Final

from checker.core.case import NOT_SET, Case
from checker.core.constraints import FORBIDDEN, ITEMS, REQUIRED, SELDOM, Constraint, constraint, part_of, values_at
from checker.core.request import Location
from checker.core.resource_names import ends_with_variable, variables_of
from checker.core.response import Response
from checker.core.system import later_pattern
from checker.refusals import codes
from checker.refusals.relations import Place, relations_in
from checker.refusals.sentences import (
    TYPES,
    WHERE,
    FieldPath,
    PlaceDemand,
    demanded,
    demands_of,
    is_same_name,
    keyed,
    path_of,
    sentences_at,
    texts_in,
)
from checker.refusals.state import FORM_OF_IDENTIFIERS, is_missing

# A firewall before the API may take such characters for an attack and refuse valid requests without a reason.
PATTERNS_WITHOUT: Final = ("^[^;]*$", "^[^%]*$", "^[ -~]*$", "^[^<>]*$", "^[^\"'`|^{}]*$")
"""Patterns that exclude one kind of characters each, which some servers refuse in any encoding: path parameters, escapes, other scripts, markup."""
_ODD: Final = re.compile("[;%<>\"'`|^{}]|[^ -~]")
_SAYS_NOTHING: Final = frozenset(("timestamp", "status", "error", "path", "requestId"))
"""Names in a body that only repeats the status line."""
_BARE: Final = re.compile(r"(400 ?)?(bad request)?\W*", re.IGNORECASE)
_MOST_BYTES: Final = 64 << 10
_PARTS: Final = {**WHERE, "data": "body", "view_args": "path"}
# Such runs occur in stack traces and echoed blobs: 75 refusals took 4.7 s of a run of 25 s.
_NO_WORD: Final = later_pattern(r"\w{100,}")
_META: Final = frozenset(
    ("type", "title", "status", "traceid", "instance", "code", "timestamp", "error", "path", "statuscode", "status_code",
     "success", "detail", "message")
)  # fmt: skip

_PROSE: Final = frozenset(("error", "detail", "message"))


_FIELD_IN_TEXT = later_pattern(r"^The (?:field )?(?P<name>[\w.]+)(?: field)? ")
_JSON_PATH = later_pattern(r"Path: \$\.?(?P<path>[\w.\[\]]*)")


def by_field(body: Any) -> Iterator[PlaceDemand]:
    """Yield the demands of texts below the names of fields, as Django, marshmallow, Flask-RESTX, ASP.NET, Laravel and Rails write them.

    `{"age": ["..."]}`, `{"errors": {"age": "..."}}`, `{"errors": {"json": {"age": ["..."]}}}`.
    """
    holders = (body.get(one) for one in ("errors", "messages", "detail", "message")) if isinstance(body, dict) else ()
    held = next((one for one in holders if isinstance(one, dict)), None)
    fields = body if held is None else held
    # `{"error": {"name": "...", "details": [...]}}` names no field at the top.
    if not isinstance(fields, dict) or not fields.keys().isdisjoint(("error", "errors")):
        return
    is_whole = all(isinstance(one, list | dict) for one in fields.values())
    for name, value in fields.items() if is_whole or held is not None else ():
        if name in _PARTS and isinstance(value, dict):
            yield from keyed(value, where=_PARTS[name])
            continue
        for text in value if isinstance(value, list) else [value]:
            where = "query" if str(text).rstrip(". ").endswith("in the query string") else ""
            if isinstance(text, str):
                # Such a text begins with the name of the field, which may be a word for a type or a format.
                found, text = _JSON_PATH.search(text), _FIELD_IN_TEXT.sub("This ", text)
                yield from keyed(text, path_of(found["path"] if found else name), where)
            elif is_whole:
                yield from keyed([text] if isinstance(value, list) else text, path_of(name))


def json_api(body: Any) -> Iterator[PlaceDemand]:
    """`{"errors": [{"source": {"pointer": "/data/attributes/name"}, "detail": "is too short (minimum is 3 characters)"}]}`."""
    errors = body.get("errors") if isinstance(body, dict) else None
    for error in errors if isinstance(errors, list) else ():
        source = error.get("source") if isinstance(error, dict) else None
        if isinstance(source, dict):
            text = str(error.get("detail", error.get("title", "")))
            if isinstance(name := source.get("parameter"), str):
                yield from sentences_at(path_of(name), text, "query")
            elif isinstance(pointer := source.get("pointer"), str):
                path = tuple(part for part in path_of(pointer) if part not in ("data", "attributes"))
                yield from sentences_at(path, text, "body")


_MISSING_MEMBER = later_pattern(r"missing required field `(?P<name>[^`]+)`")
_UNKNOWN_MEMBER = later_pattern(r"unknown field `(?P<name>[^`]+)`")


def litestar(body: Any) -> Iterator[PlaceDemand]:
    """`{"detail": "Validation failed ...", "extra": [{"key": "age", "source": "body", "message": "Expected `int` >= 18"}]}`."""
    extra = body.get("extra") if isinstance(body, dict) else None
    for error in extra if isinstance(extra, list) else ():
        if not isinstance(error, dict) or not isinstance(text := error.get("message"), str):
            continue
        where, path = str(error.get("source", "")), path_of(error.get("key", ""))
        if found := _MISSING_MEMBER.search(text):
            yield PlaceDemand((*path, found["name"]), "required", where=where)
        elif found := _UNKNOWN_MEMBER.search(text):
            yield PlaceDemand((*path, found["name"]), FORBIDDEN, where=where)
        else:
            yield from demanded(path, demands_of(text), where=where)


# Anything else

_NAMES: Final = ("field", "param", "parameter", "property", "name", "path", "loc", "pointer", "instancePath", "attribute",
    "key", "source")  # fmt: skip
_TEXTS: Final = ("message", "msg", "detail", "error", "reason", "description", "defaultMessage", "title")
_DEPTH: Final = 4


def generic(body: Any) -> Iterator[PlaceDemand]:
    """Yield demands from names beside texts, names above texts, and texts that begin with a name."""
    yield from _generic(body, _DEPTH)


def _generic(value: Any, depth: int) -> Iterator[PlaceDemand]:
    if depth == 0:
        return
    if isinstance(value, str):
        yield from _of_text(value)
    elif isinstance(value, list):
        for item in value:
            yield from _generic(item, depth - 1)
    elif isinstance(value, dict):
        name = next((value[one] for one in _NAMES if _is_name(one, value.get(one))), None)
        text = next((value[one] for one in _TEXTS if isinstance(value.get(one), str)), None)
        if name and text:
            # A pointer may begin with the part of the request.
            said = (value.get("in"), value.get("location"), value.get("where"))
            where = next((WHERE[one] for one in said if isinstance(one, str) and one in WHERE), "")
            path = path_of(name)
            if not where and isinstance(name, str) and name.startswith("/") and path[:1]:
                where = WHERE.get(path[0], "")
                path = path[1:] if where else path
            found = list(sentences_at(path, text, where))
            yield from found
            if found:
                return
            # `{"name": "BadDataError", "message": "...", "details": [...]}`: this is the name of the error and not of a
            # field.
        # `{"title": ["can't be blank"]}` is about a field, unlike `{"title": "Bad Request"}` and `{"message": ["..."]}`.
        fields = {
            one: inner
            for one, inner in value.items()
            if one.lower() not in _META or (isinstance(inner, list) and one.lower() not in _PROSE)
        }
        yield from keyed({one: inner for one, inner in fields.items() if _holds_texts(inner)})
        for inner in value.values():
            yield from _generic(inner, depth - 1)


def _is_name(key: str, value: Any) -> bool:
    """Whether a member of a body names the invalid place.

    In celebrate, `source` is the part of the request: `{"source": "body", "message": "..."}`. In many other frameworks,
    `name` is the class of the error.
    """
    is_part = key == "source" and isinstance(value, str) and value in WHERE
    is_class = key == "name" and isinstance(value, str) and value.endswith(("Error", "Exception"))
    return isinstance(value, str | list) and not (is_part or is_class)


def _holds_texts(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)
    )


_BEGINNING = later_pattern(r"^(?:(?:the )?(?:field|parameter|property|param|each value in) |the (?=[`'\"]))?[`'\"]?(?P<name>[A-Za-z_][\w.-]*)[`'\"]?:?(?P<noun> (?:name|id|identifier))?(?: property| field| parameter)? (?=is |are |must |should |may |can|has |does |was |not )", re.IGNORECASE)  # fmt: skip
_NAMED = later_pattern(r"^(?:[\w ]+ error: |details?: )?(?P<name>(?!(?:details?|errors?|message):)[A-Za-z_][\w.-]*)(?: in (?P<where>header|querystring|path|body))?: (?P<text>\S.*)", re.IGNORECASE | re.DOTALL)  # fmt: skip
_LABELLED = later_pattern(r'^"(?P<name>[A-Za-z_][\w.\[\]-]*)" (?P<text>\w.*)', re.DOTALL)
"""Joi: `"items[0].name" length must be at least 3 characters long`."""
_IN_PART = later_pattern(r"^(?P<name>[\w.\[\]-]+) in (?P<where>body|query|path|header|formData) (?P<text>(?:is|must|should)\b.*)", re.DOTALL)  # fmt: skip
"""go-openapi: `0.labels in body is required`."""
# In a run against Prefect, 91 of 185 refusals had this text.
_OF_PART = later_pattern(r"\b(?:invalid|malformed|bad) [`'\"]?(?P<name>[\w-]+)[`'\"]? (?P<where>header|cookie|query|path)\b", re.IGNORECASE)  # fmt: skip
"""`Invalid X-API-Version header format. Expected header in format 'x.y.z'`."""
_LANGUAGE = later_pattern(r"\b(?:invalid|malformed|unsupported|(?:unable|failed) to parse)(?: the)? [`'\"]?(?P<name>[A-Za-z_][\w-]*(?: [\w-]+)?)[`'\"]? (?P<noun>clause|condition|expression|filter|predicate|query|selector|statement|syntax)\b", re.IGNORECASE)  # fmt: skip
"""`Invalid where clause`: the value is written in a query language, and the refusal says nothing else about it."""
_INVALID = later_pattern(r"invalid (?P<name>[A-Za-z_]\w*) (?=uuid)", re.IGNORECASE)
_EXPECTED = later_pattern(r"(?:(?P<name>[A-Za-z_][\w.-]*): )?expected an? (?P<noun>\w+) (?:containing|consisting of|matching)\b", re.IGNORECASE)  # fmt: skip
_MISSING_NAMED = later_pattern(r"missing (?:required )?(?:field|parameter|property|param|argument|key)s?:? [`'\"]?(?P<name>[\w.-]+)", re.IGNORECASE)  # fmt: skip
_ABSENT = later_pattern(r"(?:field|parameter|property|param|argument|key|attribute) [`'\"](?P<name>[\w.-]+)[`'\"] (?:is |was )?not (?:present|given|set|specified|provided)\b", re.IGNORECASE)  # fmt: skip

_MISSING_ALONE = later_pattern(r"^\W*missing [`'\"]?(?P<name>(?!(?:body|payload|json|content|token)\b)[A-Za-z_][\w-]*)\W*$", re.IGNORECASE)  # fmt: skip


def _of_text(text: str) -> Iterator[PlaceDemand]:
    # The patterns are quadratic in a run of letters: a run of 2,000 in a trace took 60 ms for each response.
    prose = _NO_WORD.sub("", text[:2000])
    # "Expected ..." is about the place that the previous sentence names.
    for sentence in re.split(r"[;\n]|(?<=\w)\. (?![Ee]xpected )", prose):
        if found := _MISSING_NAMED.search(sentence) or _ABSENT.search(sentence) or _MISSING_ALONE.search(sentence):
            yield PlaceDemand(path_of(found["name"]), "required")
        elif found := _LABELLED.search(sentence.strip()) or _IN_PART.search(sentence.strip()):
            where = found.groupdict().get("where") or ""
            demands = demands_of(found["text"])
            yield from demanded(path_of(found["name"]), demands, where=WHERE.get(where, ""))
        elif (found := _EXPECTED.search(sentence)) and found["noun"].lower() not in TYPES:
            yield from demanded(path_of(found["name"] or found["noun"]), demands_of(sentence))
        elif found := _OF_PART.search(sentence):
            yield from demanded(path_of(found["name"]), demands_of(sentence), where=found["where"].lower())
        elif found := _BEGINNING.search(sentence.strip()):
            name, noun = found["name"], (found["noun"] or "").strip()
            items = (ITEMS,) if found[0].lower().startswith("each value in ") else ()
            # `database name` may be the parameter `database`, `collection ID` is `collection_id`.
            for path in (name, f"{name}_{noun}") if noun else (name,):
                yield from demanded((*path_of(path), *items), demands_of(sentence))
        elif found := _INVALID.search(sentence):
            yield PlaceDemand(path_of(found["name"]), "format", "uuid")
        elif found := _LANGUAGE.search(sentence):
            name = found["name"].replace(" ", "_")
            for path in (name, f"{name}_{found['noun']}"):
                yield PlaceDemand(path_of(path), SELDOM)
        elif found := _NAMED.search(sentence.strip()):
            where = WHERE[found["where"].lower()] if found["where"] else ""
            # `embeddings: Each embedding must have at least 1 dimension`
            items = (ITEMS,) if found["text"].lower().startswith(("each ", "every ")) else ()
            yield from demanded((*path_of(found["name"]), *items), demands_of(found["text"]), where=where)


# The first reader that finds something decides, so precise readers come before those that take any name for a field.
READERS: Final[tuple[Callable[[Any], Iterator[PlaceDemand]], ...]] = (
    codes.pydantic, codes.ajv, codes.fastify, codes.zod, codes.symfony, codes.spring, codes.go_validator, codes.rust,
    litestar, by_field, json_api, generic,
)  # fmt: skip
"""Each reader yields the demands of a body (JSON or text) of one framework; none for other frameworks."""


def refused_characters(case: Case, response: Response) -> Iterator[Constraint]:
    """For a 400 without a reason, yield a demand for each odd kind of character in the path, to exclude that kind.

    A demand is refuted as soon as a path with such a character is accepted.
    """
    if not is_bare_refusal(response):
        return
    for name, value in case.path_parameters.items():
        for pattern in PATTERNS_WITHOUT if isinstance(value, str) else ():
            if re.search(pattern, value) is None:
                found = constraint(Location.PATH, (name,), "pattern", pattern)
                yield from () if found is None else (found,)


_OTHER_REASONS: Final = frozenset((401, 403, 404, 405, 408, 410, 413, 414, 429, 431))
"""Statuses of refusals that have nothing to do with the data."""
_MOST: Final = 50  # Demands that are taken from one response.
_MOST_RELATED: Final = 10  # Texts of one response that are searched for relations.


def may_complain(status: int) -> bool:
    """Whether a response with this status may report invalid data."""
    return 400 <= status < 500 and status not in _OTHER_REASONS


def demands_in(case: Case, response: Response, declared: Collection[str] = ()) -> list[Constraint]:
    """Return the demands of a refusal, each once, in order; empty if no reader understands it.

    `declared` are names of body properties in the description's spelling, because targets often use another spelling.
    """
    read = case.operation.read_refusal
    if read is not None:
        heard = (constraint(Location.BODY, *one) for one in islice(read(case.body, response), _MOST))
        return sorted({one for one in heard if one is not None})
    body = body_of(response)
    places: list[Place] = [(one.location, (one.name,)) for one in case.operation.parameters]
    paths = (*_paths_in(case.body, (), _DEPTH), *((name,) for name in declared))
    places += [(Location.BODY, path) for path in dict.fromkeys(paths)]
    path = case.operation.resource_path
    variable = variables_of(path)[-1] if ends_with_variable(path) else ""
    # Labels and names without a space state no relation.
    texts = [one for one in islice(texts_in(body, _DEPTH), _MOST) if " " in one]
    related = {one for text in texts[:_MOST_RELATED] for one in relations_in(text, places, variable)}
    for reader in READERS if body is not None else ():
        said = list(islice(reader(body), _MOST))
        found = {one for each in said if (one := _placed(each, case, declared)) is not None}
        if found:
            return sorted(found | related)[:_MOST]
    return sorted(related or refused_characters(case, response))[:_MOST]


_VARYING: Final = later_pattern(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\S*\d\S*|\S{40,}")
_LONGEST_REASON: Final = 100


def reason_of(response: Response) -> str:
    """Return the first sentence of a refusal, without quoted parts and words with numbers; empty if there is none."""
    texts = list(islice(texts_in(body_of(response), _DEPTH), _MOST))
    text = next((one for one in texts if " " in one.strip()), texts[0] if texts else "")
    return " ".join(_VARYING.sub("...", text[:2000]).split())[:_LONGEST_REASON]


def denies_name(name: str, case: Case, response: Response) -> bool:
    """Whether a refusal says that the resource in the path of a case does not exist, or that identifiers have another form."""
    others = [*case.query, *(case.body if isinstance(case.body, dict) else ())]
    for text in islice(texts_in(body_of(response), _DEPTH), _MOST):
        if name in text and is_missing(text) and _has_word(text, name):
            return True
        # A text that contains another name of the request is about the place with that name.
        if FORM_OF_IDENTIFIERS.search(text) and not any(_has_word(text, f"{one}") for one in others):
            return True
    return False


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _paths_in(value: Any, above: FieldPath, depth: int) -> Iterator[FieldPath]:
    """Yield the paths of the members of a body, `*` for items."""
    if depth and isinstance(value, dict):
        for name, inner in value.items():
            yield (*above, str(name))
            yield from _paths_in(inner, (*above, str(name)), depth - 1)
    elif depth and isinstance(value, list) and value:
        yield from _paths_in(value[0], (*above, ITEMS), depth - 1)


def _placed(said: PlaceDemand, case: Case, declared: Collection[str]) -> Constraint | None:
    """Return the demand with the part of the request that it concerns; None if there is no such part."""
    if said.where:
        locations = [one for one in Location if one.value == said.where]
    else:
        others = [Location.QUERY, Location.PATH, Location.HEADER, Location.COOKIE]
        locations = [Location.BODY, *others] if case.operation.bodies else others
    for location in locations:
        path = _known_path(said.path, location, case, declared)
        if said.keyword == REQUIRED and location is Location.BODY and case.body is NOT_SET and case.operation.bodies:
            # An object that does not exist has no missing member.
            return constraint(location, (), REQUIRED, True)
        if said.keyword == SELDOM and (path is None or next(values_at(part_of(case, location), path), None) is None):
            # The refusal is about a value that was sent.
            continue
        if path is not None and said.keyword == REQUIRED and "" in values_at(part_of(case, location), path):
            # Forms and many validators treat an empty text as missing.
            return constraint(location, path, "minLength", 1)
        if path is not None:
            return constraint(location, path, said.keyword, said.value)
    return None


def _known_path(path: FieldPath, location: Location, case: Case, declared: Collection[str]) -> FieldPath | None:
    """Return a path in the description's spelling; None if the location has no such place."""
    if location is Location.BODY:
        operation = case.operation
        if not operation.bodies:
            return None
        is_parameter = path and any(
            one.location is not Location.BODY and is_same_name(one.name, path[0]) for one in operation.parameters
        )
        known = (*_names_of(case.body), *declared)
        is_known = any(is_same_name(name, path[0]) for name in known) if path else False
        if is_parameter and not is_known:
            return None
        if isinstance(case.body, dict) and len(path) > 1 and not is_known:
            # `{"reason": {"url": ["This field is required."]}}`: if the object were missing, it would be required itself.
            path = path[1:]
        return tuple(_spelled(path, case.body, declared)) if path else ()
    for parameter in case.operation.parameters:
        if parameter.location is location and path and is_same_name(parameter.name, path[0]):
            steps = path[1:]
            given = getattr(case, parameter.location.container).get(parameter.name)
            return parameter.name, *(
                steps[1:] if steps[:1] == (ITEMS,) and isinstance(given, str | int | float) else steps
            )
    return None


def _names_of(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, dict) else []


def _spelled(path: FieldPath, body: object, declared: Collection[str]) -> Iterator[str]:
    """Yield the steps of a path, spelled as in the refused body, otherwise as in the description."""
    value = body
    for part in path:
        names = [*_names_of(value), *sorted(declared)]
        name = next((one for one in names if is_same_name(one, part)), part)
        yield name
        if isinstance(value, list):
            value = value[0] if value else NOT_SET
        else:
            value = value.get(name, NOT_SET) if isinstance(value, dict) else NOT_SET


def odd_characters(text: str) -> str:
    """Return the odd characters of a text, each once, in order."""
    return "".join(dict.fromkeys(_ODD.findall(text)))


def is_bare_refusal(response: Response) -> bool:
    """Whether a response is a 400 without a reason: empty, an HTML page, or a repeated status line."""
    if response.status_code != 400:
        return False
    body = body_of(response)
    if isinstance(body, dict):
        return body.keys() <= _SAYS_NOTHING
    return body is None or (isinstance(body, str) and _BARE.fullmatch(body.strip()) is not None)


def body_of(response: Response) -> Any:
    """Return the JSON of a refusal, otherwise its text; None for a binary body or an HTML page."""
    content = response.readable.content[:_MOST_BYTES]
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text if text.strip() and "<html" not in text[:500].lower() else None
