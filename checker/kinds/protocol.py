"""The protocol of a kind of description: how it is opened, and the abilities of its operations."""

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from checker.config.filters import Selectable
from checker.core.case import NOT_SET, Engine
from checker.core.case import Case as CaseValue
from checker.core.credentials import DescribedLogin, SignUpFlow
from checker.core.errors import HookExecutionError, IncorrectUsage
from checker.core.failures import FailureGroup
from checker.core.hooks import HookContext, HookSource, run_hooks
from checker.core.media_types import is_multipart, matches
from checker.core.meta import GenerationMode
from checker.core.operation import Body, BrokenOperation, Definition, Label, Operation, Parameter, PropertyEncoding
from checker.core.request import Location
from checker.core.resources import ResourceModel, TakenValue
from checker.core.schema import SchemaWarning
from checker.core.security import SecurityScheme
from checker.core.system import later
from checker.core.user_code import plainly, require, require_names, require_texts
from checker.kinds.sources import DescriptionSource, FetchOptions, SchemaOptions

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    import checker.transport.wire.bodies as wire_bodies
    from checker.generation.hooks import ComponentHooks
    from checker.generation.program import OperationProgram
    from checker.generation.settings import GenerationSettings
    from checker.transport.wire.multipart import MultipartFile
else:
    # Collecting tests must not import the writer of requests.
    wire_bodies = later("checker.transport.wire.bodies")

_NO_ENGINE: Final = "{label} was read without an engine; load its schema with `checker.openapi`"


