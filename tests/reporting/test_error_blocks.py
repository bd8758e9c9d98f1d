"""What could not be tested, as people are told of it."""

from checker.corpus.records import UNREACHED, OperationError
from checker.reporting.error_blocks import alike_as_one


def test_what_many_operations_have_is_one_error_with_its_places() -> None:
    labels = [f"GET /{number}" for number in range(23)]
    errors = [OperationError(label, "fuzzing", "Hook Error", "raised", "trace") for label in labels]
    other = OperationError("GET /0", "fuzzing", "Hook Error", "raised", "another trace")
    sent = OperationError("GET /1", "fuzzing", "Hook Error", "raised", "trace", "curl /1")
    told = set(alike_as_one([*errors, other, sent]))
    (one,) = told - {other, sent}
    assert one.label == "GET /0 and 22 more operations"
    first, _, places = one.message.partition("\n\nIn 23 operations:\n")
    assert first == "raised"
    assert places.splitlines() == [*(f"- {label}" for label in labels[:20]), "- and 3 more"]


def test_a_target_that_nobody_reaches_is_no_list_of_operations() -> None:
    errors = [OperationError(label, "fuzzing", UNREACHED, "refused") for label in ("a", "b")]
    (one,) = alike_as_one(errors)
    assert (one.label, one.message) == ("2 operations", "refused")
