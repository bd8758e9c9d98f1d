"""Twenty positive values of every schema: valid by both oracles, and different from each other where the schema admits it."""

import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from checker.core.media_types import is_form, is_json, is_multipart
from checker.core.operation import Location
from checker.core.schema import Direction
from checker.generation.drawing.compiling import Compiler
from checker.generation.drawing.places import TextPlace, body_place, place_of
from checker.generation.normalization.canonical import Canon
from checker.generation.normalization.forms import Conjunction, Facet
from checker.generation.sources import alphabets
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.context import Budget, Draw, DrawContext, Rejected
from tests.measuring.corpora import Sample
from tests.measuring.disagreements import KNOWN
from tests.measuring.oracles import NoOpinion, Oracles, oracles_of
from tests.measuring.probes import admitted
from tests.measuring.watching import Hang, watchdog, watched

VALUES = 20
DISTINCT = 10
_ATTEMPTS = 20
_WATCHDOG_S = 20.0
"""CPU seconds of one schema, oracles included: beyond them it counts as a hang."""
_TEXT: Final = alphabets.text_of("utf-8", allows_nul=False)


@dataclass(slots=True)
class Drawing:
    """A compiled schema, ready to draw from."""

    draw: Draw
    context: DrawContext
    compiler: Compiler

    def value(self, source: RandomSource, seed: int) -> Any:
        """The value of a seed, with as many attempts as a case has. Raises `Rejected` and `BudgetSpent`."""
        source.reset(seed)
        for _ in range(_ATTEMPTS - 1):
            self.context.begin(None)
            with suppress(Rejected):
                return self.draw(source)
        self.context.begin(None)
        return self.draw(source)


@dataclass(slots=True)
class Verdict:
    """What became of one schema."""

    sample: Sample
    kind: str = "right"
    """right, wrong, refused, hang, error, unread."""
    detail: str = ""
    disagreements: list[str] = field(default_factory=list)
    opaque: int = 0
    nodes: int = 0
    compile_ms: float = 0.0


def drawing_of(sample: Sample) -> Drawing:
    """The draw program of one schema. Raises `Unsatisfiable` and `BudgetSpent`."""
    compiler, facets = compiler_of(sample)
    return Drawing(compiler.compile(facets, place_for(sample)), compiler.context, compiler)


def compiler_of(sample: Sample) -> tuple[Compiler, Conjunction]:
    """A compiler for one schema, and what it is to compile."""
    schema = sample.schema
    canon = Canon(schema.document, schema.dialect, Direction.REQUEST)
    compiler = Compiler(canon, DrawContext(), Budget(), {}, 1 << 19)
    facets: Conjunction = (Facet(schema.raw, schema.pointer),)
    if sample.location is Location.BODY and _is_fields(sample.media_type):
        facets += (Facet({"type": "object"}, f"{schema.pointer}/form", is_made=True),)
    return compiler, facets


def _is_fields(media_type: str) -> bool:
    return is_form(media_type) or is_multipart(media_type)


def place_for(sample: Sample) -> TextPlace:
    """Where values of a schema travel."""
    if sample.location is not Location.BODY:
        return place_of(sample.location, _TEXT, "")
    is_bytes = not is_json(sample.media_type) and not is_form(sample.media_type)
    return body_place(_TEXT, is_form=_is_fields(sample.media_type), is_bytes=is_bytes)


def judged(sample: Sample, source: RandomSource) -> Verdict:
    """What becomes of a schema."""
    verdict = Verdict(sample)
    watched(verdict, _WATCHDOG_S, lambda: _judge(sample, source, verdict), lambda: _doubt(sample, verdict))
    return verdict


def _judge(sample: Sample, source: RandomSource, verdict: Verdict) -> None:
    oracles = oracles_of(sample)
    started = time.process_time()
    drawing = drawing_of(sample)
    verdict.compile_ms = (time.process_time() - started) * 1e3
    seen: set[str] = set()
    for seed in range(VALUES):
        value = drawing.value(source, seed)
        seen.add(_text(value))
        said = oracles.verdicts(value)
        if said == (True, True):
            continue
        text = f"{_text(value)[:200]} is valid for {_who(said)}"
        if any(said):
            verdict.disagreements.append(text)
        if not _is_known(sample, said):
            verdict.kind, verdict.detail = "wrong", text
    verdict.opaque, verdict.nodes = len(drawing.compiler.opaque), drawing.compiler.size
    if verdict.kind == "right" and len(seen) < DISTINCT:
        _count(oracles, seen, verdict)


def _who(said: tuple[bool, bool]) -> str:
    return {(True, False): "the first", (False, True): "the second"}.get(said, "neither")


def _is_known(sample: Sample, said: tuple[bool, bool]) -> bool:
    return any(said) and KNOWN.get(sample.name, ("", ""))[0] == _who(said)


def _count(oracles: Oracles, seen: set[str], verdict: Verdict) -> None:
    """Too few different values are a fault unless the schema admits no more."""
    others = {_text(value) for value in admitted(oracles, verdict.sample.schema.raw)}
    if len(seen | others) >= DISTINCT:
        verdict.kind = "wrong"
        missed = sorted(others - seen)[:3]
        verdict.detail = f"only {len(seen)} different values, without {'; '.join(missed)[:120]}"


def _doubt(sample: Sample, verdict: Verdict) -> None:
    """A refusal is wrong when a label or a guess shows a valid value."""
    if sample.is_satisfiable:
        verdict.kind = "wrong"
        return
    try:
        with watchdog(_WATCHDOG_S):
            guesses = admitted(oracles_of(sample), sample.schema.raw)
            found = next((value for value in guesses if _travels(sample, value)), _NOTHING)
    except (NoOpinion, Hang):
        return
    if found is not _NOTHING:
        verdict.kind = "wrong"
        verdict.detail += f" - but {_text(found)[:80]} is valid"


def _travels(sample: Sample, value: Any) -> bool:
    """Forms are objects whatever their schema says."""
    if sample.location is Location.BODY and _is_fields(sample.media_type):
        return isinstance(value, dict)
    return place_for(sample).carries(value)


_NOTHING = object()


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=repr)
