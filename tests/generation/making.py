"""Operations made of a bare schema, and two opinions about values."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jsonschema

from checker.core.case import Case
from checker.core.meta import PhaseInfo
from checker.core.operation import Body, Label, Location, Operation, Parameter
from checker.core.schema import Dialect, Direction, Schema, UnresolvableReference
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.choices import RandomSource, Source
from checker.kinds.static import DeclaredOperation
from checker.validation.compiled import Translator, compile_schema
from tests.measuring.contract import parts as parts

PHASE = PhaseInfo("fuzzing")
LABEL = Label("POST /things/{id}")
NO_CONTRACT: Any = None


@dataclass(frozen=True, eq=False)
class PlainDocument:
    root: Any
    facts: dict[object, Any] = field(default_factory=dict)

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        value = self.root
        try:
            for token in reference.removeprefix("#").split("/")[1:]:
                value = value[token.replace("~1", "/").replace("~0", "~")]
        except (KeyError, TypeError) as error:
            raise UnresolvableReference(f"{reference} at {at} points at nothing") from error
        return value, reference


class PlainOperation(DeclaredOperation):
    def __init__(
        self,
        parameters: tuple[Parameter, ...] = (),
        bodies: tuple[Body, ...] = (),
        body_required: bool = True,
        **others: Any,
    ) -> None:
        given: dict[str, Any] = {"label": LABEL, "method": "POST", "path": "/things/{id}", **others}
        super().__init__(
            contract=NO_CONTRACT, parameters=parameters, bodies=bodies, body_required=body_required, **given
        )

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        return (frozenset({self.method}),)


def schema_of(raw: Any, dialect: Dialect = Dialect.OPENAPI31, components: dict[str, Any] | None = None) -> Schema:
    root = {"s": raw, "components": {"schemas": components or {}}}
    return Schema(raw, "#/s", dialect, PlainDocument(root))


def body_of(schema: Schema, media_type: str = "application/json") -> Body:
    return Body(media_type, schema, "#/body", {})


def parameter_of(raw: Any, location: Location = Location.QUERY, name: str = "q", *, required: bool = True) -> Parameter:
    return Parameter(name, location, required, schema_of(raw), "form", True)


def program_of(
    *parameters: Parameter,
    body: Any = None,
    settings: GenerationSettings | None = None,
    hooks: ComponentHooks = NO_HOOKS,
    dialect: Dialect = Dialect.OPENAPI31,
    components: dict[str, Any] | None = None,
    media_type: str = "application/json",
    body_required: bool = True,
) -> OperationProgram:
    bodies = () if body is None else (body_of(schema_of(body, dialect, components), media_type),)
    operation: Operation = PlainOperation(tuple(parameters), bodies, body_required)
    return compile_operation(operation, settings or GenerationSettings(), hooks=hooks)


def drawer(program: OperationProgram) -> Callable[[Source], Case]:
    return lambda source: program.draw(source, case_id="c", phase=PHASE)


def cases(program: OperationProgram, count: int, *, seed: int = 0) -> list[Case]:
    source = RandomSource()
    found = []
    for index in range(count):
        source.reset(seed * 1_000_003 + index)
        found.append(program.draw(source, case_id="c", phase=PHASE))
    return found


def bodies(raw: Any, count: int = 100, **options: Any) -> list[Any]:
    return [case.body for case in cases(program_of(body=raw, **options), count)]


def opinions(schema: Schema) -> Callable[[Any], bool]:
    """True when both validators admit a value, formats included."""
    first = compile_schema(schema, Direction.REQUEST).is_valid
    plain = Translator(schema.document, schema.dialect, Direction.REQUEST).bundle(schema)
    second = _referee(plain, schema.dialect)
    return lambda value: first(value) and second(value)


def _referee(plain: Any, dialect: Dialect) -> Callable[[Any], bool]:
    newer = dialect is Dialect.OPENAPI31
    draft = jsonschema.Draft202012Validator if newer else jsonschema.Draft7Validator
    validator = draft(plain, format_checker=draft.FORMAT_CHECKER)

    def is_valid(value: Any) -> bool:
        try:
            return validator.is_valid(value)
        except re.error:
            # A pattern that Python cannot read: one opinion has to do.
            return True

    return is_valid
