"""The contract of the sources: records replay through Hypothesis choice by choice, and no mutation of one does harm."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from checker.core.case import NOT_SET, Case
from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.meta import Choice, Violation
from checker.core.operation import Location, Operation
from checker.core.schema import Direction
from checker.generation.program import OperationProgram
from checker.generation.sources.choices import RandomSource
from checker.generation.sources.replay import ReplaySource
from checker.validation.compiled import compile_schema
from tests.measuring.conjecture import replay_through_conjecture
from tests.measuring.sketches import drawn

RECORDS = 200
MUTATIONS = 1_000
_OF_EACH = 20
"""Mutations of one record."""
_SPLICED: Final[tuple[Choice, ...]] = (
    True, False, 0, 1, -1, 255, 2**31, -(2**63), 2**64, 0.0, -0.0, 0.5, 1e300, "", " ", "0", "\x00", "\U0001f600",
    "a" * 300, b"", b"x",
)  # fmt: skip
IsValid = Callable[[Any], bool]


@dataclass(slots=True)
class Contract:
    """What one program kept to."""

    replayed: int = 0
    mutated: int = 0
    discarded: int = 0
    faults: list[str] = field(default_factory=list)


def contract_of(program: OperationProgram, *, records: int, mutations: int) -> Contract:
    """Replay and mutate the records of a program."""
    found = Contract()
    source = RandomSource()
    validators = Validators.of(program.operation)
    dice = Random(1)
    per_record = -(-mutations // max(1, min(records, mutations // _OF_EACH)))
    for seed in range(records):
        source.reset(seed)
        try:
            case = drawn(program, source)
        except (Unsatisfiable, BudgetSpent):
            found.discarded += 1
            continue
        found.replayed += 1
        found.faults += replay_faults(program, case, source.choices)
        for _ in range(min(per_record, mutations - found.mutated)):
            found.mutated += 1
            _try_mutation(program, mutated(source.choices, dice), validators, found)
    return found


def replay_faults(program: OperationProgram, case: Case, choices: list[Choice]) -> Iterator[str]:
    """What is wrong when a record is replayed by Hypothesis, and by our own source."""
    label = program.operation.label
    replayed, status, is_exact = replay_through_conjecture(lambda source: drawn(program, source), choices)
    if status != "VALID" or replayed is None:
        yield f"{label}: {status} instead of VALID for {choices!r:.200}"
    elif not is_exact:
        yield f"{label}: not all choices are consumed of {choices!r:.200}"
    elif parts(replayed) != parts(case):
        yield f"{label}: Hypothesis replays {parts(replayed):.200} for {parts(case):.200}"
    source = ReplaySource(choices)
    again = drawn(program, source)
    if parts(again) != parts(case) or repr(source.choices) != repr(choices):
        yield f"{label}: a replay gives {parts(again):.200} for {parts(case):.200}"


def _try_mutation(program: OperationProgram, choices: list[Choice], validators: "Validators", found: Contract) -> None:
    source = ReplaySource(choices, len(choices))
    try:
        case = drawn(program, source)
    except (Unsatisfiable, BudgetSpent):
        found.discarded += 1
        return
    for what in validators.faults(case):
        found.faults.append(f"{program.operation.label}: a mutation gives {what}")


def mutated(choices: list[Choice], dice: Random) -> list[Choice]:
    """A record with one to four changes: parts deleted, repeated, moved, replaced."""
    found = list(choices)
    for _ in range(dice.randint(1, 4)):
        place = dice.randint(0, len(found))
        size = dice.randint(1, 6)
        match dice.randint(0, 5):
            case 0:
                del found[place : place + size]
            case 1:
                found[place:place] = found[place : place + size]
            case 2:
                found.insert(place, dice.choice(_SPLICED))
            case 3:
                found[place : place + 1] = [dice.choice(_SPLICED)]
            case 4:
                other = dice.randint(0, len(found))
                found[place:place] = found[other : other + size]
            case _:
                part = found[place : place + size]
                dice.shuffle(part)
                found[place : place + size] = part
    return found


@dataclass(frozen=True, slots=True)
class Validators:
    """Of the parts of one operation."""

    parameters: dict[tuple[Location, str], IsValid]
    """By location and name."""
    bodies: dict[str, IsValid]
    """By media type."""

    @classmethod
    def of(cls, operation: Operation) -> "Validators":
        """Validators of an operation."""
        return cls(
            {(item.location, item.name): _validator(item.schema) for item in operation.parameters},
            {body.media_type: _validator(body.schema) for body in operation.bodies},
        )

    def faults(self, case: Case) -> Iterator[str]:
        """Parts of a case that are valid and should not be, or the other way round."""
        wrong = _wrong_part(case)
        refused = list(self.refused(case))
        for place, what in refused:
            if wrong is None or place is not wrong[0]:
                yield f"{place} {what}, which the validator refuses"
        if wrong is not None and not _is_beyond_validators(case, *wrong):
            place, violation = wrong
            if place not in {refused_place for refused_place, _ in refused}:
                yield f"{place} that breaks nothing: {violation}"

    def refused(self, case: Case) -> Iterator[tuple[Location, str]]:
        """Parts of a case that the validator does not accept."""
        for (place, name), is_valid in self.parameters.items():
            values = getattr(case, place.container)
            if name in values and not has_bytes(values[name]) and not is_valid(values[name]):
                yield place, f"{name} {values[name]!r:.200}"
        body = case.body
        if body is NOT_SET or has_bytes(body):
            return
        if not self.bodies[case.media_type or ""](body):
            yield Location.BODY, f"{body!r:.200}"


def _wrong_part(case: Case) -> tuple[Location, Violation] | None:
    """Where a case is meant to be wrong, and how."""
    for place, part in ({} if case.meta is None else case.meta.components).items():
        if part.violation is not None:
            return place, part.violation
    return None


def _is_beyond_validators(case: Case, place: Location, violation: Violation) -> bool:
    """True for what is not there, and for what is no value."""
    if place is Location.BODY:
        return case.body is NOT_SET or has_bytes(case.body)
    return violation.keyword == "required" and violation.became is None


def _validator(schema: Any) -> IsValid:
    return compile_schema(schema, Direction.REQUEST).is_valid


def has_bytes(value: object) -> bool:
    """True for what is no JSON: files, and forms with files in them."""
    if isinstance(value, dict):
        return any(map(has_bytes, value.values()))
    if isinstance(value, list):
        return any(map(has_bytes, value))
    return isinstance(value, bytes)


def parts(case: Case) -> str:
    """Everything that was drawn; text, so that 1 and 1.0 differ, and 0.0 and -0.0."""
    drawn_parts = (case.path_parameters, case.query, case.headers, case.cookies, case.body, case.media_type)
    return repr(drawn_parts)
