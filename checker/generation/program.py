"""The compiled generator of one operation. Compiling takes milliseconds; then thousands of cases are drawn from any source."""

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter

from msgspec.structs import replace

from checker.core.case import NOT_SET, Case, Parts
from checker.core.errors import CheckerError, NothingToBreak, SerializationError, Unsatisfiable
from checker.core.meta import Binding, CaseMetadata, ComponentProvenance, GenerationMode, Origin, PhaseInfo, ValuePool
from checker.core.operation import Location, Operation
from checker.generation.components import PartCompiler, usual_parts
from checker.generation.drawing.extras import Room, with_extras
from checker.generation.hooks import NO_HOOKS, ComponentHooks, call, called_for_case, hooked, is_hooked, shaped
from checker.generation.negation.breaches import NOTHING, LazyAlternatives
from checker.generation.negation.parts import NegatedPart, Targets, negative_targets, without_body
from checker.generation.relations import Relations
from checker.generation.security import Alternative, alternatives, with_credentials
from checker.generation.settings import GenerationSettings
from checker.generation.sources import alphabets
from checker.generation.sources.choices import Source
from checker.generation.sources.context import HOOK, Budget, Draw, Rejected, Shared

__all__ = ["GenerationSettings", "OperationProgram", "ValuePool", "compile_operation"]

_ATTEMPTS = range(20)
_POOLED = ComponentProvenance(origin=Origin.POOL, outside=())
_ORDER = (Location.PATH, Location.HEADER, Location.COOKIE, Location.QUERY)
_ALL = (*_ORDER, Location.BODY)
# A module-level name is ten times faster than a member of an enumeration.
_BODY = Location.BODY
_POSITIVE, _NEGATIVE = GenerationMode.POSITIVE, GenerationMode.NEGATIVE
_NO_BODY = (NOT_SET, None)
# Of ranges whose ends were drawn separately, half ended before they began. With this, 107 of 117 valid requests with
# `startsAt` and `endsAt` were accepted.
_RELATED = 0.875  # Share of valid cases that respect suggested relations.
_NODE_BYTES = 4 << 10
"""Memory of a compiled node with its validators and plans: 3.2 to 5.0 KiB in seven large descriptions
(`benchmarks/program_cache.py`). Budget steps predict it less well, 0.7 to 1.8 KiB each, because many steps read forms that
operations share.
"""
Broken = tuple[Location, Draw]  # The location of the wrong value, and the draw of all parts.


