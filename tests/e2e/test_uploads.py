"""Files in multipart bodies, in every way that descriptions say that a part is one."""

from pathlib import Path
from typing import Any

from flask import Flask, Response, jsonify, request

from tests.defects.serving import serving_wsgi
from tests.e2e.runner import Command

BYTES = {"type": "string", "contentMediaType": "application/octet-stream"}
PICTURE = {"encoding": {"file": {"contentType": "image/png"}}}
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "format": ({"type": "string", "format": "binary"}, {}),
    "content": (BYTES, {}),
    "encoding": ({"type": "string"}, PICTURE),
    "nothing": ({}, PICTURE),
    "several": ({"type": "array", "items": {}, "minItems": 1}, PICTURE),
    "items": ({"type": "array", "items": BYTES, "minItems": 1}, {}),
    "optional": ({"anyOf": [BYTES, {"type": "null"}]}, {}),
}
"""Name of the path -> schema of the property `file`, and what else the media type says."""


def described() -> dict[str, Any]:
    paths = {}
    for name, (schema, more) in WAYS.items():
        whole: dict[str, Any] = {"type": "object", "properties": {"file": schema}, "additionalProperties": False}
        if name != "optional":
            whole["required"] = ["file"]
        media = {"schema": whole, **more}
        paths[f"/{name}"] = {
            "post": {
                "requestBody": {"required": True, "content": {"multipart/form-data": media}},
                "responses": {"200": {"description": ""}, "400": {"description": ""}},
            }
        }
    return {"openapi": "3.1.0", "info": {"title": "Files", "version": "1"}, "paths": paths}


def uploading() -> Flask:
    """Takes files with names, as frameworks do, and nothing else."""
    app = Flask(__name__)

    @app.get("/openapi.json")
    def document() -> Response:
        return jsonify(described())

    @app.post("/<way>")
    def take(way: str) -> tuple[str, int]:
        is_left_out = way == "optional" and not request.files and not request.form
        return "", 200 if request.files.getlist("file") or is_left_out else 400

    return app


def test_whatever_says_that_a_part_is_a_file_it_has_a_name(tmp_path: Path) -> None:
    with serving_wsgi(uploading()) as url:
        arguments = ("--checks", "positive_data_acceptance,not_a_server_error", "-n", "40")
        ran = Command(tmp_path).run(f"{url}/openapi.json", *arguments, inline=True)
    assert ran.code == 0, ran.shown
    assert f"With a 2xx response: {len(WAYS)}" in ran.stdout, ran.shown
