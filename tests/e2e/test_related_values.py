"""Values of one request that depend on each other: names, prose and refusals tell how, and valid requests respect it."""

import json
from collections import Counter
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from checker.core.constraints import comparison
from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "integer"}


def _body(schema: dict[str, Any], media_type: str = "application/json") -> dict[str, Any]:
    closed = schema | {"type": "object", "required": list(schema["properties"]), "additionalProperties": False}
    return {"required": True, "content": {media_type: {"schema": closed}}}


def _object(**properties: Any) -> dict[str, Any]:
    return {"properties": properties}


RESOURCE: Final = {
    "type": "object",
    "required": ["id", "type"],
    "properties": {"id": TEXT, "type": {"enum": ["articles"]}},
}
ANSWERS: Final = {"200": {"description": ""}, "400": {"description": ""}, "409": {"description": ""}}


def _query(*names: str, **texts: str) -> list[dict[str, Any]]:
    return [{"name": one, "in": "query", "schema": TEXT, "description": texts.get(one, "")} for one in names]


PATHS: Final[dict[str, Any]] = {
    "/stays": {"post": {"requestBody": _body(_object(checkInDay=NUMBER, checkOutDay=NUMBER)), "responses": ANSWERS}},
    "/ranges": {"post": {"requestBody": _body(_object(alpha=NUMBER, omega=NUMBER, note=TEXT)), "responses": ANSWERS}},
    "/users": {"get": {"parameters": _query("login", "email"), "responses": ANSWERS}},
    "/files": {
        "get": {"parameters": _query("page", "cursor", page="Cannot be used with `cursor`."), "responses": ANSWERS}
    },
    "/log": {"get": {"parameters": _query("unit", "value"), "responses": ANSWERS}},
    "/articles/{article}": {
        "patch": {
            "parameters": [{"name": "article", "in": "path", "required": True, "schema": TEXT}],
            "requestBody": _body(_object(data=RESOURCE), "application/vnd.api+json"),
            "responses": ANSWERS,
        }
    },
    "/notes/{note}": {
        "put": {
            "parameters": [{"name": "note", "in": "path", "required": True, "schema": TEXT}],
            "requestBody": _body(_object(id=TEXT, text=TEXT)),
            "responses": ANSWERS,
        }
    },
    "/pages/{page_id}": {
        "put": {
            "parameters": [{"name": "page_id", "in": "path", "required": True, "schema": TEXT}],
            "requestBody": _body(_object(page_id=TEXT, text=TEXT)),
            "responses": ANSWERS,
        }
    },
    "/drafts/{draft}": {
        "put": {
            "parameters": [{"name": "draft", "in": "path", "required": True, "schema": NUMBER}],
            "requestBody": _body(_object(id=NUMBER, text=TEXT)),
            "responses": ANSWERS,
        }
    },
}
DOCUMENT: Final = {"openapi": "3.0.3", "info": {"title": "Related", "version": "1"}, "paths": PATHS}


def _refusal(path: str, query: dict[str, str], body: Any) -> str:
    match [unquote(one) for one in path.split("/")[1:]]:
        case ["stays"] if body["checkInDay"] > body["checkOutDay"]:
            return "the stay is invalid"
        case ["ranges"] if body["alpha"] > body["omega"]:
            return "alpha must not be greater than omega"
        case ["users"] if {"login", "email"} <= query.keys():
            return "Only one of login, email may be given."
        case ["files"] if {"page", "cursor"} <= query.keys():
            return "bad request"
        case ["log"] if "unit" in query and "value" not in query:
            return "`value` is required when `unit` is given"
        case ["articles", name] if body["data"]["id"] != name:
            return "conflict"
        case ["pages", name] if body["page_id"] != name:
            return "conflict"
        case ["drafts", name] if str(body["id"]) != name:
            return "conflict"
        case ["notes", name] if body["id"] != name:
            return "The id of the body does not match the id of the URL"
        case _:
            return ""


