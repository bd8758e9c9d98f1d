from types import SimpleNamespace
from typing import Any

import pytest

from checker.core.case import Case
from checker.core.meta import CaseMetadata, ComponentProvenance, GenerationMode, PhaseInfo
from checker.core.operation import Location


def test_parts_make_the_case_that_keywords_make() -> None:
    operation: Any = object()
    components = {Location.QUERY: ComponentProvenance()}
    meta = CaseMetadata(GenerationMode.POSITIVE, components, PhaseInfo("fuzzing"))
    path, headers, cookies, query = ({name: name} for name in ("p", "h", "c", "q"))
    made = Case.of_parts(operation, "1", (path, headers, cookies, query, (b"1", "text/plain")), meta)
    wanted = Case(
        operation, "1", path_parameters=path, query=query, headers=headers, cookies=cookies,
        body=b"1", media_type="text/plain", meta=meta,
    )  # fmt: skip
    for name in Case.__slots__:
        assert getattr(made, name) is getattr(wanted, name), name


@pytest.mark.parametrize(
    ("parts", "method", "told"),
    [
        ({}, "GET", "<Case GET /items 1>"),
        ({}, "PATCH", "<Case GET /items 1: method='PATCH'>"),
        ({"query": {"a": 1}, "body": None}, "GET", "<Case GET /items 1: query={'a': 1}, body=None>"),
    ],
)
def test_a_case_shows_what_is_sent_and_no_more(parts: dict[str, Any], method: str, told: str) -> None:
    operation: Any = SimpleNamespace(label="GET /items", method="GET")
    case = Case(operation, "1", **parts)
    case.method = method
    assert repr(case) == told
