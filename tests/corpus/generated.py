"""Records of every class with hostile values: the strategies that the corpus tests share."""

from typing import Any, get_args

from hypothesis import strategies as st

from checker.core.constraints import Constraint
from checker.core.meta import Binding, Drawn, Listed, Literal, Step
from checker.core.operation import Label, Location
from checker.core.send import Purpose
from checker.corpus.records import (
    REPLAY_RESULTS,
    CaseFared,
    CheckOutcome,
    CheckState,
    Component,
    CorpusEntry,
    DemandHeard,
    Exchange,
    Finding,
    FindingReplayed,
    Interaction,
    Investigation,
    Note,
    OpenFindings,
    OperationDescribed,
    OperationError,
    OperationProbed,
    OperationServed,
    OperationsSelected,
    PartsCounted,
    Quarantined,
    Record,
    RefusalCounted,
    ResourceChanged,
    ResourceMade,
    RunFinished,
    RunStarted,
    SchemaOpened,
    SignalsSeen,
    SnapshotHeader,
    StoredBody,
    TaskProgress,
    ValueGone,
    ValueSeen,
    WorkerGone,
)

TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
LABELS = st.sampled_from(["GET /a", "POST /a", "GET /a/{x}", "DELETE /b/{\ud800}"]).map(Label)
INTEGERS = st.one_of(st.integers(), st.sampled_from([2**63, -(2**63) - 1, 2**64, 2**200, -(2**64)]))
FLOATS = st.one_of(st.floats(), st.sampled_from([-0.0, float("nan"), float("inf")]))
SCALARS = st.one_of(TEXT, INTEGERS, FLOATS, st.booleans())
_ABOVE = st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CHOICES = st.one_of(SCALARS, st.binary(max_size=9))
TIMES = st.floats(0, 2e9)
COUNTS = st.integers(0, 1000)


def tuples(inner: st.SearchStrategy[Any], size: int = 3) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=size).map(tuple)


