"""What every operation offers to Python users, whatever kind of description it is of."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, Final, Self

from checker.core.case import Case as CaseValue
from checker.core.engine import Engine
from checker.core.errors import IncorrectUsage
from checker.core.failures import FailureGroup
from checker.core.locations import Location
from checker.core.operation import Body, Parameter
from checker.kinds.protocol import OperationEntry

_NO_ENGINE: Final = "{label} was read without an engine; load its schema with `checker.openapi`"


class OperationMembers:
    """Members of operations that go by what is declared and by the engine of the loaded schema."""

    __slots__ = ()

    label: Any
    parameters: Any
    bodies: Any
    engine: Engine | None
    """What sends, judges and makes; None for operations that were not loaded from Python."""

    def with_engine(self, engine: Engine) -> Self:
        """A copy that reaches higher floors by an engine."""
        own = copy.copy(self)
        # The slot is that of the class that lists it among its fields.
        setattr(own, "engine", engine)  # noqa: B010
        return own

    def Case(self, **parts: Any) -> CaseValue:  # noqa: N802 - the public name
        """A case made by hand: `path_parameters`, `query`, `headers`, `cookies`, `body`, `media_type`, `method`.

        Raises `IncorrectUsage` for a body without a media type where there are several.
        """
        if self.engine is None:
            # Where hooks of a run make one, whoever runs it sends it.
            return CaseValue(self, "", **parts)  # type: ignore[arg-type]
        made = self.engine.make_case(self, **parts)
        assert isinstance(made, CaseValue)
        return made

    def as_strategy(self, **options: Any) -> Any:
        """Strategy of `Case` for Hypothesis. Options: `generation_mode`."""
        return self._engine().as_strategy(self, **options)

    def validate_response(self, response: Any, *, case: CaseValue | None = None) -> None:
        """Raise a `FailureGroup` when a check fails; without a case the checks know of no request."""
        self._engine().validate_response(self.Case() if case is None else case, response)

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

    def get_body_for_media_type(self, media_type: str) -> Body | None:
        """The body of a media type, as it is declared; None if there is none."""
        return next((body for body in self.body if body.media_type == media_type), None)

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
    def definition(self) -> Mapping[str, Any]:
        """What the description says of it, as its kind reads it."""
        return self.entry.definition


def _location(name: str) -> Location:
    try:
        return Location(name)
    except ValueError:
        known = ", ".join(location for location in Location)
        raise IncorrectUsage(f"a location is one of {known}, got {name!r}") from None
