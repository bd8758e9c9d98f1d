"""Server variables: for all operations, and for those of a block."""

from pathlib import Path

import pytest

from tests.apps.serving import json_reply, serving

SERVERS = [{"url": "/{v}/{w}", "variables": {"v": {"default": "one"}, "w": {"default": "w"}}}]
GET = {"responses": {"200": {"description": ""}}}
DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "T", "version": "1"},
    "servers": SERVERS,
    "paths": {"/a": {"get": GET}, "/b": {"get": GET}, "/c": {"get": GET | {"servers": SERVERS}}},
}
BLOCK = "[[operations]]\ninclude-path = ['/b', '/c']\nservers.variables = { v = 'two' }\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"/one/w/a", "/one/w/b", "/one/w/c"}),
        ("[servers]\nvariables = { v = 'all' }", {"/all/w/a", "/all/w/b", "/all/w/c"}),
        (BLOCK, {"/one/w/a", "/two/w/b", "/two/w/c"}),
        (f"[servers]\nvariables = {{ w = 'x' }}\n{BLOCK}", {"/one/x/a", "/two/x/b", "/two/x/c"}),
    ],
    ids=["defaults", "for all", "for some", "both"],
)
def test_variables_reach_the_wire(invoke, folder: Path, text: str, expected: set[str]) -> None:
    (folder / "checker.toml").write_text(text)
    with serving(lambda _: json_reply({}), DOCUMENT) as app:
        result = invoke(
            *("run", app.document_url, "--inline", "-n", "1", "--phases", "fuzzing"),
            *("--mode", "positive", "-c", "not_a_server_error"),
        )
    assert result.exit_code == 0, result.output
    assert {one.target.decode() for one in app.seen} == expected


def test_a_value_that_the_enum_of_its_variable_lacks_is_told_and_used(invoke, folder: Path) -> None:
    servers = [{"url": "/{v}", "variables": {"v": {"default": "one", "enum": ["one", "two"]}}}]
    (folder / "checker.toml").write_text("[servers.variables]\nv = 'tow'")
    with serving(lambda _: json_reply({}), DOCUMENT | {"servers": servers, "paths": {"/a": {"get": GET}}}) as app:
        result = invoke("run", app.document_url, "--inline", "-n", "1", "--phases", "fuzzing", "--mode", "positive")
    assert "'tow' is not in the `enum` of the server variable 'v'. Did you mean 'two'?" in result.output
    assert {one.target for one in app.seen} == {b"/tow/a"}
