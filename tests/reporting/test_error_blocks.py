"""What could not be tested, as people are told of it."""

from checker.corpus.records import UNREACHED, WHOLE_TASK, OperationError, Quarantined
from checker.reporting.findings import errors_by_label
from checker.reporting.report import joined_errors


def test_what_many_operations_have_is_one_error_with_its_places() -> None:
    labels = [f"GET /{number}" for number in range(23)]
    errors = [OperationError(label, "fuzzing", "Hook Error", "raised", "trace") for label in labels]
    other = OperationError("GET /0", "fuzzing", "Hook Error", "raised", "another trace")
    sent = OperationError("GET /1", "fuzzing", "Hook Error", "raised", "trace", "curl /1")
    told = set(joined_errors([*errors, other, sent]))
    (one,) = told - {other, sent}
    assert one.label == "GET /0 and 22 more operations"
    first, _, places = one.message.partition("\n\nIn 23 operations:\n")
    assert first == "raised"
    assert places.splitlines() == [*(f"- {label}" for label in labels[:20]), "- and 3 more"]


def test_an_unreachable_target_is_one_error_without_a_list_of_operations() -> None:
    errors = [OperationError(label, "fuzzing", UNREACHED, "refused") for label in ("a", "b")]
    (one,) = joined_errors(errors)
    assert (one.label, one.message) == ("2 operations", "refused")


def test_cases_that_ended_alike_are_told_once_and_a_phase_that_was_given_up_as_that() -> None:
    def gone(index: int, stage: str, reason: str) -> Quarantined:
        name = "" if index == WHOLE_TASK else f"c{index}"
        return Quarantined("t", "GET /a", index, name, stage, 2, (), f"curl /{index}", f"exit code {reason}")

    cases = [gone(number, "hook", "3") for number in range(3)]
    ((label, text),) = errors_by_label([], [*cases, gone(5, "send", "3"), gone(WHOLE_TASK, "", "4")])
    assert label == "GET /a"
    assert "case c0 ended its worker 2 times in stage hook: exit code 3\n    2 more cases did the same." in text
    assert ("curl /0" in text, "curl /1" in text) == (True, False)
    assert "case c5 ended its worker 2 times in stage send" in text
    assert "the remaining cases were given up: exit code 4\n" in text
