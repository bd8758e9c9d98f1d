"""`checker config`, `checker migrate`, `checker completion` and the pages of help."""

import json
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

from checker.commands.config import json_schema
from checker.commands.run import fuzz, run
from checker.commands.topics import MOST_USED, by_topic
from checker.config.table import SECTIONS

GOOD = """
seed = 1
rate-limit = "5/s"
request-retries = { max-attempts = 2 }
warnings = { fail-on = true }
[generation]
max-examples = 5
[checks.not_a_server_error]
enabled = false
[checks.Mine]
limit = 3
[phases.stateful.inference]
algorithms = []
[[operations]]
include-path = ["/a", "/b"]
headers = { X-A = "1" }
[[project]]
title = "T"
base-url = "http://127.0.0.1:1"
[[project.operations]]
exclude-tag-regex = "x"
enabled = false
"""


def problems(text: str) -> list[str]:
    return [one.message for one in Draft202012Validator(json_schema()).iter_errors(tomllib.loads(text))]


def test_the_schema_is_one_and_takes_good_files() -> None:
    Draft202012Validator.check_schema(json_schema())
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    "text",
    [
        "sead = 1", "seed = 'a'", "[generation]\nmode = 'both'", "[generation]\nmax-examples = 0",
        "[[operations]]\nheaders = {}", "[[operations]]\ninclude-path = '/a'\nseed = 1",
        "[[project]]\nseed = 1\ntitle = 'T'", "[[project]]\nbase-url = 'x'", "request-timeout = 0",
    ],
)  # fmt: skip
def test_the_schema_refuses_what_is_wrong(text: str) -> None:
    assert problems(text)


def test_every_key_stands_in_the_schema_with_its_default() -> None:
    for path, keys in SECTIONS.items():
        place: Any = json_schema()
        for name in path:
            place = place["properties"][name]
        for name, key in keys.items():
            assert place["properties"][name].get("default") == key.default


def test_every_key_has_a_description_and_an_example_that_is_valid() -> None:
    def verify(schema: Any, place: str) -> None:
        if schema.get("type") == "object" and "properties" in schema:
            for name, one in schema["properties"].items():
                verify(one, f"{place}.{name}")
            return
        assert schema["description"].endswith("."), place
        if "$ref" not in schema.get("items", ()):
            validator = Draft202012Validator(schema)
            assert schema["examples"], place
            assert all(validator.is_valid(one) for one in schema["examples"]), place

    whole = json_schema()
    verify(whole, "root")
    for name, one in whole["$defs"].items():
        verify(one, name)
    named_files = {"request-cert", "request-cert-key"}
    for path, keys in SECTIONS.items():
        for name, key in keys.items():
            assert name in named_files or key.kind.problem(key.shown, name) is None, (path, name)


def test_the_help_of_an_option_is_the_description_of_its_key(invoke) -> None:
    about = SECTIONS["generation",]["max-examples"].about
    assert about in invoke("run", "--help-all").stdout
    assert json_schema()["properties"]["generation"]["properties"]["max-examples"]["description"] == about


def test_config_schema_prints_it(invoke) -> None:
    assert json.loads(invoke("config", "schema").stdout) == json_schema()


def test_config_show_says_where_each_value_comes_from(invoke, folder: Path) -> None:
    (folder / "checker.toml").write_text(
        "seed = 1\nproxy = 'http://u:hunter2@127.0.0.1:1'\n[auth.basic]\nusername = 'u'\npassword = 'hunter2'\n"
        "[headers]\nX-Api-Key = 'hunter2'\nX-A = 'b'\n[[project]]\ntitle = 'T'\nrequest-timeout = 3\n"
        "[[operations]]\ninclude-path = '/a'\nrequest-timeout = 9\n"
    )
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {}}
    (folder / "openapi.json").write_text(json.dumps(document))
    result = invoke("config", "show", "openapi.json", "--set", "generation.max-examples=7")
    assert result.exit_code == 0, result.output
    lines = dict(line.split(" = ", 1) for line in result.stdout.splitlines() if " = " in line)
    file = folder / "checker.toml"
    assert lines["seed"] == f"1  # {file}"
    assert lines["generation.max-examples"] == "7  # command line"
    assert lines["request-timeout"] == f"3  # {file} [[project]]"
    assert lines["max-redirects"] == "30  # default"
    assert f"[[operations]] 0: request-timeout, enabled  # {file}" in result.stdout
    assert "hunter2" not in result.stdout
    for path, keys in SECTIONS.items():
        assert {".".join((*path, key)) for key in keys} <= lines.keys()


def test_config_show_says_what_counts_for_an_operation(invoke, folder: Path) -> None:
    (folder / "checker.toml").write_text(
        "request-timeout = 3\nmax-redirects = 2\n[[operations]]\ninclude-path = '/b'\nrate-limit = '1/s'\n"
        "[[operations]]\ninclude-tag = 'slow'\nrequest-timeout = 9\n[operations.checks.not_a_server_error]\nenabled = false\n"
    )
    reading = {"get": {"tags": ["slow"], "responses": {}}}
    paths = {"/a": reading, "/b": {"get": {"responses": {"$ref": "#/no"}}}}
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths}
    (folder / "openapi.json").write_text(json.dumps(document))
    asked = ("config", "show", "openapi.json", "--changed", "--operation")
    lines = invoke(*asked, "GET /a").stdout.splitlines()
    block = f"{folder / 'checker.toml'} [[operations]] 1"
    assert f"request-timeout = 9  # {block}" in lines
    assert f"max-redirects = 2  # {folder / 'checker.toml'}" in lines
    assert f"checks.not_a_server_error.enabled = false  # {block}" in lines
    assert not any("rate-limit" in line for line in lines)
    nearer = invoke(*asked, "GET /a", "--set", "request-timeout=4")
    assert "request-timeout = 4  # command line" in nearer.stdout
    typo = invoke(*asked, "GET /aa")
    assert typo.exit_code == 2
    assert "no operation is called 'GET /aa'. Did you mean 'GET /a'?" in typo.stderr
    nowhere = invoke("config", "show", "--operation", "GET /a")
    assert (nowhere.exit_code, "needs LOCATION" in nowhere.stderr) == (2, True)


def test_config_show_may_leave_out_defaults(invoke, folder: Path) -> None:
    (folder / "checker.toml").write_text("seed = 1\n")
    assert invoke("config", "show", "--changed").stdout == f"seed = 1  # {folder / 'checker.toml'}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_the_program(invoke, shell: str) -> None:
    result = invoke("completion", shell)
    assert result.exit_code == 0
    assert f"_CHECKER_COMPLETE={shell}_complete" in result.stdout


@pytest.mark.parametrize("command", ["run", "fuzz"])
def test_the_first_page_fits_two_screens_and_names_everything(invoke, command: str) -> None:
    page = invoke(command, "--help").stdout
    assert len(page.splitlines()) <= 48
    assert max(map(len, page.splitlines())) <= 80
    whole = invoke(command, "--help-all").stdout
    for one in (run if command == "run" else fuzz).params:
        if isinstance(one, click.Option) and not one.hidden and one.name != "help_all":
            assert one.opts[-1] in whole
    for note in ("[generation.mode; default: all]", "[base-url; CHECKER_BASE_URL]", "[rate-limit]"):
        assert note in " ".join(whole.split())


def test_options_that_are_used_most_come_first() -> None:
    topics = dict(by_topic(run, click.Context(run)))
    assert next(iter(topics)) == MOST_USED
    assert [one.name for one in topics["Others"]] == ["keys"]
