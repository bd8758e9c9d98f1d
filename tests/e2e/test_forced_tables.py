"""Values of `parameters` that are lists and tables."""

import json

from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

IDS = {"name": "ids", "in": "query", "required": True, "schema": {"type": "array", "items": {"type": "integer"}}}
FILTER = {"name": "filter", "in": "query", "required": True, "style": "deepObject", "schema": {"type": "object"}}
BODY = {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}, "owner": {}}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Forced", "version": "1"},
    "paths": {
        "/a": {
            "post": {
                "parameters": [IDS, FILTER],
                "requestBody": {"required": True, "content": {"application/json": {"schema": BODY}}},
                "responses": {"200": {"description": ""}},
            }
        }
    },
}
FORCED = """
[parameters]
"query.ids" = [1, 2]
"query.filter" = { kind = "new" }
"body.tags" = ["a", "b"]
"body.owner" = { name = "Ann", age = 41 }
"""


def test_lists_and_tables_are_sent_as_they_are_in_the_style_of_their_place(command: Command) -> None:
    (command.directory / "checker.toml").write_text(FORCED)
    with serving(lambda request: json_reply({}), DOCUMENT) as app:
        command.run(app.document_url, "--phases", "fuzzing", "-n", "3", "--mode", "positive", inline=True)
    assert app.seen
    for request in app.seen:
        assert request.target == b"/a?ids=1&ids=2&filter%5Bkind%5D=new"
        assert json.loads(request.body) == {"tags": ["a", "b"], "owner": {"name": "Ann", "age": 41}}
