"""Requests that services accept although their descriptions say it indirectly: heirs, charsets, media types."""

import json
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _posting(content: dict[str, Any]) -> dict[str, Any]:
    body = {"required": True, "content": content}
    return {"post": {"requestBody": body, "responses": {"200": {"description": ""}, "400": {"description": ""}}}}


def _document(paths: dict[str, Any], **components: Any) -> dict[str, Any]:
    info = {"title": "Places", "version": "1"}
    return {"openapi": "3.0.3", "info": info, "paths": paths, "components": {"schemas": components}}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _heir(name: str, kind: str) -> dict[str, Any]:
    own = {"type": "object", "required": [name], "properties": {name: {"type": kind}}}
    return {"allOf": [_ref("Pet"), own]}


PET = {"type": "object", "required": ["petType"], "properties": {"petType": {"type": "string"}}}
MAPPED = {"propertyName": "petType", "mapping": {"kitty": "#/components/schemas/Cat", "doggy": "Dog"}}


@pytest.mark.parametrize(
    ("discriminator", "names"),
    [({"propertyName": "petType"}, ("Cat", "Dog")), (MAPPED, ("kitty", "doggy"))],
    ids=["names", "mapping"],
)
def test_a_server_that_takes_only_heirs_is_right(command: Command, discriminator: Any, names: tuple[str, str]) -> None:
    def answer(request: Request) -> Reply:
        body = _json(request.body)
        tag = body.get("petType") if isinstance(body, dict) else None
        is_cat = tag == names[0] and type(body.get("lives")) in (int, float) and body["lives"] == int(body["lives"])
        is_dog = tag == names[1] and isinstance(body.get("bark"), str)
        return json_reply({}, 200 if is_cat or is_dog else 400)

    schemas = {
        "Pet": PET | {"discriminator": discriminator},
        "Cat": _heir("lives", "integer"),
        "Dog": _heir("bark", "string"),
    }
    document = _document({"/pets": _posting({"application/json": {"schema": _ref("Pet")}})}, **schemas)
    with serving(answer, document) as app:
        ran = command.run(app.document_url, "-n", "30", "--seed", "1", inline=True)
    assert ran.code == 0, ran.shown
    assert "With a 2xx response: 1" in ran.stdout
