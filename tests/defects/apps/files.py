"""Files with tags of their content (Django)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.shelf import Shelf, removes
from tests.defects.words import (
    COUNT,
    NUMBERED,
    SLUG,
    STRING,
    Defect,
    answers,
    body,
    described,
    parameter,
    ref,
    said,
    thing,
)

FRAMEWORK = "django"
_ETAG = {"ETag": {"required": True, "schema": {"type": "string", "pattern": '^"[0-9]+"$'}}}
_ID = parameter("path", "file_id", NUMBERED)
_MATCH = parameter("header", "If-Version", {"type": "integer", "minimum": 0, "maximum": 9}, required=True)
DOCUMENT = described(
    "files",
    {
        "/files": {
            "post": {"requestBody": body(ref("NewFile")), "responses": answers({201: said(ref("File"))}, 400, 415, 422)}
        },
        "/files/{file_id}": {
            "parameters": [_ID],
            "get": {"responses": answers({200: said(ref("File"), headers=_ETAG)}, 400, 404)},
            "put": {
                "parameters": [_MATCH],
                "requestBody": body(ref("NewFile")),
                "responses": answers({200: said(ref("File"))}, 400, 404, 415, 422, 500),
            },
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
        "/files/{file_id}/copies": {
            "parameters": [_ID],
            "post": {"responses": answers({201: said(ref("File"))}, 400, 404)},
        },
        "/quota": {
            "get": {
                "responses": answers(
                    {
                        200: said(
                            thing("used", used=COUNT),
                            headers={"X-Limit": {"required": True, "schema": {"type": "integer", "minimum": 1}}},
                        )
                    }
                )
            }
        },
    },
    components={
        "schemas": {
            "NewFile": thing("name size", name=SLUG, size=COUNT) | {"additionalProperties": False},
            "File": thing("id name size", id=NUMBERED, name=STRING, size=COUNT),
        }
    },
)
DEFECTS = (
    Defect("extra-member", "POST /files", "negative_data_rejection"),
    Defect("largest", "POST /files", "positive_data_acceptance"),
    Defect("etag-plain", "GET /files/{file_id}", "response_headers_conformance", steps=2),
    Defect("version-optional", "PUT /files/{file_id}", "missing_required_header", steps=2),
    Defect("empty-file", "PUT /files/{file_id}", "not_a_server_error", steps=2),
    Defect("still-there", "DELETE /files/{file_id}", "use_after_free", steps=3),
    Defect("file-lost", "POST /files", "ensure_resource_availability", steps=2),
    Defect("limit-text", "GET /quota", "response_headers_conformance"),
    Defect("quota-no-type", "GET /quota", "content_type_conformance"),
    Defect("quota-trace", "/quota", "unsupported_method"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, files = Service(DOCUMENT), Shelf()
    if "quota-trace" in on:
        service.undeclared["/quota"] = Answer({"used": 0})

    @service.operation("POST /files", lenient=maybe("extra-member" in on, "body additionalProperties"))
    def added(asked: Asked) -> Answer:
        given = asked.json
        if "largest" in on and given["size"] == 1000:
            raise Problem(422, "too large")
        file = files.add({"name": given["name"], "size": int(given["size"])})
        if "file-lost" in on and file["size"] > 500:
            files.remove(str(file["id"]))
        return Answer(file, 201)

    @service.operation("GET /files/{file_id}")
    def shown(asked: Asked) -> Answer:
        file = files.get(asked.path["file_id"])
        tag = f"{file['size']}" if "etag-plain" in on else f'"{file["size"]}"'
        return Answer(file, headers={"ETag": tag})

    @service.operation("PUT /files/{file_id}", lenient=maybe("version-optional" in on, "header If-Version"))
    def changed(asked: Asked) -> Answer:
        file, given = files.get(asked.path["file_id"]), asked.json
        version = asked.headers.get("if-version", "0")
        if not (version.isascii() and version.isdigit() and len(version) == 1):
            raise Problem(400, "version")
        if "empty-file" in on and given["size"] == 0:
            return Answer({"detail": "ZeroDivisionError"}, 500)
        file.update({"name": given["name"], "size": int(given["size"])})
        return Answer(file)

    service.operation("DELETE /files/{file_id}")(removes(files.at("file_id"), files, stays="still-there" in on))

    @service.operation("POST /files/{file_id}/copies")
    def copied(asked: Asked) -> Answer:
        file = files.get(asked.path["file_id"])
        copy = files.add({"name": file["name"], "size": file["size"]})
        return Answer(copy, 201)

    @service.operation("GET /quota")
    def quota(asked: Asked) -> Answer:
        limit = "plenty" if "limit-text" in on else "100"
        media_type = None if "quota-no-type" in on else "application/json"
        return Answer({"used": 1}, headers={"X-Limit": limit}, media_type=media_type)

    return service
