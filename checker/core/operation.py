"""The interface of an API description for all layers above: operations, parameters, bodies. Independent of any specification."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NewType, Protocol

from msgspec import Struct, field

from checker.core.contract import RequestVerdict, ResponseContract
from checker.core.request import Location as Location
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.core.scenarios import Scenario
from checker.core.schema import Schema, SchemaWarning
from checker.core.security import SecurityRequirement

Label = NewType("Label", str)  # `GET /users/{id}`: names an operation in every report, journal and seed.

BodyDemand = tuple[tuple[str, ...], str, Any]
"""A demand on the body in a refusal: (names from its root with `*` for items, keyword of `core/constraints.py`, its value)."""

Place = tuple[Location, str]
"""A place in a request: a location, and the name of a parameter or a JSON pointer into the body."""


class Example(Struct, frozen=True):
    """A value that a description gives for a parameter or body in addition to its schema. It may be invalid."""

    value: Any
    pointer: str  # The place of the value.
    name: str = ""
    """Name of its Example Object. Examples with the same name in several parts of a request belong together."""
    is_settled: bool = False
    """Whether its kind has judged it. It is then sent unchanged, because the schema does not apply to it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter of an operation, of any location but the body."""

    name: str
    location: Location
    required: bool
    schema: Schema
    style: str
    """OpenAPI 3 style name; `collectionFormat` of Swagger 2.0 is translated (`csv` in query is `form`, ...)."""
    explode: bool
    media_type: str | None = None
    """Set if the parameter is declared by `content`: its value is serialised as this type."""
    allow_reserved: bool = False
    allow_empty: bool | None = None
    """`allowEmptyValue` of a query: False forbids the empty text; None, if it is missing, leaves this to the schema."""
    pointer: str = ""
    """JSON pointer of the parameter object."""
    examples: tuple[Example, ...] = ()
    problem_of: Callable[[Any], str | None] | None = dataclasses.field(default=None, repr=False, compare=False)
    """Returns why a value violates the schema, or None for a valid value. The field is set if the kind of the description has such a function."""
    doubt: str = ""
    """The reason why no verdict depends on the value; empty for most parameters."""
    inner: tuple[str, ...] = ()
    """Delimiters of nested lists, outermost first (`collectionFormat` of `items`, Swagger 2.0); empty: nested lists are JSON."""

    @property
    def is_required(self) -> bool:
        """Whether a request without the parameter is wrong."""
        return self.required

    @property
    def definition(self) -> Any:
        """The raw parameter object. Raises `UnresolvableReference` if there is none."""
        _, mark, path = self.pointer.partition("#")
        return self.schema.document.resolve(f"{mark}{path}", at=self.pointer)[0]

    def validate(self, value: Any) -> None:
        """Raise `ValueError` with the reason if a value violates the schema."""
        problem = None if self.problem_of is None else self.problem_of(value)
        if problem is not None:
            raise ValueError(f"{self.location} parameter `{self.name}`: {problem}")

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits the schema, whatever its text looks like on the wire."""
        return self.problem_of is None or self.problem_of(value) is None


class PropertyEncoding(Struct, frozen=True):
    """The encoding of one property of a form body (OpenAPI 3 Encoding Object)."""

    content_type: str | None = None  # The declared media type, or several with commas.
    style: str = "form"
    explode: bool = True
    allow_reserved: bool = False
    is_styled: bool = False
    """True if style, explode or allowReserved is declared: objects are then serialised by these, otherwise as JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)  # Headers of the property's part of a multipart body.
    inner: tuple[str, ...] = ()  # Delimiters of nested lists, outermost first; empty: nested lists are JSON.


class BodyForm(Struct, frozen=True):
    """A usual request in an unusual form. Servers need not accept this form, so a refusal is no fault."""

    scenario: Scenario  # One of `REQUEST_SHAPES`.
    description: str
    body: Any  # `NOT_SET`: none is sent.
    method: str | None = None  # If it differs from that of the operation.
    query: Mapping[str, str] = field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Body:
    """One media type that an operation accepts and that can be serialised."""

    media_type: str
    schema: Schema
    pointer: str
    encoding: Mapping[str, PropertyEncoding]
    examples: tuple[Example, ...] = ()
    doubt: str = dataclasses.field(default="", compare=False)
    """The reason why no verdict depends on the body; empty for most bodies."""
    write: Callable[[Any], bytes] | None = dataclasses.field(default=None, compare=False)
    """Returns the bytes of a value, if the kind of the description has its own serialiser; None: that of the media type."""
    serializer: Callable[[Any, Any], bytes | None] | None = dataclasses.field(default=None, compare=False)
    """A user's serialiser: returns the bytes of a value in the context of its case; if it returns None, no body is sent."""
    strategy: Any = dataclasses.field(default=None, compare=False)
    """A user's strategy for its values, which replaces the schema."""
    is_wrong: Callable[[Any], bool] | None = dataclasses.field(default=None, compare=False)
    """If `write` is set: returns whether the bytes of a value are wrong in every reading; None: there is no proof."""
    breaks: Callable[[str, tuple[str, ...]], bool] | None = dataclasses.field(default=None, compare=False)
    """If `write` is set: returns whether a keyword that a path of the value violates is a rule of the bytes, too; None: always."""
    forms: Callable[..., Iterable[BodyForm]] | None = dataclasses.field(default=None, compare=False)
    """Returns other forms of a request with a usual value: `forms(value, costly=...)`. `costly` adds forms that request much at once."""
    part_types: Callable[[Any], dict[str, str]] | None = dataclasses.field(default=None, compare=False)
    """Returns the content types that the description states for parts of a value, by name; None: there are no parts."""


