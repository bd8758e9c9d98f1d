"""An opened OpenAPI document: a table of contents whose operations are read on demand."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from checker.core.credentials import DescribedLogin, SignUpFlow
from checker.core.graphs import grouped
from checker.core.hooks import GLOBAL_HOOKS, HookSource
from checker.core.operation import BrokenOperation, Label, Operation
from checker.core.resources import ResourceModel
from checker.core.schema import SchemaWarning, WarningKind
from checker.core.security import SecurityScheme
from checker.core.system import later
from checker.kinds.protocol import ApiLink, ApiSchema, DroppedOperation, OperationEntry, initialised
from checker.kinds.sources import SchemaOptions
from checker.kinds.table import OPENAPI
from checker.openapi.contents import Entry, table_of_contents
from checker.openapi.documents.dialects import version_of
from checker.openapi.documents.neighbours import NOWHERE, Provenance, neighbours_of
from checker.openapi.documents.parsing import parse_json, to_json
from checker.openapi.documents.references import OpenApiDocument, leads_outside, load_all
from checker.openapi.servers import (
    absolute_url,
    credential_places,
    odd_defaults,
    path_of,
    security_schemes,
    variable_values,
)

if TYPE_CHECKING:
    import checker.openapi.changes as changes
    import checker.openapi.operation as operations
    import checker.openapi.parameters as declared
    import checker.openapi.resources as linked
    import checker.openapi.routes as routed
    import checker.openapi.signup as signed_up
    import checker.openapi.warnings as warned
    from checker.openapi.operation import OpenApiOperation
    from checker.openapi.routes import Routes
else:
    # Imported late, because the table of contents does not need it.
    linked = later("checker.openapi.resources")
    changes = later("checker.openapi.changes")
    operations = later("checker.openapi.operation")
    declared = later("checker.openapi.parameters")
    routed = later("checker.openapi.routes")
    signed_up = later("checker.openapi.signup")
    warned = later("checker.openapi.warnings")


class OpenApiSchema(ApiSchema):
    """An opened OpenAPI document: a table of contents whose operations are read on demand."""

    def __init__(
        self,
        root: dict[str, Any],
        origin: Provenance = NOWHERE,
        *,
        base_url: str | None = None,
        errors: Mapping[str, str] | None = None,
        resources: Sequence[Any] | None = None,
    ) -> None:
        """`base_url` replaces the declared servers.

        `errors` has the reasons why operations cannot be read, by label, and `resources` the result of
        `ResourceModel.plain`, if they are known. Raises `LoaderError` for an unsupported version.
        """
        self.version, self._edition = version_of(root)
        neighbours = neighbours_of(root, origin)
        self.document = OpenApiDocument(root, self._edition.dialect, neighbours)
        self.location = origin.location
        self._own_name = origin.own_name
        self._notes = origin.notes
        self.app: object | None = None
        self.asserts_formats: Callable[[Operation], bool] = lambda operation: True
        """Whether responses of an operation have to match `format`."""
        self.hooks: HookSource = GLOBAL_HOOKS
        """Hooks of users that run while paths and operations are read."""
        self.server_variables: Mapping[str, str] = {}
        """Values of server variables that replace their defaults."""
        self._variables_of: Callable[[Operation], Mapping[str, str]] | None = None
        self._given_base_url = base_url
        self._entries: dict[Label, Entry | BrokenOperation] | None = None
        self._dropped: tuple[DroppedOperation, ...] = ()
        self._read: dict[Label, OpenApiOperation | BrokenOperation] = {}
        if errors is not None:
            self._errors = errors
        self._plain_resources = resources
        self._resources: ResourceModel | None = None

    def __str__(self) -> str:
        return f"<OpenApiSchema for {self.title} {self._info('version')}>"

    __repr__ = __str__

    @property
    def raw_schema(self) -> dict[str, Any]:
        return self.document.root

    @property
    def title(self) -> str:
        return self._info("title")

    @property
    def kind(self) -> str:
        return OPENAPI.name

    @property
    def specification(self) -> str:
        return f"Open API {self.version}"

    @property
    def base_url(self) -> str | None:
        """Absolute base URL, as given or declared. A relative URL is resolved against the document's own URL."""
        return self.base_url_of(None)

    @property
    def credentials(self) -> tuple[str, ...]:
        return credential_places(self.document)

    @property
    def security_schemes(self) -> dict[str, SecurityScheme]:
        return security_schemes(self.document)

    def sign_up_flow(self) -> SignUpFlow | None:
        return signed_up.sign_up_flow(self.document, self._account_operations())

    def described_login(self) -> DescribedLogin | None:
        return signed_up.described_login(self.document, self._account_operations())

    def _account_operations(self) -> "Iterator[OpenApiOperation]":
        entries = (one for one in self.entries() if isinstance(one, Entry) and signed_up.is_candidate(one))
        read = map(self.read, entries)
        return (one for one in read if not isinstance(one, BrokenOperation))

    def base_url_of(self, servers: object, operation: Operation | None = None) -> str | None:
        """Return the base URL of an operation, which may have its own servers, unless one was given for all."""
        if self._given_base_url is not None:
            return self._given_base_url
        declared = self._declared_url(servers, operation)
        return declared if re.match("https?://[^/]", declared) else None

    @property
    def base_path(self) -> str:
        """Path before all operation paths: begins and ends with `/`."""
        path = path_of(self.base_url or self._declared_url(None)).strip("/")
        return f"/{path}/" if path else "/"

    @property
    def declared_path(self) -> str:
        return path_of(self._declared_url(None)).rstrip("/")

    @property
    def server_variables_declared(self) -> Mapping[str, Collection[str]]:
        return variable_values(holder for holder, _ in self._with_servers())

    def _with_servers(self) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Yield the parts of the document that may declare servers, with their places."""
        yield self.document.root, "#"
        for one in self.entries():
            if isinstance(one, Entry):
                yield one.path_item, one.path_item_pointer
                yield one.definition, one.pointer

    def configure(self, options: SchemaOptions) -> None:
        """Apply the options of users; a base URL replaces every declared server."""
        self.asserts_formats, self.hooks = options.asserts_formats, options.hooks
        self.server_variables = options.server_variables
        self._variables_of = options.variables_of
        if options.base_url is not None:
            self._given_base_url = options.base_url

    def serve_from(self, app: object, url: str) -> None:
        """Make an application in this process serve the API under the declared path, on any declared host."""
        self.app = app
        self._given_base_url = url + self.base_path.removesuffix("/")

    def entries(self) -> Iterator[Entry | BrokenOperation]:
        """Return the table of contents in document order: labels, tags and ids; no operation is read."""
        return iter(self._index().values())

    def checked_entries(self) -> Iterator[Entry | BrokenOperation]:
        """Return the table of contents with the errors of operations that cannot be read.

        Reads all operations, unless the normalised document holds the errors.
        """
        for entry in self.entries():
            error = self._errors.get(entry.label)
            if error is None:
                yield entry
            else:
                yield BrokenOperation(entry.label, entry.method, entry.path, error)

    def dropped(self) -> tuple[DroppedOperation, ...]:
        """Return entries that look like operations with methods unknown to this version of OpenAPI, and faults of no operation."""
        self._index()
        found = [SchemaWarning(WarningKind.REPEATED_KEY, "", "", one) for one in self._notes]
        if self._given_base_url is None:
            holders = self._with_servers()
            odd = {at: text for one, place in holders for at, text in odd_defaults(one, place, self.server_variables)}
            found += [SchemaWarning(WarningKind.MALFORMED_PART, "", at, text) for at, text in odd.items()]
        return (*self._dropped, *(DroppedOperation(Label(""), warning) for warning in found))

    def get_all_operations(self) -> "Iterator[OpenApiOperation | BrokenOperation]":
        """Yield the operations in document order, each read on demand."""
        return map(self.read, self.entries())

    def find(self, label: str) -> "OpenApiOperation | BrokenOperation | None":
        entry = self._index().get(Label(label))
        return None if entry is None else self.read(entry)

    def place_of(self, entry: OperationEntry | BrokenOperation) -> tuple[str, str]:
        return entry.label.partition(" ")[2], entry.method

    def parameter_names(self, label: Label) -> Iterator[str]:
        entry = self._index().get(label)
        if isinstance(entry, Entry):
            yield from declared.parameter_names(self.document, entry.declared_path, *entry.parameter_lists)

    @cached_property
    def _by_id(self) -> dict[str, Entry]:
        entries = [entry for entry in self.entries() if isinstance(entry, Entry)]
        # If two operations have the same id, the first one wins.
        return {entry.operation_id or "": entry for entry in reversed(entries)}

    def twins_of(self, entry: Entry) -> "Iterator[OpenApiOperation]":
        """Yield the other operations of the same method and path; their declared paths differ in a fragment."""
        for other in self._by_route.get((entry.method, entry.path), ()):
            twin = self.read(other)
            if other is not entry and not isinstance(twin, BrokenOperation):
                yield twin

    @cached_property
    def _by_route(self) -> Mapping[tuple[str, str], list[Entry | BrokenOperation]]:
        return grouped(((entry.method, entry.path), entry) for entry in self.entries())

    @cached_property
    def _by_pointer(self) -> dict[str, Entry]:
        return {entry.pointer: entry for entry in self.entries() if isinstance(entry, Entry)}

    def entry_of_id(self, operation_id: str) -> Entry | str:
        """Return the operation of an `operationId`, or the nearest existing id; empty if there is none."""
        entry = self._by_id.get(operation_id)
        if entry is not None and operation_id:
            return entry
        return next(iter(get_close_matches(operation_id, [key for key in self._by_id if key], n=1)), "")

    def entry_at(self, place: str) -> Entry | None:
        """Return the operation of a label or of a place in the document."""
        entry = self._index().get(Label(place))
        return entry if isinstance(entry, Entry) else self._by_pointer.get(place)

    def links(self) -> Iterator[ApiLink]:
        """Yield the links that responses declare, operation by operation; a link that cannot be followed carries its error."""
        for operation in self.get_all_operations():
            if not isinstance(operation, BrokenOperation):
                yield from linked.links_of(operation)

    def resources(self) -> ResourceModel:
        """Return the operations that create and use resources. Computed once; the normalised document contains them."""
        if self._resources is None:
            if self._plain_resources is not None:
                self._resources = ResourceModel.of_plain(self._plain_resources)
            else:
                self._resources = linked.resource_model(self.get_all_operations())
        return self._resources

    def changed_since(self, before: Self) -> Iterator[Label]:
        return changes.changed_labels((before.document, before.entries()), (self.document, self.entries()))

    def warnings_of(self, operation: "OpenApiOperation") -> Iterator[SchemaWarning]:
        return warned.operation_warnings(operation)

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        """Return the methods of each path template that matches a sent path without base path and query."""
        return self._routes.methods_at(path)

    @property
    def unwritable_methods(self) -> frozenset[str]:
        """Return `TRACE` for Swagger 2.0, the only version without it."""
        return frozenset(("TRACE",)) - {method.upper() for method in self._edition.methods}

    @cached_property
    def _routes(self) -> "Routes":
        return routed.Routes((entry.path, entry.method) for entry in self.entries())

    def read(self, entry: Entry | BrokenOperation) -> "OpenApiOperation | BrokenOperation":
        """Return the operation of an entry, read once."""
        if isinstance(entry, BrokenOperation):
            return entry
        operation = self._read.get(entry.label)
        if operation is None:
            operation = self._read[entry.label] = initialised(operations.read_operation(entry, self), self.hooks)
        return operation

    @cached_property
    def _errors(self) -> Mapping[str, str]:
        """Label -> the reason why the operation cannot be read."""
        operations = self.get_all_operations()
        return {one.label: one.error for one in operations if isinstance(one, BrokenOperation)}

    def normalised(self) -> bytes:
        """Return JSON from which `open_normalised` makes an equal schema without reading anything else.

        Reads all operations, so that the JSON holds their errors.
        """
        written = to_json(self.raw_schema)
        if leads_outside(written):
            load_all(self.document)
        neighbours, errors = self.document.neighbours, self._errors
        beside = {name: value for name, value in neighbours.known.items() if name}
        origin = [self.location, self._own_name, self._given_base_url, beside, neighbours.lost]
        rest = [*origin, self._notes, errors, self.resources().plain()]
        return b"[" + written + b"," + to_json(rest)[1:]

    def _declared_url(self, servers: object, operation: Operation | None = None) -> str:
        variables = self.server_variables
        if operation is not None and self._variables_of is not None:
            variables = self._variables_of(operation)
        return absolute_url(self.document, self.location, servers=servers, variables=variables)

    def _info(self, key: str) -> str:
        info = self.raw_schema.get("info")
        value = info.get(key) if isinstance(info, dict) else None
        return "" if value is None else str(value)

    def _index(self) -> dict[Label, Entry | BrokenOperation]:
        if self._entries is None:
            listed = list(table_of_contents(self.document, self._edition, self.hooks.named("before_process_path")))
            self._dropped = tuple(one for one in listed if isinstance(one, DroppedOperation))
            self._entries = {one.label: one for one in listed if not isinstance(one, DroppedOperation)}
        return self._entries


def open_normalised(data: bytes) -> OpenApiSchema:
    """Return the schema that `OpenApiSchema.normalised` wrote."""
    root, location, own_name, base_url, beside, lost, notes, errors, resources = parse_json(data)
    origin = Provenance(location, own_name, None, beside, lost, notes)
    return OpenApiSchema(root, origin, base_url=base_url, errors=errors, resources=resources)
