"""The wrong parts of an operation and draws of them: one parameter, or the body, broken in one way."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from msgspec import Struct

from checker.config.overrides import Override
from checker.core.case import NOT_SET
from checker.core.errors import BudgetSpent, Unsatisfiable
from checker.core.media_types import is_form, is_json, is_multipart
from checker.core.meta import Violation
from checker.core.operation import Body, Location, Operation, Parameter, UnusableBody
from checker.generation.components import DrawnBody, PartCompiler
from checker.generation.dictionaries import SchemaPart
from checker.generation.drawing.words import readings
from checker.generation.negation.breaches import Breach, LazyAlternatives, NegativeDraw, PathStep, compile_negative
from checker.generation.negation.wire import body_proof, parameter_proof
from checker.generation.normalization import forms
from checker.generation.normalization.forms import made
from checker.generation.settings import GenerationSettings
from checker.generation.sources.choices import Source
from checker.generation.sources.context import Draw, DrawContext, Rejected, retried
from checker.schema.pointers import pointer_child
from checker.schema.views import outline_of
from checker.transport.wire.bodies import json_bytes


def with_wrong_words(
    usual: NegativeDraw, part: SchemaPart, proof: Callable[[Any], bool], binding: Override
) -> NegativeDraw:
    """Draws what `usual` gives, or an entry of a dictionary that is proved wrong."""
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
    """The first keyword that alone refuses an entry."""
    compiler, conjunction, _ = part
    form = compiler.canonical(conjunction)
    *_, value = (entry, *readings(entry, form.types))
    for facet in form.facets:
        for keyword, says in compiler.canon.said(facet).items():
            alone = made(facet, f"{facet.tag}~only {keyword}", {keyword: says})
            if not compiler.validator((alone,))(value):
                return Violation(pointer_child(facet.pointer, keyword), keyword, says, entry)
    return Violation(form.pointer, "", None, entry)


SYNTAX: Final = "syntax"
"""Keyword of the violation."""
_MOST_BYTES: Final = 1024
_SPOILT: Final = (b",", b"}", b"]", b'"', b"'", b"\x00", b"{", b":", b"\xff", b"//")


def syntax_errors(
    valid: Draw, encode: Callable[[Any], bytes], body: tuple[str, str], context: DrawContext
) -> NegativeDraw:
    """Draws bodies of a JSON media type that cannot be parsed. `body` is pointer and media type."""
    pointer, media_type = body

    def spoilt(source: Source) -> bytes:
        """A valid body with one fault."""
        content = encode(valid(source))
        at = source.integer(0, len(content))
        which = source.choice(len(_SPOILT) + 2)
        if which >= len(_SPOILT):
            return content[:at][:_MOST_BYTES]
        return content[:at] + _SPOILT[which] + content[at:]

    def make(source: Source) -> bytes:
        if source.boolean():
            return spoilt(source)
        return source.binary(1, _MOST_BYTES)

    drawn = retried(make, is_no_json, context, pointer)

    def draw(source: Source) -> tuple[Any, Violation]:
        content = drawn(source)
        return content, Violation(pointer, SYNTAX, media_type, content)

    return draw


def is_no_json(content: bytes) -> bool:
    """True for what no reader of JSON takes, whatever Unicode encoding it tries. Blanks alone count as no body."""
    if not content.strip():
        return False
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return True
    return False


_SYNTAX: Final = 0.05
_LEFT_OUT: Final = 0.1
"""Share of what is not there at all among what is wrong with a required parameter or body."""
ALWAYS_THERE: Final = frozenset(
    ("accept", "content-length", "content-type", "host", "user-agent", "x-checker-testcaseid")
)
"""Headers that requests have anyway."""
_ABSENT: Final = object()
_EXTRAS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})


class NegationTarget(Struct, frozen=True):
    """One part that can be wrong."""

    name: str
    """Of the parameter, or the media type of the body."""
    draw: NegativeDraw
    is_broken: Callable[[Any], bool]
    """The proof, for values that hooks have changed."""


Targets = LazyAlternatives[NegationTarget]
Make = Callable[[], NegationTarget | None]


def negative_targets(compiler: PartCompiler) -> dict[Location, Targets]:
    """Parts that may be wrong, by location; none for an operation that takes everything.

    One at least can be wrong. The others are compiled when they are first chosen.
    """
    makes: dict[Location, list[Make]] = {}
    is_sure = False
    for parameter in compiler.operation.parameters:
        if _is_open(compiler, parameter):
            make = partial(_of_parameter, compiler, parameter)
            makes.setdefault(parameter.location, []).append(make)
            is_sure = is_sure or _may_be_missing(parameter)
    operation = compiler.operation
    if operation.bodies and not compiler.has_forced_body:
        makes[Location.BODY] = [partial(_of_body, compiler, body) for body in operation.bodies]
        is_sure = is_sure or operation.body_required
    found = {location: LazyAlternatives(some) for location, some in makes.items()}
    is_sure = is_sure or any(targets.at(0) is not None for targets in found.values())
    return found if is_sure else {}


def _is_open(compiler: PartCompiler, parameter: Parameter) -> bool:
    if compiler.settings.is_fixed(parameter) or compiler.forced(parameter) is not None:
        return False
    # Where variables touch, nobody can say where one ends and the next begins.
    return parameter.location is not Location.PATH or "}{" not in compiler.operation.path


def _may_be_missing(parameter: Parameter) -> bool:
    is_left_out = parameter.required and parameter.location is not Location.PATH
    return is_left_out and parameter.name.lower() not in ALWAYS_THERE


def _of_parameter(compiler: PartCompiler, parameter: Parameter) -> NegationTarget | None:
    broken: NegativeDraw | None = None
    proof: Callable[[Any], bool] | None = None
    with suppress(Unsatisfiable, BudgetSpent):
        part = compiler.parameter(parameter)
        outline = outline_of(parameter.schema)
        proof = parameter_proof(parameter, outline, part.compiler.validator(part.conjunction))
        types = outline.types if parameter.media_type is None else None
        broken = compile_negative(*part, is_broken=proof, wanted=wanted(compiler.settings, types))
        binding = compiler.binding(parameter)
        if binding is not None:
            broken = with_wrong_words(broken, part, proof, binding)

    def is_broken(value: Any) -> bool:
        return value is _ABSENT or (proof is not None and proof(value))

    if not _may_be_missing(parameter):
        return None if broken is None else NegationTarget(parameter.name, broken, is_broken)
    at = pointer_child(parameter.pointer, "required")
    drawn = _often(broken, _missing(_ABSENT, at), _LEFT_OUT)
    return NegationTarget(parameter.name, drawn, is_broken)


def wanted(settings: GenerationSettings, types: frozenset[str] | None = None) -> Callable[[Breach], bool]:
    """Return a filter of breaches: visible in text of these types, and more properties only if there may be."""

    def is_wanted(breach: Breach) -> bool:
        if breach.keyword in _EXTRAS and not settings.allow_extra_parameters:
            return False
        return types is None or _is_visible(types, breach)

    return is_wanted


def wanted_in(settings: GenerationSettings, body: Body) -> Callable[[Breach], bool]:
    """Return a filter of the breaches of a body: of forms, those that can be read back; of a kind's own format, those that it names."""
    is_wanted, breaks = wanted(settings), body.breaks
    if breaks is not None:
        return lambda breach: is_wanted(breach) and breaks(breach.keyword, breach.path)
    if not is_form(body.media_type) and not is_multipart(body.media_type):
        return is_wanted
    return lambda breach: is_wanted(breach) and _is_readable(body, breach)


