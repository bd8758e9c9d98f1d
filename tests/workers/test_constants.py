"""Literals of the application under test become values of its requests."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.core.registry import CONSTANT_SOURCES, constants
from checker.workers.subject import MOST, with_constants
from tests.asking import changed

SOURCE = '''
"""Prose of the module."""
LIMIT = 7777
RATE = 2.5
def app(environ, start):
    """Prose of the function."""
    if environ["PATH_INFO"] == "/open-sesame":
        return [b"", 1, True, -1, "x" * 3]
'''


@pytest.fixture(autouse=True)
def no_sources() -> Iterator[None]:
    yield
    CONSTANT_SOURCES.clear()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Write a module; its name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(text: str) -> str:
        name = f"constants_of_{len(list(tmp_path.iterdir()))}_{tmp_path.name}"
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


def settings(**values: Any) -> RunSettings:
    config = Config.from_dict(values, environment={})
    return run_settings(config, Invocation("openapi.json"), {})


def words(found: RunSettings) -> dict[str, set[Any]]:
    return {one.type: set(one.entries) for one in found.sources.overrides.types}


def test_an_application_gives_its_literals_but_not_its_prose(module: Callable[[str], str]) -> None:
    asked = changed(settings(), app=f"{module(SOURCE)}:app")
    found, notes = with_constants(asked)
    assert notes == []
    assert words(found) == {
        "string": {"PATH_INFO", "/open-sesame", "x"}, "integer": {7777, 3}, "number": {2.5},
    }  # fmt: skip


def test_it_can_be_switched_off(module: Callable[[str], str]) -> None:
    off = settings(analysis={"constants": {"enabled": False}})
    asked = changed(off, app=f"{module(SOURCE)}:app")
    assert with_constants(asked) == (asked, [])


def test_sources_of_users_give_modules(module: Callable[[str], str]) -> None:
    name = module("WORD = 'from-elsewhere'")
    constants(lambda: [__import__(name)])
    found, _ = with_constants(settings())
    assert words(found) == {"string": {"from-elsewhere"}}


def test_what_gives_nothing_is_told_and_costs_nothing_else(module: Callable[[str], str]) -> None:
    name = module("WORD = 'found'")

    @constants
    def broken() -> object:
        raise RuntimeError("no")

    @constants
    def empty() -> object:
        return [sys, 1]

    constants(lambda: __import__(name))
    found, notes = with_constants(settings())
    assert words(found) == {"string": {"found"}}
    assert [(one.kind, one.text) for one in notes] == [
        ("constants_extraction", "no constants of 'broken': it raised RuntimeError: no"),
        ("constants_extraction", "no constants of 'empty': it returned no module that was imported from a file"),
    ]  # fmt: skip


def test_what_users_say_of_a_type_goes_first(module: Callable[[str], str]) -> None:
    name = module("WORD = 'found'")
    constants(lambda: __import__(name))
    said = {"string": {"dictionary": "mine", "probability": 0.5}}
    asked = settings(dictionaries={"mine": {"values": ["word"]}}, generation={"dictionaries": said})
    found, _ = with_constants(asked)
    assert [one.entries for one in found.sources.overrides.types] == [("word",), ("found",)]


def test_there_are_no_more_than_the_limit_of_each_type(module: Callable[[str], str]) -> None:
    name = module(f"ALL = {list(map(str, range(2 * MOST)))}")
    constants(lambda: __import__(name))
    found, _ = with_constants(settings())
    assert len(words(found)["string"]) == MOST
