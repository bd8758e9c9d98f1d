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


CHARSETS = {"/ascii": "us-ascii", "/latin": "iso-8859-1", "/win": "windows-1252", "/part": "us-ascii"}


def test_text_is_sent_in_its_charset(command: Command) -> None:
    def answer(request: Request) -> Reply:
        path = request.target.decode()
        try:
            request.body.decode(CHARSETS[path])
        except UnicodeDecodeError:
            return json_reply({}, 400)
        return json_reply({}, 200)

    text = {"type": "string", "minLength": 1}
    form = {"type": "object", "required": ["t"], "properties": {"t": text}, "additionalProperties": False}
    part = {"schema": form, "encoding": {"t": {"contentType": "text/plain; charset=us-ascii"}}}
    paths = {path: _posting({f"text/plain; charset={charset}": {"schema": text}}) for path, charset in CHARSETS.items()}
    document = _document(paths | {"/part": _posting({"multipart/form-data": part})})
    with serving(answer, document) as app:
        ran = command.run(app.document_url, "-n", "20", "--seed", "1", "--mode", "positive", inline=True)
    assert ran.code == 0, ran.shown
    assert any(not request.body.isascii() for request in app.seen)


BYTES = {"type": "string", "format": "binary"}
SENT: dict[str, Any] = {
    "video/*": BYTES,
    "audio/mpeg": BYTES,
    "audio/*": {"type": "string"},
    "font/*": {},
    "model/stl": BYTES,
    "application/x-ndjson": {"type": "string"},
    "application/json-seq": {"type": "array", "items": {"type": "integer"}},
    "text/event-stream": {},
    "application/x-unheard-of": {"type": "string"},
}


def test_text_and_bytes_are_sent_as_any_media_type(command: Command) -> None:
    paths = {f"/{index}": _posting({name: {"schema": schema}}) for index, (name, schema) in enumerate(SENT.items())}
    with serving(lambda request: json_reply({}, 200), _document(paths)) as app:
        ran = command.run(app.document_url, "-n", "5", "--seed", "1", "--mode", "positive", inline=True)
    assert ran.code == 0, ran.shown
    assert f"With a 2xx response: {len(SENT)}" in ran.stdout


def test_a_refused_body_of_an_unknown_format_is_no_failure(command: Command) -> None:
    names = ("application/x-unheard-of", "model/stl", "application/x-ndjson")
    paths = {f"/{index}": _posting({name: {"schema": {"type": "string"}}}) for index, name in enumerate(names)}
    with serving(lambda request: json_reply({}, 400), _document(paths)) as app:
        ran = command.run(app.document_url, "-n", "5", "--seed", "1", "--mode", "positive", inline=True)
    assert "ST202" not in ran.stdout, ran.shown
