"""What readers of the code rely on: short files, one class for each name, a map that is short and true."""

import ast
import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("checker", "tests", "benchmarks", "tests_browser", "tests_servers")
LINES = 400
WORDS_OF_MAP = 1_500
SPOKEN_OF = (ast.Module, ast.ClassDef, ast.FunctionDef)


def sources(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*.py") if "data" not in path.parts]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_is_longer_than_four_hundred_lines(folder: str) -> None:
    found = sources(folder)
    too_long = [str(path) for path in found if len(path.read_text().splitlines()) > LINES]
    assert found
    assert too_long == []


def test_a_name_belongs_to_one_class() -> None:
    homes = defaultdict(list)
    for path in sources("checker"):
        for name in re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE):
            homes[name].append(str(path.relative_to(ROOT)))
    assert homes
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_the_map_is_read_in_ten_minutes_and_names_what_there_is() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    words = [word for word in text.split() if re.search(r"\w", word)]
    named = set(re.findall(r"`([a-z_]+/[\w/]+(?:\.py)?)`", text))
    # Some stand below the folder that the sentence is about.
    missing = [
        path
        for path in named
        if not (ROOT / path).exists() and not any((ROOT / "checker").rglob(path))
    ]
    assert len(words) <= WORDS_OF_MAP
    assert len(named) > 30
    assert missing == []


def test_what_is_said_of_an_attribute_stands_behind_it() -> None:
    """Two texts in a row: one of them was left behind when its attribute moved, or went."""
    found = [
        f"{path.relative_to(ROOT)}:{second.lineno}"
        for path in sources("checker")
        for node in ast.walk(ast.parse(path.read_text()))
        for first, second in pairwise(node.body if isinstance(node, SPOKEN_OF) else ())
        if is_text(first) and is_text(second)
    ]
    assert found == []


def is_text(statement: ast.stmt) -> bool:
    said = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(said, ast.Constant) and isinstance(said.value, str)
