"""A search without state (Flask)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.words import BOOLEAN, COUNT, STRING, Defect, answers, described, parameter, said, thing

FRAMEWORK = "flask"
_HITS = thing("hits total", hits={"type": "array", "items": STRING}, total=COUNT)
_SORT = {"type": "string", "enum": ["name", "date", "size"]}
_BOX = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4}
_TRACE = parameter("header", "X-Trace", {"type": "string", "pattern": "^[0-9a-f]{8}$"}, required=True)
DOCUMENT = described(
    "search",
    {
        "/search": {
            "get": {
                "parameters": [
                    parameter("query", "q", {"type": "string", "minLength": 1, "maxLength": 30}, required=True),
                    parameter("query", "sort", _SORT),
                    parameter("query", "size", {"type": "integer", "minimum": 1, "maximum": 100}),
                    parameter("query", "exact", BOOLEAN),
                ],
                "responses": answers({200: said(_HITS)}, 400, 500),
            }
        },
        "/area": {
            "get": {
                "parameters": [parameter("query", "box", _BOX, required=True)],
                "responses": answers({200: said(_HITS)}, 400, 500),
            }
        },
        "/suggest/{word}": {
            "get": {
                "parameters": [parameter("path", "word", {"type": "string", "pattern": "^[a-z]{1,12}$"}), _TRACE],
                "responses": answers({200: said({"type": "array", "items": STRING})}, 400, 404),
            }
        },
        "/score": {
            "get": {
                "parameters": [
                    parameter("query", "weight", {"type": "number", "minimum": 0, "maximum": 1}, required=True)
                ],
                "responses": answers({200: said(thing("score", score={"type": "number", "maximum": 1}))}, 400),
            }
        },
    },
)
DEFECTS = (
    Defect("sort-size", "GET /search", "not_a_server_error"),
    Defect("largest-size", "GET /search", "positive_data_acceptance"),
    Defect("exact-null", "GET /search", "response_schema_conformance"),
    Defect("q-unchecked", "GET /search", "negative_data_rejection"),
    Defect("box-odd", "GET /area", "not_a_server_error"),
    Defect("box-unchecked", "GET /area", "negative_data_rejection"),
    Defect("trace-optional", "GET /suggest/{word}", "missing_required_header"),
    Defect("suggest-html", "GET /suggest/{word}", "content_type_conformance"),
    Defect("score-high", "GET /score", "response_schema_conformance"),
    Defect("score-post", "/score", "unsupported_method"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service = Service(DOCUMENT)
    if "score-post" in on:
        service.undeclared["/score"] = Answer({"detail": "no"}, 400)

    @service.operation("GET /search", lenient=maybe("q-unchecked" in on, "query q"))
    def searched(asked: Asked) -> Answer:
        if "sort-size" in on and asked.one("sort") == "size":
            return Answer({"detail": "unknown column"}, 500)
        if "largest-size" in on and asked.one("size") == "100":
            raise Problem(400, "too many")
        total = None if "exact-null" in on and asked.one("exact") == "false" else 0
        return Answer({"hits": [], "total": total})

    @service.operation("GET /area", lenient=maybe("box-unchecked" in on, "query box"))
    def inside(asked: Asked) -> Answer:
        corners = [value for key, value in asked.query if key == "box"]
        if "box-odd" in on and len(corners) == 3:
            return Answer({"detail": "not enough values to unpack"}, 500)
        return Answer({"hits": [], "total": len(corners) % 1000})

    @service.operation("GET /suggest/{word}", lenient=maybe("trace-optional" in on, "header X-Trace"))
    def suggested(asked: Asked) -> Answer:
        trace = asked.headers.get("x-trace")
        if trace is not None and (len(trace) != 8 or set(trace) - set("0123456789abcdef")):
            raise Problem(400, "trace")
        if "suggest-html" in on and len(asked.path["word"]) == 12:
            return Answer(raw=b"<ul></ul>", media_type="text/html")
        return Answer([asked.path["word"]])

    @service.operation("GET /score")
    def scored(asked: Asked) -> Answer:
        weight = float(asked.one("weight"))
        return Answer({"score": 1.5 if "score-high" in on and weight == 1 else weight})

    return service
