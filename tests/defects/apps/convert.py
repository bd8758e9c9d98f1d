"""Pure functions over numbers and texts (FastAPI)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.words import STRING, Defect, answers, body, described, parameter, said, thing

FRAMEWORK = "fastapi"
_TEMPERATURE = {"type": "integer", "minimum": -273, "maximum": 10000}
_UNIT = {"type": "string", "enum": ["m", "ft", "mi"]}
_NUMBERS = {
    "type": "array",
    "items": {"type": "integer", "minimum": -100, "maximum": 100},
    "minItems": 1,
    "maxItems": 6,
}
DOCUMENT = described(
    "convert",
    {
        "/fahrenheit/{celsius}": {
            "get": {
                "parameters": [parameter("path", "celsius", _TEMPERATURE)],
                "responses": answers({200: said({"type": "number"})}, 400, 404, 500),
            }
        },
        "/length": {
            "get": {
                "parameters": [
                    parameter("query", "value", {"type": "number", "minimum": 0, "maximum": 1000}, required=True),
                    parameter("query", "unit", _UNIT, required=True),
                ],
                "responses": answers({200: said(thing("metres", metres={"type": "number", "minimum": 0}))}, 400, 500),
            }
        },
        "/statistics": {
            "post": {
                "requestBody": body(thing("numbers", numbers=_NUMBERS, trim={"type": "boolean"})),
                "responses": answers({200: said(thing("mean", mean={"type": "number"}))}, 400, 415, 422, 500),
            }
        },
        "/slug": {
            "post": {
                "requestBody": body(thing("text", text={"type": "string", "maxLength": 20})),
                "responses": answers({200: said(thing("slug", slug=STRING))}, 400, 415, 422, 500),
            }
        },
    },
    version="3.0.3",
)
DEFECTS = (
    Defect("absolute-zero", "GET /fahrenheit/{celsius}", "not_a_server_error"),
    Defect("celsius-unchecked", "GET /fahrenheit/{celsius}", "negative_data_rejection"),
    Defect("miles", "GET /length", "not_a_server_error"),
    Defect("unit-optional", "GET /length", "negative_data_rejection"),
    Defect("longest", "GET /length", "positive_data_acceptance"),
    Defect("trim-one", "POST /statistics", "not_a_server_error"),
    Defect("mean-text", "POST /statistics", "response_schema_conformance"),
    Defect("empty-text", "POST /slug", "positive_data_acceptance"),
    Defect("text-unchecked", "POST /slug", "negative_data_rejection"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service = Service(DOCUMENT)

    @service.operation("GET /fahrenheit/{celsius}", lenient=maybe("celsius-unchecked" in on, "path celsius"))
    def fahrenheit(asked: Asked) -> Answer:
        text = asked.path["celsius"]
        if "absolute-zero" in on and text == "-273":
            return Answer({"detail": "math domain error"}, 500)
        return Answer(32.0)

    @service.operation("GET /length", lenient=maybe("unit-optional" in on, "query unit"))
    def length(asked: Asked) -> Answer:
        value, unit = float(asked.one("value")), asked.one("unit", "m")
        if "miles" in on and unit == "mi":
            return Answer({"detail": "KeyError: mi"}, 500)
        if "longest" in on and value == 1000:
            raise Problem(400, "too long")
        return Answer({"metres": value})

    @service.operation("POST /statistics")
    def statistics(asked: Asked) -> Answer:
        given = asked.json
        numbers = given["numbers"]
        if "trim-one" in on and given.get("trim") and len(numbers) == 1:
            return Answer({"detail": "mean requires at least one data point"}, 500)
        mean = sum(numbers) / len(numbers)
        return Answer({"mean": "0" if "mean-text" in on and mean == 0 else mean})

    @service.operation("POST /slug", lenient=maybe("text-unchecked" in on, "body text"))
    def slug(asked: Asked) -> Answer:
        text = asked.json.get("text")
        if "empty-text" in on and text == "":
            raise Problem(422, "empty")
        return Answer({"slug": str(text)[:20].strip().lower()})

    return service