def _is_readable(body: Body, breach: Breach) -> bool:
    """Whether a place in a form has a defined spelling: deep ones have none."""
    if len(breach.path) < 2:
        return True
    how = body.encoding.get(breach.path[0])
    if how is not None and how.content_type is not None and is_json(how.content_type):
        return True
    if breach.steps[1] in (PathStep.ITEM, PathStep.INDEX):
        return len(breach.path) == 2
    return not is_form(body.media_type)


def _is_visible(types: frozenset[str], breach: Breach) -> bool:
    """False for what text does not show: it has no types, and one text is a list of one."""
    is_text = forms.STRING in types or bool(types & {forms.ARRAY, forms.OBJECT})
    return not (is_text and breach.keyword == "type" and not breach.path)


def _missing(absence: object, pointer: str) -> NegativeDraw:
    """Draws a required part as missing."""
    violation = Violation(pointer, "required", True, None)
    return lambda source: (absence, violation)


def _of_body(compiler: PartCompiler, body: Body) -> NegationTarget | None:
    """A body that is wrong, or now and then none where there has to be one."""
    found = _of_content(compiler, body)
    if not compiler.operation.body_required:
        return found
    missing = _no_body(body)
    if found is None:
        return NegationTarget("", missing, _is_not_set)
    proof = found.is_broken
    return NegationTarget(
        found.name, _often(found.draw, missing, _LEFT_OUT), lambda value: value is NOT_SET or proof(value)
    )


