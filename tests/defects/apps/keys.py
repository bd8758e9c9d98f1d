"""Devices behind an API key in a header (FastAPI)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.shelf import Shelf
from tests.defects.words import (
    BOOLEAN,
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

FRAMEWORK = "fastapi"
ARGUMENTS = ("-H", "X-API-Key: k-1234")
_ID = parameter("path", "device_id", NUMBERED)
DOCUMENT = described(
    "devices",
    {
        "/devices": {
            "get": {"responses": answers({200: said({"type": "array", "items": ref("Device")})}, 401)},
            "post": {
                "requestBody": body(thing("name", name=SLUG)),
                "responses": answers({201: said(ref("Device"))}, 400, 401, 415, 422),
            },
        },
        "/devices/{device_id}": {
            "parameters": [_ID],
            "get": {"responses": answers({200: said(ref("Device"))}, 400, 401, 404)},
            "delete": {"responses": answers({204: said()}, 400, 401, 404)},
        },
        "/devices/{device_id}/switch": {
            "parameters": [_ID],
            "put": {
                "requestBody": body(thing("on", on=BOOLEAN)),
                "responses": answers({200: said(ref("Device"))}, 400, 401, 404, 415, 422, 500),
            },
        },
        "/health": {"get": {"security": [], "responses": answers({200: said(thing("up", up=BOOLEAN))})}},
        "/firmware": {"get": {"responses": answers({200: said(thing("version", version=STRING))}, 401)}},
    },
    security=[{"key": []}],
    components={
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
        "schemas": {"Device": thing("id name on", id=NUMBERED, name=STRING, on=BOOLEAN)},
    },
)
DEFECTS = (
    Defect("list-open", "GET /devices", "ignored_auth"),
    Defect("any-key", "GET /firmware", "ignored_auth"),
    Defect("switch-open", "PUT /devices/{device_id}/switch", "ignored_auth", steps=2),
    Defect("switch-off", "PUT /devices/{device_id}/switch", "not_a_server_error", steps=2),
    Defect("device-lost", "POST /devices", "ensure_resource_availability", steps=2),
    Defect("health-word", "GET /health", "response_schema_conformance"),
    Defect("name-unchecked", "POST /devices", "negative_data_rejection"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, devices = Service(DOCUMENT), Shelf()

    def enter(asked: Asked) -> None:
        if asked.headers.get("x-api-key") != "k-1234":
            raise Problem(401, "who are you")

    @service.operation("GET /devices")
    def listed(asked: Asked) -> Answer:
        if "list-open" not in on:
            enter(asked)
        return Answer(devices.last())

    @service.operation("POST /devices", lenient=maybe("name-unchecked" in on, "body name"))
    def added(asked: Asked) -> Answer:
        enter(asked)
        device = devices.add({"name": str(asked.json.get("name", "-"))[:40], "on": False})
        if "device-lost" in on and len(device["name"]) > 8:
            devices.remove(str(device["id"]))
        return Answer(device, 201)

    @service.operation("GET /devices/{device_id}")
    def shown(asked: Asked) -> Answer:
        enter(asked)
        return Answer(devices.get(asked.path["device_id"]))

    @service.operation("DELETE /devices/{device_id}")
    def removed(asked: Asked) -> Answer:
        enter(asked)
        devices.remove(asked.path["device_id"])
        return Answer(status=204)

    @service.operation("PUT /devices/{device_id}/switch")
    def switched(asked: Asked) -> Answer:
        if "switch-open" not in on:
            enter(asked)
        device = devices.get(asked.path["device_id"])
        device["on"] = asked.json["on"]
        if "switch-off" in on and not device["on"]:
            return Answer({"detail": "NoneType"}, 500)
        return Answer(device)

    @service.operation("GET /health")
    def health(asked: Asked) -> Answer:
        return Answer({"up": "yes" if "health-word" in on else True})

    @service.operation("GET /firmware")
    def firmware(asked: Asked) -> Answer:
        if "any-key" not in on or not asked.headers.get("x-api-key"):
            enter(asked)
        return Answer({"version": "1.0"})

    return service
