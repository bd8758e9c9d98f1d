"""`checker migrate`: configurations of other generations, a row for each key that they have."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from checker.commands.config import json_schema
from checker.commands.legacy import GONE as GONE_OPTIONS
from checker.commands.legacy import OPTIONS, RENAMED
from checker.commands.migrate import GONE
from checker.config.config import Config

CURRENT = Path(__file__).parents[1] / "data" / "current_generation.toml"
OFF = {"enabled": False}
PATTERN = "exclude-{}-regex"

ROWS: dict[str, tuple[Any, dict[str, Any]]] = {
    "data-generation-method": ("negative", {"generation": {"mode": "negative"}}),
    "generation.modes": (["positive", "negative"], {"generation": {"mode": "all"}}),
    "exitfirst": (True, {"max-failures": 1}),
    "max-response-time": (500, {"checks": {"max_response_time": 0.5}}),
    "exclude-checks": ("use_after_free", {"checks": {"use_after_free": OFF}}),
    "target": ("all", {"generation": {"maximize": "response_time"}}),
    "auth": ("anna:a:b", {"auth": {"basic": {"username": "anna", "password": "a:b"}}}),
    "header": (["X-A: 1", "X-B:2"], {"headers": {"X-A": "1", "X-B": "2"}}),
    "set-query": ({"q": 1}, {"parameters": {"query.q": 1}}),
    "set-header": (["X-A=1"], {"parameters": {"header.X-A": "1"}}),
    "set-cookie": ("sid=a=b", {"parameters": {"cookie.sid": "a=b"}}),
    "set-path": ({"id": 7}, {"parameters": {"path.id": 7}}),
    "endpoint": (["^/a", "b"], {"operations": [{PATTERN.format("path"): "(?i:^/a|b)", **OFF}]}),
    "method": ("get", {"operations": [{PATTERN.format("method"): "(?i:get)", **OFF}]}),
    "tag": ("x", {"operations": [{PATTERN.format("tag"): "(?i:x)", **OFF}]}),
    "operation-id": ("y", {"operations": [{PATTERN.format("operation-id"): "(?i:y)", **OFF}]}),
    "skip-deprecated-operations": (True, {"operations": [{"include-by": "/deprecated == true", **OFF}]}),
    "request-proxy": ("http://127.0.0.1:1", {"proxy": "http://127.0.0.1:1"}),
    "request-tls-verify": (False, {"tls-verify": False}),
    "validate-schema": (True, {"documents": {"validate": True}}),
    "junit-xml": ("a.xml", {"reports": {"junit": {"path": "a.xml"}}}),
    "store-network-log": ("a.yaml", {"reports": {"vcr": {"path": "a.yaml"}}}),
    "cassette-path": ("a.yaml", {"reports": {"vcr": {"path": "a.yaml"}}}),
    "debug-output-file": ("a.jsonl", {"reports": {"ndjson": {"path": "a.jsonl"}}}),
    "report": ("junit,har", {"reports": {"junit": {"enabled": True}, "har": {"enabled": True}}}),
    "cassette-preserve-exact-body-bytes": (True, {"reports": {"preserve-bytes": True}}),
    "sanitize-output": (False, {"output": {"sanitization": OFF}}),
    "code-sample-style": ("python", {"output": {"code-sample-style": "python"}}),
    "no-color": (True, {"color": False}),
    "force-color": (True, {"color": True}),
    "verbosity": (1, {"output": {"truncation": OFF}}),
    "force-schema-version": ("20", {"documents": {"version": "2.0"}}),
    "stateful": ("none", {"phases": {"stateful": OFF}}),
    "stateful-recursion-limit": (4, {"phases": {"stateful": {"max-steps": 4}}}),
    "contrib-unique-data": (True, {"generation": {"unique-inputs": True}}),
    "contrib-openapi-fill-missing-examples": (True, {"phases": {"examples": {"fill-missing": True}}}),
    "pre-run": ("mine", {"hooks": "mine"}),
    "generation-allow-x00": (False, {"generation": {"allow-x00": False}}),
    "generation-codec": ("ascii", {"generation": {"codec": "ascii"}}),
    "proptest-max-examples": (5, {"generation": {"max-examples": 5}}),
    "proptest-seed": (1, {"seed": 1}),
    "proptest-derandomize": (True, {"generation": {"deterministic": True}}),
    "proptest-database": ("none", {"generation": {"database": "none"}}),
    "proptest-deadline": (500, {"checks": {"max_response_time": 0.5}}),
    "proptest-phases": (
        ["explicit", "generate", "reuse"], {"generation": {"no-shrink": True}}
    ),
    "proptest-no-phases": (
        ["explicit", "generate", "target"],
        {"phases": {"examples": OFF, "coverage": OFF, "fuzzing": OFF, "stateful": OFF}},
    ),
    "proptest-report-multiple-bugs": (False, {"continue-on-failure": False}),
    "proptest-suppress-health-check": (["too_slow", "return_value"], {"suppress-health-check": ["too_slow"]}),
    "proptest-verbosity": ("quiet", {"output": {"max-shown": 0}}),
    "checker-io-url": ("http://127.0.0.1:9/in", {"upload": {"url": "http://127.0.0.1:9/in"}}),
    "checker-io-token": ("s3cret", {"upload": {"token": "s3cret"}}),
}  # fmt: skip
Migrate = Callable[..., Any]


def in_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {in_toml(one)}" for name, one in value.items()) + " }"
    return json.dumps(value)


def written(folder: Path, name: str, value: Any) -> Path:
    *section, key = name.split(".")
    head = "".join(f"[{one}]\n" for one in section)
    path = folder / "checker.toml"
    path.write_text(f"# Ours\n{head}{key} = {in_toml(value)}\n[output.truncation]\nmax-lines = 7\n")
    return path


def without(found: dict[str, Any], lines: int) -> dict[str, Any]:
    """What stood there before is there still; all else."""
    assert found["output"]["truncation"].pop("max-lines") == lines
    for table, name in ((found["output"], "truncation"), (found, "output")):
        if not table[name]:
            del table[name]
    return found


@pytest.mark.parametrize("name", ROWS)
def test_an_old_key_is_rewritten_and_the_file_works(invoke: Migrate, folder: Path, name: str) -> None:
    (folder / "mine.py").write_text("")
    value, today = ROWS[name]
    path = written(folder, name, value)
    before = path.read_text()
    result = invoke("migrate", "checker.toml")
    assert result.exit_code == 0, result.output
    assert without(tomllib.loads(path.read_text()), 7) == today
    assert result.stdout.startswith(f"{name} -> ")
    assert path.read_text().startswith("# Ours")
    assert (folder / "checker.toml.before").read_text() == before


def test_checks_that_are_not_chosen_are_switched_off(invoke: Migrate, folder: Path) -> None:
    path = written(folder, "checks", "not_a_server_error,status_code_conformance")
    assert invoke("migrate", "checker.toml").exit_code == 0
    found = tomllib.loads(path.read_text())["checks"]
    assert "not_a_server_error" not in found
    assert found["use_after_free"] == OFF
    path = written(folder, "checks", "all")
    assert "checks is removed: it has no effect" in invoke("migrate", "checker.toml").stdout


def test_the_type_of_authentication_belongs_to_its_user(invoke: Migrate, folder: Path) -> None:
    path = folder / "checker.toml"
    path.write_text("auth = 'anna:x'\nauth-type = 'digest'\n")
    assert invoke("migrate", "checker.toml").exit_code == 0
    basic = {"username": "anna", "password": "x", "type": "digest"}
    assert tomllib.loads(path.read_text()) == {"auth": {"basic": basic}}


@pytest.mark.parametrize("name", GONE)
def test_what_is_gone_is_left_out_with_what_to_do_instead(invoke: Migrate, folder: Path, name: str) -> None:
    path = written(folder, name, "x")
    result = invoke("migrate", "checker.toml")
    assert result.stdout == f"{name} is removed: {GONE[name]}\n"
    assert without(tomllib.loads(path.read_text()), 7) == {}


def test_every_row_of_old_keys_and_every_old_option_has_one_here() -> None:
    assert {*ROWS, "checks", "auth-type"} == RENAMED.keys()
    flags = {flag.removeprefix("--") for flag in OPTIONS if flag[:2] == "--"}
    flags |= {flag.removeprefix("--") for flag in GONE_OPTIONS}
    of_other_commands = {"keep", "schema-location"}
    same_today = {"base-url"}
    assert flags - of_other_commands - same_today <= RENAMED.keys() | GONE.keys()


def test_what_stands_there_today_is_kept(invoke: Migrate, folder: Path) -> None:
    path = folder / "checker.toml"
    path.write_text(
        "exitfirst = true\nmax-failures = 3\nset-query = { a = 1, b = 2 }\nset_cookie = { c = 3 }\n"
        "[parameters]\n'query.a' = 9 # ours\n"
    )
    result = invoke("migrate", "checker.toml")
    assert tomllib.loads(path.read_text()) == {
        "max-failures": 3, "parameters": {"query.a": 9, "query.b": 2, "cookie.c": 3},
    }  # fmt: skip
    assert "'query.a' = 9 # ours" in path.read_text()
    assert result.stdout.splitlines() == [
        "set_cookie -> set-cookie",
        "exitfirst -> max-failures = 1: skipped, because the key is set already",
        "set-query -> parameters = {'query.a': 1, 'query.b': 2}",
        "set-cookie -> parameters = {'cookie.c': 3}",
    ]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("stateful", "deep", "stateful cannot be rewritten: choose from none, links; got 'deep'"),
        ("max-response-time", "soon", "max-response-time cannot be rewritten"),
        ("proptest-phases", ["sing"], "choose from explicit, reuse"),
    ],
)
def test_a_value_that_it_never_had_is_one_sentence(
    invoke: Migrate, folder: Path, name: str, value: Any, message: str
) -> None:
    path = written(folder, name, value)
    before = path.read_text()
    result = invoke("migrate", "checker.toml")
    assert result.exit_code == 2
    assert message in result.stderr
    assert path.read_text() == before


def test_keys_are_respelt(invoke: Migrate, folder: Path) -> None:
    path = folder / "checker.toml"
    text = "base_url = 'http://127.0.0.1:1'\nfixups = 'all'\n[generation]\nmax_examples = 3\n"
    path.write_text(text)
    result = invoke("migrate", "checker.toml", "--dry-run")
    assert result.stderr.splitlines() == [
        "base_url -> base-url",
        "generation.max_examples -> max-examples",
        f"fixups is removed: {GONE['fixups']}",
    ]
    assert tomllib.loads(result.stdout) == {
        "base-url": "http://127.0.0.1:1", "generation": {"max-examples": 3},
    }  # fmt: skip
    assert path.read_text() == text


def test_a_file_of_the_current_generation_works_unchanged(invoke: Migrate, folder: Path) -> None:
    text = CURRENT.read_text()
    for name in ("client.pem", "client.key", "hooks.py"):
        (folder / name).write_text("")
    (folder / "checker.toml").write_text(text)
    assert list(Draft202012Validator(json_schema()).iter_errors(tomllib.loads(text))) == []
    assert Config.from_path(folder / "checker.toml").fuzz.max_time == 10
    assert invoke("migrate", "checker.toml").stdout == "nothing to change\n"
    assert not (folder / "checker.toml.before").exists()
