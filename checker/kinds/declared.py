"""Descriptions whose operations are all known when they are open: values in place of a kind's own classes."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field

from checker.core.contract import ResponseContract
from checker.core.engine import Engine
from checker.core.operation import (
    Body,
    BodyDemand,
    BrokenOperation,
    Definition,
    Label,
    Parameter,
    UnusableBody,
)
from checker.core.request import WireRequest
from checker.core.resources import ResourceModel, ResourceUse, Transition
from checker.core.response import Response
from checker.core.schema import Dialect, Schema, UnresolvableReference
from checker.core.schema_warnings import SchemaWarning
from checker.core.security import SecurityRequirement, SecurityScheme
from checker.core.verdicts import RequestVerdict
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.normalization.store import FormStore
from checker.generation.program import DrawParts, compile_operation, compile_parts
from checker.generation.settings import GenerationSettings
from checker.kinds.members import OperationMembers
from checker.kinds.protocol import ApiLink, CaseProgram, DroppedOperation, OperationEntry
from checker.kinds.sources import SchemaOptions
from checker.validation.pointers import walked


class SchemaDocument(Struct, frozen=True, eq=False):
    """A JSON Schema that is a document of its own."""

    root: object

    def resolve(self, reference: str, *, at: str) -> tuple[object, str]:
        """What a reference into the schema itself means. Raises `UnresolvableReference`."""
        is_there, value = walked(self.root, reference.removeprefix("#"))
        if not reference.startswith("#") or not is_there:
            raise UnresolvableReference(f"`{reference}` at {at} points at nothing; correct it")
        return value, reference


def json_schema(raw: object, dialect: Dialect = Dialect.DRAFT2020) -> Schema:
    """A JSON Schema that stands alone; its references are pointers into itself."""
    return Schema(raw, "#", dialect, SchemaDocument(raw))


RequestJudge = Callable[[WireRequest, str], RequestVerdict]
"""From a request and the path before every operation path to what is said of it."""


@dataclasses.dataclass(eq=False, slots=True)
class DeclaredOperation(OperationMembers):
    """Implements `checker.kinds.protocol.ApiOperation` with what it is given."""

    label: Label
    contract: ResponseContract
    method: str = "POST"
    path: str = "/"
    parameters: tuple[Parameter, ...] = ()
    bodies: tuple[Body, ...] = ()
    body_required: bool = False
    draw: DrawParts | None = None
    """Makes what draws its parts; None: they are drawn from the schemas of parameters and bodies."""
    judge: RequestJudge | None = None
    """The referee; None says nothing of any request."""
    read_answer: Callable[[Response], Any] | None = None
    """What an answer says; None: its JSON."""
    read_refusal: Callable[[Any, Response], Iterable[BodyDemand]] | None = None
    """What an answer that refused a body demands of the next ones; None: what frameworks usually say."""
    resource_path: str = ""
    """`path` if nothing is given."""
    tags: tuple[str, ...] = ()
    operation_id: str | None = None
    deprecated: bool = False
    definition: Definition = dataclasses.field(default_factory=Definition)
    unusable_bodies: tuple[UnusableBody, ...] = ()
    unusable_parameters: Mapping[str, str] = dataclasses.field(default_factory=dict)
    base_url: str | None = None
    security: tuple[SecurityRequirement, ...] = ()
    grants_credentials: bool = False
    has_skipped_required_body: bool = False
    engine: Engine | None = None

    def __post_init__(self) -> None:
        self.resource_path = self.resource_path or self.path

    def warnings(self) -> Iterable[SchemaWarning]:
        """None."""
        return ()

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        """Nothing: what a method means is known to the kind alone."""
        return ()

    def judge_request(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        """What the referee says of a request to this operation."""
        return RequestVerdict(()) if self.judge is None else self.judge(request, base_path)

    @property
    def is_described(self) -> bool:
        """Whether parameters and bodies are all that is sent."""
        return self.draw is None

    def compile(
        self,
        settings: GenerationSettings,
        *,
        hooks: ComponentHooks = NO_HOOKS,
        store: FormStore | None = None,
    ) -> CaseProgram:
        """What draws its cases."""
        if self.draw is not None:
            return compile_parts(self, self.draw, settings, hooks=hooks)
        return compile_operation(self, settings, hooks=hooks, store=store)


class DeclaredSchema(Struct, eq=False):
    """Implements `checker.kinds.protocol.ApiSchema` for operations that are given."""

    kind: str
    specification: str
    source: bytes
    """The document: what its kind opens it from again."""
    operations: tuple[DeclaredOperation | BrokenOperation, ...]
    title: str = ""
    base_url: str | None = None
    declared_path: str = ""
    """It declares no server."""
    server_variable_names: frozenset[str] | None = None
    location: str | None = None
    app: object | None = None
    credentials: tuple[str, ...] = ()
    transitions: tuple[Transition, ...] = ()
    """What follows from answers, beside what paths say."""
    security_schemes: Mapping[str, SecurityScheme] = field(default_factory=dict)

    def sign_up_flow(self) -> None:
        """Nothing is known of accounts."""
        return

    def described_login(self) -> None:
        """Nor of logins."""
        return

    def configure(self, options: SchemaOptions) -> None:
        """Take the base URL that users give."""
        self.base_url = options.base_url or self.base_url

    def serve_from(self, app: object, url: str) -> None:
        """Say that an application in this process serves the API, which believes to be that host."""
        self.app, self.base_url = app, url

    @property
    def raw_schema(self) -> bytes:
        """The document."""
        return self.source

    @property
    def base_path(self) -> str:
        """Path of the base URL."""
        path = urlsplit(self.base_url or "").path.strip("/")
        return f"/{path}/" if path else "/"

    def entries(self) -> tuple[DeclaredOperation | BrokenOperation, ...]:
        """All operations, in order."""
        return self.operations

    def checked_entries(self) -> Iterator[DeclaredOperation | BrokenOperation]:
        """All operations, in order."""
        return iter(self.operations)

    def dropped(self) -> Iterable[DroppedOperation]:
        """None."""
        return ()

    def find(self, label: str) -> DeclaredOperation | BrokenOperation | None:
        """The operation of a label."""
        return next((found for found in self.operations if found.label == label), None)

    def parameter_names(self, label: Label) -> Iterable[str]:
        """Names of the declared parameters."""
        found = self.find(label)
        return (
            [] if not isinstance(found, DeclaredOperation) else [p.name for p in found.parameters]
        )

    def links(self) -> Iterable[ApiLink]:
        """None."""
        return ()

    def resources(self) -> ResourceModel:
        """What the paths of its operations say, and the transitions that it was given."""
        read = [one for one in self.operations if isinstance(one, DeclaredOperation)]
        uses = (ResourceUse.of(one.label, one.method, one.resource_path) for one in read)
        return ResourceModel(uses, self.transitions)

    def place_of(self, entry: OperationEntry | BrokenOperation) -> tuple[str, str]:
        """Path and method."""
        return entry.path, entry.method

    def normalised(self) -> bytes:
        """The document."""
        return self.source
