"""Listed values beside whatever else a schema says."""

from typing import Any

import pytest

from checker.core.errors import Unsatisfiable

from .making import bodies, program_of

CASES: list[tuple[dict[str, Any], list[Any]]] = [
    ({"type": "integer", "enum": [1, "a", 2]}, [1, 2]),
    ({"enum": [1, 2, 3], "oneOf": [{"const": 1}, {"enum": [2, 1]}]}, [2]),
    ({"enum": [1, 2, 3], "anyOf": [{"const": 1}, {"enum": [2, 1]}]}, [1, 2]),
    ({"enum": [1, 2, 3], "allOf": [{"oneOf": [{"const": 3}, {"const": 1}]}]}, [1, 3]),
    ({"enum": [1, "a"], "oneOf": [{"type": "string"}, False]}, ["a"]),
    ({"enum": [1, 9], "anyOf": [{"minimum": 5}, {"type": "string"}]}, [9]),
    ({"enum": [1, 2**40], "format": "int32"}, [1]),
    ({"enum": ["x", "2020-01-01"], "anyOf": [{"format": "date"}]}, ["2020-01-01"]),
    ({"enum": ["x", "2020-01-01"], "format": "date"}, ["2020-01-01"]),
    ({"enum": ["x", "xyz"], "minLength": 2}, ["xyz"]),
    ({"enum": [1, 2], "not": {"const": 1}}, [2]),
]


@pytest.mark.parametrize(("raw", "expected"), CASES)
def test_only_members_that_fit_the_rest_are_drawn(raw: dict[str, Any], expected: list[Any]) -> None:
    assert expected == sorted(set(bodies(raw, 40)))


def test_a_list_without_a_fitting_member_is_refused() -> None:
    with pytest.raises(Unsatisfiable, match="satisfies the rest"):
        program_of(body={"enum": [1, 2], "oneOf": [{"enum": [1, 2]}, {"enum": [2, 1]}]})