class ApiOperation(Operation):
    """An operation as Python users see it. Each kind inherits it; `Operation` states what lower rooms use."""

    entry: "OperationEntry"
    """The row of the operation in the table of contents."""
    parameters: tuple[Parameter, ...]
    engine: Engine | None
    """Sends, judges and makes cases; None for operations that were not loaded from Python."""

    def compile(self, settings: "GenerationSettings", *, hooks: "ComponentHooks" = ...) -> "OperationProgram":
        """Return the program that draws cases of this operation. Raises `Unsatisfiable`, `SerializationError`, `BudgetSpent`, `HookError`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<Operation {self.label}>"

    @property
    def method(self) -> str:
        return self.entry.method

    @property
    def path(self) -> str:
        return self.entry.path

    @property
    def resource_path(self) -> str:
        return self.entry.resource_path

    @property
    def resource_method(self) -> str:
        return self.entry.resource_method

    @property
    def tags(self) -> tuple[str, ...]:
        return self.entry.tags

    @property
    def operation_id(self) -> str | None:
        return self.entry.operation_id

    @property
    def deprecated(self) -> bool:
        return self.entry.deprecated

    @property
    def definition(self) -> Definition:
        return Definition(self.entry.definition)

    def with_engine(self, engine: Engine) -> Self:
        """Return a copy that is bound to an engine."""
        own = copy.copy(self)
        # The slot belongs to the class that lists it among its fields.
        setattr(own, "engine", engine)  # noqa: B010
        return own

    def Case(  # noqa: N802 - the public name and arguments
        self,
        *,
        method: str | None = None,
        path_parameters: dict[str, Any] | None = None,
        query: dict[str, Any] | None = None,
        headers: dict[str, Any] | None = None,
        cookies: dict[str, Any] | None = None,
        body: Any = NOT_SET,
        media_type: str | None = None,
        multipart_content_types: dict[str, str] | None = None,
    ) -> CaseValue:
        """Return a hand-made case: values by name, and another HTTP verb if `method` is given.

        Raises `IncorrectUsage` for values without names, and for a body without a media type if the operation has several.
        """
        require_names(path_parameters=path_parameters, query=query, headers=headers, cookies=cookies)
        require_texts(method=method, media_type=media_type)
        parts: dict[str, Any] = {
            "path_parameters": path_parameters,
            "query": query,
            "headers": headers,
            "cookies": cookies,
            "body": body,
            "media_type": media_type,
            "multipart_content_types": multipart_content_types,
        }
        if self.engine is None:
            # If a hook of a run makes a case, the run sends it.
            made = CaseValue(self, "", **parts)
        else:
            made = self.engine.make_case(self, **parts)
        if method is not None and method.upper() != made.method:
            made.other_method = method.upper()
        return made

    def as_strategy(
        self, generation_mode: GenerationMode | str | None = None, **parts: Any
    ) -> "SearchStrategy[CaseValue]":
        """Return a Hypothesis strategy of `Case`; a mode overrides the configuration.

        `path_parameters`, `query`, `headers`, `cookies` and `body` replace generated parts: each is a strategy or a value.
        """
        found: SearchStrategy[CaseValue] = self._engine().as_strategy(self, generation_mode=generation_mode, **parts)
        return found

    def get_strategies_from_examples(self) -> "list[SearchStrategy[CaseValue]]":
        """Return one strategy for each case from the examples of the description."""
        return self._engine().examples_of(self)

    @property
    def responses(self) -> Mapping[str, Any]:
        """Raw response objects by status as it is spelled; empty if the kind of description has none."""
        declared = self.definition.get("responses")
        return declared if isinstance(declared, dict) else {}

    @property
    def schema(self) -> Any:
        """The loaded schema of the operation; None for an operation that was not loaded from Python."""
        return None if self.engine is None else self.engine.schema

    @property
    def app(self) -> object | None:
        """The application in this process that serves the operation; None if there is none."""
        return None if self.schema is None else self.schema.app

    @property
    def base_url(self) -> str | None:
        """Absolute base URL of requests: the configured one, else the declared one. None if neither is known."""
        found: str | None = self.declared_base_url if self.engine is None else self.engine.base_url_of(self)
        return found

    @property
    def full_path(self) -> str:
        """Path template with the base path of the description in front: `/api/users/{id}`."""
        base: str = "" if self.schema is None else self.schema.base_path
        return base.removesuffix("/") + str(self.path)

    @plainly
    def validate_response(self, response: Any, *, case: CaseValue | None = None) -> None:
        """Raise a `FailureGroup` if a check fails; without a case the checks do not know the request."""
        if case is None:
            case = self.Case()
            # The request is unknown.
            case.id = ""
        require(isinstance(case, CaseValue), "case", "a case", case)
        self._engine().validate_response(case, response)

    def is_valid_response(self, response: Any) -> bool:
        """Whether the response of any HTTP client passes the checks."""
        try:
            self.validate_response(response)
        except FailureGroup:
            return False
        return True

    @property
    def path_parameters(self) -> tuple[Parameter, ...]:
        return self._at(Location.PATH)

    @property
    def query(self) -> tuple[Parameter, ...]:
        return self._at(Location.QUERY)

    @property
    def headers(self) -> tuple[Parameter, ...]:
        return self._at(Location.HEADER)

    @property
    def cookies(self) -> tuple[Parameter, ...]:
        return self._at(Location.COOKIE)

    @property
    def body(self) -> tuple[Body, ...]:
        """The bodies that can be sent, one for each media type."""
        return tuple(self.bodies)

    def iter_parameters(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    def get_parameter(self, name: str, location: str) -> Parameter | None:
        """Return the parameter of a name at `path`, `query`, `header` or `cookie`; header names are case-insensitive.

        Return None if there is none. Raises `IncorrectUsage` for another location.
        """
        wanted = _location(location)
        return next((one for one in self._at(wanted) if wanted.key(one.name) == wanted.key(name)), None)

    def get_parameter_set(self, location: str) -> tuple[Parameter, ...]:
        """Return the declared parameters at `path`, `query`, `header` or `cookie`. Raises `IncorrectUsage` for another location."""
        return self._at(_location(location))

    def add_parameter(self, parameter: Parameter) -> None:
        """Add a parameter to all cases from now on, replacing one with its name and location."""
        require(hasattr(parameter, "location"), "parameter", "one of an operation", parameter)
        others = (one for one in self.parameters if (one.location, one.name) != (parameter.location, parameter.name))
        self.parameters = (*others, parameter)

    def get_parameter_serializers(self) -> dict[str, Callable[[Mapping[str, Any]], dict[str, str]]]:
        """Return an encoder for each of `path_parameters`, `query`, `headers` and `cookies`. It turns values by name into the texts that are sent."""
        return {at.container: partial(_written, at, self._at(at)) for at in Location if at is not Location.BODY}

    def get_body_for_media_type(self, media_type: str) -> Body | None:
        """Return the declared body of a media type; None if there is none."""
        return next((body for body in self.body if body.media_type == media_type), None)

    def get_bodies_for_media_type(self, media_type: str) -> Iterator[Body]:
        """Return the bodies whose media type, or range of media types, matches a media type; case and parameters are ignored."""
        require_texts(media_type=media_type)
        return (body for body in self.body if matches(body.media_type, media_type))

    def prepare_multipart(
        self, form: Mapping[str, Any], content_types: Mapping[str, str] | None = None
    ) -> "list[tuple[str | None, MultipartFile]]":
        """Return the parts of a multipart body in the form of `files` of `requests`: (name, (file name, content, content type)).

        `content_types` are types of single properties; the description declares the others.
        """
        declared = next((one for one in self.body if is_multipart(one.media_type)), None)
        encoding = {} if declared is None else dict(declared.encoding)
        require_names(content_types=content_types)
        for name, chosen in (content_types or {}).items():
            require_texts(content_types=chosen)
            encoding[name] = replace(encoding.get(name, PropertyEncoding()), content_type=chosen)
        return wire_bodies.multipart_files(form, encoding, None if declared is None else declared.schema)

    def get_request_payload_content_types(self) -> list[str]:
        """Return the media types of the body in order of declaration."""
        return [body.media_type for body in self.body]

    def _at(self, location: Location) -> tuple[Parameter, ...]:
        return tuple(one for one in self.parameters if one.location is location)

    def _engine(self) -> Engine:
        if self.engine is None:
            raise RuntimeError(_NO_ENGINE.format(label=self.label))
        return self.engine


class OperationEntry(Selectable, Protocol):
    """A row of the table of contents: the fields of an operation for filters, and its place among the resources."""

    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def operation_id(self) -> str | None: ...
    @property
    def deprecated(self) -> bool: ...
    @property
    def definition(self) -> Mapping[str, Any]: ...
    @property
    def label(self) -> Label:
        """The name of the operation everywhere: `GET /users/{id}`, `Query.user`. The kind chooses the form of labels."""
        ...

    @property
    def resource_path(self) -> str: ...
    @property
    def resource_method(self) -> str:
        """The method of REST with the same effect on the resource; `safety` uses it."""
        ...


class DroppedOperation(Struct, frozen=True):
    """An entry that looks like an operation and is not tested."""

    label: Label
    warning: SchemaWarning  # The reason.
    method: str = "POST"
    path: str = "/"


class ApiLink(Struct, frozen=True):
    """A declared link: values of a response of one operation for a request to another."""

    name: str
    pointer: str  # The place of the link in the description.
    source: Label
    status: str  # Statuses of its responses: `201`, `4XX`, `default`.
    target: Label | None = None
    values: tuple[TakenValue, ...] = ()
    error: str = ""
    """The reason why the link cannot be followed, as a sentence with cause, place and advice. Such a link has no target."""


class ApiSchema(Protocol):
    """An opened description. Each kind inherits from this class and overrides defaults where it knows more."""

    app: object | None
    """The application in this process that serves the API, if it was loaded from one."""
    location: str | None
    """Final URL of the document; None if it has no URL."""

    @property
    def kind(self) -> str:
        """Name of the row of this kind in the table of kinds."""
        ...

    @property
    def specification(self) -> str:
        """Name and version, for people: `Open API 3.0.3`."""
        ...

    @property
    def title(self) -> str:
        """Title of the API, empty if it has none."""
        return ""

    @property
    def base_url(self) -> str | None:
        """Absolute URL before every path: the given one, or else the declared one."""
        ...

    @property
    def declared_path(self) -> str:
        """Path of the URL of the declared server, without a final `/`; empty if none is declared."""
        return ""

    @property
    def server_variables_declared(self) -> Mapping[str, Collection[str]] | None:
        """Names of the variables in the URLs of all declared servers, with their values (none if any value is allowed).

        None for a kind that declares no servers.
        """
        return None

    @property
    def credentials(self) -> tuple[str, ...]:
        """Places of credentials in the security schemes, in lower case: `header authorization`, `query appid`."""
        return ()

    @property
    def security_schemes(self) -> Mapping[str, SecurityScheme]:
        """The security schemes by name, without unreadable ones."""
        return {}

    def sign_up_flow(self) -> SignUpFlow | None:
        """Return the requests that create an account and log in with it; None if the description does not reveal them."""
        return None

    def described_login(self) -> DescribedLogin | None:
        """Return the request that gives a token for a user and a password; None if the description does not reveal it."""
        return None

    def configure(self, options: SchemaOptions) -> None:
        """Apply the user's options."""
        ...

    def serve_from(self, app: object, url: str) -> None:
        """Make an application in this process serve the API; `url` is the address that the application sees as its own."""
        ...

    @property
    def raw_schema(self) -> Any:
        """The loaded document in the form that its kind reads."""
        ...

    @property
    def base_path(self) -> str:
        """Path before all operations: begins and ends with `/`."""
        ...

    def entries(self) -> Iterable[OperationEntry | BrokenOperation]:
        """Return the table of contents in document order; no operation is read."""
        ...

    def checked_entries(self) -> Iterator[OperationEntry | BrokenOperation]:
        """Yield the table of contents in document order; an operation that cannot be read is a value with its error."""
        return iter(self.entries())

    def dropped(self) -> Iterable[DroppedOperation]:
        """Return the entries that look like operations and are not tested."""
        return ()

    def find(self, label: str) -> ApiOperation | BrokenOperation | None:
        """Return the operation of a label, without reading the others."""
        ...

    def place_of(self, entry: OperationEntry | BrokenOperation) -> tuple[str, str]:
        """Return the two keys of an operation for Python users: `schema["/users"]["GET"]`, `schema["Query"]["user"]`."""
        return entry.path, entry.method

    def parameter_names(self, label: Label) -> Iterable[str]:
        """Return the names of the inputs of an operation without reading it."""
        ...

    def links(self) -> Iterable[ApiLink]:
        """Return the links between operations; a link that cannot be followed carries its error."""
        return ()

    def resources(self) -> ResourceModel:
        """Return the operations that create and use resources. The first process to open the description builds the model for all others."""
        ...

    def changed_since(self, before: Self) -> Iterable[Label]:
        """Return the operations that are new or differ from those in an earlier version, or whose definition is unknown."""
        known = {one.label: getattr(one, "definition", None) for one in before.entries()}
        entries = ((one.label, getattr(one, "definition", None)) for one in self.entries())
        return (label for label, definition in entries if not definition or known.get(label) != definition)

    def normalised(self) -> bytes:
        """Return bytes from which the kind can make an equal schema without other input."""
        ...


