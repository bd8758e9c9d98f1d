"""A service whose names are unique, with planted defects that show once for each name."""

import json
import re
from threading import Lock
from typing import Any
from urllib.parse import unquote

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

_LABEL = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 20, "pattern": "^[A-Za-z0-9-]+$"},
        "color": {"type": "string", "pattern": "^#[0-9a-f]{6}$"},
    },
}


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


_RESPONSES = {
    "201": {"description": "made", **_content(_LABEL)},
    "200": {"description": "there", **_content(_LABEL)},
    **{status: {"description": "no"} for status in ("400", "404", "405", "409", "422")},
}
_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Labels", "version": "1"},
    "paths": {
        "/labels": {"post": {"requestBody": {"required": True, **_content(_LABEL)}, "responses": _RESPONSES}},
        "/labels/{name}": {"get": {"parameters": [_NAME], "responses": _RESPONSES}},
    },
}


class Labels:
    """Each name is taken once, whatever its case.

    `loses`: a label is not found by its name if that has capital letters. `lies`: the response to its creation lacks the name.
    `is_late`: a label is first shown when it is read for the second time.
    """

    def __init__(self, *, loses: bool = False, lies: bool = False, is_late: bool = False) -> None:
        self.loses, self.lies, self.is_late = loses, lies, is_late
        self.stored: dict[str, Any] = {}
        self.hidden: set[str] = set()
        self._lock = Lock()

    def __call__(self, request: Request) -> Reply:
        path = unquote(request.target.decode().partition("?")[0])
        if path == "/labels":
            if request.method != "POST":
                return Reply(405, headers=(("Allow", "POST"),))
            return self._created(request.body)
        if request.method != "GET":
            return Reply(405, headers=(("Allow", "GET"),))
        name = path.removeprefix("/labels/")
        with self._lock:
            found = self.stored.get(name if self.loses else name.lower())
            if name.lower() in self.hidden:
                self.hidden.remove(name.lower())
                found = None
        return json_reply({}, 404) if found is None else json_reply(found)

    def _created(self, content: bytes) -> Reply:
        try:
            label = json.loads(content)
        except ValueError:
            return json_reply({}, 400)
        if not _is_right(label):
            return json_reply({}, 422)
        with self._lock:
            if label["name"].lower() in self.stored:
                return json_reply({"detail": "label exists"}, 409)
            self.stored[label["name"].lower()] = label
            if self.is_late:
                self.hidden.add(label["name"].lower())
        return json_reply({"color": label.get("color")} if self.lies else label, 201)


def _is_right(label: Any) -> bool:
    if not isinstance(label, dict):
        return False
    name, color = label.get("name"), label.get("color", "#ffffff")
    return (
        isinstance(name, str)
        and re.fullmatch("[A-Za-z0-9-]{1,20}", name) is not None
        and isinstance(color, str)
        and re.fullmatch("#[0-9a-f]{6}", color) is not None
    )
