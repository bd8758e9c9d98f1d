"""Examples of the documentation do what the page says: they are run as they stand there."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import checker

DOCS = Path(checker.__file__).parent.parent / "docs"
EXAMPLES = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(), re.DOTALL)


@pytest.fixture
def folder(document, api, tmp_path: Path) -> Path:
    """Where a reader stands: a description of an API that answers each request with 201, and fails to delete."""
    found = document["paths"]["/items/{id}"]["get"]
    responses = {"201": found["responses"]["200"], "204": {"description": ""}}
    document["paths"] = {
        "/items": {"post": {"responses": responses}},
        "/items/{id}": {
            "get": {**found, "responses": responses},
            "delete": {"parameters": found["parameters"], "responses": responses},
        },
    }
    document["servers"] = [{"url": api.url}]
    api.status = 201
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    (tmp_path / "checker.toml").write_text('[generation]\nmax-examples = 3\nmode = "positive"')
    return tmp_path


def run(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(text, "docs/python.md", "exec"), names)
    return names


def test_sequences(folder, api) -> None:
    machine = run(EXAMPLES[0])["Sequences"]
    api.statuses["DELETE"] = 204
    machine.run(settings=settings(machine.usual_settings, max_examples=5, database=None))
    made, removed = (
        [headers for method, _, headers, _ in api.requests if method == wanted] for wanted in ("POST", "DELETE")
    )
    assert made
    assert all(headers["x-tenant"] == "test" for headers in made)
    assert len(removed) >= len(made)


def test_a_whole_run(folder, api, capsys) -> None:
    api.statuses["DELETE"] = 500
    run(EXAMPLES[1])
    assert "DELETE /items/{id} Server error" in capsys.readouterr().out


def test_events_of_a_run(folder, api) -> None:
    api.statuses["DELETE"] = 500
    result = run(EXAMPLES[2])["result"]
    assert "Server error" in {finding.title for finding in result.findings}


def test_values_of_ones_own(folder) -> None:
    assert run(EXAMPLES[3])["case"].path_parameters == {"id": 4242}


def test_every_example_is_run() -> None:
    assert len(EXAMPLES) == 4
