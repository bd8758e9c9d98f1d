"""`checker init`: a configuration that holds as it is written, and a job for CI whose options exist."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from checker.commands.run import run
from checker.config.config import Config
from tests.apps.serving import json_reply, serving

DOCUMENT = {
    "openapi": "3.0.3",
    "info": {"title": "Shop\n# x", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:8080/v1"}],
    "components": {
        "securitySchemes": {
            "Bearer": {"type": "http", "scheme": "bearer"},
            "Key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        }
    },
    "paths": {
        "/auth/logout": {"post": {"security": [{"Bearer": []}], "responses": {"200": {"description": ""}}}},
        "/items": {"get": {"security": [{"Key": []}], "responses": {"200": {"description": ""}}}},
    },
}


@pytest.fixture
def described(folder: Path) -> Path:
    (folder / "openapi.json").write_text(json.dumps(DOCUMENT))
    return folder


def test_the_configuration_holds_as_it_is_written(described: Path, invoke) -> None:
    result = invoke("init", "openapi.json")
    said = "Wrote checker.toml\nWrote checker.schema.json\nNext: checker run openapi.json\n"
    assert (result.exit_code, result.output) == (0, said)
    assert Config.from_path("checker.toml").base_url == "http://127.0.0.1:8080/v1"


def test_the_comment_for_editors_names_a_schema_that_accepts_the_file(described: Path, invoke) -> None:
    assert invoke("init", "openapi.json").exit_code == 0
    text = (described / "checker.toml").read_text()
    first, _, name = text.splitlines()[0].partition(" ")
    assert first == "#:schema"
    Draft202012Validator(json.loads((described / name).read_text())).validate(tomllib.loads(text))


def test_each_line_that_is_switched_on_holds(described: Path, invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    assert invoke("init", "openapi.json").exit_code == 0
    written = (described / "checker.toml").read_text()
    for name in re.findall(r"\$\{(\w+)\}", written):
        monkeypatch.setenv(name, "secret")
    switched = re.sub(r"(?m)^# (?=[a-z-]+(\.\w+)* = |\[)", "", written)
    (described / "checker.toml").write_text(switched)
    config = Config.from_path("checker.toml")
    assert config.seed == 1
    assert set(config.auth.openapi) == {"Bearer", "Key"}
    result = invoke("list", "openapi.json")
    assert "GET /items" in result.output
    assert "logout" not in result.output


@pytest.mark.parametrize(
    ("system", "path"), [("github", ".github/workflows/api.yml"), ("gitlab", "checker.gitlab-ci.yml")]
)
def test_the_job_installs_the_distribution_and_uses_options_that_exist(
    described: Path, invoke, system: str, path: str
) -> None:
    assert invoke("init", "openapi.json", "--ci", system).exit_code == 0
    text = (described / path).read_text()
    assert yaml.safe_load(text)
    assert "pip install checker-api" in text
    used = set(re.findall(r"(?<![\w-])--[\w-]+", text))
    assert used
    assert used <= {name for option in run.params for name in option.opts}


@pytest.mark.parametrize("existing", ["checker.toml", ".github/workflows/api.yml"])
def test_no_file_is_changed(described: Path, invoke, existing: str) -> None:
    (described / existing).parent.mkdir(parents=True, exist_ok=True)
    (described / existing).write_text("# mine\n")
    before = sorted(path for path in described.rglob("*") if path.is_file())
    result = invoke("init", "openapi.json", "--ci", "github")
    assert result.exit_code == 2
    assert f"{existing} exists; rename or remove it" in result.output
    assert sorted(path for path in described.rglob("*") if path.is_file()) == before
    assert (described / existing).read_text() == "# mine\n"


def test_a_location_with_credentials_and_signs_of_the_shell_is_written_safely(described: Path, invoke) -> None:
    document = {**DOCUMENT, "info": {"title": "Shop\x07\n[auth]", "version": "1"}}
    (described / "a b").mkdir()
    (described / "a b" / "openapi.json").write_text(json.dumps(document))
    assert invoke("init", "a b/openapi.json", "--ci", "github").exit_code == 0
    assert Config.from_path("checker.toml").auth.basic.username is None
    steps = yaml.safe_load((described / ".github/workflows/api.yml").read_text())["jobs"]["api"]["steps"]
    (line,) = [step["run"] for step in steps if "checker run" in step.get("run", "")]
    assert shlex.split(line)[:3] == ["checker", "run", "a b/openapi.json"]


def test_credentials_of_the_location_are_not_written(described: Path, invoke) -> None:
    with serving(lambda request: json_reply(DOCUMENT), DOCUMENT) as app:
        location = app.document_url.replace("//", "//anna:s3cret@") + "?api_key=t0ken&beta=1"
        assert invoke("init", location, "--ci", "gitlab").exit_code == 0
    for name in ("checker.toml", "checker.gitlab-ci.yml"):
        written = (described / name).read_text()
        assert "s3cret" not in written
        assert "t0ken" not in written