@pytest.fixture(scope="module")
def shares(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """Path -> share of the valid requests of a run that the server accepts."""
    counts: Counter[tuple[str, bool]] = Counter()

    def answer(request: Request) -> Reply:
        url = urlsplit(request.target.decode("latin-1"))
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        text = _refusal(url.path, query, json.loads(request.body) if request.body else None)
        counts[url.path.split("/")[1], bool(text)] += 1
        return json_reply({"error": text}, 400) if text else json_reply({})

    with serving(answer, DOCUMENT) as app:
        command = Command(tmp_path_factory.mktemp("run"))
        command.run(app.document_url, "--mode", "positive", "--phases", "coverage,fuzzing", "--continue-on-failure")
    names = {name for name, _ in counts}
    return {name: counts[name, False] / (counts[name, False] + counts[name, True]) for name in names}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["stays", "ranges", "users", "files", "log", "articles", "notes", "pages", "drafts"])
def test_most_valid_requests_respect_how_their_values_depend_on_each_other(shares: dict[str, float], name: str) -> None:
    assert shares[name] >= 0.75


URL: Final = {"type": "string", "format": "uri"}
CART: Final = {
    "type": "object",
    "properties": {"id": {**NUMBER, "readOnly": True}, "url": {**URL, "readOnly": True}, "currency": TEXT},
}
ITEM: Final = """Adds a product to the cart:
{
    "url": "http://example.com/shop/products/209/"
    "quantity": 6
}
"""


def test_urls_that_prose_shows_are_taken_from_the_resources_that_they_name(command: Command) -> None:
    product = {"type": "object", "properties": {"title": TEXT, "url": URL}}
    carts = {"200": {"description": "", "content": {"application/json": {"schema": CART}}}}
    found = {
        "200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": product}}}}
    }
    adding = {
        "description": ITEM,
        "requestBody": {"content": {"application/json": {"schema": CART}}},
        "responses": carts,
    }
    paths = {"/api/products": {"get": {"responses": found}}, "/api/cart/add": {"post": adding}}
    counts: Counter[int] = Counter()

    def answer(request: Request) -> Reply:
        if request.method == "GET":
            return json_reply([{"title": "tea", "url": f"{app.url}/api/products/{number}"} for number in (5, 7)])
        body = json.loads(request.body or b"null")
        sent = body if isinstance(body, dict) else {}
        is_known = sent.get("url") in [f"{app.url}/api/products/{number}" for number in (5, 7)]
        missing = [name for name in ("url", "quantity") if name not in sent]
        status = 200 if is_known and not missing else 400
        counts[status] += 1
        refusal = {name: ["This field is required."] for name in missing} or {
            "url": ["Invalid hyperlink - No URL match."]
        }
        return json_reply({"id": 1, "url": f"{app.url}/api/cart/1"} if status == 200 else refusal, status)

    with serving(answer, DOCUMENT | {"paths": paths}) as app:
        ran = command.run_as_usual(app.document_url, "--mode", "positive", "--phases", "coverage")
    assert "With a 2xx response: 2" in ran.stdout
    assert counts[200] > 3, counts


ORDERED: Final = {"/a": ("startsAt", "endsAt"), "/b": ("open", "close"), "/c": ("kickoff", "whistle")}


def test_equal_values_that_a_server_wants_in_order_are_no_failure(command: Command) -> None:
    moment = {"type": "string", "format": "date-time"}
    paths = {
        path: {"post": {"requestBody": _body(_object(**dict.fromkeys(names, moment))), "responses": ANSWERS}}
        for path, names in ORDERED.items()
    }

    def answer(request: Request) -> Reply:
        low, high = (json.loads(request.body)[name] for name in ORDERED[request.target.decode()])
        if comparison(low, high) == -1:
            return json_reply({})
        return json_reply({"message": "start time must be before end time"}, 400)

    with serving(answer, DOCUMENT | {"paths": paths}) as app:
        ran = command.run_as_usual(app.document_url, "--mode", "positive", "-n", "20", inline=True)
    assert ran.findings == [], ran.shown
    assert "With a 2xx response: 3" in ran.stdout
