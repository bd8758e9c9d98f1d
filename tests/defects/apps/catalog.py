"""A catalogue that is only read (aiohttp)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Service
from tests.defects.words import COUNT, SLUG, STRING, Defect, answers, described, parameter, ref, said, thing

FRAMEWORK = "aiohttp"
_LANG = {"type": "string", "enum": ["en", "de", "nl"]}
_LINKED = {"Link-Count": {"schema": {"type": "integer", "minimum": 0}}}
DOCUMENT = described(
    "catalog",
    {
        "/articles": {
            "get": {
                "parameters": [parameter("query", "lang", _LANG, required=True), parameter("query", "from", COUNT)],
                "responses": answers({200: said({"type": "array", "items": ref("Article")}, headers=_LINKED)}, 400),
            }
        },
        "/articles/{code}": {
            "get": {
                "parameters": [parameter("path", "code", SLUG), parameter("query", "full", {"type": "boolean"})],
                "responses": answers({200: said(ref("Article"))}, 400, 404),
            }
        },
        "/statistics": {"get": {"responses": answers({200: said({"type": "object", "additionalProperties": COUNT})})}},
        "/about": {
            "get": {
                "parameters": [parameter("query", "lang", _LANG)],
                "responses": {
                    **answers({}, 400),
                    "200": {"description": "-", "content": {"text/plain": {"schema": STRING}}},
                },
            }
        },
    },
    components={
        "schemas": {
            "Article": thing("code names", code=STRING, names={"type": "object", "additionalProperties": STRING})
        }
    },
)
DEFECTS = (
    Defect("dutch-no-content", "GET /articles", "status_code_conformance"),
    Defect("link-count", "GET /articles", "response_headers_conformance"),
    Defect("broken-json", "GET /articles/{code}", "response_schema_conformance"),
    Defect("count-float", "GET /statistics", "response_schema_conformance"),
    Defect("about-html", "GET /about", "content_type_conformance"),
    Defect("about-bad-type", "GET /articles/{code}", "content_type_conformance"),
    Defect("statistics-empty", "/statistics", "unsupported_method"),
    Defect("articles-allow", "/articles", "allow_header_conformance"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service = Service(DOCUMENT)
    if "statistics-empty" in on:
        service.undeclared["/statistics"] = Answer({}, 202)
    allow = "POST" if "articles-allow" in on else "GET, OPTIONS"
    service.options["/articles"] = Answer(status=204, headers={"Allow": allow})
    articles = [{"code": "lamp", "names": {"en": "lamp"}}]

    @service.operation("GET /articles")
    def listed(asked: Asked) -> Answer:
        lang = asked.one("lang")
        if "dutch-no-content" in on and lang == "nl":
            return Answer(status=204)
        return Answer(articles, headers={"Link-Count": "-1" if "link-count" in on and lang == "de" else "1"})

    @service.operation("GET /articles/{code}")
    def shown(asked: Asked) -> Answer:
        code, full = asked.path["code"], asked.one("full")
        if "broken-json" in on and full == "true":
            return Answer(raw=b'{"code": "lamp", "names": {')
        if "about-bad-type" in on and full == "false":
            return Answer({"code": code, "names": {}}, media_type="json")
        return Answer({"code": code, "names": {}})

    @service.operation("GET /statistics")
    def statistics(asked: Asked) -> Answer:
        return Answer({"articles": 0.5 if "count-float" in on else 1})

    @service.operation("GET /about")
    def about(asked: Asked) -> Answer:
        if "about-html" in on and asked.one("lang") == "de":
            return Answer(raw=b"<p>", media_type="text/html")
        return Answer(raw=b"about", media_type="text/plain")

    return service
