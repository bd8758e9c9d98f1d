"""Sentences of validators, and the demands that they state."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final

from msgspec import Struct

from checker.core.constraints import FORBIDDEN, ITEMS, REQUIRED
from checker.core.system import later_pattern

_ALPHANUMERIC: Final = r"alpha-?numerics?"
_CHARACTER_ROWS: Final = (
    (rf"lower-? ?case {_ALPHANUMERIC}", "a-z0-9"),
    (rf"upper-? ?case {_ALPHANUMERIC}", "A-Z0-9"),
    (_ALPHANUMERIC, "a-zA-Z0-9"),
    (r"lower-? ?case(?: letters| alphabets?)?", "a-z"),
    (r"upper-? ?case(?: letters| alphabets?)?", "A-Z"),
    (r"letters|alphabetic|alphabets?|alphas?\b", "a-zA-Z"),
    (r"numbers|numerals|numeric|digits", "0-9"),
    (r"dash(?:es)?|hyphens?|minus(?:es)?", "-"),
    (r"under-?scores?", "_"),
    (r"dots?|periods?|full stops?", "."),
    (r"white-?spaces?|spaces?|blanks?", " "),
    (r"colons?", ":"),
    (r"slash(?:es)?", "/"),
    (r"plus(?:es)?", "+"),
    (r"at signs?", "@"),
)
"""Words for classes of characters -> the characters."""
_BETWEEN: Final = later_pattern(
    r"(?:\s|[,(]|\b(?:and|or|the|ascii|english|latin|roman|basic|single|unaccented|characters?|signs?|symbols?)\b)+",
    re.IGNORECASE,
)
_WORD: Final = later_pattern("|".join(f"(?P<k{at}>{words})" for at, (words, _) in enumerate(_CHARACTER_ROWS)), re.IGNORECASE)  # fmt: skip
_SYMBOLS: Final = later_pattern(
    r"['\"`](?P<quoted>_|[^\w\s'\"`])['\"`]|(?P<slashed>(?:_|[^\w\s,])(?:/(?:_|[^\w\s,]))+)"
)
_FIRST_IS_ALPHANUMERIC: Final = later_pattern(
    rf"start(?:s|ing)? and end(?:s|ing)? with an? (?:lower-? ?case )?{_ALPHANUMERIC}", re.IGNORECASE
)


def pattern_of(prose: str) -> str:
    """Return the pattern for texts of the characters that `prose` lists first; empty if it lists none.

    `lowercase letters, numbers, and dashes`: `^[a-z0-9-]+$`.
    """
    listed = list(dict.fromkeys(_listed(prose)))
    if not listed:
        return ""
    plain = [f"\\{part}" if part in ("\\", "]", "^") else part for part in listed if part != "-"]
    # At the end of a class, a hyphen is literal.
    inner = "".join(plain) + "-" * ("-" in listed)
    if _FIRST_IS_ALPHANUMERIC.search(prose):
        ends = "".join(part for part in ("a-z", "A-Z", "0-9") if part in listed)
        return f"^[{ends}]([{inner}]*[{ends}])?$" if ends else f"^[{inner}]+$"
    return f"^[{inner}]+$"


def _listed(prose: str) -> list[str]:
    """Return the classes and characters of a list, up to the first word that is neither."""
    found: list[str] = []
    at = 0
    while True:
        between = _BETWEEN.match(prose, at)
        at = between.end() if between else at
        if word := _WORD.match(prose, at):
            row = int((word.lastgroup or "k0")[1:])
            found.extend(re.findall(r"\w-\w|.", _CHARACTER_ROWS[row][1]))
            at = word.end()
        elif symbols := _SYMBOLS.match(prose, at):
            found.extend((symbols["quoted"] or symbols["slashed"])[::2])
            at = symbols.end()
        else:
            return found


Demand = tuple[str, Any]  # (keyword, value).
_Reading = Callable[[re.Match[str]], Iterator[Demand]]

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_QUOTED = later_pattern(r"'([^']*)'|\"([^\"]*)\"|`([^`]*)`")
_UNIT = r"(?: *(characters?|chars?|letters|items?|elements?|entries|values|dimensions?))"
_FORMATS: Final = (
    (r"e-?mail", "email"),
    (r"uuid(?:v\d)?|guid", "uuid"),
    (r"date[- ]?time|timestamp", "date-time"),
    (r"date", "date"),
    (r"time", "time"),
    (r"ur[il]", "uri"),
    (r"ipv4", "ipv4"),
    (r"ipv6", "ipv6"),
    (r"host ?name", "hostname"),
    (r"iso[- ]?8601", "date-time"),
)
TYPES: Final = {
    "int": "integer", "int32": "integer", "int64": "integer", "integer": "integer", "long": "integer", "short": "integer",
    "float": "number", "float32": "number", "float64": "number", "double": "number", "number": "number", "decimal": "number",
    "numeric": "number", "bigdecimal": "number", "str": "string", "string": "string", "text": "string",
    "bool": "boolean", "boolean": "boolean", "list": "array", "array": "array", "object": "object", "dict": "object",
    "dictionary": "object", "map": "object",
}  # fmt: skip
"""Words for types -> JSON Schema types."""


def number_of(text: str) -> int | float:
    """Return the number of a text."""
    return float(text) if "." in text else int(text)


def listed(text: str) -> list[Any]:
    """Return the values of a list in prose: the quoted ones, otherwise those between commas. A number is returned as text and as number."""
    quoted = [next(part for part in found if part) for found in _QUOTED.findall(text) if any(found)]
    bare = re.split(r"\s*(?:,|\||\bor\b|\band\b)\s*", text.strip(" .[](){}"))
    values: list[Any] = []
    for word in quoted or bare:
        word = word.strip()
        if word and word not in values:
            values.append(word)
        if not quoted and re.fullmatch(_NUMBER, word):
            values.append(number_of(word))
    return values


_SIZES: Final = {
    "minimum": ("minLength", "minItems", 0),
    "maximum": ("maxLength", "maxItems", 0),
    "exclusiveMinimum": ("minLength", "minItems", 1),
    "exclusiveMaximum": ("maxLength", "maxItems", -1),
}
"""Keyword of a bound -> keywords for the lengths of texts and lists, and the difference of their values."""


def _bound(keyword: str, number: str, unit: str | None) -> Demand:
    """Return the demand of a bound on a number, or on a length if a unit follows."""
    if not unit:
        return keyword, number_of(number)
    of_text, of_items, by = _SIZES[keyword]
    return of_text if unit.strip().startswith(("char", "letter")) else of_items, int(number_of(number)) + by


def _limit(keyword: str) -> _Reading:
    return lambda found: iter([_bound(keyword, found["n"], found["unit"])])


def _between(found: re.Match[str]) -> Iterator[Demand]:
    unit = found["unit"] or ("characters" if found["size"] else "")
    yield from (_bound("minimum", found["low"], unit), _bound("maximum", found["high"], unit))


def _whole_number(keyword: str) -> _Reading:
    return lambda found: iter([(keyword, int(found["n"]))])


def _fixed(keyword: str, value: Any = True) -> _Reading:
    return lambda found: iter([(keyword, value)])


def _enum(found: re.Match[str]) -> Iterator[Demand]:
    text = found["list"]
    # `[a, b]. You provided "c".`, and `[a b]` of Go.
    closing = text.find("])"["[(".index(text[0])]) if text[0] in "[(" else -1
    inner = text[:closing] if closing > 0 else text
    is_spaced = text[0] == "[" and not re.search("[,|'\"`]", inner)
    if values := listed(inner.replace(" ", ",") if is_spaced else inner):
        yield "enum", values


def _pattern(found: re.Match[str]) -> Iterator[Demand]:
    pattern = found["p"].strip()
    if len(pattern) > 1 and pattern[0] == pattern[-1] and pattern[0] in "/'\"`":
        pattern = pattern[1:-1]
    yield "pattern", pattern


def _of_class(found: re.Match[str]) -> Iterator[Demand]:
    inner, end = found["all"], found["end"]
    yield "pattern", f"^{end}({inner}*{end})?$" if end else f"^{inner}*$"


def _of_placeholders(found: re.Match[str]) -> Iterator[Demand]:
    """Return a pattern for a text such as `<tenant>:<name>`, with non-empty text for each placeholder that contains no separator."""
    parts = re.split(r"<[\w ]+>", found["p"].rstrip(".,;"))
    between = "".join(sorted(set("".join(parts))))
    some = f"[^{re.escape(between)}]+" if between else ".+"
    yield "pattern", f"^{some.join(map(re.escape, parts))}$"


def _of_numbers(found: re.Match[str]) -> Iterator[Demand]:
    """Return a pattern with a number for each name: `x.y.z`, `major.minor.patch`."""
    yield "pattern", r"^\d+" + r"\.\d+" * found["p"].count(".") + "$"


def _of_characters(found: re.Match[str]) -> Iterator[Demand]:
    if pattern := pattern_of(found["set"]):
        yield "pattern", pattern


def _type(found: re.Match[str]) -> Iterator[Demand]:
    word = found["t"].lower().rpartition(".")[2]
    if word in TYPES:
        yield "type", TYPES[word]


_N = rf"'?(?P<n>-?\d+(?:\.\d+)?)'?(?P<unit>{_UNIT})?"
_WORDS_OF_FORMATS = "|".join(words for words, _ in _FORMATS)
_ISO = r"(?:ISO(?:[- ]?8601)?[- ])?"
_ROWS: Final[tuple[tuple[str, _Reading], ...]] = (
    # Presence
    (r"field required|is required|are required|required property|missing data for required|missing required|is missing\b|"
     r"field is missing|must not be null|can't be blank|must be present|should not be null|required field|^required$|^missing$|"
     r"must be provided|cannot be null or empty|value is required|is mandatory", _fixed("required")),
    (r"may not be blank|must not be blank|should not be blank|can't be blank", _fixed("pattern", r"\S")),
    (r"must not be empty|should not be empty|"
     r"cannot be empty|may not be empty|not allowed to be empty", _fixed("minLength", 1)),
    (r"extra (?:fields|inputs) (?:are )?not permitted|unknown field|unexpected (?:field|property|key)|was not expected|"
     r"additional propert(?:y|ies) (?:is|are)? ?not allowed|unrecognized (?:field|key)|is not allowed\.?$|not a recognized|should not exist|"
     r"could not be mapped to any", _fixed("forbidden")),
    # Lengths with the word for their unit
    (r"too short.*?minimum(?: is| of)? '?(?P<n>\d+)|shorter than minimum length '?(?P<m>\d+)|minimum length of '?(?P<k>\d+)",
     lambda found: iter([("minLength", int(found["n"] or found["m"] or found["k"]))])),
    (r"too long.*?maximum(?: is| of)? '?(?P<n>\d+)|longer than maximum length '?(?P<m>\d+)|maximum length of '?(?P<k>\d+)",
     lambda found: iter([("maxLength", int(found["n"] or found["m"] or found["k"]))])),
    (r"length must be between (?P<low>\d+) and (?P<high>\d+)",
     lambda found: iter([("minLength", int(found["low"])), ("maxLength", int(found["high"]))])),
    (r"(?<![\d.-])(?P<low>\d+) ?(?:-|to) ?(?P<high>\d+) char",
     lambda found: iter([("minLength", int(found["low"])), ("maxLength", int(found["high"]))])),
    (r"length must be (?P<n>\d+)|should be exactly (?P<m>\d+) char|wrong length \(should be (?P<k>\d+)",
     lambda found: iter([("minLength", n := int(found["n"] or found["m"] or found["k"])), ("maxLength", n)])),
    (r"length must be at least (?P<n>\d+)", _whole_number("minLength")),
    (r"length must be (?:less than or equal to|at most) (?P<n>\d+)", _whole_number("maxLength")),
    (r"`?str`? of length >= (?P<n>\d+)", _whole_number("minLength")),
    (r"`?str`? of length <= (?P<n>\d+)", _whole_number("maxLength")),
    (r"`?array`? of length >= (?P<n>\d+)", _whole_number("minItems")),
    (r"`?array`? of length <= (?P<n>\d+)", _whole_number("maxItems")),
    (r"(?:fewer|less) than (?P<n>\d+) characters", _whole_number("minLength")),
    (r"not have more than (?P<n>\d+) characters", _whole_number("maxLength")),
    (r"(?:fewer|less) than (?P<n>\d+) items", _whole_number("minItems")),
    (r"not have more than (?P<n>\d+) items", _whole_number("maxItems")),
    (rf"should have (?P<n>\d+){_UNIT} or more", _whole_number("minLength")),
    (rf"should have (?P<n>\d+){_UNIT} or less", _whole_number("maxLength")),
    (rf"contain (?P<n>\d+){_UNIT} or more", _whole_number("minItems")),
    (rf"contain (?P<n>\d+){_UNIT} or less", _whole_number("maxItems")),
    # Numbers, and lengths where a unit follows
    (rf"(?P<size>size must be )?between '?(?P<low>-?\d+(?:\.\d+)?)'? (?:and|to) '?(?P<high>-?\d+(?:\.\d+)?)'?(?P<unit>{_UNIT})?", _between),
    (rf"(?:(?:greater|larger|longer) than or equal to|at least|>=|not be less than|minimum of|minimum value is|no less than) {_N}",
     _limit("minimum")),
    (rf"(?:(?:less|smaller|shorter) than or equal to|at most|<=|not be (?:greater|more) than|no (?:more|greater) than|maximum of|maximum value is|"
     rf"may not be greater than) {_N}", _limit("maximum")),
    (rf"(?<!or )(?<!no )(?<!not )(?<!not be )(?:greater|more) than (?!or equal|the maximum){_N}",
     _limit("exclusiveMinimum")),
    (rf"(?<!or )(?<!no )(?<!not )(?<!not be )less than (?!or equal|the minimum){_N}",
     _limit("exclusiveMaximum")),
    (rf"(?:must|should)(?: be)? (?:equal(?: to)?|exactly) {_NUMBER}(?!\S| *(?:char|letter|item|element|digit))",
     lambda found: iter([("enum", [number_of(found[1])])])),
    (rf"(?<!length )(?:must|should|has to) be {_NUMBER}(?=[.;,]?\s*$|,? (?:but|not) )|"
     rf"expected(?: to be| exactly)?:? {_NUMBER},? (?:but )?(?:got|was|received|found|is)\b",
     lambda found: iter([("enum", [number_of(found[1] or found[2])])])),
    (r"multiple of (?:step size )?(?P<n>[1-9]\d*)(?!\.?\d)", _whole_number("multipleOf")),
    (r"(?:must|should) be positive\b|must be a positive (?:number|integer)", _fixed("exclusiveMinimum", 0)),
    # Choices and patterns
    (r"one of(?: the(?: following| allowed| permitted)?)?(?: values| options)?(?:: *|(?= *[\[('\"`])) *(?P<list>.+)", _enum),
    (r"(?:accepted for enum class|permitted(?: values)?|allowed values(?: are)?|valid (?:values|choices|options)(?: are)?|"
     r"input should be|possible values)\b:? *(?P<list>[\[('\"].+)", _enum),
    (r"(?:should match pattern|must match pattern|matching regex|does not match|must match the regular expression|must match|"
     r"match(?:es)? (?:the )?(?:regex|pattern):?) (?P<p>'.+'|\".+\"|`.+`|/.+/)", _pattern),
    (r"(?:match(?:es|ing)?|pattern|regex|format)[: ]+(?P<p>\^\S*\$)", _pattern),
    (r"ur[il][- ](?:friendly|safe)\b", _fixed("pattern", "^[A-Za-z0-9_.~-]+$")),
    (r"in the format (?P<p>\S*<[\w ]+>\S*)", _of_placeholders),
    (r"\bformat:? (?:of )?['\"`(\[]?(?P<p>(?!e\.g|i\.e)[a-z](?:\.[a-z])+|major\.minor(?:\.(?:patch|micro|build))?)(?![\w.@])", _of_numbers),
    (r"characters from (?P<all>\[[^\]\s]+\])(?:, starting and ending with a character (?:in|from) (?P<end>\[[^\]\s]+\]))?", _of_class),
    (r"\b(?:only (?:contain|include|use|consist of|have)|(?:contain|include|use|have) only|consist(?:s|ing)?(?: only| solely)? of|"
     r"(?:be|is|are) only|only allowed characters are|allowed characters(?: are)?:?|(?:must|should) be(?= (?:lower-? ?case |upper-? ?case )?alpha-?numeric)) (?P<set>\S.*)", _of_characters),
    (r"null characters are not allowed", _fixed("pattern", r"^[^\u0000]*$")),
    (r"#rrggbb\b|\bhex(?:adecimal)? colou?r", _fixed("pattern", "^#[0-9a-fA-F]{6}$")),
    # Types and formats
    (rf"(?:valid|well-formed|fully-qualified(?: http, https, or ftp)?) {_ISO}(?P<f>{_WORDS_OF_FORMATS})\b|"
     rf"(?P<g>{_WORDS_OF_FORMATS}) has wrong format|match format ['\"](?P<h>[\w-]+)['\"]|"
     rf"(?:must be|should be|expected|expects|is not|not)(?: in| of type)?(?: an?| the)? {_ISO}"
     rf"(?P<k>{_WORDS_OF_FORMATS})\b(?![- ](?:friendly|safe|encoded))",
     lambda found: _named_format(found["f"] or found["g"] or found["h"] or found["k"])),
    (r"(?:not of type|of type|must be|should be(?! of)|a valid|not a valid|not a|expected|be converted to|cannot unmarshal \w+ into "
     r".* of type) (?:an? )?(?:valid )?[`'\"]?(?P<t>(?:system\.|java\.lang\.)?[a-z]+\d*)\b[`'\"]?(?! (?:>=|<=|of length|between|or equal))",
     _type),
    (r"cannot represent (?:an? )?non[- ]?(?:\d+[- ]bit signed )?(?P<t>[a-z]+)\b", _type),
    (r"must be true or false", _fixed("type", "boolean")),
    (r"must not have additional properties", _fixed("closed")),
)  # fmt: skip


def _named_format(word: str) -> Iterator[Demand]:
    for words, name in _FORMATS:
        if re.fullmatch(words, word.lower()) or word == name:
            yield "format", name
            return


_LONGEST = 1_000
_FIRST_OF: Final = (
    frozenset(("minimum", "exclusiveMinimum", "minLength", "minItems")),
    frozenset(("maximum", "exclusiveMaximum", "maxLength", "maxItems")),
)
"""Keywords of which a sentence states at most one per group: a lower and an upper bound."""


_TYPE_IS_REQUIRED: Final = later_pattern(r"\ba valid \w+ is required", re.IGNORECASE)


@cache
def _sentences() -> tuple[tuple[re.Pattern[str], _Reading], ...]:
    """Return the rows, compiled at the first refusal."""
    return tuple((re.compile(text, re.IGNORECASE), reading) for text, reading in _ROWS)


def demands_of(sentence: str) -> list[Demand]:
    """Return the demands that a sentence makes on its place; empty if it is not understood."""
    found: dict[str, Any] = {}
    text = sentence[:_LONGEST]
    for pattern, reading in _sentences():
        for match in pattern.finditer(text):
            for keyword, value in reading(match):
                # Of two lower bounds the first one counts, unless one pattern found both.
                if not any(keyword in group and not group.isdisjoint(found) for group in _FIRST_OF):
                    found.setdefault(keyword, value)
    if _TYPE_IS_REQUIRED.search(text):
        found.pop("required", None)
    if len(found) > 1:
        # `must be a string with a minimum length of 3`: a bound is more specific than a type.
        found.pop("type", None)
    return sorted(found.items(), key=lambda pair: (pair[0], json.dumps(pair[1])))


_INDEX = later_pattern(r"\[(\d+|\*|[\"']?\w+[\"']?)\]")
_NAME_IN_TEXT = later_pattern(r"[`'\"]([\w.-]+)[`'\"]")
_WHOLE = ("", "$", "/", "non_field_errors", "__all__", "base", "_schema", "__root__", "root")


FieldPath = tuple[str, ...]  # Names that lead to a field, in the target's spelling; `*` for items.


class PlaceDemand(Struct, frozen=True):
    """One demand on one place."""

    path: FieldPath
    keyword: str
    value: Any = True
    where: str = ""  # `query`, `path`, `header`, `cookie`, `body`; empty if unknown.


WHERE: Final = {"body": "body", "json": "body", "form": "body", "formData": "body", "query": "query", "querystring": "query",
    "path": "path", "params": "path", "header": "header", "headers": "header", "cookie": "cookie", "cookies": "cookie"}  # fmt: skip
"""Words of frameworks for the parts of a request."""


def texts_in(value: Any, depth: int) -> Iterator[str]:
    """Yield the texts of an error body, at most `depth` levels below its root."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_in(inner, depth - 1)


