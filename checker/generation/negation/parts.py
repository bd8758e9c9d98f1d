"""The parts of an operation that can be wrong: one parameter or the body, broken in one way."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from checker.config.overrides import Override
from checker.core.case import NOT_SET
from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.media_types import is_form, is_json, is_multipart
from checker.core.meta import Violation
from checker.core.operation import Body, Location, Operation, Parameter, UnusableBody
from checker.core.schema import pointer_child
from checker.generation.components import PartCompiler
from checker.generation.dictionaries import SchemaPart
from checker.generation.drawing.words import readings
from checker.generation.negation.breaches import Breach, LazyAlternatives, NegativeDraw, PathStep, compile_negative
from checker.generation.negation.wire import body_proof, parameter_proof
from checker.generation.normalization import forms
from checker.generation.normalization.forms import made
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext, Rejected, retried
from checker.schema.views import outline_of
from checker.transport.wire.bodies import json_bytes

SYNTAX: Final = "syntax"  # Keyword of the violation.
_MOST_BYTES: Final = 1024
_SPOILT: Final = (b",", b"}", b"]", b'"', b"'", b"\x00", b"{", b":", b"\xff", b"//")


def syntax_errors(
    valid: Draw, encode: Callable[[Any], bytes], body: tuple[str, str], context: DrawContext
) -> NegativeDraw:
    """Return draws of bodies that are no JSON, for a JSON media type. `body` is (pointer, media type)."""
    pointer, media_type = body

    def make(source: Source) -> bytes:
        if not source.boolean():
            return source.binary(1, _MOST_BYTES)
        # A body with one wrong character gets further into a parser than random octets.
        content = encode(valid(source))
        at = source.integer(0, len(content))
        which = source.choice(len(_SPOILT) + 2)
        if which >= len(_SPOILT):
            return content[:at][:_MOST_BYTES]
        return content[:at] + _SPOILT[which] + content[at:]

    # Inserting a character into a text, or cutting after a whole value, may leave JSON valid.
    drawn = retried(make, is_no_json, context, pointer)

    def draw(source: Source) -> tuple[Any, Violation]:
        content = drawn(source)
        return content, Violation(pointer, SYNTAX, media_type, content)

    return draw


def is_no_json(content: bytes) -> bool:
    """Whether no JSON reader accepts a content in any Unicode encoding. Whitespace alone counts as no body."""
    if not content.strip():
        return False
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return True
    return False


_SYNTAX: Final = 0.05
_LEFT_OUT: Final = 0.1  # Share of requests without a required parameter or body, among those in which it is wrong.
_ALWAYS_THERE: Final = frozenset(
    ("accept", "content-length", "content-type", "host", "user-agent", "x-checker-testcaseid")
)
"""Headers that every request has."""
_ABSENT: Final = object()
_EXTRAS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})

Proof = Callable[[Any], bool]  # Whether a value is certainly wrong for every server.
Wanted = Callable[[Breach], bool]


class NegationTarget(Struct, frozen=True):
    """One part that can be wrong."""

    name: str  # Name of the parameter, or the media type of the body.
    draw: NegativeDraw
    is_broken: Proof  # Judges values that hooks may have changed.


Targets = LazyAlternatives[NegationTarget]


def negative_targets(compiler: PartCompiler) -> dict[Location, Targets]:
    """Return the parts that may be wrong, by location; empty for an operation that accepts any request.

    At least one returned part can be wrong. The others are compiled when they are first drawn.
    """
    makes: dict[Location, list[Callable[[], NegationTarget | None]]] = {}
    is_sure = False
    operation = compiler.operation
    for parameter in operation.parameters:
        is_fixed = compiler.settings.is_fixed(parameter) or compiler.forced(parameter) is not None
        # In `/{a}{b}` the end of the first value is undefined.
        is_apart = parameter.location is not Location.PATH or "}{" not in operation.path
        if is_apart and not is_fixed:
            makes.setdefault(parameter.location, []).append(partial(_of_parameter, compiler, parameter))
            # A required part can always be left out, so its schema need not be compiled to know that a wrong request exists.
            is_sure = is_sure or may_be_missing(parameter)
    if operation.bodies and not compiler.has_forced_body:
        makes[Location.BODY] = [partial(_of_body, compiler, body) for body in operation.bodies]
        is_sure = is_sure or operation.body_required
    found = {location: LazyAlternatives(some) for location, some in makes.items()}
    is_sure = is_sure or any(targets.at(0) is not None for targets in found.values())
    return found if is_sure else {}


def may_be_missing(parameter: Parameter) -> bool:
    """Whether a request without the parameter can be sent and is wrong."""
    is_left_out = parameter.required and parameter.location is not Location.PATH
    return is_left_out and parameter.name.lower() not in _ALWAYS_THERE


def negation_of_parameter(settings: GenerationSettings, parameter: Parameter, part: SchemaPart) -> tuple[Proof, Wanted]:
    """Return the proof for values of a parameter, and a filter for the breaches that are visible in its text."""
    outline = outline_of(parameter.schema)
    proof = parameter_proof(parameter, outline, part.compiler.validator(part.conjunction))
    # Text has no types, and one text may be a list of one item: a wrong type of the whole value is not visible.
    hides_type = parameter.media_type is None and not outline.types.isdisjoint(_TEXTS)

    def is_wanted(breach: Breach) -> bool:
        is_hidden = hides_type and breach.keyword == "type" and not breach.path
        return not is_hidden and (settings.allow_extra_parameters or breach.keyword not in _EXTRAS)

    return proof, is_wanted


def negation_of_body(settings: GenerationSettings, body: Body, part: SchemaPart) -> tuple[Proof | None, Wanted]:
    """Return the proof for bodies (None if nothing can be proved), and a filter for the breaches that a reader of the body can see."""
    breaks = body.breaks
    is_fields = is_form(body.media_type) or is_multipart(body.media_type)

    def is_wanted(breach: Breach) -> bool:
        if breach.keyword in _EXTRAS and not settings.allow_extra_parameters:
            return False
        return breaks(breach.keyword, breach.path) if breaks else not is_fields or _is_readable(body, breach)

    return body_proof(body, part.compiler.validator(part.conjunction)), is_wanted


def _is_readable(body: Body, breach: Breach) -> bool:
    """Whether a place in a form has a defined spelling. Most places inside of properties have none."""
    if len(breach.path) < 2:
        return True
    how = body.encoding.get(breach.path[0])
    if how is not None and how.content_type is not None and is_json(how.content_type):
        return True
    if breach.steps[1] in (PathStep.ITEM, PathStep.INDEX):
        return len(breach.path) == 2
    return not is_form(body.media_type)


_TEXTS: Final = (forms.STRING, forms.ARRAY, forms.OBJECT)


def _of_parameter(compiler: PartCompiler, parameter: Parameter) -> NegationTarget | None:
    known = compiler.compiled(parameter)
    if known.negation is None:
        proof: Proof = lambda value: False  # noqa: E731
        broken: NegativeDraw | None = None
        with suppress(Unsatisfiable, BudgetSpent):
            proof, is_wanted = negation_of_parameter(compiler.settings, parameter, known.part)
            usual = compile_negative(*known.part, is_broken=proof, wanted=is_wanted)
            binding = compiler.overrides.parameter(parameter.location, parameter.name)
            broken = usual if binding is None else _with_wrong_entries(usual, known.part, proof, binding)
        known.negation = broken, proof
    broken, proof = known.negation
    if may_be_missing(parameter):
        broken = _often(broken, _missing(_ABSENT, pointer_child(parameter.pointer, "required")), _LEFT_OUT)
    if broken is None:
        return None
    return NegationTarget(parameter.name, broken, lambda value: value is _ABSENT or proof(value))


def _with_wrong_entries(usual: NegativeDraw, part: SchemaPart, proof: Proof, binding: Override) -> NegativeDraw:
    """Return draws of `usual`, or of those entries of a dictionary that are proved wrong."""
    wrong = [(entry, _violation(part, entry)) for entry in binding.entries if proof(entry)]
    count, share = len(wrong), binding.share or 1.0
    if not wrong:
        return usual

    def draw(source: Source) -> tuple[Any, Violation]:
        if share < 1 and not source.boolean(share):
            return usual(source)
        return wrong[source.choice(count) if count > 1 else 0]

    return draw


def _violation(part: SchemaPart, entry: Any) -> Violation:
    """Return the first keyword that rejects an entry on its own."""
    compiler, conjunction, _ = part
    form = compiler.canonical(conjunction)
    # The last reading is converted to a type of the schema: text in a dictionary file may stand for a number.
    *_, value = (entry, *readings(entry, form.types))
    for facet in form.facets:
        for keyword, was in compiler.canon.said(facet).items():
            alone = made(facet, f"{facet.tag}~only {keyword}", {keyword: was})
            if not compiler.validator((alone,))(value):
                return Violation(pointer_child(facet.pointer, keyword), keyword, was, entry)
    return Violation(form.pointer, "", None, entry)


def _missing(absence: object, pointer: str) -> NegativeDraw:
    violation = Violation(pointer, "required", True, None)
    return lambda source: (absence, violation)


def _often(usual: NegativeDraw | None, rare: NegativeDraw, share: float) -> NegativeDraw:
    if usual is None:
        return rare
    return lambda source: rare(source) if source.boolean(share) else usual(source)


def _of_body(compiler: PartCompiler, body: Body) -> NegationTarget | None:
    """Return the target of a wrong body. If the body is required, some requests lack it instead."""
    found = _of_content(compiler, body)
    if not compiler.operation.body_required:
        return found
    if found is None:
        return _no_body(body)
    draw = _often(found.draw, _no_body(body).draw, _LEFT_OUT)
    return NegationTarget(found.name, draw, lambda value: value is NOT_SET or found.is_broken(value))


def without_body(operation: Operation) -> Targets:
    """Return the only target of an operation whose required body cannot be generated: requests without it."""
    declared: list[Body | UnusableBody] = [*operation.bodies, *operation.unusable_bodies]
    return LazyAlternatives([partial(_no_body, declared[0])])


def _no_body(body: Body | UnusableBody) -> NegationTarget:
    at = pointer_child(body.pointer.partition("/content/")[0], "required")
    return NegationTarget("", _missing(NOT_SET, at), lambda value: value is NOT_SET)


def _of_content(compiler: PartCompiler, body: Body) -> NegationTarget | None:
    try:
        # The schemas of the body are compiled already, for valid bodies.
        part = compiler.body_part(body, reuses=compiler.settings.reuse)
        valid = part.compiler.compile(part.conjunction, part.place)
    except Unsatisfiable:
        return None
    wrong, is_wanted = negation_of_body(compiler.settings, body, part)
    if wrong is None:
        return None
    # For an optional body, some servers read null as no body, which is valid.
    may_be_null = compiler.operation.body_required
    proof: Proof = lambda value: (value is not None or may_be_null) and wrong(value)  # noqa: E731
    broken: NegativeDraw | None = None
    with suppress(Unsatisfiable, BudgetSpent):
        broken = compile_negative(*part, is_broken=proof, wanted=is_wanted)
    if not is_json(body.media_type) or body.write is not None:
        return None if broken is None else NegationTarget(body.media_type, broken, proof)
    faults = syntax_errors(valid, json_bytes, (body.pointer, body.media_type), compiler.context)

    def is_broken(value: Any) -> bool:
        return is_no_json(value) if isinstance(value, bytes) else proof(value)

    return NegationTarget(body.media_type, _often(broken, faults, _SYNTAX), is_broken)


class NegatedPart(Struct):
    """The values of one location in which something is wrong."""

    compiler: PartCompiler
    location: Location
    targets: Targets
    _last: NegationTarget | None = None  # The target of the current case.
    _beside: dict[str, Draw] = field(default_factory=dict)  # Name of the wrong parameter -> draws of the others.

    def draw(self, source: Source) -> Any:
        """Draw all parameters of the location, or the body. The violation is stored in the context."""
        target = self._last = self.targets.drawn(source)
        if self.location is Location.BODY:
            context = self.compiler.context
            # A value of an earlier response in place of the wrong part could be valid.
            context.is_reusing = False
            body = self._broken(source, target)
            context.is_reusing = True
            return body, None if body is NOT_SET else target.name
        # No valid value is drawn for the target, because there may be none.
        valid = self._beside.get(target.name)
        if valid is None:
            valid = self._beside[target.name] = self.compiler.parameters(self.location, but=target.name)
        values: dict[str, Any] = dict(valid(source))
        value = self._broken(source, target)
        if value is not _ABSENT:
            values[target.name] = value
        return values

    def _broken(self, source: Source, target: NegationTarget) -> Any:
        value, violation = target.draw(source)
        pointer = self.compiler.own_pointer(violation.pointer)
        self.compiler.context.violation = (
            violation if pointer == violation.pointer else replace(violation, pointer=pointer)
        )
        return value

    def checked(self, draw: Draw) -> Draw:
        """Return `draw` without the values that hooks have repaired."""

        def drawn(source: Source) -> Any:
            found, target = draw(source), self._last
            assert target is not None
            if isinstance(found, tuple):
                value = found[0]
            else:
                value = found.get(target.name, _ABSENT) if isinstance(found, dict) else found
            if not target.is_broken(value):
                raise Rejected(f"hooks of {target.name}")
            return found

        return drawn
