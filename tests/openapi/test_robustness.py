import json
from pathlib import Path
from typing import Any

import pytest

from checker.core.errors import LoaderError
from checker.openapi.loaders import from_path, open_normalised

from .documents import warnings_of
from .robustness import TABLE, documents, rows_of

ROWS: list[dict[str, Any]] = json.loads(TABLE.read_text())


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name[-40:])
def test_troubles_are_those_of_the_table(path: Path) -> None:
    kept = [row for row in ROWS if row["file"] == path.name]
    assert rows_of(path) == [{key: value for key, value in row.items() if key != "why"} for row in kept]
    assert kept


def test_every_row_is_argued() -> None:
    assert all(row["why"] and "\n" not in row["why"] for row in ROWS)


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name[-40:])
def test_what_was_written_down_has_the_same_troubles(path: Path) -> None:
    try:
        schema = from_path(path)
    except LoaderError:
        return
    again = open_normalised(schema.normalised())
    assert warnings_of(again) == warnings_of(schema)
    assert list(again.checked_entries()) == list(schema.checked_entries())
