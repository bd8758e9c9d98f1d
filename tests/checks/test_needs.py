"""Which requests the chosen checks need."""

import pytest

from checker.checks.to_run import Needs, needs_of
from checker.core.meta import GenerationMode
from checker.core.scenarios import REQUEST_SHAPES, Scenario
from tests.checks.asked import operations_of

PLAIN = operations_of({"/a": {"get": {"responses": {"200": {"description": "fine"}}}}})["GET /a"]
ALL = frozenset(GenerationMode)
WRONG, RIGHT = (frozenset((mode,)) for mode in (GenerationMode.NEGATIVE, GenerationMode.POSITIVE))
NOTHING: frozenset[str] = frozenset()
METHODS = frozenset((str(Scenario.UNSPECIFIED_METHOD),))


@pytest.mark.parametrize(
    ("names", "needs"),
    [
        (["not_a_server_error"], Needs(ALL, REQUEST_SHAPES)),
        (["status_code_conformance"], Needs(ALL, NOTHING)),
        (["negative_data_rejection"], Needs(WRONG, NOTHING)),
        (["positive_data_acceptance"], Needs(RIGHT, NOTHING)),
        (["negative_data_rejection", "positive_data_acceptance"], Needs(ALL, NOTHING)),
        (["unsupported_method"], Needs(frozenset(), METHODS)),
        (["allow_header_conformance"], Needs(frozenset(), METHODS)),
        # There is no header that may be missing, and nobody asks for credentials.
        (["missing_required_header", "ignored_auth"], Needs(frozenset(), NOTHING)),
        ([], Needs(frozenset(), NOTHING)),
    ],
)
def test_only_what_is_judged_is_needed(names: list[str], needs: Needs) -> None:
    assert needs_of(names, PLAIN) == needs