class OperationProgram:
    """Draws cases of one operation. Not thread-safe."""

    def __init__(
        self,
        compiler: PartCompiler,
        usual: Mapping[Location, ComponentProvenance],
        whole: Draw,
        negative: LazyAlternatives[Broken] | None,
        fault: CheckerError | None = None,
    ) -> None:
        """`usual` is the provenance of each part if it is drawn at random."""
        self.operation = compiler.operation
        self.fault = fault
        """The reason why no valid case can be generated and all cases are negative; None otherwise."""
        self.opaque: Mapping[str, str] = compiler.opaque
        """JSON pointer of each schema node that is drawn and filtered -> the keyword that only the validator enforces."""
        self.left_out: Mapping[str, str] = compiler.left_out
        """JSON pointer of each optional part that no value can satisfy -> the reason."""
        self.mismatched: Mapping[str, str] = compiler.mismatched
        """Place -> sentence about a dictionary most of whose entries the schema forbids."""
        self._compiler = compiler
        self._context = compiler.context
        self._naming = compiler.context.naming
        self.whole = whole
        """Draws all parts validly: path, headers, cookies, query, and (body, media type)."""
        self._negative = negative
        self._is_mixed = compiler.settings.mode is None and fault is None
        self._present_with_body = dict(usual)
        self._present = {place: part for place, part in usual.items() if place is not _BODY}
        self._outside = {location: part.outside for location, part in usual.items()}
        pooled = {place: replace(part, origin=Origin.POOL) for place, part in usual.items()}
        # Most operations have no forced values, and a dict with enumeration members as keys is slow.
        self._pooled = pooled if any(self._outside[place] for place in usual) else None
        self.relations: Relations | None = None
        """The relations between values of one request."""
        self._filters: list[Callable[[Case], bool]] = []
        self._maps: list[Callable[[Case], Case]] = []
        self._draw_case: Callable[[Source], Case] | None = None
        """Draws whole cases after the hooks for cases; None without such hooks."""
        self._phase = "", PhaseInfo("")
        """Id and phase of the current case, for draws through hooks."""

    @property
    def size_bytes(self) -> int:
        """Estimate of the memory of the program. It grows when negative parts are compiled on demand."""
        return (1 + self._compiler.nodes) * _NODE_BYTES

    def draw(self, source: Source, case_id: str, phase: PhaseInfo, pool: ValuePool | None = None) -> Case:
        """Return a case. Raises `Unsatisfiable`, `BudgetSpent` and `HookError`."""
        started = perf_counter()
        context, work = self._context, 0
        context.naming = self._naming
        for _ in _ATTEMPTS:
            context.begin(pool, work)
            context.is_reusing = True
            try:
                if self._draw_case is None:
                    case = self._drawn(source, case_id, phase)
                else:
                    self._phase = case_id, phase
                    case = self._draw_case(source)
            except Rejected as error:
                last = self._compiler.own_pointer(error.pointer)
            except RecursionError:
                raise too_deep(self.operation) from None
            else:
                if not self._filters or all(accepts(case) for accepts in self._filters):
                    break
                last = f"{HOOK}filter_case"
            # The next attempt inherits the count of discarded attempts, so that all attempts share one allowance.
            source.abandon(last)
            work = context.work
        else:
            raise Unsatisfiable(
                last,
                f"{len(_ATTEMPTS)} cases in a row had no valid value here; make the schema or the filter less strict",
            )
        for change in self._maps:
            case = change(case)
        meta = case.meta
        if meta is not None:
            meta.time = perf_counter() - started
        return case

    def mode_ahead(self, source: Source) -> GenerationMode | None:
        """Return the mode that a newly reset source would draw; None if only a whole draw decides. The deciding choice is taken from the source."""
        if self._draw_case is not None:
            return None
        # Without this, a quarter of the time of the stateful phase went into steps that were drawn and discarded
        # because of their mode.
        if self._negative is None or (self._is_mixed and source.boolean()):
            return _POSITIVE
        return _NEGATIVE

    def _drawn(self, source: Source, case_id: str, phase: PhaseInfo) -> Case:
        whole, mode, broken = self.whole, _POSITIVE, None
        negative = self._negative
        if negative is not None and not (self._is_mixed and source.boolean()):
            mode = _NEGATIVE
            broken, whole = negative.drawn(source)
        parts: Parts = whole(source)
        has_body = parts[4][0] is not NOT_SET
        components = self._present_with_body if has_body else self._present
        bindings: tuple[Binding, ...] = ()
        if self._context.bindings or broken is not None:
            # The provenance of parts that are not drawn at random or are wrong, and the values of earlier responses.
            components, taken, words = components.copy(), [], []
            for binding in self._context.bindings:
                location = binding.location
                if isinstance(binding, Binding):
                    components[location] = _POOLED if self._pooled is None else self._pooled[location]
                    taken.append(binding)
                else:
                    outside = self._outside[location]
                    components[location] = ComponentProvenance(origin=binding.origin, outside=outside)
                    if binding.origin is not Origin.EXAMPLE:
                        words.append(binding)
            if broken is not None:
                violation, outside = self._context.violation, self._outside[broken]
                components[broken] = ComponentProvenance(_NEGATIVE, violation=violation, outside=outside)
            for word in words:
                part = components[word.location]
                components[word.location] = replace(part, outside=(*part.outside, word.name))
            bindings = tuple(taken)
        meta = CaseMetadata(mode, components, phase, bindings)
        case = Case.of_parts(self.operation, case_id, parts, meta)
        case.alternative = self._context.alternative
        if self.relations is not None and broken is None:
            self.relations.repair(case, source.choice, all_of_them=source.boolean(_RELATED))
        return case

    def add_case_hooks(self, hooks: ComponentHooks) -> None:
        """Add the hooks for whole cases."""
        mine, context = hooks.case, hooks.context
        if mine.before_generate or mine.flatmap:
            self._draw_case = shaped(lambda source: self._drawn(source, *self._phase), hooks)
        self._filters.extend(partial(call, hook, "filter_case", context) for hook in mine.filter)
        self._maps.extend(partial(called_for_case, hook, "map_case", context) for hook in mine.map)


def _shared(operation: Operation, settings: GenerationSettings) -> Shared:
    """Return the parts that the program of an operation shares with others. The context knows which body values name resources."""
    places = operation.resource_places.values()
    own = (name for at, name in places if at is Location.BODY)
    shared = settings.shared or Shared()
    shared.context.naming = frozenset(tuple(at.split("/")[1:]) for at in (*own, *settings.references))
    return shared


def compile_operation(
    operation: Operation,
    settings: GenerationSettings,
    *,
    hooks: ComponentHooks = NO_HOOKS,
    budget: Budget | None = None,
) -> OperationProgram:
    """Return the draw program of an operation. Raises `Unsatisfiable`, `SerializationError`, `BudgetSpent` and `HookError`.

    If only a required body cannot be generated, the negative cases are requests without it.
    """
    compiler = PartCompiler(operation, settings, _shared(operation, settings), budget or Budget())
    try:
        return _compiled(compiler, hooks)
    except RecursionError:
        raise too_deep(operation) from None


