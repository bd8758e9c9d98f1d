"""Rooms and messages (aiohttp)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.shelf import Shelf, removes, shows
from tests.defects.words import NUMBERED, SLUG, STRING, Defect, answers, body, described, parameter, ref, said, thing

FRAMEWORK = "aiohttp"
_ROOM, _MESSAGE = parameter("path", "room_id", NUMBERED), parameter("path", "message_id", NUMBERED)
_TEXT = {"type": "string", "minLength": 1, "maxLength": 60}
DOCUMENT = described(
    "chat",
    {
        "/rooms": {
            "post": {
                "requestBody": body(thing("topic", topic=SLUG)),
                "responses": answers({201: said(ref("Room"))}, 400, 415, 422),
            }
        },
        "/rooms/{room_id}": {
            "parameters": [_ROOM],
            "get": {"responses": answers({200: said(ref("Room"))}, 400, 404)},
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
        "/rooms/{room_id}/messages": {
            "parameters": [_ROOM],
            "get": {
                "parameters": [parameter("query", "last", {"type": "integer", "minimum": 1, "maximum": 20})],
                "responses": answers({200: said({"type": "array", "items": ref("Message")})}, 400, 404),
            },
            "post": {
                "requestBody": body(thing("text", text=_TEXT)),
                "responses": answers({201: said(ref("Message"))}, 400, 404, 415, 422),
            },
        },
        "/rooms/{room_id}/messages/{message_id}": {
            "parameters": [_ROOM, _MESSAGE],
            "get": {"responses": answers({200: said(ref("Message"))}, 400, 404, 500)},
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
    },
    components={
        "schemas": {
            "Room": thing("id topic", id=NUMBERED, topic=STRING),
            "Message": thing("id room text", id=NUMBERED, room=NUMBERED, text=_TEXT),
        }
    },
)
DEFECTS = (
    Defect("message-stays", "DELETE /rooms/{room_id}/messages/{message_id}", "use_after_free", steps=4),
    Defect("message-lost", "POST /rooms/{room_id}/messages", "ensure_resource_availability", steps=3),
    Defect("message-long", "GET /rooms/{room_id}/messages/{message_id}", "not_a_server_error", steps=3),
    Defect("last-unchecked", "GET /rooms/{room_id}/messages", "negative_data_rejection", steps=2),
    Defect("last-twenty", "GET /rooms/{room_id}/messages", "positive_data_acceptance", steps=2),
    Defect("post-ok", "POST /rooms/{room_id}/messages", "status_code_conformance", steps=2),
    Defect("room-null", "GET /rooms/{room_id}/messages", "response_schema_conformance", steps=3),
    Defect("rooms-allow", "/rooms", "allow_header_conformance"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, rooms, messages = Service(DOCUMENT), Shelf(), Shelf()
    allow = "POST, PUT, PATCH" if "rooms-allow" in on else "POST"
    service.options["/rooms"] = Answer(status=204, headers={"Allow": allow})

    def message_of(asked: Asked) -> dict[str, object]:
        room, message = rooms.get(asked.path["room_id"]), messages.get(asked.path["message_id"])
        if message["room"] != room["id"]:
            raise Problem(404, "of another room")
        return message

    @service.operation("POST /rooms")
    def opened(asked: Asked) -> Answer:
        return Answer(rooms.add({"topic": asked.json["topic"]}), 201)

    service.operation("GET /rooms/{room_id}")(shows(rooms.at("room_id")))
    service.operation("DELETE /rooms/{room_id}")(removes(rooms.at("room_id"), rooms))

    @service.operation("GET /rooms/{room_id}/messages", lenient=maybe("last-unchecked" in on, "query last"))
    def listed(asked: Asked) -> Answer:
        room = rooms.get(asked.path["room_id"])
        if "last-twenty" in on and asked.one("last") == "20":
            raise Problem(400, "too many")
        found = [one for one in messages.last(100) if one["room"] == room["id"]]
        if "room-null" in on and found:
            return Answer([{**one, "room": None} for one in found])
        return Answer(found)

    @service.operation("POST /rooms/{room_id}/messages")
    def written(asked: Asked) -> Answer:
        room, text = rooms.get(asked.path["room_id"]), asked.json["text"]
        message = messages.add({"room": room["id"], "text": text})
        if "message-lost" in on and len(text) == 1:
            messages.remove(str(message["id"]))
        return Answer(message, 200 if "post-ok" in on and len(text) == 60 else 201)

    @service.operation("GET /rooms/{room_id}/messages/{message_id}")
    def read(asked: Asked) -> Answer:
        message = message_of(asked)
        if "message-long" in on and len(str(message["text"])) > 40:
            return Answer({"detail": "buffer"}, 500)
        return Answer(message)

    service.operation("DELETE /rooms/{room_id}/messages/{message_id}")(
        removes(message_of, messages, stays="message-stays" in on)
    )

    return service
