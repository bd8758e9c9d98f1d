"""What a kind of description offers to everything above: how it is opened, and what its operations can do."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from checker.config.filters import Selectable
from checker.core.case import NOT_SET
from checker.core.case import Case as CaseValue
from checker.core.engine import Engine
from checker.core.errors import CheckerError
from checker.core.meta import GenerationMode, PhaseInfo
from checker.core.operation import Body, BrokenOperation, Definition, Label, Operation, Parameter
from checker.core.pool import ValuePool
from checker.core.resources import ResourceModel
from checker.core.schema_warnings import SchemaWarning
from checker.core.security import SecurityScheme
from checker.core.signup import DescribedLogin, SignUpFlow
from checker.kinds.sources import DescriptionSource, FetchOptions, SchemaOptions

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from checker.generation.hooks import ComponentHooks
    from checker.generation.normalization.store import FormStore
    from checker.generation.settings import GenerationSettings
    from checker.generation.sources.choices import Source
    from checker.transport.wire.multipart import MultipartFile


class CaseProgram(Protocol):
    """Draws the cases of one operation."""

    @property
    def operation(self) -> Operation: ...
    @property
    def fault(self) -> CheckerError | None:
        """Why nothing valid can be made; then all that is drawn is wrong."""
        ...

    @property
    def size_bytes(self) -> int:
        """Estimate of the memory that the program takes; it may grow while it is used."""
        ...

    @property
    def opaque(self) -> Mapping[str, str]:
        """Places of the description that are drawn and filtered -> the keyword that is not looked into."""
        ...

    @property
    def left_out(self) -> Mapping[str, str]:
        """Places of optional parts that no value can satisfy -> why."""
        ...

    @property
    def mismatched(self) -> Mapping[str, str]:
        """Places with a dictionary of the user's that their schema forbids most entries of -> how many."""
        ...

    def draw(
        self, source: "Source", case_id: str, phase: PhaseInfo, pool: ValuePool | None = None
    ) -> CaseValue:
        """One case; equal choices give an equal one. Raises `Unsatisfiable`, `BudgetSpent`, `HookError`."""
        ...

    def mode_ahead(self, source: "Source") -> GenerationMode | None:
        """What a source that was just reset would draw, a valid case or a wrong one; None when only drawing tells."""
        ...


class ApiOperation(Operation, Protocol):
    """An operation that can be tested."""

    def with_engine(self, engine: Engine) -> "ApiOperation":
        """The operation, reaching higher floors by an engine: what users of Python hold."""
        ...

    @property
    def definition(self) -> Definition:
        """The object that declares it."""
        ...

    @property
    def responses(self) -> Mapping[str, Any]:
        """Raw response objects by status as it is spelled."""
        ...

    @property
    def schema(self) -> Any:
        """The loaded schema that it belongs to, if it was loaded from Python."""
        ...

    @property
    def full_path(self) -> str:
        """Template behind the base path of the description."""
        ...

    @property
    def path_parameters(self) -> tuple[Parameter, ...]: ...
    @property
    def query(self) -> tuple[Parameter, ...]: ...
    @property
    def headers(self) -> tuple[Parameter, ...]: ...
    @property
    def cookies(self) -> tuple[Parameter, ...]: ...
    @property
    def body(self) -> tuple[Body, ...]: ...
    def iter_parameters(self) -> Iterator[Parameter]: ...
    def get_parameter(self, name: str, location: str) -> Parameter | None: ...
    def get_parameter_set(self, location: str) -> tuple[Parameter, ...]: ...
    def add_parameter(self, parameter: Parameter) -> None: ...
    def get_parameter_serializers(
        self,
    ) -> dict[str, Callable[[Mapping[str, Any]], dict[str, str]]]: ...
    def get_body_for_media_type(self, media_type: str) -> Body | None: ...
    def get_bodies_for_media_type(self, media_type: str) -> Iterator[Body]: ...
    def get_request_payload_content_types(self) -> list[str]: ...
    def prepare_multipart(
        self, form: Mapping[str, Any], content_types: Mapping[str, str] | None = None
    ) -> "list[tuple[str | None, MultipartFile]]": ...
    def get_strategies_from_examples(self) -> "list[SearchStrategy[CaseValue]]": ...
    def as_strategy(
        self, generation_mode: GenerationMode | str | None = None, **parts: Any
    ) -> "SearchStrategy[CaseValue]":
        """Strategy of `Case` for Hypothesis; a mode stands above what is configured."""
        ...

    def validate_response(self, response: Any, *, case: CaseValue | None = None) -> None:
        """Raise a `FailureGroup` when a check fails; without a case the checks know of no request."""
        ...

    def is_valid_response(self, response: Any) -> bool:
        """Whether the response of any HTTP client passes the checks."""
        ...

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
        """A case made by hand. Raises `IncorrectUsage`."""
        ...

    def compile(
        self,
        settings: "GenerationSettings",
        *,
        hooks: "ComponentHooks" = ...,
        store: "FormStore | None" = None,
    ) -> CaseProgram:
        """What draws its cases. Operations with one `store` share what they read of their schemas.

        Raises `Unsatisfiable`, `SerializationError`, `BudgetSpent`, `HookError`.
        """
        ...


