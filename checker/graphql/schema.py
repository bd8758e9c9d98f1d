"""An opened GraphQL schema and its operations, which are the root fields."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, ClassVar, Final, Self
from urllib.parse import urlsplit, urlunsplit

import msgspec
from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    Undefined,
    get_named_type,
    is_required_argument,
    parse,
    print_ast,
    print_type,
    validate,
    value_from_ast,
)
from graphql.execution.values import get_variable_values
from graphql.utilities import separate_operations
from msgspec import Struct
from msgspec.structs import replace

from checker.config.files import QueryFile
from checker.core.case import Engine
from checker.core.contract import RequestVerdict
from checker.core.operation import Body, BodyDemand, BrokenOperation, Example, Label, Operation, Parameter, Place
from checker.core.request import WireRequest
from checker.core.resources import ResourceModel
from checker.core.response import Response
from checker.core.schema import Schema, SchemaWarning, WarningKind
from checker.generation.hooks import NO_HOOKS, ComponentHooks
from checker.generation.program import OperationProgram, compile_operation
from checker.generation.settings import GenerationSettings
from checker.graphql.inputs import (
    ENTITIES,
    OF_GATEWAYS,
    REPRESENTATIONS,
    InputSchemas,
    representations,
    required_scalars,
)
from checker.graphql.referee import QueryReferee
from checker.graphql.refusals import demands_in_errors
from checker.graphql.resources import RootRole, RootRoles
from checker.graphql.responses import GraphQLContract, data_of, resource_status
from checker.graphql.scalars import is_unknown, refuse_malformed, simplest
from checker.graphql.selections import FieldPlace, places_of, with_arguments
from checker.graphql.writing import ARGUMENTS, LITERALS, NESTED, SELECTION, QueryWriter, forms_of
from checker.kinds.protocol import ApiOperation, ApiSchema, DroppedOperation, OperationEntry, initialised
from checker.kinds.sources import SchemaOptions
from checker.kinds.static import json_schema
from checker.kinds.table import GRAPHQL

_MOST_TOKENS: Final = 100_000
_MOST_SPREADS: Final = 100


class WrittenQueries(Struct):
    """Queries from all files, by root field."""

    by_label: dict[Label, list[Example]] = msgspec.field(default_factory=dict)
    faults: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """(where, fault) of each query that is not sent."""


def written_queries(schema: GraphQLSchema, files: Iterable[QueryFile]) -> WrittenQueries:
    """Return the valid queries as bodies of their first root field."""
    found = WrittenQueries()
    for file in files:
        try:
            document = parse(file.text, no_location=True, max_tokens=_MOST_TOKENS)
            variables = json.loads(file.variables or "{}")
            if not isinstance(variables, dict):
                raise ValueError("its variables are not an object")
        except (GraphQLError, ValueError, RecursionError) as error:
            found.faults.append((file.path, f"it cannot be read: {_line(error)}; correct it"))
            continue
        operations = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
        if not operations:
            found.faults.append((file.path, "it holds no query; write one"))
        apart: Mapping[str, DocumentNode] = separate_operations(document)
        for operation in operations:
            name = operation.name.value if operation.name else ""
            where = f"{file.path} {name}".rstrip()
            fragments = [one for one in apart[name].definitions if isinstance(one, FragmentDefinitionNode)]
            whole = DocumentNode(definitions=(operation, *fragments))
            given = _own(variables, operation, operations)
            try:
                label = _label(schema, document, operation)
                wrong: object = validate(schema, whole, max_errors=1) or get_variable_values(
                    schema, operation.variable_definitions or (), given, max_errors=1
                )
                # The coerced values of valid variables are a dict, errors a list.
                if isinstance(wrong, list):
                    raise wrong[0]
            except (GraphQLError, ValueError, RecursionError) as error:
                found.faults.append((where, f"{_line(error)}; it is not sent"))
                continue
            value: dict[str, Any] = {"query": print_ast(whole), "variables": given}
            value |= {"operationName": name} if name else {}
            found.by_label.setdefault(label, []).append(Example(value, where, name, is_settled=True))
    return found


def _own(
    variables: dict[str, Any], operation: OperationDefinitionNode, operations: list[OperationDefinitionNode]
) -> dict[str, Any]:
    """Return the variables of one operation: all of them, or those under its name if each operation has its own."""
    names = {one.name.value for one in operations if one.name}
    if variables and variables.keys() <= names and all(isinstance(one, dict) for one in variables.values()):
        own: dict[str, Any] = variables.get(operation.name.value if operation.name else "", {})
        return own
    declared = {one.variable.name.value for one in operation.variable_definitions or ()}
    return {key: value for key, value in variables.items() if key in declared}


def _label(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) -> Label:
    """Return the label of the first root field, such as `Query.user`. Raises `ValueError`."""
    if operation.operation is OperationType.SUBSCRIPTION:
        raise ValueError("it is a subscription, and subscriptions are not tested")
    root = schema.get_root_type(operation.operation)
    if root is None:
        raise ValueError(f"the schema has no {operation.operation.value}")
    fragments = {
        one.name.value: one.selection_set for one in document.definitions if isinstance(one, FragmentDefinitionNode)
    }
    for name in _fields(operation.selection_set, fragments, [0]):
        if name in root.fields:
            return Label(f"{root.name}.{name}")
        if not name.startswith("__"):
            raise ValueError(f"`{root.name}` has no field `{name}`")
    raise ValueError("it selects no field of the schema")


def _fields(selection: SelectionSetNode, fragments: Mapping[str, SelectionSetNode], seen: list[int]) -> Iterator[str]:
    seen[0] += 1
    for one in selection.selections if seen[0] < _MOST_SPREADS else ():
        if isinstance(one, FieldNode):
            yield one.name.value
        elif isinstance(one, InlineFragmentNode):
            yield from _fields(one.selection_set, fragments, seen)
        elif isinstance(one, FragmentSpreadNode) and one.name.value in fragments:
            yield from _fields(fragments[one.name.value], fragments, seen)


def _line(error: Exception) -> str:
    return str(getattr(error, "message", error)).partition("\n")[0][:300].rstrip(".")


_OF_ARGUMENTS: Final = frozenset(("required", "additionalProperties"))  # Keywords that arguments as a whole can break.
_MOST_SELECTED = 8  # Places that one query selects. `*` counts as one place.


@dataclass(frozen=True, slots=True)
class RootField:
    """A root field in the list of operations."""

    label: Label  # `Query.user`.
    owner: "GraphQLDescription" = field(repr=False)
    operation: str  # `query` or `mutation`.
    type_name: str
    name: str
    field: GraphQLField
    role: RootRole  # The row of the field in the resource model.
    only_by_name: bool = False  # Whether only gateways use the field, so that it is tested only if a filter names it.
    method: ClassVar[str] = "POST"
    tags: ClassVar[tuple[str, ...]] = ()

    @property
    def path(self) -> str:
        return self.owner.path

    @property
    def resource_path(self) -> str:
        return self.role.path

    @property
    def resource_method(self) -> str:
        return self.role.method

    @property
    def operation_id(self) -> str:
        return self.name

    @property
    def deprecated(self) -> bool:
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


@dataclass(eq=False, repr=False, slots=True)
class GraphQLOperation(ApiOperation):
    """A root field, ready to be tested."""

    entry: RootField
    owner: "GraphQLDescription"
    parameters: tuple[Parameter, ...] = ()
    body_required: ClassVar[bool] = True
    label: Label = field(init=False)
    resource_method: str = field(init=False)
    engine: Engine | None = None
    _bodies: dict[bool, tuple[Body, ...]] = field(default_factory=dict)
    _writer: QueryWriter | None = None

    def __post_init__(self) -> None:
        self.label = self.entry.label
        self.resource_method = self.entry.resource_method

    @property
    def resource_places(self) -> Mapping[str, Place]:
        return self.entry.role.places

    @property
    def has_status_in_body(self) -> bool:
        return True

    def status_of(self, response: Response) -> int:
        return resource_status(response, self.entry.name, self.entry.role)

    @property
    def app(self) -> object | None:
        return self.owner.app

    @property
    def declared_base_url(self) -> str | None:
        """URL of the server, without the path of the endpoint."""
        return self.owner.base_url

    @property
    def contract(self) -> GraphQLContract:
        return self.owner.contract

    @property
    def read_answer(self) -> Callable[[Response], Any]:
        """Returns the data of a response, by the names of the schema."""
        return lambda response: data_of(response, self.entry.name)[1]

    @property
    def read_refusal(self) -> Callable[[Any, Response], Iterable[BodyDemand]]:
        return partial(demands_in_errors, self.entry.field.args, self.writer.places)

    @property
    def writer(self) -> QueryWriter:
        if self._writer is None:
            entry, schema = self.entry, self.owner.document.schema
            places = places_of(schema, entry.field)
            always, referee = self.owner.roles.always(self.label), self.owner.referee
            root = (entry.operation, entry.name, entry.field)
            self._writer = QueryWriter(schema, *root, places=places, always=always, referee=referee)
        return self._writer

    @property
    def bodies(self) -> tuple[Body, ...]:
        allows_null = self.owner.allows_null(self)
        found = self._bodies.get(allows_null)
        if found is None:
            writer, owner, entry = self.writer, self.owner, self.entry
            inputs, whole = owner.inputs(allows_null=allows_null)
            raw = _body_schema(entry, writer.places, inputs)
            if entry.name == ENTITIES and REPRESENTATIONS in entry.field.args:
                # The declared type does not describe representations.
                members = representations(owner.document.schema, inputs.of)
                if members is not None:
                    raw["properties"][ARGUMENTS]["properties"][REPRESENTATIONS] = members
            # One document for all operations, so that each type is read once.
            inputs.operations[self.label] = raw
            schema = Schema(raw, f"#/operations/{self.label}", whole.dialect, whole.document)
            args = entry.field.args
            defaults = {}
            for name, arg in args.items():
                # graphql-core 3.2 converts defaults when it builds the schema. 3.3 keeps the literal in `default`.
                kept = getattr(arg, "default", None)
                defaults[name] = arg.default_value if kept is None else value_from_ast(kept.literal, arg.type)
            given = {name: value for name, value in defaults.items() if value is not Undefined}
            if not given:
                examples: tuple[Example, ...] = ()
            else:
                made_up = {name: simplest(arg.type) for name, arg in args.items() if is_required_argument(arg)}
                examples = (Example({ARGUMENTS: made_up | given}, f"#/{entry.type_name}/{entry.name}", "defaults"),)
            found = self._bodies[allows_null] = (
                Body(
                    "application/json",
                    schema,
                    schema.pointer,
                    {},
                    examples=(*examples, *owner.written.by_label.get(self.label, ())),
                    write=writer,
                    is_wrong=writer.is_wrong,
                    forms=partial(forms_of, writer),
                    breaks=partial(_breaks, has_arguments=bool(entry.field.args)),
                ),
            )
        return found

    def warnings(self) -> Iterable[SchemaWarning]:
        """Yield warnings about required scalars that only the server knows."""
        pointer = f"#/{self.entry.type_name}/{self.entry.name}"
        for name, scalar in required_scalars(self.entry.field.args):
            if is_unknown(scalar):
                says = (
                    f"the values of the scalar `{scalar.name}`, which `{name}` requires, are unknown: "
                    "texts, numbers, booleans and objects are tried, and demands in refusals are respected"
                )
                yield SchemaWarning(WarningKind.UNKNOWN_SCALAR, self.label, pointer, says)

    def path_behind(self, base_path: str) -> str:
        """Return an empty path behind a base URL with a path, because that URL is the endpoint."""
        return "" if base_path.strip("/") else self.entry.path or "/"

    def judge_request(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        return self.owner.referee.judge(request)

    def compile(self, settings: GenerationSettings, *, hooks: ComponentHooks = NO_HOOKS) -> OperationProgram:
        if not self.owner.allows_null(self):
            settings = replace(settings, allow_x00=False)
        return compile_operation(self, settings, hooks=hooks)


def _body_schema(entry: RootField, places: Mapping[str, FieldPlace], inputs: InputSchemas) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    if entry.field.args:
        properties[ARGUMENTS] = inputs.arguments(entry.field.args)
        if "required" in properties[ARGUMENTS]:
            required.append(ARGUMENTS)
    if places:
        properties[SELECTION] = {"type": "array", "items": {"enum": list(places)}, "maxItems": _MOST_SELECTED}
    nested = with_arguments(places)
    if nested:
        properties[NESTED] = {
            "type": "object",
            "properties": {name: inputs.arguments(place.arguments) for name, place in nested.items()},
            "additionalProperties": False,
            "maxProperties": 2,
        }
    if entry.field.args or nested:
        properties[LITERALS] = {"type": "boolean"}
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": required} if required else {})


def _breaks(keyword: str, path: tuple[str, ...], *, has_arguments: bool) -> bool:
    """Whether a fault at a path of a body breaks exactly one rule of GraphQL. Only this module knows the structure of bodies."""
    match path:
        case ():
            # Arguments for a field that has none.
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


_TESTED: Final = (OperationType.QUERY, OperationType.MUTATION)


class ReadSchema(Struct, frozen=True):
    """A schema, with the assumptions that were made to read it."""

    schema: GraphQLSchema
    source: str | Mapping[str, Any]  # SDL, or the result of an introspection.
    notes: tuple[str, ...] = ()  # One sentence for each construct that a strict parser rejects.


class GraphQLDescription(ApiSchema):
    """An opened GraphQL schema."""

    def __init__(self, document: ReadSchema, location: str | None = None, base_url: str | None = None) -> None:
        """`location` is the URL of the document, `base_url` the URL of its endpoint."""
        self.document = document
        refuse_malformed(document.schema)
        self.location = location
        self.app: object | None = None
        self._endpoint = base_url
        self._options = SchemaOptions()
        self._written: WrittenQueries | None = None
        self._entries: dict[Label, RootField] | None = None
        self.roles = RootRoles(document.schema)
        self._found: dict[Label, GraphQLOperation | BrokenOperation] = {}
        """Operations after the user's hooks."""
        self.inputs = cache(_inputs)
        """Returns the schemas of all input types, and the document that contains them and the bodies of all operations."""
        self.contract = GraphQLContract(document.schema)
        self.referee = QueryReferee(document.schema)

    def __str__(self) -> str:
        return f"<GraphQLSchema with {len(self._index())} root fields>"

    __repr__ = __str__

    @property
    def raw_schema(self) -> str | Mapping[str, Any]:
        """The loaded document: SDL, or the result of an introspection."""
        return self.document.source

    @property
    def kind(self) -> str:
        return GRAPHQL.name

    @property
    def specification(self) -> str:
        return "GraphQL"

    @property
    def base_url(self) -> str | None:
        """URL of the server, without the path of the endpoint."""
        if self._endpoint is None:
            return None
        parts = urlsplit(self._endpoint)
        return urlunsplit((parts.scheme, parts.netloc, "", "", ""))

    @property
    def base_path(self) -> str:
        """`/`: the path of the endpoint is that of every operation."""
        return "/"

    @property
    def path(self) -> str:
        """Path of the endpoint."""
        if self._endpoint is None:
            return ""
        parts = urlsplit(self._endpoint)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def resources(self) -> ResourceModel:
        """Return the resource model, from names, arguments and types of the root fields."""
        self._index()
        return self.roles.model()

    def changed_since(self, before: Self) -> Iterator[Label]:
        schemas = before.document.schema, self.document.schema
        old, new = ({name: _lines(one) for name, one in schema.type_map.items()} for schema in schemas)
        known, same = before._index(), {name for name, lines in new.items() if old.get(name) == lines}
        for label, one in self._index().items():
            fields = [found.field for found in (known.get(label), one) if found]
            signatures = [_lines(GraphQLObjectType("Root", {"field": field})) for field in fields]
            reached = set[str]().union(*map(_reached, schemas, fields))
            if len(fields) == 1 or signatures[0] != signatures[1] or not reached <= same:
                yield label

    def configure(self, options: SchemaOptions) -> None:
        """Apply the user's options. The base URL is the URL of the endpoint."""
        self._options, self._written = options, None
        if options.base_url is not None:
            self._endpoint = options.base_url

    def serve_from(self, app: object, url: str) -> None:
        self.app = app
        self._endpoint = url + self.path

    @property
    def written(self) -> WrittenQueries:
        """Queries from the user's files."""
        if self._written is None:
            self._written = written_queries(self.document.schema, self._options.queries)
        return self._written

    def allows_null(self, operation: Operation) -> bool:
        """Whether requests of an operation may contain null."""
        return self._options.allows_null(operation)

    def entries(self) -> Iterable[RootField]:
        """Return the list of operations: queries, then mutations, in the order of their declaration."""
        return self._index().values()

    def place_of(self, entry: OperationEntry | BrokenOperation) -> tuple[str, str]:
        kind, _, name = entry.label.partition(".")
        return kind, name

    def _index(self) -> dict[Label, RootField]:
        if self._entries is None:
            self._entries = {one.label: one for one in self._listed()}
        return self._entries

    def _listed(self) -> Iterator[RootField]:
        seen = set()
        for kind in _TESTED:
            root = self.document.schema.get_root_type(kind)
            if root is None or root.name in seen:
                continue
            seen.add(root.name)
            for name, one in root.fields.items():
                if name.startswith("__"):
                    continue
                label = Label(f"{root.name}.{name}")
                role = self.roles.add(label, kind.value, name, one)
                only_by_name = name in OF_GATEWAYS and kind is OperationType.QUERY
                yield RootField(label, self, kind.value, root.name, name, one, role, only_by_name)

    def dropped(self) -> Iterator[DroppedOperation]:
        """Yield subscriptions, fields for gateways, and constructs whose meaning was assumed."""
        schema = self.document.schema
        if schema.subscription_type is not None:
            name, count = schema.subscription_type.name, len(schema.subscription_type.fields)
            says = f"{count} subscription{'s' * (count != 1)} {'is' if count == 1 else 'are'} not tested: they answer with streams"
            yield _skipped(name, WarningKind.SUBSCRIPTION, says)
        for one in self.entries():
            if one.only_by_name:
                says = f"it exists for federation gateways; to test it, give `--include-name {one.label}`"
                yield _skipped(one.label, WarningKind.FEDERATION, says)
        for note in self.document.notes:
            yield _skipped("schema", WarningKind.LOOSE_SCHEMA, note)
        for where, says in self.written.faults:
            yield _skipped(where, WarningKind.INVALID_EXAMPLE, says)

    def find(self, label: str) -> GraphQLOperation | BrokenOperation | None:
        entry = self._index().get(Label(label))
        if entry is None:
            return None
        if entry.label not in self._found:
            self._found[entry.label] = initialised(GraphQLOperation(entry, self), self._options.hooks)
        return self._found[entry.label]

    def parameter_names(self, label: Label) -> Iterable[str]:
        entry = self._index().get(label)
        return () if entry is None else tuple(entry.field.args)

    def normalised(self) -> bytes:
        """Return JSON from which `checker.graphql.loaders.open_normalised` creates an equal schema."""
        return json.dumps([self.document.source, self.location, self._endpoint]).encode()


def _inputs(*, allows_null: bool) -> tuple[InputSchemas, Schema]:
    made = InputSchemas(allows_null=allows_null)
    return made, json_schema({"$defs": made.definitions, "operations": made.operations})


def _lines(one: GraphQLNamedType) -> list[str]:
    """Return the lines of a type, sorted, because their order has no meaning."""
    return sorted(print_type(one).splitlines())


def _reached(schema: GraphQLSchema, one: GraphQLField) -> set[str]:
    """Return the names of the types of the arguments and the responses of a field."""
    found: set[str] = set()
    todo: list[Any] = [one]
    while todo:
        one = todo.pop()
        todo += getattr(one, "args", {}).values()
        named = get_named_type(one.type)
        if named.name not in found:
            found.add(named.name)
            todo += getattr(named, "fields", {}).values()
            if isinstance(named, GraphQLInterfaceType | GraphQLUnionType):
                todo += map(GraphQLField, schema.get_possible_types(named))
    return found


def _skipped(label: str, kind: WarningKind, says: str) -> DroppedOperation:
    return DroppedOperation(Label(label), SchemaWarning(kind, label, "", says))
