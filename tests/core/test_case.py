from typing import Any

from checker.core.case import Case
from checker.core.meta import CaseMetadata, ComponentProvenance, GenerationMode, PhaseInfo
from checker.core.operation import Location


def test_parts_make_the_case_that_keywords_make() -> None:
    operation: Any = object()
    components = {Location.QUERY: ComponentProvenance()}
    meta = CaseMetadata(GenerationMode.POSITIVE, components, PhaseInfo("fuzzing"))
    path, headers, cookies, query = ({name: name} for name in ("p", "h", "c", "q"))
    made = Case.of_parts(
        operation, "1", (path, headers, cookies, query, (b"1", "text/plain")), meta
    )
    wanted = Case(
        operation, "1", path_parameters=path, query=query, headers=headers, cookies=cookies,
        body=b"1", media_type="text/plain", meta=meta,
    )  # fmt: skip
    for name in Case.__slots__:
        assert getattr(made, name) is getattr(wanted, name), name
