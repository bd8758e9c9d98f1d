"""Twenty negatives of every schema: invalid for both oracles, with one fault each; and whole requests, judged by their bytes.

A keyword for which there is no negative that breaks it alone is searched for (`alone`): either there is such a value,
and the schema is wrong, or none was found, and the reason is printed.

`negatives:suite`, `negatives:openapi:1/20`, `negatives:schemastore` look at schemas, `negatives:wire` at the requests of
the OpenAPI documents: there the part that is meant to be wrong has to be wrong however its text is read.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks.generation.alone import Search, implied, is_alone, search, words_of
from checker.core.case import Case
from checker.core.contract import Outcome
from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.meta import GenerationMode, PhaseInfo, Violation
from checker.core.operation import Location, Operation
from checker.core.request import BaseUrl
from checker.core.schema import Direction, Document, UnresolvableReference
from checker.generation.negation.breaches import STEPS, Breach, breaches, compile_negative
from checker.generation.negation.breaches import Path as BreachPath
from checker.generation.program import GenerationSettings, compile_operation
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Rejected
from checker.openapi.referee import RequestReferee
from checker.transport.prepare import RequestMaker
from checker.validation.referee import Referee, referee
from tests.measuring.corpora import READERS, Sample, openapi_documents, operations, share
from tests.measuring.oracles import NoOpinion, as_json, oracles_of
from tests.measuring.positives import Drawing, compiler_of, drawing_of, place_for
from tests.measuring.probes import guesses
from tests.measuring.watching import Hang, watchdog, watched

VALUES = 20
_WATCHDOG_S = 60.0
"""CPU seconds of one schema, the searches included."""
_BREACHES = 400
_TRIES = 6
_SEEDS = 12
_ALIASES: Final = {
    "exclusiveMinimum": "minimum",
    "exclusiveMaximum": "maximum",
    "dependentRequired": "dependencies",
    "dependentSchemas": "dependencies",
}
_AROUND: Final = frozenset(("anyOf", "oneOf", "if", "not", "contains", "false"))
"""Keywords under which an oracle may sum up what is wrong inside."""


@dataclass(slots=True)
class Verdict:
    """What became of one schema."""

    sample: Sample
    kind: str = "right"
    """right, wrong, refused, hang, error, unread."""
    detail: str = ""
    negatives: int = 0
    single: int = 0
    """Negatives with one leaf error."""
    named: int = 0
    """Of these: the error is what the violation says, or sums it up."""
    keywords: dict[str, bool] = field(default_factory=dict)
    """Keyword that can be broken alone -> there is a negative whose only leaf error it is."""
    together: dict[str, str] = field(default_factory=dict)
    """Keyword that is never broken alone -> what a search for such a value saw."""
    unnamed: str = ""
    compile_ms: float = 0.0


@dataclass(slots=True)
class Known:
    """What was searched for in one document: operations share schemas."""

    document: Document | None = None
    found: dict[tuple[str, frozenset[tuple[str, BreachPath]]], Search] = field(default_factory=dict)
    """By keyword, and by all that can be broken: pointer and place."""

    def of(self, document: Document) -> "Known":
        """What is known of a document; nothing yet when it is another one."""
        if document is not self.document:
            self.document = document
            self.found.clear()
        return self


def judged(sample: Sample, source: RandomSource, known: Known) -> Verdict:
    """What becomes of a schema."""
    verdict = Verdict(sample)
    watched(
        verdict,
        _WATCHDOG_S,
        lambda: _judge(sample, source, verdict, known.of(sample.schema.document)),
        lambda: _doubt(sample, verdict),
    )
    return verdict


def _judge(sample: Sample, source: RandomSource, verdict: Verdict, known: Known) -> None:
    oracles = oracles_of(sample)
    leaves = referee(sample.schema, Direction.REQUEST)
    compiler, facets = compiler_of(sample)
    place = place_for(sample)
    started = time.process_time()
    if len(facets) > 1:
        try:
            compiler.compile(facets, place)
        except Unsatisfiable as error:
            # What is no object cannot be sent as a form: nothing can be wrong with it.
            verdict.kind, verdict.detail = "refused", str(error)
            return
    drawing = Drawing(compile_negative(compiler, facets, place), compiler.context, compiler)
    verdict.compile_ms = (time.process_time() - started) * 1e3
    for seed in range(VALUES):
        value, violation = drawing.value(source, seed)
        said = oracles.verdicts(value)
        if any(said):
            verdict.kind = "wrong"
            verdict.detail = f"{_text(value)[:160]} is valid for {said}, {violation.pointer}"
        _count(verdict, leaves, value, violation)
    alone = Alone(drawing, leaves, source)
    listed = list(islice(breaches(compiler, facets, place), _BREACHES))
    everything = frozenset((breach.pointer, breach.path) for breach in listed)
    for breach in listed:
        if not verdict.keywords.get(breach.keyword):
            verdict.keywords[breach.keyword] = alone.shows(breach)
    for keyword in [name for name, is_shown in verdict.keywords.items() if not is_shown]:
        mine = [breach for breach in listed if breach.keyword == keyword]
        key = keyword, everything
        found = known.found.get(key) or alone.searched(mine, sample, drawing)
        known.found[key] = found
        if not found.found:
            verdict.together[keyword] = found.reason
            del verdict.keywords[keyword]
        elif verdict.kind == "right":
            verdict.kind = "wrong"
            text = _text(found.found[0])[:200]
            verdict.detail = f"{mine[0].pointer} is never broken alone, as by {text}"


def _count(verdict: Verdict, leaves: Referee, value: Any, violation: Violation) -> None:
    errors = leaves.errors(as_json(value))
    verdict.negatives += 1
    if len(errors) != 1:
        names = [error.keyword for error in errors]
        verdict.unnamed = f"{violation.pointer} {names} {_text(value)[:120]}"
        return
    verdict.single += 1
    if _names(errors[0].keyword, errors[0].schema_path, violation.keyword):
        verdict.named += 1
    else:
        verdict.unnamed = f"{violation.pointer} is {errors[0].schema_path} {_text(value)[:120]}"


def _names(keyword: str, path: tuple[str, ...], wanted: str) -> bool:
    """True when an error is about a keyword, or sums up what is wrong in some alternative."""
    if _alias(keyword) == _alias(wanted) or keyword in _AROUND:
        return True
    return wanted in path or (wanted in _AROUND and any(name in _AROUND for name in path))


def _alias(keyword: str) -> str:
    return _ALIASES.get(keyword, keyword)


@dataclass(slots=True)
class Alone:
    """Whether keywords of one schema are broken alone."""

    drawing: Drawing
    leaves: Referee
    source: RandomSource

    def shows(self, breach: Breach) -> bool:
        """True when one of its values has no other fault."""
        return any(
            is_alone(self.leaves.whole_errors(as_json(value)), breach.keyword) for value in self._values(breach, _TRIES)
        )

    def _values(self, breach: Breach, count: int) -> Iterator[Any]:
        drawing = self.drawing
        try:
            with drawing.compiler.budget.lent(STEPS):
                draw = breach.compile()
        except (Unsatisfiable, BudgetSpent):
            return
        for seed in range(count):
            self.source.reset(seed)
            drawing.context.begin(None)
            with suppress(Rejected, BudgetSpent):
                yield draw(self.source)[0]

    def searched(self, mine: list[Breach], sample: Sample, drawing: Drawing) -> Search:
        """What changed values show of a keyword for which the generator has none."""
        keyword = mine[0].keyword
        reason = implied(keyword, [_schema_at(sample, breach.pointer) for breach in mine])
        if reason:
            return Search(implied=reason)
        seeds = [value for value, _ in sample.instances]
        for breach in mine[:_SEEDS]:
            seeds += self._values(breach, 1)
        seeds += self._valid(sample)
        for seed in range(_SEEDS):
            with suppress(Rejected, BudgetSpent):
                seeds.append(drawing.value(self.source, seed)[0])
        words = words_of(sample.schema.raw, {breach.path for breach in mine})
        return search(self.leaves, words, seeds, keyword, place_for(sample).carries)

    def _valid(self, sample: Sample) -> Iterator[Any]:
        with suppress(Rejected, BudgetSpent, Unsatisfiable):
            valid = drawing_of(sample)
            for seed in range(_SEEDS):
                yield valid.value(self.source, seed)


def _schema_at(sample: Sample, pointer: str) -> object:
    """The schema in which a keyword stands."""
    try:
        return sample.schema.document.resolve(pointer.rpartition("/")[0], at="#")[0]
    except UnresolvableReference:
        return None


def _doubt(sample: Sample, verdict: Verdict) -> None:
    """A refusal is wrong when a label or a guess shows an invalid value."""
    if sample.instances:
        verdict.kind = "wrong"
        return
    try:
        with watchdog(_WATCHDOG_S):
            oracles = oracles_of(sample)
            found = next((v for v in guesses() if oracles.verdicts(v) == (False, False)), None)
    except (NoOpinion, Hang):
        return
    if found is not None:
        verdict.kind = "wrong"
        verdict.detail += f" - but {_text(found)[:80]} is invalid"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)


def section(corpora: Path, options: list[str]) -> None:
    """Judge the schemas of all corpora, or of the named ones, and the requests; `3/20` takes the third of every 20."""
    part = share(options)
    kinds = [option for option in options if option in READERS or option == "wire"]
    for kind in kinds or [*READERS, "wire"]:
        if kind == "wire":
            _wire(corpora, part)
            continue
        samples = islice(READERS[kind](corpora), part.start, part.stop, part.step)
        report(kind, _verdicts(_wanted(kind, samples)))


def _verdicts(samples: Iterator[Sample]) -> Iterator[Verdict]:
    """Of each sample; what stands in a document many times is judged once."""
    known = Known()
    same: dict[Any, Verdict] = {}
    for sample in samples:
        raw = json.dumps(sample.schema.raw, sort_keys=True, default=repr)
        if known.document is not sample.schema.document:
            same.clear()
        key = raw, sample.schema.dialect, sample.location, sample.media_type, bool(sample.instances)
        found = same.get(key)
        if found is None:
            found = same[key] = judged(sample, RandomSource(0), known)
        yield found


def _wanted(kind: str, samples: Iterator[Sample]) -> Iterator[Sample]:
    """Those that have to have negatives: of the suite, only those with an invalid instance."""
    return (sample for sample in samples if kind != "suite" or not all(is_valid for _, is_valid in sample.instances))


def report(kind: str, verdicts: Iterator[Verdict]) -> None:
    """Print what became of the schemas of one corpus."""
    counts: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    together: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    slowest = (0.0, "")
    for verdict in verdicts:
        counts[verdict.kind] += 1
        totals["negatives"] += verdict.negatives
        totals["single"] += verdict.single
        totals["named"] += verdict.named
        for keyword, has_single in verdict.keywords.items():
            totals["keywords"] += 1
            totals["covered"] += has_single
            if not has_single:
                missed[keyword] += 1
        for keyword, reason in verdict.together.items():
            together[keyword] += 1
            shown[f"{keyword} {reason}"] += 1
            if shown[f"{keyword} {reason}"] == 1:
                print(f"  not alone: {verdict.sample.name}: {keyword}: {reason}")
        slowest = max(slowest, (verdict.compile_ms, verdict.sample.name))
        _show(verdict, shown)
    readable = max(counts.total() - counts["unread"], 1)
    print(f"{kind}: {counts.total()} schemas: {dict(counts)}")
    right = counts["right"] + counts["refused"]
    print(f"  fully right {100 * right / readable:.2f} % of {readable}")
    every = max(totals["negatives"], 1)
    print(f"  one leaf error {100 * totals['single'] / every:.2f} % of {totals['negatives']}")
    print(f"  and it is the keyword of the violation {100 * totals['named'] / every:.2f} %")
    some = max(totals["keywords"], 1)
    print(f"  keywords broken alone {100 * totals['covered'] / some:.2f} % of {some}: {dict(missed)}")
    print(f"  and cannot be broken alone {together.total()}: {dict(together)}")
    print(f"  slowest to compile {slowest[0]:.0f} ms, {slowest[1]}")


def _show(verdict: Verdict, shown: Counter[str]) -> None:
    """Print faults, and some of the values that have several."""
    if verdict.kind not in ("right", "refused"):
        shown[verdict.detail] += 1
        if shown[verdict.detail] == 1:
            print(f"  {verdict.kind}: {verdict.sample.name}: {verdict.detail[:300]}")
    elif verdict.unnamed and shown["unnamed"] < 40:
        shown["unnamed"] += 1
        print(f"  several: {verdict.sample.name}: {verdict.unnamed}")
    sys.stdout.flush()


def _wire(corpora: Path, part: slice) -> None:
    """Whole requests of every operation, judged by their bytes."""
    counts: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    every_operation = (o for path in openapi_documents(corpora) for o in operations(path))
    for operation in islice(every_operation, part.start, part.stop, part.step):
        try:
            with watchdog(_WATCHDOG_S):
                _judge_requests(operation, counts, shown)
        except (Unsatisfiable, BudgetSpent) as error:
            counts[f"refused: {str(error).rpartition(': ')[2][:60]}"] += 1
        except Hang:
            counts["hangs"] += 1
    print(f"wire: {dict(counts.most_common(30))}")


def _wrong_part(case: Case) -> tuple[Location, Violation]:
    """Where a case is meant to be wrong, and how."""
    parts = {} if case.meta is None else case.meta.components
    for place, part in parts.items():
        if part.violation is not None:
            return place, part.violation
    raise ValueError("a negative case says what is wrong with it")


def _judge_requests(operation: Operation, counts: Counter[str], shown: Counter[str]) -> None:
    program = compile_operation(operation, GenerationSettings(mode=GenerationMode.NEGATIVE))
    judge = RequestReferee(operation)
    maker = RequestMaker(BaseUrl("http", "127.0.0.1", 80, ""), version="0")
    source = RandomSource()
    counts["operations"] += 1
    for seed in range(VALUES):
        source.reset(seed)
        case = program.draw(source, case_id="c", phase=PhaseInfo("benchmark"))
        place, violation = _wrong_part(case)
        counts["requests"] += 1
        try:
            verdict = judge.judge(maker.make(case))
        except ValueError:
            counts["not written"] += 1
            continue
        counts[f"request {verdict.outcome}"] += 1
        wrong = {p.location for p in verdict.invalid}
        if place in wrong and len(wrong) == 1:
            counts["that part alone is wrong"] += 1
            if len(verdict.invalid) == 1:
                counts["in one way"] += 1
        key = f"{place} {violation.keyword} {verdict.outcome}"
        if verdict.outcome is not Outcome.INVALID:
            counts[f"not proved in {place}"] += 1
            shown[key] += 1
            if shown[key] <= 4:
                print(f"  {verdict.outcome}: {operation.label} {place} {violation} {case.media_type}")
