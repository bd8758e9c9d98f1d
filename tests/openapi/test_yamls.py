from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from checker.openapi.documents.parsing import parse_yaml


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
