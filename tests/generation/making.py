"""Operations made of a bare schema, and two opinions about values."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonschema

from checker.core.case import Case
from checker.core.contract import ResponseContract
from checker.core.engine import Engine
from checker.core.meta import PhaseInfo
from checker.core.operation import (
    Body,
    Definition,
    Label,
    Location,
    Operation,
    Parameter,
    UnusableBody,
)
from checker.core.request import WireRequest
from checker.core.schema import Dialect, Direction, Schema, UnresolvableReference
from checker.core.schema_warnings import SchemaWarning
from checker.core.security import SecurityRequirement
from checker.core.verdicts import RequestVerdict
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.normalization.store import FormStore
from checker.generation.program import GenerationSettings, OperationProgram, compile_operation
from checker.generation.sources.choices import RandomSource, Source
from checker.kinds.members import OperationMembers
from checker.validation.compiled import compile_schema
from checker.validation.translate import Translator
from tests.measuring.contract import parts as parts

PHASE = PhaseInfo("fuzzing")
LABEL = Label("POST /things/{id}")


@dataclass(frozen=True, eq=False)
class PlainDocument:
    root: Any

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        value = self.root
        try:
            for token in reference.removeprefix("#").split("/")[1:]:
                value = value[token.replace("~1", "/").replace("~0", "~")]
        except (KeyError, TypeError) as error:
            raise UnresolvableReference(f"{reference} at {at} points at nothing") from error
        return value, reference


@dataclass(frozen=True)
class PlainOperation(OperationMembers):
    parameters: tuple[Parameter, ...] = ()
    bodies: tuple[Body, ...] = ()
    body_required: bool = True
    is_described: bool = True
    label: Label = LABEL
    method: str = "POST"
    path: str = "/things/{id}"
    tags: tuple[str, ...] = ()
    operation_id: str | None = None
    deprecated: bool = False
    definition: Definition = field(default_factory=Definition)
    unusable_bodies: tuple[UnusableBody, ...] = ()
    unusable_parameters: Mapping[str, str] = field(default_factory=dict)
    has_skipped_required_body: bool = False
    base_url: str | None = None
    security: tuple[SecurityRequirement, ...] = ()
    read_answer: None = None
    grants_credentials: bool = False
    engine: Engine | None = None

    @property
    def resource_path(self) -> str:
        return self.path

    def compile(
        self,
        settings: GenerationSettings,
        *,
        hooks: ComponentHooks = NO_HOOKS,
        store: FormStore | None = None,
    ) -> OperationProgram:
        return compile_operation(self, settings, hooks=hooks, store=store)

    def warnings(self) -> tuple[SchemaWarning, ...]:
        return ()

    @property
    def contract(self) -> ResponseContract:
        raise NotImplementedError

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        return (frozenset({self.method}),)

    def judge_request(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        raise NotImplementedError


def schema_of(
    raw: Any, dialect: Dialect = Dialect.OPENAPI31, components: dict[str, Any] | None = None
) -> Schema:
    root = {"s": raw, "components": {"schemas": components or {}}}
    return Schema(raw, "#/s", dialect, PlainDocument(root))


def body_of(schema: Schema, media_type: str = "application/json") -> Body:
    return Body(media_type, schema, "#/body", {})


def parameter_of(
    raw: Any, location: Location = Location.QUERY, name: str = "q", *, required: bool = True
) -> Parameter:
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
