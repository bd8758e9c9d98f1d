"""Books of a library (Flask)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.shelf import Shelf
from tests.defects.words import COUNT, NAME, NUMBERED, Defect, answers, body, described, parameter, ref, said, thing

FRAMEWORK = "flask"
_BOOK = {"id": NUMBERED, "title": NAME, "pages": COUNT, "kind": {"enum": ["novel", "essay"]}}
_ID = parameter("path", "book_id", NUMBERED)
DOCUMENT = described(
    "library",
    {
        "/books": {
            "get": {
                "parameters": [
                    parameter("query", "limit", {"type": "integer", "minimum": 1, "maximum": 50}),
                    parameter("query", "kind", {"type": "string", "enum": ["novel", "essay"]}),
                ],
                "responses": answers({200: said({"type": "array", "items": ref("Book")})}, 400),
            },
            "post": {
                "requestBody": body(ref("NewBook")),
                "responses": answers({201: said(ref("Book"))}, 400, 415, 422, 500),
            },
        },
        "/books/{book_id}": {
            "parameters": [_ID],
            "get": {"responses": answers({200: said(ref("Book"))}, 400, 404, 500)},
            "put": {
                "requestBody": body(ref("NewBook")),
                "responses": answers({200: said(ref("Book"))}, 400, 404, 415, 422),
            },
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
        "/books/{book_id}/loan": {
            "parameters": [_ID],
            "post": {
                "requestBody": body(thing("days", days={"type": "integer", "minimum": 1, "maximum": 30})),
                "responses": answers({200: said(thing("book due", book=NUMBERED, due=COUNT))}, 400, 404, 415, 422),
            },
        },
    },
    components={
        "schemas": {
            "Book": thing("id title kind", **_BOOK),
            "NewBook": thing("title kind", **{k: v for k, v in _BOOK.items() if k != "id"}),
        }
    },
)
DEFECTS = (
    Defect("limit-unchecked", "GET /books", "negative_data_rejection"),
    Defect("kind-null", "POST /books", "response_schema_conformance"),
    Defect("no-pages", "POST /books", "not_a_server_error"),
    Defect("title-unchecked", "PUT /books/{book_id}", "negative_data_rejection", steps=2),
    Defect("stays", "DELETE /books/{book_id}", "use_after_free", steps=3),
    Defect("essay-crash", "GET /books/{book_id}", "not_a_server_error", steps=2),
    Defect("loan-longest", "POST /books/{book_id}/loan", "positive_data_acceptance", steps=2),
    Defect("loan-text", "POST /books/{book_id}/loan", "response_schema_conformance", steps=2),
    Defect("patch-works", "/books", "unsupported_method"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, books = Service(DOCUMENT), Shelf()
    gone: set[int] = set()
    if "patch-works" in on:
        service.undeclared["/books"] = Answer({"done": True})

    @service.operation("GET /books", lenient=maybe("limit-unchecked" in on, "query limit"))
    def listed(asked: Asked) -> Answer:
        kind = asked.one("kind")
        found = [book for book in books.last() if not kind or book["kind"] == kind]
        kept = [book for book in found if book["id"] not in gone]
        limit = asked.one("limit")
        return Answer(kept[: max(int(limit), 1)] if limit and limit.isdecimal() else kept)

    @service.operation("POST /books")
    def added(asked: Asked) -> Answer:
        given = asked.json
        if "no-pages" in on and given.get("pages") == 0:
            return Answer({"detail": "division by zero"}, 500)
        book = books.add({key: given[key] for key in ("title", "pages", "kind") if key in given})
        if "kind-null" in on and len(book["title"]) == 40:
            return Answer({**book, "kind": None}, 201)
        return Answer(book, 201)

    @service.operation("GET /books/{book_id}")
    def shown(asked: Asked) -> Answer:
        book = books.get(asked.path["book_id"])
        if "essay-crash" in on and book["kind"] == "essay":
            return Answer({"detail": "no such attribute"}, 500)
        return Answer(book)

    @service.operation("PUT /books/{book_id}", lenient=maybe("title-unchecked" in on, "body title"))
    def changed(asked: Asked) -> Answer:
        book, given = books.get(asked.path["book_id"]), asked.json
        book.update({key: given[key] for key in ("pages", "kind") if key in given})
        if isinstance(given.get("title"), str) and 1 <= len(given["title"]) <= 40:
            book["title"] = given["title"]
        return Answer(book)

    @service.operation("DELETE /books/{book_id}")
    def removed(asked: Asked) -> Answer:
        book = books.get(asked.path["book_id"])
        if "stays" not in on:
            books.remove(asked.path["book_id"])
        gone.add(book["id"])
        return Answer(status=204)

    @service.operation("POST /books/{book_id}/loan")
    def lent(asked: Asked) -> Answer:
        book, days = books.get(asked.path["book_id"]), int(asked.json["days"])
        if "loan-longest" in on and days == 30:
            raise Problem(400, "too long")
        due = str(days) if "loan-text" in on and days == 1 else days
        return Answer({"book": book["id"], "due": due})

    return service
