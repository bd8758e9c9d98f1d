"""Notes behind a bearer token (Django)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service
from tests.defects.shelf import Shelf
from tests.defects.words import NAME, NUMBERED, STRING, Defect, answers, body, described, parameter, ref, said, thing

FRAMEWORK = "django"
ARGUMENTS = ("-H", "Authorization: Bearer t-987654")
_ID = parameter("path", "note_id", NUMBERED)
_REQUESTED = {"X-Request-Id": {"required": True, "schema": {"type": "string", "minLength": 4}}}
DOCUMENT = described(
    "notes",
    {
        "/notes": {
            "get": {
                "parameters": [parameter("query", "mine", {"type": "string", "enum": ["yes", "no"]})],
                "responses": answers(
                    {200: said({"type": "array", "items": ref("Note")}, headers=_REQUESTED)}, 400, 401
                ),
            },
            "post": {
                "requestBody": body(thing("text", text=NAME)),
                "responses": answers({201: said(ref("Note"))}, 400, 401, 415, 422),
            },
        },
        "/notes/{note_id}": {
            "parameters": [_ID],
            "get": {"responses": answers({200: said(ref("Note"))}, 400, 401, 404)},
            "delete": {"responses": answers({204: said()}, 400, 401, 404)},
        },
        "/notes/{note_id}/share": {
            "parameters": [_ID],
            "post": {
                "requestBody": body(thing("with", **{"with": {"type": "string", "format": "uuid"}})),
                "responses": answers({200: said(thing("link", link=STRING))}, 400, 401, 404, 415, 422),
            },
        },
        "/me": {"get": {"responses": answers({200: said(thing("name", name=STRING))}, 401)}},
    },
    security=[{"token": []}],
    components={
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "schemas": {"Note": thing("id text", id=NUMBERED, text=STRING)},
    },
)
DEFECTS = (
    Defect("me-open", "GET /me", "ignored_auth"),
    Defect("note-any-token", "GET /notes/{note_id}", "ignored_auth", steps=2),
    Defect("short-request-id", "GET /notes", "response_headers_conformance"),
    Defect("shared-created", "POST /notes/{note_id}/share", "status_code_conformance", steps=2),
    Defect("share-plain", "POST /notes/{note_id}/share", "content_type_conformance", steps=2),
    Defect("note-stays", "DELETE /notes/{note_id}", "use_after_free", steps=3),
    Defect("me-allow", "/me", "allow_header_conformance"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, notes = Service(DOCUMENT), Shelf()
    if "me-allow" in on:
        service.options["/me"] = Answer(status=200, headers={"Allow": "GET, DELETE"})

    def enter(asked: Asked) -> None:
        if asked.headers.get("authorization") != "Bearer t-987654":
            raise Problem(401, "who are you")

    @service.operation("GET /notes")
    def listed(asked: Asked) -> Answer:
        enter(asked)
        request_id = "r" if "short-request-id" in on and asked.one("mine") == "no" else "r-1234"
        return Answer(notes.last(), headers={"X-Request-Id": request_id})

    @service.operation("POST /notes")
    def added(asked: Asked) -> Answer:
        enter(asked)
        return Answer(notes.add({"text": asked.json["text"]}), 201)

    @service.operation("GET /notes/{note_id}")
    def shown(asked: Asked) -> Answer:
        if "note-any-token" not in on or not asked.headers.get("authorization", "").startswith("Bearer "):
            enter(asked)
        return Answer(notes.get(asked.path["note_id"]))

    @service.operation("DELETE /notes/{note_id}")
    def removed(asked: Asked) -> Answer:
        enter(asked)
        notes.get(asked.path["note_id"])
        if "note-stays" not in on:
            notes.remove(asked.path["note_id"])
        return Answer(status=204)

    @service.operation("POST /notes/{note_id}/share")
    def shared(asked: Asked) -> Answer:
        enter(asked)
        note = notes.get(asked.path["note_id"])
        link = {"link": f"/shared/{note['id']}"}
        if "shared-created" in on and note["id"] % 2:
            return Answer(link, 201)
        if "share-plain" in on and not note["id"] % 2:
            return Answer(raw=b"link", media_type="text/plain")
        return Answer(link)

    @service.operation("GET /me")
    def me(asked: Asked) -> Answer:
        if "me-open" not in on:
            enter(asked)
        return Answer({"name": "ann"})

    return service
