"""What is written down of the checks that looked at a case: those of a run, or of its operation."""

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from checker.checks.judge import Judgement
from checker.core.case import Case
from checker.corpus.codec import RecordEncoder
from checker.corpus.packing import Packed
from checker.corpus.records import CheckOutcome

_SUCCESS = "SUCCESS"


class CheckOutcomes(Struct):
    """Outcomes of the checks of each case."""

    names: Sequence[str]
    of_case: Callable[[Case], Sequence[str]] | None = None
    """Names of the checks of a case, where they are not those of all others."""
    _encoder: RecordEncoder = field(default_factory=RecordEncoder)
    _packed: Packed = field(default_factory=Packed)
    """All checks passed, as it is written."""
    _packed_by_names: dict[tuple[str, ...], Packed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._packed = self._all_passed(self.names)

    def passed(self, case: Case) -> Packed:
        """All checks of a case passed, as it is written."""
        if self.of_case is None:
            return self._packed
        names = tuple(self.of_case(case))
        packed = self._packed_by_names.get(names)
        if packed is None:
            packed = self._packed_by_names[names] = self._all_passed(names)
        return packed

    def told(self, case: Case, judgement: Judgement) -> tuple[CheckOutcome, ...]:
        """What each check of a case came to."""
        failed: dict[str, list[str]] = {}
        for failure in judgement.failures:
            text = f"{failure.title}\n{failure.message}".rstrip()
            failed.setdefault(failure.check, []).append(text)
        raised = {name: str(error) for name, error in judgement.errors}
        names = self.names if self.of_case is None else self.of_case(case)
        return tuple(_outcome(name, failed.get(name, ()), raised.get(name)) for name in names)

    def _all_passed(self, names: Sequence[str]) -> Packed:
        return self._encoder.packed(tuple(CheckOutcome(name, _SUCCESS) for name in names))


def _outcome(name: str, failed: Sequence[str], raised: str | None) -> CheckOutcome:
    if failed:
        return CheckOutcome(name, "FAILURE", "\n\n".join(failed))
    return CheckOutcome(name, _SUCCESS) if raised is None else CheckOutcome(name, "ERROR", raised)
