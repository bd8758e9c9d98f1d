"""What every operation offers to Python users, whatever kind of description it is of."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from msgspec.structs import replace

from checker.core.case import NOT_SET
from checker.core.case import Case as CaseValue
from checker.core.engine import Engine
from checker.core.errors import HookExecutionError, IncorrectUsage
from checker.core.failures import FailureGroup
from checker.core.given_values import require, require_names, require_texts
from checker.core.hooks import HookContext, HookSource, run_hooks
from checker.core.locations import Location
from checker.core.media_types import is_multipart, matches
from checker.core.meta import GenerationMode
from checker.core.operation import (
    Body,
    BodyDemand,
    BrokenOperation,
    Definition,
    Parameter,
    Place,
    PropertyEncoding,
)
from checker.core.plain_errors import plainly
from checker.core.response import Response
from checker.kinds.protocol import OperationEntry
from checker.transport.wire.bodies import multipart_files
from checker.transport.wire.encoding import (
    cookie_encoder,
    header_encoder,
    path_encoder,
    query_encoder,
)
from checker.transport.wire.multipart import MultipartFile

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_NO_ENGINE: Final = "{label} was read without an engine; load its schema with `checker.openapi`"


class OperationMembers:
    """Members of operations that go by what is declared and by the engine of the loaded schema."""

    __slots__ = ()

    label: Any
    path: Any
    definition: Any
    method: Any
    parameters: Any
    bodies: Any
    engine: Engine | None
    """What sends, judges and makes; None for operations that were not loaded from Python."""

    def path_behind(self, base_path: str) -> str:
        """Its path, whatever stands before it."""
        return str(self.path)

    @property
    def resource_method(self) -> str:
        """Its method."""
        return str(self.method)

    @property
    def resource_places(self) -> Mapping[str, Place]:
        """Nothing: paths name resources."""
        return {}

    @property
    def read_refusal(self) -> Callable[[Any, Response], Iterable[BodyDemand]] | None:
        """As frameworks word it."""
        return None

    @property
    def resource_status(self) -> Callable[[Response], int] | None:
        """That of the answer."""
        return None

    def with_engine(self, engine: Engine) -> Self:
        """A copy that reaches higher floors by an engine."""
        own = copy.copy(self)
        # The slot is that of the class that lists it among its fields.
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
        """A case made by hand: values by name, and another HTTP verb if `method` says so.

        Raises `IncorrectUsage` for values without names, and for a body without a media type where there are several.
        """
        require_names(
            path_parameters=path_parameters, query=query, headers=headers, cookies=cookies
        )
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
            # Where hooks of a run make one, whoever runs it sends it.
            made = CaseValue(self, "", **parts)  # type: ignore[arg-type]
        else:
            made = self.engine.make_case(self, **parts)
        if method is not None and method.upper() != made.method:
            made.other_method = method.upper()
        return made

    def as_strategy(
        self, generation_mode: GenerationMode | str | None = None, **parts: Any
    ) -> "SearchStrategy[CaseValue]":
        """Strategy of `Case` for Hypothesis; a mode stands above what is configured.

        `path_parameters`, `query`, `headers`, `cookies` and `body` take the place of generated ones: each a strategy, or a value.
        """
        found: SearchStrategy[CaseValue] = self._engine().as_strategy(
            self, generation_mode=generation_mode, **parts
        )
        return found

    def get_strategies_from_examples(self) -> "list[SearchStrategy[CaseValue]]":
        """One strategy for each case that the examples of the description make."""
        return self._engine().examples_of(self)

    @property
    def responses(self) -> Mapping[str, Any]:
        """Raw response objects by status as it is spelled; empty where the kind of description has none."""
        declared = self.definition.get("responses")
        return declared if isinstance(declared, dict) else {}

    @property
    def schema(self) -> Any:
        """The loaded schema that it belongs to; None for an operation that was not loaded from Python."""
        return None if self.engine is None else self.engine.schema

    @property
    def app(self) -> object | None:
        """The application in this process that serves it, if there is one."""
        return None if self.schema is None else self.schema.app

    @property
    def full_path(self) -> str:
        """Template behind the base path of the description: `/api/users/{id}`."""
        base: str = "" if self.schema is None else self.schema.base_path
        return base.removesuffix("/") + str(self.path)

    @plainly
    def validate_response(self, response: Any, *, case: CaseValue | None = None) -> None:
        """Raise a `FailureGroup` when a check fails; without a case the checks know of no request."""
        if case is None:
            case = self.Case()
            # Nobody knows which request it was.
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
        """Declared parameters of the path."""
        return self._at(Location.PATH)

    @property
    def query(self) -> tuple[Parameter, ...]:
        """Declared parameters of the query."""
        return self._at(Location.QUERY)

    @property
    def headers(self) -> tuple[Parameter, ...]:
        """Declared headers."""
        return self._at(Location.HEADER)

    @property
    def cookies(self) -> tuple[Parameter, ...]:
        """Declared cookies."""
        return self._at(Location.COOKIE)

    @property
    def body(self) -> tuple[Body, ...]:
        """Media types that can be sent, one alternative each."""
        return tuple(self.bodies)

    def iter_parameters(self) -> Iterator[Parameter]:
        """Declared parameters of all locations but the body."""
        return iter(self.parameters)

    def get_parameter(self, name: str, location: str) -> Parameter | None:
        """The parameter of a name at `path`, `query`, `header` or `cookie`; header names in any letter case.

        None if there is none. Raises `IncorrectUsage` for another location.
        """
        wanted = _location(location)
        for parameter in self._at(wanted):
            is_same = parameter.name == name
            if wanted is Location.HEADER:
                is_same = parameter.name.lower() == name.lower()
            if is_same:
                return parameter
        return None

    def get_parameter_set(self, location: str) -> tuple[Parameter, ...]:
        """Declared parameters at `path`, `query`, `header` or `cookie`. Raises `IncorrectUsage` for another location."""
        return self._at(_location(location))

    def add_parameter(self, parameter: Parameter) -> None:
        """Have cases that are made from now on carry one parameter more, in place of one of its name and location."""
        require(hasattr(parameter, "location"), "parameter", "one of an operation", parameter)
        others = (
            one
            for one in self.parameters
            if (one.location, one.name) != (parameter.location, parameter.name)
        )
        self.parameters = (*others, parameter)

    def get_parameter_serializers(self) -> dict[str, Callable[[Mapping[str, Any]], dict[str, str]]]:
        """For `path_parameters`, `query`, `headers` and `cookies`: what makes of values by name their texts on the wire."""
        return {
            place.container: partial(_written, place, self._at(place))
            for place in Location
            if place is not Location.BODY
        }

    def get_body_for_media_type(self, media_type: str) -> Body | None:
        """The body of a media type, as it is declared; None if there is none."""
        return next((body for body in self.body if body.media_type == media_type), None)

    def get_bodies_for_media_type(self, media_type: str) -> Iterator[Body]:
        """Bodies whose media type, or range of media types, names a media type; letter case and parameters do not count."""
        require_texts(media_type=media_type)
        return (body for body in self.body if matches(body.media_type, media_type))

    def prepare_multipart(
        self, form: Mapping[str, Any], content_types: Mapping[str, str] | None = None
    ) -> list[tuple[str | None, MultipartFile]]:
        """Parts of a multipart body as `requests` takes them for `files`: (name, (file name, content, content type)).

        `content_types` say the type of single properties; the others are as the description declares.
        """
        declared = next((one for one in self.body if is_multipart(one.media_type)), None)
        encoding = {} if declared is None else dict(declared.encoding)
        require_names(content_types=content_types)
        for name, chosen in (content_types or {}).items():
            require_texts(content_types=chosen)
            encoding[name] = replace(encoding.get(name, PropertyEncoding()), content_type=chosen)
        return multipart_files(form, encoding, None if declared is None else declared.schema)

    def get_request_payload_content_types(self) -> list[str]:
        """Media types of the body, in order of declaration."""
        return [body.media_type for body in self.body]

    def _at(self, location: Location) -> tuple[Parameter, ...]:
        return tuple(one for one in self.parameters if one.location is location)

    def _engine(self) -> Engine:
        if self.engine is None:
            raise RuntimeError(_NO_ENGINE.format(label=self.label))
        return self.engine


class EntryMembers(OperationMembers):
    """Members of operations of which the table of contents tells already what they are called."""

    __slots__ = ()

    entry: OperationEntry

    def __repr__(self) -> str:
        return f"<Operation {self.label}>"

    @property
    def method(self) -> str:
        """Upper case: `GET`."""
        return self.entry.method

    @property
    def path(self) -> str:
        """Template as declared: `/users/{id}`."""
        return self.entry.path

    @property
    def resource_path(self) -> str:
        """Where it stands among the resources: `/users/{id}`."""
        return self.entry.resource_path

    @property
    def resource_method(self) -> str:
        """What it does to its resource, as the method by which others do the same."""
        return self.entry.resource_method

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags, in order of declaration."""
        return self.entry.tags

    @property
    def operation_id(self) -> str | None:
        """What the description calls it beside its label, if anything: `operationId`, the name of a field."""
        return self.entry.operation_id

    @property
    def deprecated(self) -> bool:
        """True when the description says so."""
        return self.entry.deprecated

    @property
    def definition(self) -> Definition:
        """What the description says of it, as its kind reads it."""
        return Definition(self.entry.definition)


