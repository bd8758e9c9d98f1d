"""Descriptions whose schemas ask for too much, for nothing, or for what means nothing."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.hostile.making import BOTH, OBJECT, TEXT, Row, S, body, nested, parameter, schema_bomb


def text(**keywords: Any) -> Callable[[], bytes]:
    """Makes a description whose `POST /a` takes a text."""
    return body({"type": "string", **keywords})


def items(**keywords: Any) -> Callable[[], bytes]:
    return body({"type": "array", "items": {"type": "integer"}, **keywords})


def thing(**keywords: Any) -> Callable[[], bytes]:
    return body({**OBJECT, **keywords})


def _combined(keyword: str, depth: int, place: int = 1) -> dict[str, Any]:
    if depth == 0:
        return {**OBJECT, "properties": {f"p{place}": {"type": "integer"}}}
    return {keyword: [_combined(keyword, depth - 1, 2 * place + side) for side in (0, 1)]}


SPENT: Final = "budget spent"
SCHEMAS: Mapping[str, Row] = {
    "minLength without end": Row(text(minLength=10**9), fails="#/"),
    "minLength beyond any number": Row(text(minLength=10**30), fails="#/"),
    "maxLength below zero": Row(text(maxLength=-1), says="`maxLength`"),
    "maxLength below minLength": Row(text(minLength=5, maxLength=2), fails="#/"),
    "lengths that are no numbers": Row(text(minLength="5", maxLength=[1]), says="`minLength`"),
    "half a length": Row(text(minLength=0.5), says="`minLength`"),
    "minItems without end": Row(items(minItems=10**9), fails="#/"),
    "minItems of lists without end": Row(items(minItems=10**6, items={"type": "array", "minItems": 10**6, "items": {}}), fails="#/"),
    "minItems below zero": Row(items(minItems=-5), says="`minItems`"),
    "a billion equal items that differ": Row(items(minItems=10**9, uniqueItems=True, items={"enum": [1]}), fails="#/"),
    "minProperties without end": Row(thing(minProperties=10**9), fails="#/"),
    "minContains without end": Row(body({"type": "array", "contains": TEXT, "minContains": 10**9}, "3.1.0")),
    "more required than allowed": Row(thing(required=[f"k{n}" for n in range(100)], maxProperties=1), fails="#/"),
    "required without end": Row(thing(required=[f"k{n}" for n in range(50_000)]), fails="#/"),
    "required of what is no text": Row(thing(required=[5, None, ["a"]]), says="`required`"),
    "thirty thousand members": Row(body({"enum": [f"v{n}" for n in range(30_000)]}), tested=BOTH),
    "no members": Row(body({"enum": []}), says="", tested=("GET /ok",)),
    "members of all kinds": Row(body({"enum": [None, [], {}, 1e308, "\u0000", {"a": [[[]]]}]}), tested=BOTH),
    "many alternatives": Row(body({"anyOf": [{"const": n, "enum": [n]} for n in range(1_500)]})),
    "alternatives of alternatives": Row(body(_combined("oneOf", 7))),
    "all of all": Row(body(_combined("allOf", 12)), fails=SPENT),
    "nested beyond measure": Row(body(nested(450, lambda one: {"type": "array", "items": one}, TEXT))),
    "not of not": Row(body(nested(400, lambda one: {"not": one}, TEXT))),
    "maps of maps": Row(body(nested(200, lambda one: {**OBJECT, "properties": {"a": one}, "required": ["a"]}, TEXT))),
    "conditions of conditions": Row(
        body(nested(7, lambda one: {"if": {"required": ["a"]}, "then": one, "else": one}, OBJECT), "3.1.0")
    ),
    "aliases of a schema": Row(schema_bomb),
    "a pattern that backtracks": Row(text(pattern="^(a+)+$"), tested=BOTH),
    "a pattern that backtracks more": Row(text(pattern="^(([a-z])+.)+[A-Z]([a-z])+$", minLength=30), tested=("GET /ok",)),
    "a pattern with alternatives of itself": Row(text(pattern="(x|x|x|x)*(y|y)*z$", maxLength=4)),
    "a pattern without end": Row(text(pattern="^a{1000000000}$"), tested=("GET /ok",)),
    "repetitions of repetitions": Row(text(pattern="^((a{1000}){1000}){1000}$"), tested=("GET /ok",)),
    "a pattern of a megabyte": Row(text(pattern="a" * 1_000_000), tested=("GET /ok",)),
    "a pattern of two thousand alternatives": Row(text(pattern="|".join(f"a{n}" for n in range(2_000))), tested=("GET /ok",)),
    "a pattern of brackets": Row(text(pattern="(" * 5000 + ")" * 5000), tested=("GET /ok",)),
    "an open pattern": Row(text(pattern="("), says="regular expression"),
    "an open class": Row(text(pattern="[a"), says="regular expression"),
    "a class backwards": Row(text(pattern="[z-a]"), says="regular expression"),
    "a pattern that refers back": Row(text(pattern="(a)\\1(?=b)")),
    "a pattern of half a pair": Row(lambda: text(pattern="PAIR")().replace(b"PAIR", b"\\ud800")),
    "a pattern that is no text": Row(text(pattern={}), says="`pattern`"),
    "names by a bad pattern": Row(thing(patternProperties={"(": TEXT, "^a{99999999}": {}}), says="regular expression"),
    "bounds that exclude all": Row(body({"type": "integer", "minimum": 1, "maximum": 0}), fails="exclude"),
    "bounds that are large": Row(body({"type": "integer", "minimum": 10**300}), tested=BOTH),
    "bounds beyond floats": Row(body({"type": "integer", "minimum": 10**399})),
    "open bounds beyond floats": Row(body({"type": "number", "exclusiveMinimum": 10**399, "exclusiveMaximum": 10**400}, "3.1.0")),
    "a step and a bound beyond floats": Row(body({"type": "integer", "minimum": 10**399, "multipleOf": 10**400})),
    "a step of a tenth beyond floats": Row(body({"type": "number", "minimum": 10**399, "multipleOf": 0.1})),
    "sizes beyond floats": Row(items(minItems=10**399)),
    "multipleOf beyond floats": Row(body({"type": "integer", "multipleOf": 10**400})),
    "optional characters before themselves": Row(text(pattern="(a?){50}a{50}"), tested=BOTH),
    "nearly all of a range": Row(items(minItems=5_000, uniqueItems=True, items={"type": "integer", "minimum": 0, "maximum": 5_001})),
    "multipleOf zero": Row(body({"type": "number", "multipleOf": 0}), says="`multipleOf`"),
    "multipleOf nearly nothing": Row(body({"type": "number", "multipleOf": 5e-324, "minimum": 1})),
    "multipleOf more than fits": Row(body({"type": "integer", "multipleOf": 10**40, "minimum": 1, "maximum": 5}), fails="#/"),
    "a type that is none": Row(body({"type": "banana"}), says="`type`", tested=BOTH),
    "types of types": Row(body({"type": [["string"]]}), says="`type`", tested=BOTH),
    "no types": Row(body({"type": []}, "3.1.0"), says="`type`", tested=BOTH),
    "a schema that is a list": Row(body([]), fails="must be an object"),
    "a schema that is a text": Row(body("string"), fails="must be an object"),
    "properties that are a list": Row(thing(properties=["a"]), says="`properties`", tested=BOTH),
    "properties that are no schemas": Row(thing(properties={"a": 5, "b": None, "c": [1]}), tested=BOTH),
    "names of prototypes": Row(
        thing(properties={"__proto__": {"type": "integer"}, "constructor": TEXT, "__class__": TEXT}, required=["__proto__"]), tested=BOTH
    ),
    "an empty name": Row(thing(properties={"": {"type": "integer"}}, required=[""]), tested=BOTH),
    "a long name": Row(thing(properties={"n" * 1_000_000: TEXT}), tested=BOTH),
    "a name of half a pair": Row(lambda: thing(properties={"HALF": TEXT}, required=["HALF"])().replace(b"HALF", b"\\ud800")),
    "a format that nobody knows": Row(text(format="banana" * 1000), tested=BOTH),
    "a default of ten megabytes": Row(text(default="a" * 10_000_000), tested=BOTH),
    "an example of ten megabytes": Row(parameter(schema=TEXT, example="a" * 10_000_000)),
    "an example of a million numbers": Row(parameter(schema={"type": "array"}, example=list(range(1_000_000)))),
    "examples that are no examples": Row(parameter(schema=TEXT, examples=[5, {"a": 1}]), tested=BOTH),
    "a discriminator that is a text": Row(body({"oneOf": [OBJECT], "discriminator": "kind"}), tested=BOTH),
    "a discriminator without alternatives": Row(thing(discriminator={"propertyName": 5, "mapping": []}), tested=BOTH),
    "unevaluated in a circle": Row(
        body({"$ref": S + "A"}, "3.1.0", A={"allOf": [{"$ref": S + "B"}], "unevaluatedProperties": False}, B={"properties": {"a": {"$ref": S + "A"}}})
    ),
    "dependencies in a circle": Row(
        body({**OBJECT, "dependentRequired": {"a": ["b"], "b": ["a"]}, "required": ["a"]}, "3.1.0"), tested=BOTH
    ),
    "a hundred objects of fifty properties": Row(
        body({**OBJECT, "properties": {f"p{n}": {**OBJECT, "properties": {f"q{m}": TEXT for m in range(50)}} for n in range(100)}})
    ),
    "false": Row(body(False, "3.1.0"), fails="#/"),
}  # fmt: skip
