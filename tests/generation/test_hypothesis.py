"""What we rely on inside Hypothesis: when it moves, these fail before a shrink does nothing."""

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.data import ConjectureData, Status
from hypothesis.internal.conjecture.engine import ConjectureRunner

import checker
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource, Source
from checker.generation.sources.hypothesis import choices_from_bytes, choices_to_bytes, draw_strategy
from checker.generation.sources.replay import ReplaySource
from tests.measuring.conjecture import replay_through_conjecture

PACKAGE = Path(checker.__file__).parent
ONLY = "generation/sources/hypothesis.py"
_INSIDE = ("hypothesis.internal", "hypothesis.control")


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.thorough
def test_one_module_touches_the_inside_of_hypothesis() -> None:
    touching = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(name.startswith(_INSIDE) for name in _imported(path))
    }
    assert touching == {ONLY}


def test_what_is_used_inside_is_still_there() -> None:
    expected: dict[Callable[..., Any], tuple[str, ...]] = {
        ConjectureData.for_choices: ("choices",),
        ConjectureData.draw_integer: ("min_value", "max_value"),
        ConjectureData.draw_float: ("min_value", "max_value", "allow_nan"),
        ConjectureData.draw_boolean: ("p", "forced"),
        ConjectureData.draw_string: ("intervals", "min_size", "max_size"),
        ConjectureData.draw_bytes: ("min_size", "max_size"),
        ConjectureData.start_span: ("label",),
        ConjectureData.stop_span: ("discard",),
        ConjectureData.mark_invalid: ("why",),
        ConjectureData.mark_interesting: ("interesting_origin",),
        ConjectureRunner.__init__: ("settings", "random", "database_key", "ignore_limits"),
    }
    for function, names in expected.items():
        assert set(names) <= inspect.signature(function).parameters.keys(), function
    assert {"VALID", "INVALID", "INTERESTING", "OVERRUN"} == {status.name for status in Status}


def _three(source: Source) -> tuple[int, bool, str]:
    return source.integer(0, 100), source.boolean(), source.string(alphabets.LETTERS, 0, 5)


@pytest.mark.parametrize(
    ("choices", "status", "is_exact"),
    [
        ((5, True, "ab"), "VALID", True),
        ((5, True), "OVERRUN", True),
        ((500, True, "ab"), "VALID", False),
        ((5, "ab", True), "VALID", False),
        ((5, True, "ab", 1), "VALID", False),
    ],
)
def test_a_record_that_does_not_fit_is_noticed(choices: tuple[Any, ...], status: str, is_exact: bool) -> None:
    assert replay_through_conjecture(_three, choices)[1:] == (status, is_exact)


@given(st.lists(st.integers() | st.booleans() | st.text(max_size=5) | st.binary(max_size=5)))
@settings(max_examples=20)
def test_records_survive_the_format_of_the_example_database(choices: list[Any]) -> None:
    assert choices_from_bytes(choices_to_bytes(choices)) == tuple(choices)


def test_choices_of_a_strategy_replay() -> None:
    strategy = st.lists(st.integers(0, 9), min_size=2).map(sorted)
    source = RandomSource(4)
    value = draw_strategy(strategy, source)
    assert value == draw_strategy(strategy, ReplaySource(source.choices))
    replayed, status, is_exact = replay_through_conjecture(
        lambda source: draw_strategy(strategy, source), source.choices
    )
    assert (replayed, status, is_exact) == (value, "VALID", True)


def test_hypothesis_need_not_try_every_character(tmp_path: Path) -> None:
    # Whoever tried them in this world would find eleven.
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from hypothesis.internal.charmap import intervals_from_codec\n"
        "from checker.generation.sources.hypothesis import isolate, know_characters\n"
        "sys.maxunicode = 10\n"
        "isolate(Path('cache'))\n"
        "know_characters()\n"
        "print([one.intervals for one in intervals_from_codec('utf-8')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(checker.__file__).parent.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[((0, 55295), (57344, 1114111)), ()]"
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
