"""Events on days (FastAPI)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Problem, Service, maybe
from tests.defects.shelf import Shelf
from tests.defects.words import NAME, NUMBERED, Defect, answers, body, described, parameter, ref, said, thing

FRAMEWORK = "fastapi"
_DAY = {"type": "string", "format": "date"}
_HOUR = {"type": "integer", "minimum": 0, "maximum": 23}
_ID = parameter("path", "event_id", NUMBERED)
_RULE = {
    "oneOf": [
        thing("every", every={"type": "string", "enum": ["day", "week"]}),
        thing("times", times={"type": "integer", "minimum": 1, "maximum": 12}),
    ]
}
DOCUMENT = described(
    "calendar",
    {
        "/events": {
            "get": {
                "parameters": [parameter("query", "day", _DAY)],
                "responses": answers({200: said({"type": "array", "items": ref("Event")})}, 400),
            },
            "post": {
                "requestBody": body(ref("NewEvent")),
                "responses": answers({201: said(ref("Event"))}, 400, 415, 422, 500),
            },
        },
        "/events/{event_id}": {
            "parameters": [_ID],
            "get": {"responses": answers({200: said(ref("Event"))}, 400, 404)},
            "delete": {"responses": answers({204: said()}, 400, 404, 500)},
        },
        "/events/{event_id}/rule": {
            "parameters": [_ID],
            "put": {
                "requestBody": body(_RULE),
                "responses": answers(
                    {200: said(thing("event rule", event=NUMBERED, rule={"type": "object"}))}, 400, 404, 415, 422, 500
                ),
            },
        },
        "/free/{day}": {
            "get": {
                "parameters": [parameter("path", "day", _DAY)],
                "responses": answers({200: said({"type": "array", "items": _HOUR})}, 400, 404),
            }
        },
    },
    components={
        "schemas": {
            "NewEvent": thing("title day hour", title=NAME, day=_DAY, hour=_HOUR),
            "Event": thing("id title day hour", id=NUMBERED, title=NAME, day=_DAY, hour=_HOUR),
        }
    },
)
DEFECTS = (
    Defect("day-unchecked", "GET /events", "negative_data_rejection"),
    Defect("midnight", "POST /events", "positive_data_acceptance"),
    Defect("last-hour", "POST /events", "not_a_server_error"),
    Defect("hour-missing", "POST /events", "negative_data_rejection"),
    Defect("event-lost", "POST /events", "ensure_resource_availability", steps=2),
    Defect("rule-week", "PUT /events/{event_id}/rule", "not_a_server_error", steps=2),
    Defect("rule-twelve", "PUT /events/{event_id}/rule", "positive_data_acceptance", steps=2),
    Defect("free-broken", "GET /free/{day}", "response_schema_conformance"),
    Defect("free-allow", "/free/{day}", "allow_header_conformance"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, events = Service(DOCUMENT), Shelf()
    allow = "DELETE, GET" if "free-allow" in on else "GET"
    service.options["/free/{day}"] = Answer(status=204, headers={"Allow": allow})

    @service.operation("GET /events", lenient=maybe("day-unchecked" in on, "query day"))
    def listed(asked: Asked) -> Answer:
        day = asked.one("day")
        return Answer([event for event in events.last() if not day or event["day"] == day])

    @service.operation("POST /events", lenient=maybe("hour-missing" in on, "body -hour"))
    def added(asked: Asked) -> Answer:
        given = asked.json
        hour = int(given.get("hour", 12))
        if "midnight" in on and hour == 0:
            raise Problem(422, "hour is empty")
        if "last-hour" in on and hour == 23:
            return Answer({"detail": "hour must be in 0..23"}, 500)
        event = events.add({"title": given["title"], "day": given["day"], "hour": hour})
        if "event-lost" in on and hour < 12:
            events.remove(str(event["id"]))
        return Answer(event, 201)

    @service.operation("GET /events/{event_id}")
    def shown(asked: Asked) -> Answer:
        return Answer(events.get(asked.path["event_id"]))

    @service.operation("DELETE /events/{event_id}")
    def removed(asked: Asked) -> Answer:
        events.remove(asked.path["event_id"])
        return Answer(status=204)

    @service.operation("PUT /events/{event_id}/rule")
    def ruled(asked: Asked) -> Answer:
        event, rule = events.get(asked.path["event_id"]), asked.json
        if "rule-week" in on and rule.get("every") == "week":
            return Answer({"detail": "week"}, 500)
        if "rule-twelve" in on and rule.get("times") == 12:
            raise Problem(400, "too often")
        return Answer({"event": event["id"], "rule": rule})

    @service.operation("GET /free/{day}")
    def free(asked: Asked) -> Answer:
        return Answer([0, 24] if "free-broken" in on else [0, 23])

    return service
