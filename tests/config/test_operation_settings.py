"""What counts for an operation in a phase: the nearest word on each key, whoever else has spoken."""

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checker.config.config import Config
from checker.config.operation_settings import OperationLayers, OperationResolver, OperationSettings
from checker.core.errors import ConfigError
from checker.core.operation import Label
from tests.asking import saying


@dataclass(frozen=True)
class Named:
    """An operation, as filters see it."""

    path: str
    method: str = "GET"
    tags: tuple[str, ...] = ()
    operation_id: str | None = None
    deprecated: bool = False
    definition: Any = None

    @property
    def label(self) -> Label:
        return Label(f"{self.method} {self.path}")


PATHS = ("/a", "/b", "/c")
KEYS: dict[tuple[str, ...], st.SearchStrategy[Any]] = {
    ("request-timeout",): st.integers(1, 9),
    ("proxy",): st.sampled_from(["http://127.0.0.1:1", "http://127.0.0.1:2"]),
    ("tls-verify",): st.booleans(),
    ("continue-on-failure",): st.booleans(),
    ("generation", "max-examples"): st.integers(1, 9),
    ("generation", "mode"): st.sampled_from(["positive", "negative", "all"]),
    ("generation", "codec"): st.sampled_from(["ascii", "latin-1"]),
    ("checks", "response_schema_conformance", "validate-formats"): st.booleans(),
}
FIELDS = (
    "http.timeout_s",
    "http.proxy",
    "http.verify",
    "continue_on_failure",
    "cases.max_examples",
    "cases.modes",
    "cases.codec",
    "validate_formats",
)
IN_PHASES = tuple(key for key in KEYS if key[0] in ("generation", "checks"))
HEADERS = st.dictionaries(st.sampled_from(["A", "a", "B"]), st.sampled_from("123"), max_size=2)
Said = dict[tuple[str, ...], Any]


def nested(said: Said) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path, value in said.items():
        table = found
        for part in path[:-1]:
            table = table.setdefault(part, {})
        table[path[-1]] = value
    return found


@st.composite
def tables(draw: st.DrawFn) -> Said:
    """What one place says: any of the keys, for all phases or for one, and headers."""
    said: Said = {}
    for key, values in KEYS.items():
        if draw(st.integers(0, 3)) == 0:
            said[key] = draw(values)
    for key in IN_PHASES:
        if draw(st.integers(0, 3)) == 0:
            said["phases", "fuzzing", *key] = draw(KEYS[key])
    headers = {name.lower(): (name, value) for name, value in draw(HEADERS).items()}
    if headers:
        said[("headers",)] = dict(headers.values())
    return said


BLOCKS = st.lists(st.tuples(st.sampled_from(PATHS), tables()), max_size=4)


def naive(places: list[Said], key: tuple[str, ...]) -> Any:
    """The first place that says anything; places are in the order of the documentation."""
    return next((place[key] for place in places if key in place), None)


@settings(max_examples=150, deadline=None)
@given(tables(), tables(), tables(), BLOCKS, BLOCKS)
def test_the_nearest_word_counts(
    command: Said, project: Said, root: Said, of_project: list[tuple[str, Said]], of_root: list[tuple[str, Said]]
) -> None:
    def blocks(found: list[tuple[str, Said]]) -> list[dict[str, Any]]:
        return [{"include-path": path, **nested(said)} for path, said in found]

    config = Config.from_dict(
        {
            **nested(root),
            "operations": blocks(of_root),
            "project": [{"title": "T", **nested(project), "operations": blocks(of_project)}],
        },
        environment={},
    ).for_project("T")
    layers = config.operation_layers()
    nearest = {tuple(path): dict(values) for path, values in layers.command.items()}
    assert nearest == {}
    layers = OperationLayers(saying(nested(command)).wide[0], layers.blocks, layers.wide)
    resolver = OperationResolver(layers)
    for path in PATHS:
        found = resolver.of(Named(path))
        own = [said for of, said in (*of_project, *of_root) if of == path]
        groups = [[command], own, [project, root]]
        phased = [[_in_phase(said) for said in group] for group in groups]
        order = [
            *phased[0], *groups[0], *phased[1], *phased[2], *groups[1], *groups[2]
        ]  # fmt: skip
        for key, name in zip(KEYS, FIELDS, strict=True):
            wanted = OperationSettings.read([_layer(key, naive(order, key))])
            assert attrgetter(name)(found) == attrgetter(name)(wanted), key
        assert dict(found.headers) == _headers(command, own, project, root)
        # Equal results are one object, and so is whatever nobody spoke of.
        assert resolver.of(Named(path)) is found


def _in_phase(said: Said) -> Said:
    return {key[2:]: value for key, value in said.items() if key[:2] == ("phases", "fuzzing")}


def _layer(key: tuple[str, ...], value: Any) -> dict[Any, Any]:
    return {} if value is None else {key[:-1]: {key[-1]: value}}


def _headers(command: Said, own: list[Said], project: Said, root: Said) -> dict[str, str]:
    """Those of the root, of the project over them, of the first block that has any, of the command line."""
    key = ("headers",)
    first = next((said for said in own if key in said), {})
    merged: dict[str, tuple[str, str]] = {}
    for said in (root, project, first, command):
        merged |= {name.lower(): (name, value) for name, value in said.get(key, {}).items()}
    return dict(merged.values())


