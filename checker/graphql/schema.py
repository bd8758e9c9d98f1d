"""An opened GraphQL schema: root fields are its operations."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from graphql import GraphQLField, GraphQLObjectType, OperationType
from msgspec import Struct

from checker.core.operation import BrokenOperation, Example, Label, Operation
from checker.core.resources import ResourceModel
from checker.core.schema import Dialect, Schema
from checker.core.schema_warnings import SchemaWarning, WarningKind
from checker.core.security import SecurityScheme
from checker.graphql.answers import GraphQLContract
from checker.graphql.documents import ReadSchema
from checker.graphql.federation import OF_GATEWAYS
from checker.graphql.inputs import InputSchemas
from checker.graphql.kind import KIND
from checker.graphql.malformed import refuse_malformed
from checker.graphql.operation import GraphQLOperation, RootField
from checker.graphql.referee import QueryReferee
from checker.graphql.resources import RootRoles
from checker.graphql.selections import Step
from checker.graphql.written import WrittenQueries, written_queries
from checker.kinds.declared import json_schema
from checker.kinds.members import initialised
from checker.kinds.protocol import OperationEntry
from checker.kinds.sources import SchemaOptions

_TESTED: Final = (OperationType.QUERY, OperationType.MUTATION)


class SkippedField(Struct, frozen=True):
    """What is no operation that can be tested."""

    label: Label
    warning: SchemaWarning
    method: str = "POST"
    path: str = "/"


class GraphQLDescription:
    """Implements `checker.kinds.protocol.ApiSchema`."""

    def __init__(
        self, document: ReadSchema, location: str | None = None, base_url: str | None = None
    ) -> None:
        """`location` is where it was read from; `base_url` that of its endpoint."""
        self.document = document
        refuse_malformed(document.schema)
        self.location = location
        self.app: object | None = None
        self._endpoint = base_url
        self._options = SchemaOptions()
        self._written: WrittenQueries | None = None
        self._entries: dict[Label, RootField] | None = None
        self._roles = RootRoles(document.schema)
        self._read: dict[Label, GraphQLOperation] = {}
        self._found: dict[Label, GraphQLOperation | BrokenOperation] = {}
        """As hooks left them."""
        self._inputs: dict[bool, tuple[InputSchemas, Schema]] = {}
        self.contract = GraphQLContract(document.schema)
        self.referee = QueryReferee(document.schema)

    def __str__(self) -> str:
        return f"<GraphQLSchema with {len(self._index())} root fields>"

    __repr__ = __str__

    @property
    def raw_schema(self) -> str | Mapping[str, Any]:
        """What was loaded: SDL, or the result of an introspection."""
        return self.document.source

    @property
    def kind(self) -> str:
        """Name of its row in the table of kinds."""
        return KIND

    @property
    def title(self) -> str:
        """Nothing: GraphQL has no titles."""
        return ""

    @property
    def specification(self) -> str:
        """`GraphQL`."""
        return "GraphQL"

    @property
    def base_url(self) -> str | None:
        """Where requests go, without the path of the endpoint."""
        if self._endpoint is None:
            return None
        parts = urlsplit(self._endpoint)
        return urlunsplit((parts.scheme, parts.netloc, "", "", ""))

    @property
    def declared_path(self) -> str:
        """Nothing: a schema does not say where it is served."""
        return ""

    @property
    def server_variable_names(self) -> None:
        """A schema does not say where it is served."""
        return

    @property
    def base_path(self) -> str:
        """`/`: the path of the endpoint is that of every operation."""
        return "/"

    @property
    def path(self) -> str:
        """Of the endpoint."""
        if self._endpoint is None:
            return ""
        parts = urlsplit(self._endpoint)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    @property
    def credentials(self) -> tuple[str, ...]:
        """Nothing: GraphQL has no security schemes."""
        return ()

    @property
    def security_schemes(self) -> Mapping[str, SecurityScheme]:
        """Nothing, likewise."""
        return {}

    def sign_up_flow(self) -> None:
        """Not looked for: nothing in a type says what logs in."""
        return

    def described_login(self) -> None:
        """Likewise."""
        return

    def resources(self) -> ResourceModel:
        """What names, arguments and types of the root fields say."""
        self._index()
        return self._roles.model()

    def always(self, label: Label) -> tuple[tuple[Step, ...], ...]:
        """What is always asked for of an operation, from its field down."""
        self._index()
        return self._roles.always(label)

    def configure(self, options: SchemaOptions) -> None:
        """Take in what users say; a base URL is that of the endpoint."""
        self._options, self._written = options, None
        if options.base_url is not None:
            self._endpoint = options.base_url

    def serve_from(self, app: object, url: str) -> None:
        """Say that an application in this process serves the API, which believes to be that host."""
        self.app = app
        self._endpoint = url + self.path

    def _queries(self) -> WrittenQueries:
        if self._written is None:
            self._written = written_queries(self.document.schema, self._options.queries)
        return self._written

    def written(self, label: Label) -> list[Example]:
        """Queries that users wrote for an operation."""
        return self._queries().by_label.get(label, [])

    def allows_null(self, operation: Operation) -> bool:
        """Whether requests of an operation hold null where they may."""
        return self._options.allows_null(operation)

    def body_schema(self, label: Label, raw: dict[str, Any], *, allows_null: bool) -> Schema:
        """The schema of a body among all types that it refers to."""
        # One document for all operations: what one of them has read of a type, the next need not read again.
        made, whole = self._types(allows_null)
        made.operations[label] = raw
        return Schema(raw, f"#/operations/{label}", whole.dialect, whole.document)

    def inputs(self, *, allows_null: bool) -> InputSchemas:
        """Schemas of all input types."""
        return self._types(allows_null)[0]

    def _types(self, allows_null: bool) -> tuple[InputSchemas, Schema]:
        found = self._inputs.get(allows_null)
        if found is None:
            made = InputSchemas(allows_null=allows_null)
            root = {"$defs": made.definitions, "operations": made.operations}
            found = self._inputs[allows_null] = made, json_schema(root, Dialect.DRAFT2020)
        return found

    def entries(self) -> Iterable[RootField]:
        """Table of contents: queries, then mutations, as they are declared."""
        return self._index().values()

    def place_of(self, entry: OperationEntry | BrokenOperation) -> tuple[str, str]:
        """Type and field."""
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
                if not name.startswith("__"):
                    yield self._entry(kind, root, name, one)

    def _entry(
        self, kind: OperationType, root: GraphQLObjectType, name: str, one: GraphQLField
    ) -> RootField:
        label = Label(f"{root.name}.{name}")
        role = self._roles.add(label, kind.value, name, one)
        only_by_name = name in OF_GATEWAYS and kind is OperationType.QUERY
        return RootField(label, self, kind.value, root.name, name, one, role, only_by_name)

    def checked_entries(self) -> Iterator[RootField]:
        """Table of contents."""
        return iter(self.entries())

    def dropped(self) -> Iterator[SkippedField]:
        """Subscriptions, what is there for gateways, and what was written in a way that had to be guessed."""
        schema = self.document.schema
        if schema.subscription_type is not None:
            name, count = schema.subscription_type.name, len(schema.subscription_type.fields)
            says = f"{count} subscription{'s' * (count != 1)} {'is' if count == 1 else 'are'} not tested: they answer with streams"
            yield _skipped(name, WarningKind.SUBSCRIPTION, says)
        for one in self.entries():
            if one.only_by_name:
                says = f"it is there for gateways of a federation; to test it, give `--include-name {one.label}`"
                yield _skipped(one.label, WarningKind.FEDERATION, says)
        for note in self.document.notes:
            yield _skipped("schema", WarningKind.LOOSE_SCHEMA, note)
        for where, says in self._queries().faults:
            yield _skipped(where, WarningKind.INVALID_EXAMPLE, says)

    def iter_schema_warnings(self) -> Iterator[SchemaWarning]:
        """What is wrong with the schema and stops nothing."""
        return (one.warning for one in self.dropped())

    def find(self, label: str) -> GraphQLOperation | BrokenOperation | None:
        """The operation of a label."""
        entry = self._index().get(Label(label))
        if entry is None:
            return None
        if entry.label not in self._found:
            self._found[entry.label] = initialised(self.operation(entry), self._options.hooks)
        return self._found[entry.label]

    def operation(self, entry: RootField) -> GraphQLOperation:
        """The operation of an entry, read once."""
        found = self._read.get(entry.label)
        if found is None:
            found = self._read[entry.label] = GraphQLOperation(entry, self)
        return found

    def parameter_names(self, label: Label) -> Iterable[str]:
        """Names of the arguments."""
        entry = self._index().get(label)
        return () if entry is None else tuple(entry.field.args)

    def links(self) -> Iterator[Any]:
        """None: a GraphQL schema declares no links."""
        return iter(())

    def normalised(self) -> bytes:
        """JSON from which `checker.graphql.loaders.open_normalised` makes an equal schema."""
        return json.dumps([self.document.source, self.location, self._endpoint]).encode()


def _skipped(label: str, kind: WarningKind, says: str) -> SkippedField:
    return SkippedField(Label(label), SchemaWarning(kind, label, "", says))
