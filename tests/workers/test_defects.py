"""What counts as another sight of a settled finding, whoever settled it and in whatever order it was heard."""

from itertools import permutations
from typing import Any

from checker.checks.server_error import ServerError
from checker.core.failures import Failure
from checker.corpus.records import Finding
from checker.workers.recording.defects import MOST_LOOKS, MOST_TEXTS, MOST_VARIANTS, Defects
from tests.reporting.samples import finding

LABEL = "GET /a"


def settled(text: str, index: int = 0, **changes: Any) -> Finding:
    failure = failed(text)
    values = {
        "fingerprint": failure.fingerprint(LABEL),
        "label": LABEL,
        "check": failure.check,
        "unique_key": failure.unique_key,
        "text": text,
        "case": f"case {index}",
        "index": index,
        "requests": 7,
        **changes,
    }
    return finding(**values).brief


def failed(text: str, rule: str = "500", check: str = "not_a_server_error") -> Failure:
    failure = ServerError(unique_key=rule, text=text)
    failure.check = check
    return failure


def test_a_text_that_fits_the_template_of_a_finding_is_another_sight_of_it() -> None:
    defects, known = Defects(), settled("no such * table", fingerprint="f")
    defects.absorb(known)
    assert defects.same_as(LABEL, failed("no such guest table"), "new") == "f"
    assert defects.same_as(LABEL, failed("no such column"), "new") is None
    assert defects.same_as(LABEL, failed("no such guest table", rule="503"), "new") is None
    assert defects.same_as("GET /b", failed("no such guest table"), "new") is None


def test_a_finding_is_no_other_sight_of_itself() -> None:
    defects, known = Defects(), settled("*")
    defects.absorb(known)
    assert defects.same_as(LABEL, failed("error"), known.fingerprint) is None


def test_texts_beyond_the_cap_are_the_first_finding_in_whatever_order_it_was_heard_of() -> None:
    texts = [settled(f"word {number}", index=10 - number) for number in range(MOST_TEXTS)]
    for order in permutations(texts):
        defects = Defects()
        for one in order[:-1]:
            defects.absorb(one)
        assert defects.same_as(LABEL, failed("yet another"), "new") is None
        defects.absorb(order[-1])
        assert defects.same_as(LABEL, failed("yet another"), "new") == texts[-1].fingerprint


def test_other_sights_do_not_fill_the_cap() -> None:
    defects = Defects()
    for number in range(2 * MOST_TEXTS):
        defects.absorb(settled(f"word {number}", same_as="f"))
    assert defects.same_as(LABEL, failed("yet another"), "new") is None


def test_rules_of_one_check_beyond_the_cap_are_the_first_finding() -> None:
    defects = Defects()
    for number in range(MOST_VARIANTS):
        defects.absorb(settled("", index=number, fingerprint=f"f{number:02}", unique_key=str(number)))
    assert defects.same_as(LABEL, failed("", rule="another"), "new") == "f00"


def test_what_a_finding_cost_is_counted_once() -> None:
    defects = Defects()
    for _ in range(2):
        defects.absorb(settled("error"))
        defects.absorb(settled("other", same_as="f"))
    assert defects.spent(LABEL) == 14
    assert not defects.is_novel(LABEL, "not_a_server_error")
    assert defects.is_novel(LABEL, "status_code_conformance")


def test_the_same_smallest_case_that_breaks_the_same_rule_is_the_same_defect() -> None:
    defects = Defects()
    defects.absorb(settled("error", fingerprint="f"))
    assert defects.with_case(LABEL, failed("other"), "new", "case 0") == "f"
    assert defects.with_case(LABEL, failed("other"), "f", "case 0") is None
    assert defects.with_case(LABEL, failed("other"), "new", "case 1") is None


def test_a_failure_that_passes_is_looked_into_again_until_it_shows_each_time() -> None:
    defects = Defects()
    passing, stable = (settled("error", fingerprint="f", hits=hits, tries=8) for hits in (1, 8))
    defects.settle(passing)
    assert defects.unfinished == {"f"}
    defects.settle(stable)
    assert not defects.unfinished


def test_a_failure_that_passes_each_time_is_looked_into_a_few_times() -> None:
    defects, passing = Defects(), settled("error", fingerprint="f", hits=1, tries=8)
    for number in range(1, MOST_LOOKS + 2):
        defects.settle(passing)
        assert ("f" in defects.unfinished) == (number < MOST_LOOKS)


def test_another_sight_of_a_failure_that_passes_is_not_looked_into_again() -> None:
    defects = Defects()
    defects.settle(settled("error", fingerprint="f", hits=1, tries=8, same_as="g"))
    assert not defects.unfinished
