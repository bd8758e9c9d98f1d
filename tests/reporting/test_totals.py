"""The numbers of the summary against a naive count of the same records, as workers wrote them that lived, died and came back."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.corpus.files import make_directory
from checker.corpus.fold import fold
from checker.corpus.journal import Journals, JournalWriter
from checker.corpus.layout import RunLayout
from checker.corpus.records import Finding, OperationError, Quarantined, Record, TaskProgress, WorkerGone
from checker.reporting.report import Report, report_of
from checker.reporting.summary import summary_lines, total_line

from . import samples

LABELS = ("GET /a", "POST /a", "GET /b", "DELETE /b/{id}")
labels = st.sampled_from(LABELS)
few = st.integers(0, 3)
names = st.sampled_from(["f1", "f2", "f3", "f4", "f5"])
times = st.integers(1, 4).map(float)


@st.composite
def progress(draw: st.DrawFn) -> TaskProgress:
    """A piece of work; without statuses it was counted for a worker that died."""
    number = draw(st.integers(0, 2))
    of_task = LABELS[number : number + draw(st.integers(1, 2))]
    answered = draw(st.lists(st.tuples(st.sampled_from(of_task), st.sampled_from([0, 200, 204, 404, 500]), few)))
    others = st.tuples(st.sampled_from(of_task), st.sampled_from([204, 405]), st.integers(1, 3))
    probes = draw(st.lists(others, max_size=2))
    told = [*answered, *probes]
    cases = draw(few) if not told else sum(count for _, _, count in told)
    inquiries = draw(few)
    return TaskProgress(
        task=f"{number:016x}",
        phase="fuzzing",
        labels=of_task,
        next_index=draw(few),
        finished=draw(st.booleans()),
        cases=cases,
        requests=cases + inquiries + draw(few),
        failed_cases=min(cases, draw(few)),
        statuses=tuple(answered),
        ledger=(0.0, 0.0, 0.0, 0.0, 0.0),
        inquiries=inquiries,
        probes=tuple(probes),
    )


findings = st.builds(
    lambda name, label, stage, at, same: samples.finding(
        fingerprint=name, label=label, stage=stage, at=at, same_as=same if stage == "minimised" and same != name else ""
    ),
    names,
    labels,
    st.sampled_from(["found", "minimised"]),
    times,
    st.just("") | names,
)
records = st.one_of(
    progress(),
    progress(),
    findings,
    st.builds(
        OperationError,
        labels,
        st.just("fuzzing"),
        st.sampled_from(["Schema Error", "Network Error"]),
        st.sampled_from(["one", "two"]),
        st.sampled_from(["", "trace"]),
    ),
    st.builds(
        lambda number, label, strikes: Quarantined(
            f"{number:016x}", label, number, "c", "send", strikes, (), "curl", "killed"
        ),
        few,
        labels,
        few,
    ),
    st.builds(WorkerGone, few, st.just("killed")),
)


@dataclass(frozen=True)
class Life:
    """What one incarnation wrote, frame by frame, and where a kill cut its journal, if one did."""

    frames: tuple[tuple[Record, ...], ...]
    torn_at: float | None
    """Share of its bytes that are left."""


lives = st.builds(
    Life,
    st.lists(st.lists(records, min_size=1, max_size=4).map(tuple), max_size=4).map(tuple),
    st.none() | st.floats(0, 1),
)


@st.composite
def histories(draw: st.DrawFn) -> list[Life]:
    """Several lives. A later one may write what an earlier one wrote already: what was in flight is made again."""
    found = draw(st.lists(lives, min_size=1, max_size=4))
    earlier = [frame for life in found for frame in life.frames]
    if earlier:
        again = tuple(draw(st.lists(st.sampled_from(earlier), max_size=3)))
        found.append(Life(again, None))
    return found


def written(folder: Path, history: list[Life]) -> list[tuple[int, Record]]:
    """What is left of each journal, by what its writer knows of its frames."""
    left: list[tuple[int, Record]] = []
    layout = RunLayout(folder)
    make_directory(layout.journals)
    for incarnation, life in enumerate(history, 1):
        path = layout.journal(incarnation, 7)
        writer = JournalWriter(path)
        ends = []
        for frame in life.frames:
            for record in frame:
                writer.append(record)
            writer.flush()
            ends.append(path.stat().st_size)
        writer.close()
        size = path.stat().st_size if life.torn_at is None else int(life.torn_at * max([0, *ends]))
        with path.open("r+b") as file:
            file.truncate(size)
        whole = (frame for frame, end in zip(life.frames, ends, strict=True) if end <= size)
        left += [(incarnation, record) for frame in whole for record in frame]
    return left


def naive(left: list[tuple[int, Record]]) -> Counter[str]:
    """The numbers, counted from the records one by one."""
    told = [record for _, record in left]
    pieces = [record for record in told if isinstance(record, TaskProgress)]
    answers = [answer for piece in pieces for answer in piece.statuses if answer[2]]
    tested = {label for label, _, _ in answers}
    tested |= {label for piece in pieces for label, _, _ in piece.probes}
    for piece in pieces:
        if not piece.statuses and not piece.probes and piece.cases >= len(piece.labels):
            tested |= set(piece.labels)
    tested |= {record.label for record in told if isinstance(record, Finding)}
    errors = {(one.title, one.message, one.trace) for one in told if isinstance(one, OperationError)}
    quarantined = {(one.task, one.index) for one in told if isinstance(one, Quarantined)}
    return Counter(
        cases=sum(piece.cases for piece in pieces),
        requests=sum(piece.requests for piece in pieces),
        inquiries=sum(piece.inquiries for piece in pieces),
        failed=sum(piece.failed_cases for piece in pieces),
        tested=len(tested),
        succeeded=len({label for label, status, _ in answers if status in (200, 204)}),
        unique=unique_failures(left),
        errors=len(errors) + len(quarantined),
    )


def unique_failures(left: list[tuple[int, Record]]) -> int:
    """Defects: fingerprints, but those are one of which the last version of one names the other."""
    best: dict[str, tuple[tuple[object, ...], str]] = {}
    for place, (incarnation, one) in enumerate(left):
        if isinstance(one, Finding):
            rank = (one.investigation.stage == "minimised", one.at, incarnation, place)
            if one.fingerprint not in best or rank > best[one.fingerprint][0]:
                best[one.fingerprint] = rank, one.same_as
    defects: list[set[str]] = []
    for name, (_, same) in best.items():
        together = {name, same} - {""}
        for defect in [one for one in defects if one & together]:
            together |= defect
            defects.remove(defect)
        defects.append(together)
    return len(defects)


def shown(report: Report) -> Counter[str]:
    """The numbers as a reader finds them in the summary."""
    text = "\n".join((*summary_lines(report, lambda name: name), total_line(report)))
    patterns = {
        "cases": r"^  ([\d,]+) generated",
        "requests": r"^  ([\d,]+) requests?\b",
        "inquiries": r"([\d,]+) of them to look into failures",
        "failed": r"generated, (\d+) found",
        "tested": r"^  Tested: (\d+)",
        "succeeded": r"^  With a 2xx response: (\d+)",
        "unique": r"found (\d+) unique failure",
        "errors": r"\b(\d+) errors?\b[^\n]* in 0\.00s",
    }
    found = {name: re.search(pattern, text, re.MULTILINE) for name, pattern in patterns.items()}
    return Counter({name: int(match[1]) for name, match in found.items() if match})


def told_only_with(numbers: Iterable[str], wanted: Counter[str]) -> Counter[str]:
    return Counter({name: count for name, count in wanted.items() if name not in set(numbers)})


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(histories())
def test_the_summary_tells_what_a_naive_count_of_the_records_gives(history: list[Life]) -> None:
    with TemporaryDirectory() as folder:
        left = written(Path(folder), history)
        journals = Journals(RunLayout(Path(folder)))
        view = fold([(0, samples.opened()), *journals.finish_all()])
    wanted = naive(left)
    report = report_of(view, samples.settings(), "completed")
    assert wanted == Counter(
        cases=report.counts.cases,
        requests=report.counts.requests,
        inquiries=report.counts.inquiries,
        failed=report.counts.failed_cases,
        tested=report.tested,
        succeeded=report.succeeded,
        unique=len(report.findings),
        errors=report.error_count,
    )
    assert view.finding_count() == wanted["unique"]
    # How many cases found something is told where something was found, and what was not sent is not told.
    unsaid = set() if wanted["unique"] else {"failed"}
    if not (wanted["cases"] or wanted["unique"] or report.errors):
        unsaid.add("cases")
    assert +shown(report) == +told_only_with(unsaid, wanted)
