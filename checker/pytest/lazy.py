"""Schemas that a fixture makes: known when the test runs, so that its operations are subtests."""

from dataclasses import dataclass, field, replace
from typing import Unpack

from checker.core.errors import IncorrectUsage
from checker.core.hooks import HookDecorator, HookRegistry, HookScope
from checker.core.operation_filter import FilterAttributes, OperationFilter, Predicate
from checker.library.parametrized import SchemaDecorators
from checker.library.registered import SchemaAuth
from checker.library.schema import LoadedSchema


@dataclass(frozen=True, slots=True)
class LazySchema(SchemaDecorators):
    """A schema that a fixture will give; what is asked of it is done when it is there."""

    fixture: str
    """Name of the fixture."""
    filter: OperationFilter = OperationFilter()  # noqa: RUF009 - frozen
    hooks: HookRegistry = field(default_factory=lambda: HookRegistry(HookScope.SCHEMA))
    """Hooks for operations of this schema alone."""
    auth: SchemaAuth = field(default_factory=SchemaAuth)
    """`@lazy.auth(...)`: a provider for operations of this schema; `@lazy.auth(Provider)`: for one test alone."""

    def include(
        self, *functions: Predicate, **attributes: Unpack[FilterAttributes]
    ) -> "LazySchema":
        """The schema with matching operations only; filters are those of `schema.include`."""
        wanted = self.filter.including(*functions, **attributes)
        return replace(self, filter=wanted, hooks=self.hooks.copy())

    def exclude(
        self,
        *functions: Predicate,
        deprecated: bool = False,
        **attributes: Unpack[FilterAttributes],
    ) -> "LazySchema":
        """The schema without matching operations; filters are those of `schema.include`."""
        wanted = self.filter.excluding(*functions, deprecated=deprecated, **attributes)
        return replace(self, filter=wanted, hooks=self.hooks.copy())

    @property
    def hook(self) -> HookDecorator:
        """`@schema.hook`: a hook for operations of this schema alone."""
        return self.hooks.hook

    def resolved(self, value: object) -> LoadedSchema:
        """The schema that the fixture gave, narrowed and with these hooks. Raises `IncorrectUsage`."""
        if not isinstance(value, LoadedSchema):
            raise IncorrectUsage(
                f"the fixture {self.fixture!r} gave {type(value).__name__} {value!r:.80}; it must give a loaded schema"
            )
        return value.extended(self.filter, self.hooks).with_test_auth(self.auth)


def from_fixture(name: str) -> LazySchema:
    """The schema that a fixture gives, known when a test runs."""
    if not isinstance(name, str):
        raise IncorrectUsage(f"`from_fixture` takes the name of a fixture, got {name!r}")
    return LazySchema(name)
