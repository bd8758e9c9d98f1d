"""Tasks with states (aiohttp)."""

from tests.defects.book import Asked
from tests.defects.service import Answer, Service, maybe
from tests.defects.shelf import Shelf
from tests.defects.words import NAME, NUMBERED, Defect, answers, body, described, parameter, ref, said, thing

FRAMEWORK = "aiohttp"
_STATE = {"type": "string", "enum": ["open", "done", "dropped"]}
_ID = parameter("path", "task_id", NUMBERED)
_TAGS = {"type": "array", "items": {"type": "string", "maxLength": 10}, "maxItems": 4}
DOCUMENT = described(
    "tasks",
    {
        "/tasks": {
            "get": {
                "parameters": [
                    parameter("query", "state", _STATE),
                    parameter("query", "page", {"type": "integer", "minimum": 1, "maximum": 100}),
                ],
                "responses": answers(
                    {
                        200: said(
                            {"type": "array", "items": ref("Task")},
                            headers={"X-Total": {"required": True, "schema": {"type": "integer"}}},
                        )
                    },
                    400,
                ),
            },
            "post": {
                "requestBody": body(ref("NewTask")),
                "responses": answers(
                    {201: said(ref("Task"), headers={"Location": {"required": True, "schema": {"type": "string"}}})},
                    400,
                    415,
                    422,
                    500,
                ),
            },
        },
        "/tasks/{task_id}": {
            "parameters": [_ID],
            "get": {"responses": answers({200: said(ref("Task"))}, 400, 404)},
            "patch": {
                "requestBody": body(thing("state", state=_STATE)),
                "responses": answers({200: said(ref("Task"))}, 400, 404, 409, 415, 422),
            },
            "delete": {"responses": answers({204: said()}, 400, 404)},
        },
    },
    components={
        "schemas": {
            "NewTask": thing("name", name=NAME, tags=_TAGS),
            "Task": thing("id name state tags", id=NUMBERED, name=NAME, state=_STATE, tags=_TAGS),
        }
    },
)
DEFECTS = (
    Defect("total-missing", "GET /tasks", "response_headers_conformance"),
    Defect("page-unchecked", "GET /tasks", "negative_data_rejection"),
    Defect("no-location", "POST /tasks", "response_headers_conformance"),
    Defect("many-tags", "POST /tasks", "not_a_server_error"),
    Defect("tags-unchecked", "POST /tasks", "negative_data_rejection"),
    Defect("dropped-plain", "PATCH /tasks/{task_id}", "content_type_conformance", steps=2),
    Defect("teapot", "PATCH /tasks/{task_id}", "status_code_conformance", steps=2),
    Defect("soft-delete", "DELETE /tasks/{task_id}", "use_after_free", steps=3),
    Defect("allow-lies", "/tasks", "allow_header_conformance"),
)


def build(on: frozenset[str]) -> Service:
    """The service with these defects."""
    service, tasks = Service(DOCUMENT), Shelf()
    allow = "GET, PUT" if "allow-lies" in on else "GET, HEAD, OPTIONS, POST"
    service.options["/tasks"] = Answer(status=204, headers={"Allow": allow})

    @service.operation("GET /tasks", lenient=maybe("page-unchecked" in on, "query page"))
    def listed(asked: Asked) -> Answer:
        state = asked.one("state")
        found = [task for task in tasks.last() if not state or task["state"] == state]
        headers = {} if "total-missing" in on and state == "dropped" else {"X-Total": str(len(found))}
        return Answer(found, headers=headers)

    @service.operation("POST /tasks", lenient=maybe("tags-unchecked" in on, "body tags"))
    def added(asked: Asked) -> Answer:
        given = asked.json
        tags = given.get("tags", [])
        is_sound = isinstance(tags, list) and len(tags) <= 4
        is_sound = is_sound and all(isinstance(tag, str) and len(tag) <= 10 for tag in tags)
        if "many-tags" in on and is_sound and len(tags) == 4:
            return Answer({"detail": "list index out of range"}, 500)
        task = tasks.add({"name": given["name"], "tags": tags if is_sound else [], "state": "open"})
        if "no-location" in on:
            return Answer(task, 201)
        return Answer(task, 201, {"Location": f"/tasks/{task['id']}"})

    @service.operation("GET /tasks/{task_id}")
    def shown(asked: Asked) -> Answer:
        return Answer(tasks.get(asked.path["task_id"]))

    @service.operation("PATCH /tasks/{task_id}")
    def changed(asked: Asked) -> Answer:
        task, state = tasks.get(asked.path["task_id"]), asked.json["state"]
        if "teapot" in on and state == "done":
            return Answer({"detail": "short and stout"}, 418)
        task["state"] = state
        if "dropped-plain" in on and state == "dropped":
            return Answer(raw=b"dropped", media_type="text/plain")
        return Answer(task)

    @service.operation("DELETE /tasks/{task_id}")
    def removed(asked: Asked) -> Answer:
        task = tasks.get(asked.path["task_id"])
        if "soft-delete" in on:
            task["state"] = "dropped"
        else:
            tasks.remove(asked.path["task_id"])
        return Answer(status=204)

    return service