class OperationEntry(Selectable, Protocol):
    """An operation as a table of contents has it: what filters look at, and where it stands among the resources."""

    @property
    def label(self) -> Label:
        """What it is called everywhere: `GET /users/{id}`, `Query.user`. The kind says what a label looks like."""
        ...

    @property
    def resource_path(self) -> str: ...
    @property
    def resource_method(self) -> str:
        """What it does to its resource, as the method by which others do the same; `safety` goes by it."""
        ...


class DroppedOperation(Protocol):
    """What is written like an operation and is none that can be tested."""

    @property
    def label(self) -> Label: ...
    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def warning(self) -> SchemaWarning:
        """That it is not tested, and why."""
        ...


class ApiLink(Protocol):
    """What an answer of one operation says of a request to another."""

    @property
    def name(self) -> str: ...
    @property
    def pointer(self) -> str:
        """Where in the description."""
        ...

    @property
    def source(self) -> Label: ...
    @property
    def status(self) -> str:
        """Answers that it is for: `201`, `4XX`, `default`."""
        ...


class ApiSchema(Protocol):
    """An opened description."""

    app: object | None
    """The application in this process that serves the API, if it was loaded from one."""

    @property
    def kind(self) -> str:
        """Name of its row in the table of kinds."""
        ...

    @property
    def title(self) -> str:
        """Of the API, empty when it has none."""
        ...

    @property
    def specification(self) -> str:
        """Name and version, for people: `Open API 3.0.3`."""
        ...

    @property
    def location(self) -> str | None:
        """URL that it was read from in the end; None when it came from elsewhere."""
        ...

    @property
    def base_url(self) -> str | None:
        """Absolute URL before every path: the one that was given, or else the one that is declared, if any."""
        ...

    @property
    def declared_path(self) -> str:
        """Path of the URL of the server that it declares, without a `/` at the end; empty when it says nothing of one."""
        ...

    @property
    def server_variable_names(self) -> frozenset[str] | None:
        """Names of the variables in the URLs of all its servers; None for a kind that declares no servers."""
        ...

    @property
    def credentials(self) -> tuple[str, ...]:
        """Places that its security schemes name, lower case: `header authorization`, `query appid`."""
        ...

    @property
    def security_schemes(self) -> Mapping[str, SecurityScheme]:
        """Its security schemes by name; those that cannot be read are left out."""
        ...

    def sign_up_flow(self) -> SignUpFlow | None:
        """How anybody makes an account and logs in with it; None when it says nothing of it."""
        ...

    def described_login(self) -> DescribedLogin | None:
        """How a user and a password get a token; None when it says nothing of it."""
        ...

    def configure(self, options: SchemaOptions) -> None:
        """Take in what users say of it."""
        ...

    def serve_from(self, app: object, url: str) -> None:
        """Say that an application in this process serves the API, which believes to be that host."""
        ...

    @property
    def raw_schema(self) -> Any:
        """The loaded document, as its kind reads it."""
        ...

    @property
    def base_path(self) -> str:
        """Path below which all operations stand: begins and ends with `/`."""
        ...

    def entries(self) -> Iterable[OperationEntry | BrokenOperation]:
        """Table of contents in document order; no operation is read for it."""
        ...

    def checked_entries(self) -> Iterator[OperationEntry | BrokenOperation]:
        """Table of contents in document order; what cannot be read is a value that carries its error."""
        ...

    def dropped(self) -> Iterable[DroppedOperation]:
        """What is written like operations and is not tested."""
        ...

    def find(self, label: str) -> ApiOperation | BrokenOperation | None:
        """The operation of a label; no other one is read."""
        ...

    def place_of(self, entry: OperationEntry | BrokenOperation) -> tuple[str, str]:
        """Two keys under which Python users find an operation: `schema["/users"]["GET"]`, `schema["Query"]["user"]`."""
        ...

    def parameter_names(self, label: Label) -> Iterable[str]:
        """What the inputs of an operation are called, which is not read for it."""
        ...

    def links(self) -> Iterable[ApiLink]:
        """Links between operations; those that cannot be followed are of classes of their own."""
        ...

    def resources(self) -> ResourceModel:
        """Who makes what and who asks for it: built by who opens the description first, read by all others."""
        ...

    def normalised(self) -> bytes:
        """Bytes from which its kind makes an equal schema, nothing else read for it."""
        ...


class DescriptionKind(Protocol):
    """One kind of description: how it is recognised and opened."""

    @property
    def name(self) -> str:
        """One word, the same for ever: it stands in run directories."""
        ...

    def claims(self, name: str) -> bool:
        """Whether a file, URL or path of that name is most likely of this kind: then it is asked first."""
        ...

    def open(self, source: DescriptionSource, options: FetchOptions) -> ApiSchema:
        """The description. Raises `LoaderError`; `ForeignDescription` when it is not of this kind."""
        ...

    def reopen(self, data: bytes) -> ApiSchema:
        """The schema that `ApiSchema.normalised` wrote down."""
        ...
