"""One operation of an OpenAPI document, read on demand."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol, Self

from msgspec import structs

from checker.core.case import Engine
from checker.core.contract import Outcome, RequestVerdict
from checker.core.operation import Body, BrokenOperation, Label, Parameter, UnusableBody
from checker.core.request import Location, WireRequest
from checker.core.schema import SchemaWarning, UnresolvableReference, pointer_child
from checker.core.security import SecurityRequirement
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.program import OperationProgram, compile_operation
from checker.generation.settings import GenerationSettings
from checker.kinds.protocol import ApiOperation
from checker.openapi.bodies import (
    Bodies,
    is_swagger,
    media_types,
    request_bodies,
    swagger_bodies,
    with_examples_of_prose,
)
from checker.openapi.contents import Entry
from checker.openapi.contract import OpenApiContract
from checker.openapi.documents.references import OpenApiDocument
from checker.openapi.parameters import (
    OTHER_VERSION,
    MalformedOperation,
    declared_parameters,
    parameters,
    with_identifiers,
)
from checker.openapi.referee import Part, RequestReferee
from checker.openapi.servers import security_of, token_paths

_TWIN: Final = "another operation of the same path may accept it"


class Owner(Protocol):
    """The interface of a schema that operations, links and warnings use."""

    @property
    def asserts_formats(self) -> Callable[["OpenApiOperation"], bool]: ...
    @property
    def document(self) -> OpenApiDocument: ...
    @property
    def app(self) -> object | None: ...
    def base_url_of(self, servers: object, operation: "OpenApiOperation | None" = None) -> str | None: ...
    def warnings_of(self, operation: "OpenApiOperation") -> Iterator[SchemaWarning]: ...
    def methods_at(self, path: str) -> tuple[frozenset[str], ...]: ...
    @property
    def unwritable_methods(self) -> frozenset[str]: ...
    def find(self, label: str) -> "OpenApiOperation | BrokenOperation | None": ...
    def entry_of_id(self, operation_id: str) -> Entry | str: ...
    def entry_at(self, place: str) -> Entry | None: ...
    def twins_of(self, entry: Entry) -> "Iterator[OpenApiOperation]": ...


@dataclasses.dataclass(eq=False, repr=False, slots=True)
class OpenApiOperation(ApiOperation):
    """An operation of an OpenAPI document; bodies, security, contract and referee are kept."""

    entry: Entry
    parameters: tuple[Parameter, ...] = dataclasses.field()
    owner: Owner
    _bodies: Bodies
    unusable_parameters: Mapping[str, str] = dataclasses.field()
    _security: tuple[SecurityRequirement, ...] | None = None
    _contract: OpenApiContract | None = None
    _referee: RequestReferee | None = None
    label: Label = dataclasses.field(init=False)
    method: str = dataclasses.field(init=False)
    resource_method: str = dataclasses.field(init=False)
    engine: Engine | None = None

    def __post_init__(self) -> None:
        # Read for each request, some of them six times: a property would cost a call.
        self.label = self.entry.label
        self.method = self.resource_method = self.entry.method

    def with_engine(self, engine: Engine) -> Self:
        own = ApiOperation.with_engine(self, engine)
        # Each copy has its own contract, because deserializers of users receive the operation.
        own._contract = own._referee = None
        return own

    @property
    def responses(self) -> dict[str, Any]:
        """Return the response objects by status as it is spelled, references followed; lost ones are left out."""
        return dict(self.contract.declared())

    @property
    def app(self) -> object | None:
        return self.owner.app

    @property
    def declared_base_url(self) -> str | None:
        """Return the absolute base URL of this operation: its own servers precede those of the path item and of the document."""
        own = self.entry.definition.get("servers")
        return self.owner.base_url_of(own or self.entry.path_item.get("servers"), self)

    @property
    def security(self) -> tuple[SecurityRequirement, ...]:
        if self._security is None:
            self._security = security_of(self.owner.document, self.entry.definition)
        return self._security

    @property
    def grants_credentials(self) -> bool:
        own = "/" + self.path.strip("/")
        return any(f"/{path}".endswith(own) for path in token_paths(self.owner.document))

    def warnings(self) -> Iterator[SchemaWarning]:
        return self.owner.warnings_of(self)

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self._bodies.usable

    @property
    def unusable_bodies(self) -> tuple[UnusableBody, ...]:
        return self._bodies.unusable

    @property
    def body_required(self) -> bool:
        return self._bodies.required

    @property
    def contract(self) -> OpenApiContract:
        if self._contract is None:
            self._contract = OpenApiContract(
                self.owner.document,
                self.method,
                self.entry.definition,
                self.entry.pointer,
                validate_formats=self.owner.asserts_formats(self),
            )
            self._contract.owner = self
        return self._contract

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        return self.owner.methods_at(path)

    @property
    def unwritable_methods(self) -> frozenset[str]:
        return self.owner.unwritable_methods

    def judge_request(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        verdict = self.judge_as_own(request, base_path)
        if self.entry.fragment and verdict.outcome is Outcome.INVALID:
            name, _, chosen = self.entry.fragment.partition("=")
            if chosen and not any(part.name.lower() == name.lower() for part in verdict.invalid):
                fits_twin = False
            else:
                twins = self.owner.twins_of(self.entry)
                fits_twin = any(twin.judge_as_own(request, base_path).outcome is not Outcome.INVALID for twin in twins)
            if fits_twin:
                return RequestVerdict(tuple(Part(Location.PATH, "").ambiguous(_TWIN)))
        return verdict

    def judge_as_own(self, request: WireRequest, base_path: str) -> RequestVerdict:
        """Return the verdict on a request that is meant for this operation, and not for another one of its path."""
        if self._referee is None:
            self._referee = RequestReferee(self)
        return self._referee.judge(request, base_path=base_path)

    def compile(self, settings: GenerationSettings, *, hooks: ComponentHooks = NO_HOOKS) -> OperationProgram:
        return compile_operation(self, settings, hooks=hooks)


def read_operation(entry: Entry, owner: Owner) -> OpenApiOperation | BrokenOperation:
    """Return the operation of an entry, parameters and bodies read; a broken one carries its error."""
    try:
        document, definition = owner.document, entry.definition
        declared = declared_parameters(document, *entry.parameter_lists)
        at = pointer_child(entry.pointer, "requestBody")
        raw = definition.get("requestBody")
        has_older = any(one.place in ("body", "formData") for one in declared.values())
        is_older = has_older if raw is None or is_swagger(document) else False
        if is_older:
            bodies = swagger_bodies(document, declared, media_types(document, definition, "consumes"))
        else:
            bodies = request_bodies(document, raw, at)
        if is_older != is_swagger(document):
            usable = tuple(dataclasses.replace(body, doubt=OTHER_VERSION) for body in bodies.usable)
            bodies = structs.replace(bodies, usable=usable)
        bodies = with_examples_of_prose(
            bodies, definition.get("description"), pointer_child(entry.pointer, "description")
        )
        found, unusable = parameters(document, entry.declared_path, declared)
        return OpenApiOperation(entry, with_identifiers(document, entry.path, found), owner, bodies, unusable)
    except (MalformedOperation, UnresolvableReference) as error:
        return BrokenOperation(entry.label, entry.method, entry.path, str(error))