BINDINGS = st.builds(Binding, st.sampled_from(Location), TEXT, LABELS, TEXT, COUNTS, JSON | st.binary(max_size=5))
PARTS = st.dictionaries(TEXT, JSON, max_size=2)
LITERALS = st.builds(
    Literal, PARTS, PARTS, PARTS, PARTS, tuples(JSON, 1), st.none() | TEXT, TEXT,
    tuples(st.tuples(TEXT, st.none() | TEXT)),
)  # fmt: skip
RECIPES = st.one_of(
    st.builds(Drawn, tuples(CHOICES, 6), TEXT), st.builds(Listed, TEXT, COUNTS, TEXT, tuples(TEXT, 2)), LITERALS
)
STEPS = st.builds(Step, LABELS, RECIPES, tuples(BINDINGS, 2))
EXCHANGES = st.builds(
    Exchange,
    st.sampled_from(["GET", "POST"]),
    st.binary(max_size=20),
    tuples(st.tuples(st.binary(max_size=5), st.binary(max_size=5))),
    st.none() | st.binary(max_size=20),
    st.none() | st.integers(100, 599),
    TEXT,
    st.binary(max_size=20),
    st.binary(max_size=20),
    COUNTS,
    FLOATS,
    st.none() | TEXT,
)
COMPONENTS = tuples(st.builds(Component, TEXT, TEXT, tuples(TEXT)), 2)
INTERACTIONS = st.builds(
    Interaction,
    TEXT,
    LABELS,
    TEXT,
    tuples(st.tuples(TEXT, st.none() | TEXT)),
    TEXT,
    COMPONENTS,
    TEXT,
    TIMES,
    FLOATS,
    EXCHANGES,
    tuples(st.builds(CheckOutcome, TEXT, TEXT, st.none() | TEXT)),
    COUNTS,
    st.sampled_from(Purpose),
)
FINGERPRINTS = st.sampled_from(["f1", "f2", "f3"])
FINDINGS = st.builds(
    Finding,
    FINGERPRINTS,
    LABELS,
    *[TEXT] * 5,
    st.just("fuzzing"),
    TEXT,
    TEXT,
    COUNTS,
    tuples(STEPS, 2),
    tuples(INTERACTIONS, 2),
    st.builds(
        Investigation,
        st.sampled_from(["found", "minimised"]),
        TEXT,
        st.none() | st.booleans(),
        shrink_executions=COUNTS,
        withdrawn=st.booleans(),
    ),
    at=st.sampled_from([1.0, 2.0, 3.0]),
)
LEDGERS = st.tuples(*[st.integers(0, 8).map(float)] * 5)
TASKS = st.sampled_from(["00000000000000a1", "00000000000000a2"])
# A task has the same labels for life.
TASK_LABELS = st.just(("GET /a", "POST /a"))
PROGRESS = st.builds(
    TaskProgress,
    TASKS,
    st.just("fuzzing"),
    TASK_LABELS,
    COUNTS,
    st.booleans(),
    COUNTS,
    COUNTS,
    COUNTS,
    tuples(st.tuples(LABELS, st.sampled_from([0, 200, 500]), COUNTS)),
    LEDGERS,
    COUNTS,
)
OTHERS = {
    RunStarted: st.builds(RunStarted, TEXT, TEXT, TIMES, TEXT, TEXT, INTEGERS, TEXT, TEXT, st.integers(1, 9)),
    SchemaOpened: st.builds(SchemaOpened, *[TEXT] * 4, COUNTS, COUNTS),
    OperationsSelected: st.builds(OperationsSelected, tuples(LABELS)),
    OperationDescribed: st.builds(OperationDescribed, LABELS, *[tuples(TEXT)] * 3, st.booleans()),
    TaskProgress: PROGRESS,
    Interaction: INTERACTIONS,
    StoredBody: st.builds(StoredBody, st.binary(max_size=20)),
    Finding: FINDINGS,
    OpenFindings: st.builds(OpenFindings, tuples(st.tuples(FINGERPRINTS, st.just("GET /a"), st.just("broken")))),
    FindingReplayed: st.builds(FindingReplayed, FINGERPRINTS, st.sampled_from(REPLAY_RESULTS), TIMES),
    ValueSeen: st.builds(ValueSeen, LABELS, TEXT, SCALARS, TEXT, above=_ABOVE),
    ResourceChanged: st.builds(ResourceChanged, LABELS, SCALARS, _ABOVE, LABELS, TEXT),
    ValueGone: st.builds(ValueGone, SCALARS, TEXT, above=_ABOVE, succeeded=st.booleans()),
    SignalsSeen: st.builds(SignalsSeen, LABELS, tuples(st.tuples(st.integers(0, 2**64 - 1), TEXT))),
    DemandHeard: st.builds(
        DemandHeard,
        LABELS,
        st.builds(Constraint, TEXT, tuples(TEXT), TEXT, TEXT),
        TEXT,
        st.booleans(),
        tuples(LITERALS, 1),
    ),
    CaseFared: st.builds(CaseFared, LABELS, TEXT, COUNTS, TEXT, COUNTS, COUNTS, st.tuples(TEXT, TEXT), COUNTS, COUNTS),
    PartsCounted: st.builds(PartsCounted, LABELS, TEXT, COUNTS, st.booleans(), *2 * [tuples(st.tuples(TEXT, TEXT))]),
    RefusalCounted: st.builds(RefusalCounted, LABELS, INTEGERS, TEXT, INTEGERS),
    OperationServed: st.builds(OperationServed, LABELS, INTEGERS, LITERALS),
    OperationProbed: st.builds(OperationProbed, LABELS, TEXT, TEXT, INTEGERS, st.booleans()),
    CorpusEntry: st.builds(CorpusEntry, LABELS, tuples(STEPS, 2), tuples(INTEGERS), FLOATS),
    OperationError: st.builds(OperationError, LABELS, st.just("fuzzing"), *[TEXT] * 4, COMPONENTS),
    Note: st.builds(Note, st.sampled_from(["opaque", "slow"]), LABELS, TEXT, TEXT),
    ResourceMade: st.builds(ResourceMade, TEXT, LABELS, TEXT, TIMES, COUNTS, TEXT),
    CheckState: st.builds(CheckState, TEXT, st.binary(max_size=9), TEXT),
    Quarantined: st.builds(
        Quarantined, TASKS, LABELS, COUNTS, TEXT, TEXT, COUNTS, tuples(STEPS, 2), TEXT, TEXT, COMPONENTS
    ),
    WorkerGone: st.builds(WorkerGone, COUNTS, TEXT),
    RunFinished: st.builds(RunFinished, TEXT, TIMES, TEXT, TIMES, LEDGERS),
    SnapshotHeader: st.builds(SnapshotHeader, COUNTS, tuples(COUNTS)),
}
assert set(OTHERS) == set(get_args(Record))
RECORDS: st.SearchStrategy[Record] = st.one_of(*OTHERS.values())


def exact(value: object) -> str:
    """A text that is equal for equal values only: NaN equals itself, -0.0 is not 0.0, True is not 1."""
    return repr(value)


def finding(fingerprint: str = "f1", *, at: float = 1.0, stage: str = "found") -> Finding:
    return Finding(
        fingerprint=fingerprint,
        label="GET /a",
        check="not_a_server_error",
        title="Server error",
        message="",
        severity="critical",
        unique_key="",
        phase="fuzzing",
        case="c1",
        task="00000000000000a1",
        index=0,
        steps=(),
        interactions=(),
        investigation=Investigation(stage),
        at=at,
    )
