"""What looking into failures may cost follows from counts alone."""

from checker.core.failures import Severity
from checker.core.operation import Label
from checker.workers.defects import Defects
from checker.workers.leased import LeasedTask
from checker.workers.messages import Task
from checker.workers.purse import AROUND, CREDIT, FEWEST, Purse
from tests.workers.test_defects import settled

LABEL = "GET /a"
CHECK = "not_a_server_error"


def allowed(purse: Purse, *, cases: int = 400, phase: str = "fuzzing", check: str = CHECK) -> int:
    task = Task("0" * 16, phase, (Label(LABEL),), 1, 0, cases, 8.0)
    return purse.allowance(LeasedTask.of(task), LABEL, Severity.CRITICAL, check)


def test_a_finding_may_take_what_is_left_of_the_share_of_its_operation() -> None:
    assert allowed(Purse(0.2, Defects())) == 100 - AROUND
    assert allowed(Purse(0.5, Defects())) == 400 - AROUND
    assert allowed(Purse(0.2, Defects()), cases=4) == FEWEST - AROUND


def test_another_one_of_the_check_has_half_of_what_the_first_one_left() -> None:
    defects = Defects()
    defects.absorb(settled("error", requests=60))
    assert allowed(Purse(0.2, defects)) == (40 - AROUND) // 2
    assert allowed(Purse(0.2, defects), check="other") == 40 - AROUND
    defects.absorb(settled("other error", requests=60))
    assert allowed(Purse(0.2, defects)) == 0


def test_in_fuzz_a_worker_may_take_what_its_cases_earned() -> None:
    purse = Purse(0.2, Defects(), spent=CREDIT, earned=400)
    assert allowed(purse, phase="exploration", check="first") == 100 - AROUND
