"""YAML answers: both versions are read, and a few lines never cost more than their verdict is worth."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from checker.openapi.response_bodies import BeyondLimits, yaml_readings

from .documents import contract
from .test_responses import YAML

ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcde", "bcdef", strict=True)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(
    f"a{index}: &a{index} {{<<: [*a{index - 1}, *a{index - 1}]}}\n" for index in range(1, 22)
)
LINKS = "k0: &k0 {p0: 1}\n" + "".join(
    f"k{index}: &k{index}\n  <<: *k{index - 1}\n  p{index}: 1\n" for index in range(1, 2000)
)
COSTLY = {
    "aliases of aliases": ALIASES,
    "merges that double": MERGES,
    "merges of merges": LINKS,
    "a text that aliases repeat": f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1000)}]",
    "many nodes": f"[{','.join('a' * 300_000)}]",
}


@pytest.mark.parametrize("name", COSTLY)
def test_what_stands_for_too_much_is_not_read(name: str) -> None:
    with pytest.raises(BeyondLimits, match="more values than are read"):
        yaml_readings(COSTLY[name])


@pytest.mark.parametrize("name", COSTLY)
def test_what_is_not_read_is_told_and_no_failure(name: str) -> None:
    body = contract({"200": {"content": YAML}}).plan(200, "application/yaml").body
    assert body is not None
    opinions = body.opinions(COSTLY[name].encode())
    assert opinions.unread == "is YAML with more values than are read"
    assert (opinions.violations, opinions.undecodable) == ((), None)


def test_thousands_of_lines_and_honest_aliases_are_read() -> None:
    lines = "".join(f"key{index}: value {index}\n" for index in range(30_000))
    assert len(yaml_readings(lines)[0]) == 30_000
    shared = f"base: &base {{a: 1, b: 2}}\nall: [{', '.join(['*base'] * 1000)}]"
    assert yaml_readings(shared)[0]["all"] == [{"a": 1, "b": 2}] * 1000


@pytest.mark.parametrize("text", ["yes", "0o17", "017", "1_000", "12:30:45", "1e5", "~", "0x1f"])
def test_a_scalar_has_its_meaning_in_either_version(text: str) -> None:
    old = yaml_readings(f"a: {text}")[-1]
    assert old == _by_the_library(f"a: {text}")


@given(st.from_regex(r"\A[0-9a-fxoyYnN.:_+-]{1,8}\Z"))
def test_scalars_of_the_older_version_are_those_of_the_library(text: str) -> None:
    whole = f"- {text}"
    try:
        readings = yaml_readings(whole)
        expected = _by_the_library(whole)
    except ValueError:
        return
    if isinstance(expected[0], str | int | float | bool | None):
        assert repr(readings[-1]) == repr(expected)


def _by_the_library(text: str) -> Any:
    class Dateless(yaml.SafeLoader):
        yaml_constructors = yaml.SafeLoader.yaml_constructors | {
            "tag:yaml.org,2002:timestamp": yaml.SafeLoader.construct_yaml_str
        }

    try:
        return yaml.load(text, Dateless)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