def path_of(name: object) -> FieldPath:
    """Return the path of a name: `address.zip`, `items[0].name`, `/items/0/name`, `$.age`, or a list of names."""
    if isinstance(name, list | tuple):
        parts = [str(part) for part in name]
    else:
        text = _INDEX.sub(lambda found: f".{found[1].strip(chr(34) + chr(39))}", str(name))
        text = text.replace("/", ".") if text.startswith("/") else text
        parts = text.split(".")
    return tuple(ITEMS if part.isdigit() else part for part in parts if part not in ("", "$"))


def sentences_at(path: FieldPath, texts: object, where: str = "") -> Iterator[PlaceDemand]:
    """Yield the demands that texts make on a place. Quoted names are members if the text is about missing or unexpected ones."""
    for text in [texts] if isinstance(texts, str) else texts if isinstance(texts, list) else ():
        if isinstance(text, str):
            yield from demanded(path, demands_of(text), text, where)


def demanded(path: FieldPath, demands: Iterable[Demand], text: str = "", where: str = "") -> Iterator[PlaceDemand]:
    """Yield demands on a place, or on its members that a text names."""
    for keyword, value in demands:
        names = _NAME_IN_TEXT.findall(text) if keyword in (REQUIRED, FORBIDDEN) else []
        members = [name for name in names if not path or _plain(name) != _plain(path[-1])]
        if members:
            for name in members:
                yield PlaceDemand((*path, name), keyword, value, where)
        elif path:
            yield PlaceDemand(path, keyword, value, where)


def keyed(value: object, path: FieldPath = (), where: str = "") -> Iterator[PlaceDemand]:
    """Yield the demands of texts below names: `{"name": ["This field is required."], "address": {"zip": ["..."]}}`."""
    if isinstance(value, str):
        yield from sentences_at(path, value, where)
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, str):
                yield from sentences_at(path, item, where)
            elif isinstance(item, dict) and isinstance(item.get("message"), str):
                # `{"name": [{"message": "This field is required.", "code": "required"}]}`: forms of Django.
                yield from sentences_at(path, item["message"], where)
            elif isinstance(item, dict):
                yield from keyed(item, (*path, ITEMS), where)
    elif isinstance(value, dict):
        for name, inner in value.items():
            below = path if str(name) in _WHOLE else (*path, *path_of(name))
            yield from keyed(inner, below, where)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def is_same_name(one: str, other: str) -> bool:
    """Whether two names consist of the same words: `firstName`, `first_name`, `FirstName`."""
    return _plain(one) == _plain(other)