def _written(
    place: Location, declared: tuple[Parameter, ...], values: Mapping[str, Any]
) -> dict[str, str]:
    """Texts of one location as they are sent; in the query with its name, as one value may be several pairs."""
    found: dict[str, str] = {}
    for name, value in values.items():
        own = next((one for one in declared if one.name == name), None)
        match place:
            case Location.PATH:
                found[name] = path_encoder(name, own)(value)
            case Location.QUERY:
                found[name] = query_encoder(name, own)(value)
            case Location.COOKIE:
                found[name] = cookie_encoder(name, own)(value)
            case _:
                found[name] = header_encoder(own)(value).decode("latin-1")
    return found


Read = TypeVar("Read", bound=OperationMembers)


def initialised(operation: Read | BrokenOperation, hooks: HookSource) -> Read | BrokenOperation:
    """An operation that was just read, as hooks of `before_init_operation` leave it; broken, where one of them raises."""
    if isinstance(operation, BrokenOperation):
        return operation
    context = HookContext(operation)
    try:
        run_hooks(
            hooks.named("before_init_operation", context),
            "before_init_operation",
            context,
            operation,
        )
    except HookExecutionError as error:
        own: Any = operation
        return BrokenOperation(own.label, own.method, own.path, str(error))
    return operation


def _location(name: str) -> Location:
    try:
        return Location(name)
    except ValueError:
        known = ", ".join(location for location in Location)
        raise IncorrectUsage(f"a location is one of {known}, got {name!r}") from None
