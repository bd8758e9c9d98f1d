"""Files in multipart bodies, in every way that descriptions say that a part is one."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import pytest
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


def _is_table(content: bytes, columns: list[str]) -> bool:
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    return bool(rows) and list(rows[0]) == columns and all(None not in row.values() for row in rows)


def _is_lines(content: bytes) -> bool:
    return all(isinstance(json.loads(line), dict) for line in content.decode().splitlines()) and content != b""


def _is_workbook(content: bytes) -> bool:
    with ZipFile(io.BytesIO(content)) as file:
        return "xl/workbook.xml" in file.namelist() and file.testzip() is None


PARSED: dict[str, tuple[str, dict[str, Any], str, Callable[[bytes], bool]]] = {
    "/people": ("Import people", {}, "A CSV file with the columns email, age and joined_at.",
                lambda content: _is_table(content, ["email", "age", "joined_at"])),
    "/stock": ("Import a CSV file", {}, "It has these columns:\n\n- `sku`: the article\n- `qty`: how many of it\n",
               lambda content: _is_table(content, ["sku", "qty"])),
    "/roles": ("Import a CSV file", {}, "Format: email,role", lambda content: _is_table(content, ["email", "role"])),
    "/contacts": ("", {}, "A CSV file with the fields `name` and `phone`.",
                  lambda content: _is_table(content, ["name", "phone"])),
    "/import-csv": ("", {}, "", lambda content: _is_table(content, ["id", "name"])),
    "/events": ("Upload NDJSON", {}, "", _is_lines),
    "/sheet": ("", {}, "The Excel workbook.", _is_workbook),
    "/avatar": ("", {}, "", lambda content: content.startswith(b"\x89PNG") and content.endswith(b"IEND\xaeB`\x82")),
    "/report": ("Store a PDF", {}, "", lambda content: content.startswith(b"%PDF") and content.endswith(b"%%EOF")),
    "/bundle": ("Unpack a ZIP archive", {}, "", lambda content: ZipFile(io.BytesIO(content)).testzip() is None),
    "/raw.csv": ("", {"text/csv": {"schema": {"type": "string", "example": "a,b\r\n1,2"}}}, "",
                 lambda content: _is_table(content, ["a", "b"])),
    "/raw.jsonl": ("", {"application/jsonl": {"schema": {"type": "string"}}}, "", _is_lines),
}  # fmt: skip
"""Path -> summary of the operation, content other than a multipart body, description of the file, what the service accepts."""


def _parsing() -> dict[str, Any]:
    paths = {}
    for path, (summary, content, description, _) in PARSED.items():
        file = {"type": "string", "format": "binary", "description": description}
        form = {"type": "object", "properties": {"file": file}, "required": ["file"], "additionalProperties": False}
        body = {"required": True, "content": content or {"multipart/form-data": {"schema": form}}}
        responses = {"200": {"description": ""}, "400": {"description": ""}}
        paths[path] = {"post": {"summary": summary, "requestBody": body, "responses": responses}}
    return {"openapi": "3.0.3", "info": {"title": "Parsers", "version": "1"}, "paths": paths}


@pytest.mark.thorough
def test_files_are_of_the_kind_that_prose_and_paths_name(tmp_path: Path) -> None:
    app, accepted, refused = Flask(__name__), Counter[str](), Counter[str]()

    @app.get("/openapi.json")
    def document() -> Response:
        return jsonify(_parsing())

    @app.post("/<path>")
    def take(path: str) -> tuple[str, int]:
        content = request.files["file"].read() if request.files else request.get_data()
        try:
            is_right = PARSED[f"/{path}"][3](content)
        except (ValueError, KeyError, BadZipFile, csv.Error):
            is_right = False
        (accepted if is_right else refused)[path] += 1
        return "", 200 if is_right else 400

    with serving_wsgi(app) as url:
        arguments = ("--phases", "coverage,fuzzing", "--mode", "positive", "--checks", "not_a_server_error", "-n", "20")
        ran = Command(tmp_path).run(f"{url}/openapi.json", *arguments, "--seed", "1", inline=True)
    assert ran.code == 0, ran.shown
    assert f"With a 2xx response: {len(PARSED)}" in ran.stdout, (accepted, refused)
    assert all(accepted[path] > refused[path] for path in accepted), (accepted, refused)
