import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from checker.openapi.documents.parsing import parse, parse_yaml
from checker.openapi.loaders import from_path, open_normalised

from .documents import warnings_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: off", {"on": "off"}),
        ("null: ~", {"null": None}),
        ("200: yes", {"200": "yes"}),
        ("1.0: 2020-01-01", {"1.0": "2020-01-01"}),
        ("true: True", {"true": True}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: 0x10", {"a": 16}),
        ("a: 010", {"a": 10}),
        ("a: 1:30", {"a": "1:30"}),
        ("a: .inf", {"a": ".inf"}),
        ("a: 1e999", {"a": "1e999"}),
        ("a: '1'", {"a": "1"}),
        ("a: !!str 1", {"a": "1"}),
        ("a: !!int '1'", {"a": 1}),
        ("a: !mine b", {"a": "b"}),
        ("a: !!binary aGk=", {"a": "aGk="}),
        ("a: 99999999999999999999999", {"a": 99999999999999999999999}),
        ("a: +", {"a": "+"}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}),
        ("a: {<<: [{b: 1}, {b: 2, c: 3}]}", {"a": {"b": 1, "c": 3}}),
        ("", None),
    ],
)
def test_yaml_is_read_as_api_descriptions_mean_it(text: str, value: Any) -> None:
    assert parse_yaml(text) == value


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(st.characters(min_codepoint=32, max_codepoint=0xD7FF, exclude_characters="\x7f\x85")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab 1:-#", min_size=1), inner),
    max_leaves=10,
)


class Quoting(yaml.SafeDumper):
    """Quotes all text: what a dumper for YAML 1.1 leaves bare, like `010` or `0E0`, may be a number in 1.2."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


@given(JSON)
@pytest.mark.thorough
def test_what_is_dumped_is_read_back(value: Any) -> None:
    text = yaml.dump({"a": value}, Dumper=Quoting, allow_unicode=True)
    assert parse_yaml(text) == {"a": value}


REPEATED = [
    ("a: 1\nb: 2\na: 3\n", ("a", 1, 3)),
    ("a: {b: 1,\n b: 2}\n", ("b", 1, 2)),
    ("x: &x {a: 1}\nb:\n  <<: *x\n  a: 2\n  'c': 1\n  c: 2\n", ("c", 5, 6)),
    ("200: a\n'200': b\n", ("200", 1, 2)),
    ('{"a": 1,\n\n "a": 2}', ("a", 1, 3)),
    ('{"a": [{"b": "\\"b\\":"}, {"b": {\n"c":1}}],\n "\\u0061" : 2}', ("a", 1, 3)),
    ('// text\n{"a": 1,\n"a": 2, // more\n}', ("a", 2, 3)),
]


@pytest.mark.parametrize(("text", "expected"), REPEATED)
def test_a_repeated_key_is_told_with_both_lines(text: str, expected: tuple[str, int, int]) -> None:
    notes: list[str] = []
    parse(text.encode(), name="a.yaml", notes=notes)
    key, first, second = expected
    assert notes == [
        f"the key `{key}` occurs twice in one object of a.yaml, at lines {first} and {second}; "
        f"the value at line {first} is ignored"
    ]


@pytest.mark.parametrize("text", ['{"a": {"b": 1}, "b": "a\\": "}', "a: &x {b: 1}\nc: {<<: *x, b: 2}\nd: *x\n"])
def test_equal_keys_of_different_objects_are_not_told(text: str) -> None:
    notes: list[str] = []
    parse(text.encode(), name="a.yaml", notes=notes)
    assert notes == []


@pytest.mark.parametrize("text", ["{" + '"a": 1, ' * 5_000 + '"b": 2}', "a: 1\n" * 5_000])
def test_the_number_of_repeated_keys_that_are_told_is_limited(text: str) -> None:
    notes: list[str] = []
    parse(text.encode(), name="a", notes=notes)
    assert len(notes) == 100


def test_repeated_keys_of_a_document_and_its_neighbours_are_warnings(tmp_path: Path) -> None:
    main = {"openapi": "3.0.3", "paths": {"/a": {"$ref": "b.yaml"}}}
    (tmp_path / "a.json").write_text(json.dumps(main)[:-1] + ',\n "paths": ' + json.dumps(main["paths"]) + "}")
    (tmp_path / "b.yaml").write_text("get: {responses: {}}\nget: {responses: {}}\n")
    schema = from_path(tmp_path / "a.json")
    for one in (schema, open_normalised(schema.normalised())):
        found = [warning for warning in warnings_of(one) if warning.kind == "repeated_key"]
        assert [(warning.label, warning.message.partition(" occurs")[0]) for warning in found] == [
            ("", "the key `paths`"),
            ("", "the key `get`"),
        ]
