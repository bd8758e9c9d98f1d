"""Descriptions whose operations are all known when they are opened. A kind can use these values instead of its own classes."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from checker.core.case import Engine
from checker.core.contract import RequestVerdict, ResponseContract
from checker.core.operation import Body, BodyDemand, BrokenOperation, Definition, Label, Parameter, UnusableBody
from checker.core.request import WireRequest
from checker.core.resources import ResourceModel, ResourceUse, Transition
from checker.core.response import Response
from checker.core.schema import Dialect, Schema, UnresolvableReference, walked
from checker.core.security import SecurityRequirement, SecurityScheme
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.program import DrawParts, OperationProgram, compile_operation, compile_parts
from checker.generation.settings import GenerationSettings
from checker.kinds.protocol import ApiOperation, ApiSchema
from checker.kinds.sources import SchemaOptions


@dataclass(frozen=True, eq=False, slots=True)
class SchemaDocument:
    """A JSON Schema that is a document of its own."""

    root: object
    facts: dict[object, Any] = field(default_factory=dict)

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        """Return the target of a reference into the schema itself. Raises `UnresolvableReference`."""
        is_there, value = walked(self.root, reference.removeprefix("#"))
        if not reference.startswith("#") or not is_there:
            raise UnresolvableReference(f"`{reference}` at {at} points at nothing; correct it")
        return value, reference


def json_schema(raw: object, dialect: Dialect = Dialect.DRAFT2020) -> Schema:
    """Return a JSON Schema that stands alone; its references are pointers into itself."""
    return Schema(raw, "#", dialect, SchemaDocument(raw))


RequestJudge = Callable[[WireRequest, str], RequestVerdict]
"""Returns the verdict on a request, given the path before every operation path."""


@dataclass(eq=False, slots=True)
class DeclaredOperation(ApiOperation):
    """An operation made of given values. It is also its row in the table of contents. A subclass overrides everything for which there is no field."""

    label: Label = field()
    contract: ResponseContract = field()
    method: str = "POST"
    path: str = "/"
    parameters: tuple[Parameter, ...] = ()
    bodies: tuple[Body, ...] = ()
    body_required: bool = False
    draw: DrawParts | None = None
    """Makes the program that draws the parts of a case; None if the parts are drawn from the schemas of parameters and bodies."""
    judge: RequestJudge | None = None
    """The judge of requests; None: no request is judged."""
    read_answer: Callable[[Response], Any] | None = None
    """Returns the content of a response; None for its JSON."""
    read_refusal: Callable[[Any, Response], Iterable[BodyDemand]] | None = None
    """Returns the demands of a response that refused a body; None for the usual words of frameworks."""
    resource_path: str = ""
    """`path` by default."""
    tags: tuple[str, ...] = ()
    operation_id: str | None = None
    deprecated: bool = False
    definition: Definition = field(default_factory=Definition)
    unusable_bodies: tuple[UnusableBody, ...] = ()
    declared_base_url: str | None = None
    security: tuple[SecurityRequirement, ...] = ()
    engine: Engine | None = None

    def __post_init__(self) -> None:
        self.resource_path = self.resource_path or self.path

    @property
    def resource_method(self) -> str:
        return self.method

    def judge_request(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        return RequestVerdict(()) if self.judge is None else self.judge(request, base_path)

    @property
    def is_described(self) -> bool:
        return self.draw is None

    def compile(self, settings: GenerationSettings, *, hooks: ComponentHooks = NO_HOOKS) -> OperationProgram:
        if self.draw is not None:
            return compile_parts(self, self.draw, settings, hooks=hooks)
        return compile_operation(self, settings, hooks=hooks)


@dataclass(eq=False, slots=True)
class DeclaredSchema(ApiSchema):
    """A description of given operations."""

    kind: str = field()
    specification: str = field()
    source: bytes
    """The document from which the kind can open the description again."""
    operations: tuple[DeclaredOperation | BrokenOperation, ...]
    title: str = ""
    base_url: str | None = None
    declared_path: str = ""
    server_variables_declared: Mapping[str, Collection[str]] | None = None
    location: str | None = None
    app: object | None = None
    credentials: tuple[str, ...] = ()
    transitions: tuple[Transition, ...] = ()
    """Links between operations, in addition to those that paths suggest."""
    security_schemes: Mapping[str, SecurityScheme] = field(default_factory=dict)

    def configure(self, options: SchemaOptions) -> None:
        self.base_url = options.base_url or self.base_url

    def serve_from(self, app: object, url: str) -> None:
        self.app, self.base_url = app, url

    @property
    def raw_schema(self) -> bytes:
        return self.source

    @property
    def base_path(self) -> str:
        path = urlsplit(self.base_url or "").path.strip("/")
        return f"/{path}/" if path else "/"

    def entries(self) -> tuple[DeclaredOperation | BrokenOperation, ...]:
        return self.operations

    def find(self, label: str) -> DeclaredOperation | BrokenOperation | None:
        return next((found for found in self.operations if found.label == label), None)

    def parameter_names(self, label: Label) -> Iterable[str]:
        found = self.find(label)
        return [] if not isinstance(found, DeclaredOperation) else [p.name for p in found.parameters]

    def resources(self) -> ResourceModel:
        read = [one for one in self.operations if isinstance(one, DeclaredOperation)]
        uses = (ResourceUse.of(one.label, one.method, one.resource_path) for one in read)
        return ResourceModel(uses, self.transitions)

    def normalised(self) -> bytes:
        return self.source
