"""Keys of phases that list their cases reach what lists them, for all operations or for some."""

from typing import Any

import pytest

from checker.config.auth import Authentication
from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings
from checker.core.errors import ConfigError
from checker.core.meta import GenerationMode
from checker.generation.settings import UNEXPECTED_METHODS, GenerationSettings
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.operation_tools import generation_rules
from tests.asking import saying
from tests.openapi.documents import operation

COVERAGE, EXAMPLES = "coverage", "examples"


def of(said: dict[str, Any], phase: str, *operations: dict[str, Any]) -> GenerationSettings:
    """How the cases of `GET /a` are generated in a phase."""
    layers = saying(said, *operations)
    resolver = OperationResolver(layers)
    settings = RunSettings("a", "run", 1, operations=layers)
    rules = generation_rules(resolver, settings, SchemeCredentials({}, Authentication()), reuse=False)
    return rules.of(operation({}), phase)


def in_phase(phase: str, **keys: Any) -> dict[str, Any]:
    return {"phases": {phase: {name.replace("_", "-"): value for name, value in keys.items()}}}


@pytest.mark.parametrize("is_block", [False, True])
def test_keys_act_everywhere_or_for_the_operations_of_a_block(is_block: bool) -> None:
    said = in_phase(COVERAGE, unexpected_methods=["patch", "PATCH"])
    said["phases"] |= in_phase(EXAMPLES, fill_missing=True)["phases"]
    said["phases"][COVERAGE]["generate-duplicate-query-parameters"] = True
    block = {"include-path": "/a", **said}
    found = of({}, COVERAGE, block) if is_block else of(said, COVERAGE)
    assert found.listing.unexpected_methods == ("PATCH",)
    assert found.listing.repeats_query
    assert found.listing.fills_missing_examples
    other = of({}, COVERAGE, {"include-path": "/b", **said})
    assert other.listing.unexpected_methods == UNEXPECTED_METHODS
    assert not other.listing.repeats_query


def test_no_methods_are_none() -> None:
    assert of(in_phase(COVERAGE, unexpected_methods=[]), COVERAGE).listing.unexpected_methods == ()


def test_generation_of_one_phase_is_its_own() -> None:
    said = in_phase(COVERAGE, generation={"mode": "negative", "with-security-parameters": False})
    coverage, examples = of(said, COVERAGE), of(said, EXAMPLES)
    assert (coverage.mode, coverage.security_parameters) == (GenerationMode.NEGATIVE, False)
    assert (examples.mode, examples.security_parameters) == (None, True)


@pytest.mark.parametrize("method", ["head", "CONNECT", "not a method"])
def test_methods_that_cannot_be_tried_are_refused(method: str) -> None:
    with pytest.raises(ConfigError, match="unexpected-methods"):
        saying(in_phase(COVERAGE, unexpected_methods=[method]))