class BodyFault(Enum):
    """The reason why a declared body cannot be sent."""

    UNRESOLVABLE = "it refers to nothing"
    UNSERIALISABLE = "its media type has no serialiser"
    MALFORMED = "its declaration is malformed"


class UnusableBody(Struct, frozen=True):
    """A declared media type that cannot be sent, and why."""

    media_type: str
    reason: str
    pointer: str  # JSON pointer of its declaration.
    fault: BodyFault


class BrokenOperation(Struct, frozen=True):
    """An operation that cannot be read: a value and not an exception, so that other operations are not affected."""

    label: Label
    method: str
    path: str
    error: str  # One sentence: what was found, where, what to do.


class Definition(Mapping[str, Any]):
    """The object of a description that declares an operation: a mapping; `raw` is the object itself."""

    __slots__ = ("raw",)

    def __init__(self, raw: Mapping[str, Any] = MappingProxyType({})) -> None:
        self.raw = raw
        """The object as it is declared, with its references."""

    def __getitem__(self, name: str) -> Any:
        return self.raw[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def __repr__(self) -> str:
        return f"<Definition of {', '.join(self.raw)}>"


class Operation(Protocol):
    """One operation of a description, ready to be tested. This is the only definition of an operation.

    Kinds of descriptions inherit it (`kinds/protocol.py`) and override defaults if they know better values.
    """

    @property
    def label(self) -> Label: ...
    @property
    def method(self) -> str:
        """Upper case: `GET`."""
        ...

    @property
    def path(self) -> str:
        """Template as declared: `/users/{id}`."""
        ...

    @property
    def contract(self) -> ResponseContract: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return ()

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Media types that can be sent; empty without a body, or if none of its media types is usable."""
        return ()

    @property
    def unusable_bodies(self) -> tuple[UnusableBody, ...]:
        return ()

    @property
    def unusable_parameters(self) -> Mapping[str, str]:
        """Optional parameters that cannot be sent: pointer -> reason."""
        return {}

    @property
    def body_required(self) -> bool:
        return False

    @property
    def has_skipped_required_body(self) -> bool:
        """True if a required body is declared and none of its media types is usable."""
        return self.body_required and not self.bodies

    @property
    def is_described(self) -> bool:
        """Whether requests consist of parameters and bodies alone. Otherwise only the operation's own program can make requests."""
        return True

    @property
    def tags(self) -> tuple[str, ...]:
        return ()

    @property
    def operation_id(self) -> str | None:
        """A second name in the description besides the label: `operationId`, the name of a field."""
        return None

    @property
    def deprecated(self) -> bool:
        return False

    @property
    def definition(self) -> Definition:
        """The object that declares it."""
        return Definition()

    @property
    def app(self) -> object | None:
        """The application in this process that serves it, if there is one."""
        return None

    @property
    def base_url(self) -> str | None:
        """Absolute base URL that requests to this operation use, if it is known."""
        return self.declared_base_url

    @property
    def declared_base_url(self) -> str | None:
        """Absolute base URL that the description declares for this operation, if any."""
        return None

    @property
    def security(self) -> tuple[SecurityRequirement, ...]:
        """Alternatives of credentials; an empty tuple if the description states none."""
        return ()

    @property
    def grants_credentials(self) -> bool:
        """Whether a security scheme names this operation as the source of tokens."""
        return False

    @property
    def resource_path(self) -> str:
        """Place among the resources, as a path template: `/users/{id}` is one member of `/users`."""
        return self.path

    @property
    def resource_method(self) -> str:
        """The effect on the resource, as a method of REST: `POST` creates, `DELETE` removes, ..."""
        return self.method

    @property
    def resource_places(self) -> Mapping[str, Place]:
        """Variable of a resource -> its place in a case; other variables are parameters of the path."""
        return {}

    @property
    def unwritable_methods(self) -> frozenset[str]:
        """Return the methods of RFC 9110 that a description of this version cannot declare, even if the server supports them."""
        return frozenset()

    @property
    def has_status_in_body(self) -> bool:
        """Whether the body of a response with 200 states what REST expresses by the status."""
        return False

    def status_of(self, response: Response) -> int:
        """Return the status of a response, or the one that its body stands for: 404 for a missing resource."""
        return response.status_code

    @property
    def read_answer(self) -> Callable[[Response], Any] | None:
        """Returns the content of a response as objects, lists and scalars, for values of later requests. None: its JSON."""
        return None

    @property
    def read_refusal(self) -> Callable[[Any, Response], Iterable[BodyDemand]] | None:
        """Returns the demands of a response that refused a body. None: the words of frameworks (`checker.refusals`)."""
        return None

    def warnings(self) -> Iterable[SchemaWarning]:
        """Return the faults of the description because of which a part of this operation is lost. Reads all of its schemas."""
        return ()

    def path_behind(self, base_path: str) -> str:
        """Return the path that is appended to the path of a base URL; `base_path` has no `/` at the end."""
        return self.path

    def methods_at(self, path: str) -> tuple[frozenset[str], ...]:
        """Return the methods, in upper case, that the description declares for a path as sent; one set for each template that matches.

        `path` has no base path and no query. Empty if methods have no meaning.
        """
        return ()

    def judge_request(self, request: WireRequest, *, base_path: str = "") -> RequestVerdict:
        """Return the verdict of the kind's referee on the final bytes of a request to this operation."""
        return RequestVerdict(())