def test_operations_that_nobody_spoke_of_share_one_object() -> None:
    resolver = OperationResolver(saying({}, {"include-path": "/a", "request-timeout": 3}))
    assert resolver.of(Named("/b")) is resolver.of(Named("/c")) is resolver.common
    assert resolver.of(Named("/a")).http.timeout_s == 3.0


def test_what_says_nothing_new_is_shared_too() -> None:
    same = {"generation": {"max-examples": 100}}
    resolver = OperationResolver(saying({}, {"include-path": "/a", **same}))
    assert resolver.of(Named("/a")) is resolver.common


def test_settings_are_worked_out_once_for_each_set_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = OperationResolver(saying({}, {"include-path-regex": "^/x", "request-timeout": 3}))
    read: list[object] = []
    whole = OperationSettings.read

    def counted(layers: Any) -> OperationSettings:
        read.append(layers)
        return whole(layers)

    monkeypatch.setattr(OperationSettings, "read", counted)
    found = {id(resolver.of(Named(f"/x{number}"))) for number in range(100)}
    assert (len(found), len(read)) == (1, 1)


def test_a_phase_that_is_not_of_the_configuration_has_the_settings_of_fuzzing() -> None:
    said = {"phases": {"fuzzing": {"generation": {"mode": "negative"}}}}
    resolver = OperationResolver(saying(said))
    assert resolver.of(Named("/a"), "exploration").cases.modes == ("negative",)
    assert resolver.common.cases.modes == OperationSettings().cases.modes


def test_what_an_operation_switches_off_may_be_named_beside_it() -> None:
    block = {"include-path": "/a", "checks": {"enabled": False, "not_a_server_error": {"enabled": True}}}
    resolver = OperationResolver(saying({}, block))
    assert resolver.of(Named("/a")).checks == ("not_a_server_error",)
    assert resolver.common.checks == OperationSettings().checks


def test_later_updates_do_not_change_what_was_asked_for() -> None:
    config = Config.from_dict({}, environment={})
    before = config.operation_layers()
    config.update(headers={"A": "1"})
    assert (before.common.headers, config.operation_layers().common.headers) == ((), (("A", "1"),))


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("database = 'none'", r"\[operations\.0\.generation\][\s\S]*'database'"),
        ("shrink-share = 0.5", r"'shrink-share'"),
        ("deterministic = true", r"'deterministic'"),
    ],
)
def test_what_is_about_the_whole_run_is_no_key_of_a_block(key: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Config.from_str(f"[[operations]]\ninclude-path = '/a'\n[operations.generation]\n{key}", environment={})


def test_a_wrong_value_is_told_where_it_stands() -> None:
    text = "[[operations]]\ninclude-path = '/a'\n[operations.phases.fuzzing.generation]\nmode = 'x'"
    with pytest.raises(ConfigError, match=r"\[operations\.0\.phases\.fuzzing\.generation\]"):
        Config.from_str(text, environment={})


@pytest.mark.parametrize("key", ["seed = 1", "hooks = 'a'", "output = {}", "workers = 2"])
def test_keys_of_the_run_are_no_keys_of_a_block(key: str) -> None:
    with pytest.raises(ConfigError, match="Unknown properties"):
        Config.from_str(f"[[operations]]\ninclude-path = '/a'\n{key}", environment={})


def test_what_is_not_about_operations_does_not_travel() -> None:
    root = {"seed": 1, "dictionaries": {"d": {"values": ["a"]}}, "parameters": {"q": 1}}
    said = saying({"output": {"truncation": {"max-lines": 3}}, "checks": {"mine": {}}}, **root)
    assert said.wide == ({("checks", "mine"): {}},)
    assert said.common.checks[-1] == "mine"


@pytest.mark.parametrize(
    "said",
    [
        {"operations": [{"include-path": "/a", "checks": {"Mine": {"most": 1}}}]},
        {"phases": {"fuzzing": {"checks": {"Mine": {"most": 1}}}}},
    ],
    ids=["operations", "phases"],
)
def test_settings_of_users_checks_are_those_of_the_whole_run(said: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"'most'\n\nSettings .* write them in \[checks\.Mine\]"):
        Config.from_dict(said, environment={})


def test_what_the_table_of_checks_says_is_resolved_for_each_operation() -> None:
    own = {
        "max_response_time": 2.0,
        "positive_data_acceptance": {"expected-statuses": [400]},
        "response_schema_conformance": {"validate-formats": False},
    }
    said = {"checks": {"max_response_time": 1.0, "Mine": {"most": 3}}, "hooks": "mine"}
    resolver = OperationResolver(saying(said, {"include-path": "/a", "checks": own}))
    mine, other = resolver.of(Named("/a")), resolver.of(Named("/b"))
    assert other.check_settings == {"max_response_time": {"max_response_time": 1.0}, "Mine": {"most": 3}}
    assert mine.check_settings == {
        "max_response_time": {"max_response_time": 2.0},
        "positive_data_acceptance": {"expected-statuses": [400]},
        "response_schema_conformance": {"validate-formats": False},
        "Mine": {"most": 3},
    }
    assert (mine.validate_formats, other.validate_formats) == (False, True)
    assert "max_response_time" in resolver.layers.checks_somewhere()


@pytest.mark.parametrize(
    ("key", "value"), [("operation-ordering", "none"), ("extra-data-sources", {"responses": False})]
)
def test_what_is_about_all_operations_of_a_phase_stands_in_no_block(key: str, value: Any) -> None:
    block = {"include-path": "/a", "phases": {"fuzzing": {key: value}}}
    with pytest.raises(ConfigError, match=key):
        Config.from_dict({"operations": [block]}, environment={})