def without_body(operation: Operation) -> Targets:
    """The only thing that can be wrong where a required body cannot be made: it is not there."""
    declared: list[Body | UnusableBody] = [*operation.bodies, *operation.unusable_bodies]
    missing = _no_body(declared[0])
    return LazyAlternatives([lambda: NegationTarget("", missing, _is_not_set)])


def _no_body(body: Body | UnusableBody) -> NegativeDraw:
    return _missing(NOT_SET, pointer_child(body.pointer.partition("/content/")[0], "required"))


def _is_not_set(value: Any) -> bool:
    return value is NOT_SET


def _of_content(compiler: PartCompiler, body: Body) -> NegationTarget | None:
    try:
        part = compiler.body_part(body)
        valid = part.compiler.compile(part.conjunction, part.place)
    except Unsatisfiable:
        return None
    proof = body_proof(body, part.compiler.validator(part.conjunction))
    if proof is None:
        return None
    broken: NegativeDraw | None = None
    with suppress(Unsatisfiable, BudgetSpent):
        is_wanted = wanted_in(compiler.settings, body)
        broken = compile_negative(*part, is_broken=proof, wanted=is_wanted)
    if not is_json(body.media_type) or body.write is not None:
        return None if broken is None else NegationTarget(body.media_type, broken, proof)
    names = (body.pointer, body.media_type)
    faults = syntax_errors(valid, json_bytes, names, compiler.context)
    return NegationTarget(
        body.media_type,
        _often(broken, faults, _SYNTAX),
        lambda value: is_no_json(value) if isinstance(value, bytes) else proof(value),
    )


def _often(usual: NegativeDraw | None, rare: NegativeDraw, share: float) -> NegativeDraw:
    if usual is None:
        return rare
    return lambda source: rare(source) if source.boolean(share) else usual(source)


def negated_parameters(compiler: PartCompiler, location: Location, targets: Targets) -> "NegatedPart":
    """All parameters of a location, one of them broken."""
    chosen = _ChosenTarget(compiler.context, targets)
    beside: dict[str, Draw] = {}

    def draw(source: Source) -> dict[str, Any]:
        target = chosen.drawn(source)
        name = target.name
        valid = beside.get(name)
        if valid is None:
            valid = beside[name] = compiler.parameters(location, but=name)
        values: dict[str, Any] = dict(valid(source))
        value = chosen.broken(source, target)
        if value is not _ABSENT:
            values[name] = value
        return values

    return NegatedPart(draw, chosen)


def negated_body(compiler: PartCompiler, targets: Targets) -> "NegatedPart":
    """A body that is broken."""
    chosen = _ChosenTarget(compiler.context, targets)

    def draw(source: Source) -> DrawnBody:
        target = chosen.drawn(source)
        value = chosen.broken(source, target)
        return value, None if value is NOT_SET else target.name

    return NegatedPart(draw, chosen)


class _ChosenTarget(Struct):
    """The wrong part of a location in the case that is drawn."""

    context: DrawContext
    targets: Targets
    last: NegationTarget | None = None

    def drawn(self, source: Source) -> NegationTarget:
        """One target."""
        self.last = target = self.targets.drawn(source)
        return target

    def broken(self, source: Source, target: NegationTarget) -> Any:
        """A value of it; what it breaks is kept in the context."""
        value, self.context.violation = target.draw(source)
        return value


class NegatedPart(Struct):
    """The values of one location, when something in it is wrong."""

    draw: Draw
    _chosen: _ChosenTarget

    def checked(self, draw: Draw) -> Draw:
        """`draw` after hooks: what they have repaired is rejected."""

        def drawn(source: Source) -> Any:
            found = draw(source)
            target = self._chosen.last
            assert target is not None
            if isinstance(found, tuple):
                value = found[0]
            else:
                value = found.get(target.name, _ABSENT) if isinstance(found, dict) else found
            if not target.is_broken(value):
                raise Rejected(f"hooks of {target.name}")
            return found

        return drawn