class DescriptionKind(Protocol):
    """One kind of description: how it is recognised and opened."""

    @property
    def name(self) -> str:
        """One stable word: it is stored in run directories."""
        ...

    def claims(self, name: str) -> bool:
        """Whether a file, URL or path of this name is probably of this kind. Such kinds are tried first."""
        ...

    def open(self, source: DescriptionSource, options: FetchOptions) -> ApiSchema:
        """Return the description. Raises `LoaderError`; `ForeignDescription` if it is not of this kind."""
        ...

    def reopen(self, data: bytes) -> ApiSchema:
        """Return the schema that `ApiSchema.normalised` wrote."""
        ...


def _written(place: Location, declared: tuple[Parameter, ...], values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of one location as they are sent. Those of the query include names, because one value may be sent as several pairs."""
    encoders: dict[Location, Callable[[str, Parameter | None], Callable[[Any], str]]] = {
        Location.PATH: wire_bodies.path_encoder,
        Location.QUERY: wire_bodies.query_encoder,
        Location.COOKIE: wire_bodies.cookie_encoder,
        Location.HEADER: lambda _, own: lambda value: wire_bodies.header_encoder(own)(value).decode("latin-1"),
    }
    known = {one.name: one for one in reversed(declared)}
    return {name: encoders[place](name, known.get(name))(value) for name, value in values.items()}


Read = TypeVar("Read", bound=ApiOperation)


def initialised(operation: Read | BrokenOperation, hooks: HookSource) -> Read | BrokenOperation:
    """Return a newly read operation after the hooks of `before_init_operation`; broken if a hook raises."""
    if isinstance(operation, BrokenOperation):
        return operation
    context = HookContext(operation)
    try:
        run_hooks(hooks.named("before_init_operation", context), "before_init_operation", context, operation)
    except HookExecutionError as error:
        return BrokenOperation(operation.label, operation.method, operation.path, str(error))
    return operation


def _location(name: str) -> Location:
    try:
        return Location(name)
    except ValueError:
        known = ", ".join(location for location in Location)
        raise IncorrectUsage(f"a location is one of {known}, got {name!r}") from None
