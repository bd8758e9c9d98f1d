"""Real documents, read to the end."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from checker.core.errors import LoaderError
from checker.core.operation import BrokenOperation
from checker.core.schema import Direction
from checker.openapi.loaders import from_path, open_normalised
from checker.validation.compiled import compile_schema

SMOKE = Path(__file__).parent.parent / "data" / "smoke"
JUNK = (b"{}", b"[]", b"null", b'"x"', b"1", b"[{}]", b"{")


def documents() -> Iterator[Path]:
    yield from sorted(path for path in SMOKE.iterdir() if path.suffix in (".json", ".yaml"))
    folder = os.environ.get("CHECKER_CORPORA")
    for name in ("openapi", "robustness") if folder else ():
        yield from sorted(Path(folder or "", name).iterdir())


@pytest.mark.parametrize("path", list(documents()), ids=lambda path: path.stem[-40:])
def test_document_is_read_to_the_end(path: Path) -> None:
    try:
        schema = from_path(path)
    except LoaderError:
        assert path.parent != SMOKE
        return
    assert open_normalised(schema.normalised()).raw_schema == schema.raw_schema
    for operation in schema.get_all_operations():
        if isinstance(operation, BrokenOperation):
            assert operation.error
            continue
        for schema_of_request in (
            *(parameter.schema for parameter in operation.parameters),
            *(body.schema for body in operation.bodies),
        ):
            compile_schema(schema_of_request, Direction.REQUEST)
        for status in (200, 400, 500):
            body = operation.contract.plan(status, "application/json").body
            for content in JUNK if body is not None and path.parent == SMOKE else ():
                assert body is not None
                assert body.is_valid(content) or body.opinions(content).disagreement is None


@pytest.mark.parametrize("path", [p for p in documents() if p.parent == SMOKE], ids=lambda p: p.stem)
def test_no_operation_of_the_smoke_set_is_broken(path: Path) -> None:
    found = list(from_path(path).get_all_operations())
    assert [o for o in found if isinstance(o, BrokenOperation)] == []
    assert len({operation.label for operation in found}) == len(found) > 0
