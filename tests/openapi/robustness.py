"""What becomes of a description that is broken, odd or split: rows of a table that is kept beside the documents.

    CHECKER_CORPORA=... python -m tests.openapi.robustness

writes the table anew, arguments kept; a row without an argument is for its reader to argue.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checker.core.errors import LoaderError
from checker.core.operation import BrokenOperation
from checker.openapi.loaders import from_path
from checker.openapi.operation import OpenApiOperation

DATA = Path(__file__).parent.parent / "data" / "robustness"
TABLE = DATA / "table.json"
_QUOTED = re.compile(r"`([^`]+)`")
_PLACE = re.compile(r"line \d+, column \d+")
Row = dict[str, Any]
"""file, pointer, places (how many there are), trouble, what, tested; in the table also `why`."""


def documents() -> list[Path]:
    """Copies of small documents, and the whole folder where it is at hand."""
    found = {path.name: path for path in DATA.iterdir() if "--" in path.name}
    corpora = os.environ.get("CHECKER_CORPORA")
    if corpora:
        found = {path.name: path for path in Path(corpora, "robustness").iterdir()} | found
    return [found[name] for name in sorted(found)]


def rows_of(path: Path) -> list[Row]:
    """What is wrong with one document, like troubles together."""
    try:
        schema = from_path(path)
    except LoaderError as error:
        place = _PLACE.search(error.message)
        what = error.message.replace(str(path.parent) + os.sep, "")
        return [_row(path, place[0] if place else "", "refused", what, "nothing")]
    operations = list(schema.get_all_operations())
    usable = [one for one in operations if isinstance(one, OpenApiOperation)]
    tested = f"{len(usable)} of {len(operations)} operations"
    skipped = [one.label for one in usable if one.has_skipped_required_body]
    if skipped:
        tested += f", {', '.join(skipped)} without its body"
    found: dict[tuple[str, str], Row] = {}
    for pointer, trouble, what in _troubles(operations):
        row = found.setdefault((trouble, what), _row(path, pointer, trouble, what, tested))
        row["places"] += 1
    return list(found.values()) or [_row(path, "", "none", "", tested)]


def _troubles(operations: list[Any]) -> Iterator[tuple[str, str, str]]:
    for one in operations:
        if isinstance(one, BrokenOperation):
            yield one.label, "broken operation", _what(one.error)
        else:
            for warning in one.warnings():
                yield warning.pointer, warning.kind.value, _what(warning.message)


def _what(message: str) -> str:
    quoted = _QUOTED.search(message)
    return quoted[1] if quoted else message


def _row(path: Path, pointer: str, trouble: str, what: str, tested: str) -> Row:
    return {"file": path.name, "pointer": pointer, "places": 0, "trouble": trouble, "what": what, "tested": tested}


def main() -> None:
    old = {_key(row): row.get("why", "") for row in json.loads(TABLE.read_text())} if TABLE.exists() else {}
    rows = [row | {"why": old.get(_key(row), "")} for path in documents() for row in rows_of(path)]
    TABLE.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(rows)} rows, {sum(not row['why'] for row in rows)} to argue", file=sys.stderr)


def _key(row: Row) -> tuple[str, str, str]:
    return row["file"], row["trouble"], row["what"]


if __name__ == "__main__":
    main()
