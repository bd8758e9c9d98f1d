"""One root field, ready to be tested."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Final, Protocol

from graphql import (
    GraphQLArgument,
    GraphQLField,
    Undefined,
    is_required_argument,
    value_from_ast,
)
from msgspec.structs import replace

from checker.core.engine import Engine
from checker.core.operation import (
    Body,
    BodyDemand,
    Example,
    Label,
    Operation,
    Parameter,
    Place,
    UnusableBody,
)
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.core.schema import Schema
from checker.core.schema_warnings import SchemaWarning, WarningKind
from checker.core.security import SecurityRequirement
from checker.core.verdicts import RequestVerdict
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.normalization.store import FormStore
from checker.generation.program import OperationProgram, compile_operation
from checker.generation.settings import GenerationSettings
from checker.graphql.answers import GraphQLContract
from checker.graphql.coercion import simplest
from checker.graphql.federation import ENTITIES, REPRESENTATIONS, representations
from checker.graphql.forms import forms_of
from checker.graphql.inputs import InputSchemas, required_scalars
from checker.graphql.outcomes import data_of, resource_status
from checker.graphql.referee import QueryReferee
from checker.graphql.refusals import demands_in_errors
from checker.graphql.resources import RootRole
from checker.graphql.scalars import is_unknown
from checker.graphql.selections import FieldPlace, Step, places_of, with_arguments
from checker.graphql.writing import (
    ARGUMENTS,
    LITERALS,
    NESTED,
    SELECTION,
    QueryWriter,
    WrittenField,
)
from checker.kinds.members import EntryMembers

_OF_ARGUMENTS: Final = frozenset(("required", "additionalProperties"))
"""What can be wrong with arguments as a whole."""
_MOST_SELECTED = 8
"""Places of one query that are chosen; one may stand for all fields of a type."""


class GraphQLOwner(Protocol):
    """What an operation asks of the schema that it belongs to."""

    @property
    def document(self) -> Any: ...
    @property
    def app(self) -> object | None: ...
    @property
    def path(self) -> str: ...
    @property
    def base_url(self) -> str | None: ...
    @property
    def contract(self) -> GraphQLContract: ...
    @property
    def referee(self) -> QueryReferee: ...
    def allows_null(self, operation: Operation) -> bool: ...
    def always(self, label: Label) -> tuple[tuple[Step, ...], ...]: ...
    def written(self, label: Label) -> list[Example]: ...
    def inputs(self, *, allows_null: bool) -> InputSchemas: ...
    def body_schema(self, label: Label, raw: dict[str, Any], *, allows_null: bool) -> Schema: ...


@dataclass(frozen=True, slots=True)
class RootField:
    """A root field as the table of contents has it."""

    label: Label
    """`Query.user`."""
    owner: GraphQLOwner = field(repr=False)
    operation: str
    """`query` or `mutation`."""
    type_name: str
    name: str
    field: GraphQLField
    role: RootRole
    """Where it stands among the resources."""
    only_by_name: bool = False
    """It is there for gateways: tested when a filter names it."""
    method: ClassVar[str] = "POST"
    tags: ClassVar[tuple[str, ...]] = ()

    @property
    def path(self) -> str:
        """Of the endpoint."""
        return self.owner.path

    @property
    def resource_path(self) -> str:
        """`/Book/{id}`."""
        return self.role.path

    @property
    def resource_method(self) -> str:
        """What it does to its resource: all requests are POST."""
        return self.role.method

    @property
    def operation_id(self) -> str:
        """Name of the field."""
        return self.name

    @property
    def deprecated(self) -> bool:
        """True when the schema says so."""
        return self.field.deprecation_reason is not None

    @property
    def definition(self) -> Mapping[str, Any]:
        """Name, type and description of the field."""
        return {
            "name": self.name,
            "type": str(self.field.type),
            "description": self.field.description,
            "args": {name: str(arg.type) for name, arg in self.field.args.items()},
        }


class GraphQLOperation(EntryMembers):
    """Implements `checker.kinds.protocol.ApiOperation`."""

    entry: RootField
    parameters: tuple[Parameter, ...] = ()
    unusable_bodies: ClassVar[tuple[UnusableBody, ...]] = ()
    unusable_parameters: ClassVar[Mapping[str, str]] = {}
    body_required: ClassVar[bool] = True
    is_described: ClassVar[bool] = True
    has_skipped_required_body: ClassVar[bool] = False
    grants_credentials: ClassVar[bool] = False
    security: ClassVar[tuple[SecurityRequirement, ...]] = ()

    def __init__(self, entry: RootField, owner: GraphQLOwner) -> None:
        self.entry = entry
        self.owner = owner
        self.label = entry.label
        self._places = entry.role.places
        self.engine: Engine | None = None
        self._bodies: dict[bool, tuple[Body, ...]] = {}
        self._writer: QueryWriter | None = None

    @property
    def resource_places(self) -> Mapping[str, Place]:
        """Arguments that name things."""
        return self._places

    @property
    def resource_status(self) -> Callable[[Response], int]:
        """What an answer says of the resource."""
        return self._status

    def _status(self, response: Response) -> int:
        return resource_status(response, self.entry.name, self.entry.role)

    @property
    def app(self) -> object | None:
        """That of the schema, in runs of the command line as well."""
        return self.owner.app

    @property
    def base_url(self) -> str | None:
        """Where requests go, without the path of the endpoint."""
        return self.owner.base_url

    @property
    def contract(self) -> GraphQLContract:
        """What is promised of answers."""
        return self.owner.contract

    @property
    def read_answer(self) -> Callable[[Response], Any]:
        """What an answer says: its data, by the names of the schema."""
        return self._data

    def _data(self, response: Response) -> Any:
        return data_of(response, self.entry.name)[1]

    @property
    def read_refusal(self) -> Callable[[Any, Response], Iterable[BodyDemand]]:
        """What errors demand of arguments."""
        return partial(demands_in_errors, self.entry.field.args)

    @property
    def writer(self) -> QueryWriter:
        """Writes its requests."""
        if self._writer is None:
            entry, schema = self.entry, self.owner.document.schema
            places = places_of(schema, entry.field)
            always = self.owner.always(self.label)
            root = WrittenField(entry.operation, entry.name, entry.field, always)
            self._writer = QueryWriter(schema, root, places, self.owner.referee.refuses)
        return self._writer

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The one body: what is asked for."""
        allows_null = self.owner.allows_null(self)
        found = self._bodies.get(allows_null)
        if found is None:
            found = self._bodies[allows_null] = (self._body(allows_null),)
        return found

    def _body(self, allows_null: bool) -> Body:
        writer, owner = self.writer, self.owner
        raw = _body_schema(self.entry, writer.places, owner.inputs(allows_null=allows_null))
        if self.entry.name == ENTITIES:
            self._represent(raw, owner.inputs(allows_null=allows_null))
        schema = owner.body_schema(self.label, raw, allows_null=allows_null)
        return Body(
            "application/json",
            schema,
            schema.pointer,
            {},
            examples=(*_defaults(self.entry), *owner.written(self.label)),
            write=writer,
            is_wrong=writer.is_wrong,
            forms=partial(forms_of, writer),
            breaks=partial(_breaks, has_arguments=bool(self.entry.field.args)),
        )

    def _represent(self, raw: dict[str, Any], inputs: InputSchemas) -> None:
        """Say what representations look like, which their type does not."""
        found = representations(self.owner.document.schema, inputs.of)
        if found is not None and REPRESENTATIONS in self.entry.field.args:
            raw["properties"][ARGUMENTS]["properties"][REPRESENTATIONS] = found

    def warnings(self) -> Iterable[SchemaWarning]:
        """Scalars that have to be given, and that only the server knows."""
        pointer = f"#/{self.entry.type_name}/{self.entry.name}"
        for name, scalar in required_scalars(self.entry.field.args):
            if is_unknown(scalar):
                says = (
                    f"nobody here knows what a `{scalar.name}` is, which `{name}` has to be: "
                    "texts, numbers, booleans and objects are tried, and what refusals say of them is respected"
                )
                yield SchemaWarning(WarningKind.UNKNOWN_SCALAR, self.label, pointer, says)

    def path_behind(self, base_path: str) -> str:
        """Nothing behind a base URL with a path: that is the endpoint."""
        return "" if base_path.strip("/") else self.entry.path or "/"

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        """Nothing: all operations share one path."""
        return ()

    def judge_request(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        """What graphql-core says of the query and the variables of a request."""
        return self.owner.referee.judge(request)

    def compile(
        self,
        settings: GenerationSettings,
        *,
        hooks: ComponentHooks = NO_HOOKS,
        store: FormStore | None = None,
    ) -> OperationProgram:
        """What draws its cases. Raises `Unsatisfiable`, `BudgetSpent`, `HookError`."""
        if not self.owner.allows_null(self):
            settings = replace(settings, allow_x00=False)
        return compile_operation(self, settings, hooks=hooks, store=store)


def _body_schema(
    entry: RootField, places: Mapping[str, FieldPlace], inputs: InputSchemas
) -> dict[str, Any]:
    """Of what a case asks for."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    if entry.field.args:
        properties[ARGUMENTS] = inputs.arguments(entry.field.args)
        if "required" in properties[ARGUMENTS]:
            required.append(ARGUMENTS)
    if places:
        properties[SELECTION] = {
            "type": "array",
            "items": {"enum": list(places)},
            "maxItems": _MOST_SELECTED,
        }
    nested = with_arguments(places)
    if nested:
        properties[NESTED] = {
            "type": "object",
            "properties": {
                name: inputs.arguments(place.arguments) for name, place in nested.items()
            },
            "additionalProperties": False,
            "maxProperties": 2,
        }
    if entry.field.args or nested:
        properties[LITERALS] = {"type": "boolean"}
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": required} if required else {})


def _breaks(keyword: str, path: tuple[str, ...], *, has_arguments: bool) -> bool:
    """Whether what is wrong at a path of a body is one rule of GraphQL: how a body is put together is only known here."""
    match path:
        case ():
            # Arguments of a field that has none.
            return keyword == "additionalProperties" and not has_arguments
        case (member,) if member == ARGUMENTS:
            return keyword in _OF_ARGUMENTS
        case (member, _) if member == NESTED:
            return keyword in _OF_ARGUMENTS
        case (member, _) if member == SELECTION:
            return keyword == "enum"
        case (member, *_):
            return member == ARGUMENTS or (member == NESTED and len(path) > 2)
        case _:
            return False


def _defaults(entry: RootField) -> tuple[Example, ...]:
    """The defaults of the arguments, if there are any; what is required besides is made up."""
    args = entry.field.args
    defaults = {name: _default(arg) for name, arg in args.items()}
    given = {name: value for name, value in defaults.items() if value is not Undefined}
    if not given:
        return ()
    made_up = {name: simplest(arg.type) for name, arg in args.items() if is_required_argument(arg)}
    pointer = f"#/{entry.type_name}/{entry.name}"
    return (Example({ARGUMENTS: made_up | given}, pointer, "defaults"),)


def _default(arg: GraphQLArgument) -> Any:
    """Return the default value of an argument, or `Undefined`."""
    # graphql-core 3.2 coerces defaults when it builds the schema; 3.3 keeps the literal of SDL and introspections in `default`.
    kept = getattr(arg, "default", None)
    return arg.default_value if kept is None else value_from_ast(kept.literal, arg.type)