DrawParts = Callable[[PartCompiler], Mapping[Location, Draw]]
"""Returns the draw of each part of an operation: `(value, media type)` for the body, values by name for other parts."""


def compile_parts(
    operation: Operation, make: DrawParts, settings: GenerationSettings, *, hooks: ComponentHooks = NO_HOOKS
) -> OperationProgram:
    """Return the draw program of an operation whose kind of description draws the parts itself. Raises `NothingToBreak` and the errors of `make`."""
    if settings.mode is GenerationMode.NEGATIVE:
        raise NothingToBreak(operation.label, NOTHING)
    compiler = PartCompiler(operation, settings, _shared(operation, settings), Budget())
    made = make(compiler).items()
    parts = {location: hooked(draw, location, hooks, compiler.context) for location, draw in made}
    usual = usual_parts(compiler, hooks, (*parts, _BODY))
    program = OperationProgram(compiler, usual, _in_order(parts), None)
    program.add_case_hooks(hooks)
    return program


def too_deep(operation: Operation) -> Unsatisfiable:
    """Return the error for an operation whose schemas are nested too deep for the stack."""
    return Unsatisfiable(operation.label, "its schemas are nested too deeply; simplify them")


def _compiled(compiler: PartCompiler, hooks: ComponentHooks) -> OperationProgram:
    operation, mode = compiler.operation, compiler.settings.mode
    declared = {parameter.location for parameter in operation.parameters}
    parts = {
        location: hooked(compiler.parameters(location), location, hooks, compiler.context)
        for location in _ORDER
        if location in declared or is_hooked(location, hooks)
    }
    fault: Unsatisfiable | SerializationError | None = None
    try:
        body, has_body = compiler.body()
        if has_body:
            parts[_BODY] = hooked(body, _BODY, hooks, compiler.context)
    except (Unsatisfiable, SerializationError) as error:
        # Without its required body, the operation still has negative cases: requests without the body.
        if mode is GenerationMode.POSITIVE or compiler.has_forced_body:
            raise
        fault = error.with_traceback(None)
    settings = compiler.settings
    choices = alternatives(operation, settings)
    negative: LazyAlternatives[Broken] | None = None
    if mode is not GenerationMode.POSITIVE:
        targets = negative_targets(compiler) if fault is None else {Location.BODY: without_body(operation)}
        negative = _negative_parts(compiler, hooks, parts, targets, choices)
        if negative is None and mode is GenerationMode.NEGATIVE:
            raise NothingToBreak(operation.label, NOTHING)
    whole = with_credentials(_in_order(parts), choices, compiler)
    if settings.allow_extra_parameters:
        # Parts that hooks returned are not changed.
        free = [location for location in parts if not is_hooked(location, hooks)]
        text = alphabets.text_of(settings.codec, allows_nul=settings.allow_x00)
        excluded = settings.exclude_header_characters
        whole = with_extras(whole, Room(operation, free), text, excluded)
    compiler.settle()
    carried = {one.location for choice in choices for one in choice.made_up}
    usual = usual_parts(compiler, hooks, (*parts, *carried, _BODY))
    program = OperationProgram(compiler, usual, whole, negative, fault)
    program.relations = compiler.relations()
    program.add_case_hooks(hooks)
    return program


def _in_order(parts: Mapping[Location, Draw]) -> Draw:
    """Return one draw of all parts. A part that the operation does not have is empty."""
    drawn = [(index, parts[location]) for index, location in enumerate(_ALL) if location in parts]

    def draw(source: Source) -> tuple[object, ...]:
        found: list[object] = [{}, {}, {}, {}, _NO_BODY]
        for index, part in drawn:
            found[index] = part(source)
        return tuple(found)

    return draw


def _negative_parts(
    compiler: PartCompiler,
    hooks: ComponentHooks,
    valid: Mapping[Location, Draw],
    targets: Mapping[Location, Targets],
    choices: tuple[Alternative, ...],
) -> LazyAlternatives[Broken] | None:
    """Return the locations that can have a wrong value, with draws of all parts; None if there are none."""
    if not targets:
        return None

    def make(location: Location) -> Broken | None:
        if targets[location].at(0) is None:
            return None
        part = NegatedPart(compiler, location, targets[location])
        draw = hooked(part.draw, location, hooks, compiler.context)
        # A hook may have repaired the wrong value, so hooked parts are judged again.
        draw = part.checked(draw) if is_hooked(location, hooks) else draw
        return location, with_credentials(_in_order({**valid, location: draw}), choices, compiler)

    return LazyAlternatives([partial(make, location) for location in _ALL if location in targets])
