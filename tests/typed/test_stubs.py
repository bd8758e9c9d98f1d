"""Type checkers see each public name: stubs say what the table of names says, and a project uses all of them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker import errors, faces
from tests.typed.stubs import ROOT, formatted, stubs

PROJECT = Path(__file__).with_name("project")
ERRORS = ROOT / "errors.pyi"
STUBS = {path: text for path, text in stubs() if path != ERRORS}


@pytest.mark.parametrize("path", STUBS, ids=lambda path: str(path.relative_to(ROOT)))
def test_stub_is_made_of_the_table_of_names(path: Path) -> None:
    assert path.read_text() == formatted(STUBS[path]), "write stubs anew: python -m tests.typed.stubs"


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` of names and attributes; None of anything else."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def used_names() -> Iterator[str]:
    """Names below `checker` that the project uses."""
    for path in PROJECT.glob("*.py"):
        tree = ast.parse(path.read_text())
        taken = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "checker"
            for alias in node.names
        }
        for node in ast.walk(tree):
            name = dotted(node) if isinstance(node, ast.Attribute | ast.Name) else None
            if name is None:
                continue
            first, _, rest = name.partition(".")
            if first == "checker":
                yield rest
            elif first in taken:
                yield name


def test_the_project_uses_every_public_name() -> None:
    """It is checked by `mypy --strict` with everything else: a name that is missing there may be `Any` unnoticed."""
    assert sorted(set(faces.PUBLIC) - set(used_names())) == []


def test_errors_in_the_stub_are_what_they_are() -> None:
    """A check of ours may bring a kind of failure without a line here: the stub calls it a failure."""
    classes = {
        alias.name: node.module
        for node in ast.walk(ast.parse(ERRORS.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert set(errors.__all__) <= set(classes)
    assert {name: getattr(errors, name).__module__ for name in classes} == classes
