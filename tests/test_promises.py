"""Each claim of docs/developers/promises.md names tests that exist, and `make test` runs one of them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS = [line for line in (ROOT / "docs/developers/promises.md").read_text().splitlines() if "`tests/" in line]


def named_files(row: str) -> Iterator[Path]:
    """Yield the test files of a row; a name without a folder is in the folder of the name before it."""
    folder = ROOT
    for name in re.findall(r"`((?:tests/)?[\w/*.]*)`", row.split("|")[2]):
        if name.startswith("tests/"):
            path = ROOT / name
            folder = path.parent
        elif name.startswith("test_"):
            path = folder / name
        else:
            continue
        found = sorted(path.rglob("test_*.py")) if path.is_dir() else sorted(path.parent.glob(path.name))
        assert found, f"{name} does not exist"
        yield from found


def has_quick_test(path: Path) -> bool:
    """Whether a file has a test that does not repeat a claim."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            marks = {ast.unparse(mark) for mark in node.decorator_list}
            if "pytest.mark.thorough" not in marks and "pytest.mark.corpora" not in marks:
                return True
    return False


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:60])
def test_a_claim_has_a_test_that_make_test_runs(row: str) -> None:
    assert any(map(has_quick_test, named_files(row)))
