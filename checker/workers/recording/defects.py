"""The defects of the run that a worker knows, and the cost of their investigation."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from msgspec import Struct, field

from checker.core.failures import Failure
from checker.core.operation import Label
from checker.core.templates import matches
from checker.corpus.known import is_intermittent
from checker.corpus.records import Finding
from checker.workers.messages import KNOWN_PLACES

MOST_TEXTS = 5
"""Most findings of one rule and operation that differ only in their error texts. Further findings count as the first one."""
MOST_VARIANTS = 20
"""Most findings of one check on one operation. A rule that is broken in ever new places must not fill the disk."""

MOST_LOOKS = 5  # Looks at a failure that did not show each time. Other requests may disturb one look, but not the next.

MOST_LATER = 20
"""Most failures of one worker that are sent once more after a while. Each takes a second, and all may need it if a service masks its errors.
"""


class Defects(Struct):
    """Settled findings of all workers, and their common causes. The content does not depend on which worker settled them."""

    fingerprints: set[str] = field(default_factory=set)
    """Fingerprints of findings that are settled, or under investigation in this worker."""
    unfinished: set[str] = field(default_factory=set)
    """Fingerprints of failures of which this worker sent only the commands, or that did not show each time."""
    passing: set[str] = field(default_factory=set)  # Causes of the findings that did not show each time.
    later_looks: int = MOST_LATER  # Failures that may still be looked at later, because others of their cause pass.
    reopens: Callable[[str], bool] = lambda fingerprint: False  # Whether a failure has more requests by now.
    _by_rule: dict[tuple[str, str, str], dict[str, Finding]] = field(default_factory=lambda: defaultdict(dict))
    _by_check: dict[tuple[str, str], dict[str, Finding]] = field(default_factory=lambda: defaultdict(dict))
    _spent: Counter[str] = field(default_factory=Counter)  # Operation -> requests that were spent on its findings.
    _settled: dict[str, Finding] = field(default_factory=dict)
    _places: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # Cause -> its operations.
    _looks: Counter[str] = field(default_factory=Counter)
    """Fingerprint -> how often it was investigated here and did not show each time."""

    def absorb(self, *settled: Finding) -> None:
        """Take in settled findings. Repeating this changes nothing."""
        for one in settled:
            self.fingerprints.add(one.fingerprint)
            if one.fingerprint in self._settled:
                continue
            self._settled[one.fingerprint] = one
            self._spent[one.label] += one.investigation.requests
            if one.cause and one.investigation.hits < one.investigation.tries:
                self.passing.add(one.cause)
            if one.cause and one.investigation.reproduced:
                self._places[one.cause].add(one.label)
            if not one.same_as:
                rule = (one.label, one.check, one.unique_key)
                self._by_rule[rule][one.fingerprint] = one
                self._by_check[rule[:2]][one.fingerprint] = one

    def has_news(self, label: Label, failures: Iterable[Failure]) -> bool:
        """Whether one of these failures of an operation is new."""
        return any(one.fingerprint(label) not in self.fingerprints for one in failures)

    def is_known(self, fingerprint: str, label: str, failure: Failure) -> bool:
        """Whether a failure, or another form of it, is settled or under investigation."""
        if fingerprint in self.fingerprints:
            return not self.reopens(fingerprint)
        return self.same_as(label, failure, fingerprint) is not None

    def settle(self, finding: Finding) -> None:
        """Add a finding that this worker settled."""
        name = finding.fingerprint
        if finding.investigation.withdrawn and finding.investigation.stopped and not finding.investigation.requests:
            # Nothing was sent for this failure.
            self.unfinished.add(name)
            return
        if finding.investigation.withdrawn:
            self.give_back(name, finding.label, finding.investigation.requests)
            return
        self.absorb(finding.brief)
        is_cut = bool(finding.investigation.stopped) and not finding.investigation.shrink_executions
        if is_intermittent(finding.investigation):
            # Two errors may have the same text: a temporary lock must not hide a defect that always shows.
            self._looks[name] += 1
            is_cut = is_cut or self._looks[name] < MOST_LOOKS
        if is_cut and not finding.same_as:
            self.unfinished.add(name)
        else:
            self.unfinished.discard(name)

    def give_back(self, fingerprint: str, label: str, requests: int) -> None:
        """Forget a failure that did not recur, so that the next case with it is investigated."""
        self._spent[label] += requests
        self._looks[fingerprint] += 1
        if self._looks[fingerprint] < MOST_LOOKS:
            self.fingerprints.discard(fingerprint)

    def knows_cause(self, cause: str) -> bool:
        """Whether enough operations have shown a cause."""
        return len(self._places.get(cause, ())) >= KNOWN_PLACES

    def shows_known_cause(self, fingerprint: str) -> bool:
        """Whether a settled finding is one of many places of a cause."""
        settled = self._settled.get(fingerprint)
        return settled is not None and bool(settled.investigation.reproduced) and self.knows_cause(settled.cause)

    def spent(self, label: str) -> int:
        """Return the number of requests that were spent on findings of an operation."""
        return self._spent[label]

    def is_novel(self, label: str, check: str) -> bool:
        """Whether no finding of this check on this operation is settled."""
        return not self._by_check[label, check]

    def text_of(self, fingerprint: str, failure: Failure) -> str | None:
        """Return the template of a settled finding's error texts; None if a failure breaks another rule."""
        settled = self._settled.get(fingerprint)
        rule = (failure.check, failure.unique_key)
        return settled.text if settled is not None and (settled.check, settled.unique_key) == rule else None

    def same_as(self, label: str, failure: Failure, fingerprint: str) -> str | None:
        """Return the fingerprint of the settled finding with the same defect as a failure; None if the failure has to be investigated."""
        alike = self._by_rule[label, failure.check, failure.unique_key]
        if fingerprint in alike:
            return None
        # In the order of cases, because the finding that represents a failure must not depend on the order of reports.
        for settled in _in_order(alike):
            if matches(settled.text, failure.text):
                return settled.fingerprint
        if len(alike) >= MOST_TEXTS:
            return _in_order(alike)[0].fingerprint
        of_check = self._by_check[label, failure.check]
        if len(of_check) >= MOST_VARIANTS:
            return _in_order(of_check)[0].fingerprint
        return None

    def with_case(self, label: str, failure: Failure, fingerprint: str, case: str) -> str | None:
        """Return the fingerprint of another settled finding that breaks the same rule with the same smallest case."""
        alike = _in_order(self._by_rule[label, failure.check, failure.unique_key])
        others = (one for one in alike if one.fingerprint != fingerprint)
        return next((one.fingerprint for one in others if one.case == case), None)


def _in_order(settled: dict[str, Finding]) -> list[Finding]:
    """Return findings in the order of their cases, whatever the order of reports."""
    return sorted(settled.values(), key=lambda one: (one.index, one.fingerprint))
