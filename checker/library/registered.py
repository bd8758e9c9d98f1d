"""The registered objects of one schema or test, and the origin of the schema."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Unpack, overload

from msgspec import Struct, field

from checker.core.hooks import HookRegistry, HookScope
from checker.core.providers import AuthRegistry, ProviderOptions, Registration
from checker.library.parametrized import Tested
from checker.library.verdicts import KeptClassChecks

if TYPE_CHECKING:
    from checker.transport.applications import Application

TEST_AUTH: Final = "_checker_auth"
"""Attribute of a test function: providers that are for it alone."""


class SchemaAuth(AuthRegistry):
    """`schema.auth`: registers providers for one schema, or marks a test to have one of its own."""

    @overload
    def __call__(self, provider: None = None, **options: Unpack[ProviderOptions]) -> Registration: ...
    @overload
    def __call__(self, provider: object, **options: Unpack[ProviderOptions]) -> Callable[[Tested], Tested]: ...
    def __call__(self, provider: Any = None, **options: Unpack[ProviderOptions]) -> Any:
        """Without a provider a decorator that registers one for the schema; with one a decorator of tests."""
        if provider is None:
            return AuthRegistry.__call__(self, **options)
        own = AuthRegistry()
        own(provider, **options)

        def mark(test: Tested) -> Tested:
            test.__dict__[TEST_AUTH] = own
            return test

        return mark


class Registered(Struct, frozen=True):
    """The objects that users registered for a schema and for a test of it."""

    hooks: tuple[HookRegistry, ...] = field(default_factory=lambda: (HookRegistry(HookScope.SCHEMA),))
    """Of the schema, then of the test."""
    auth: tuple[AuthRegistry, ...] = field(default_factory=lambda: (SchemaAuth(),))
    """Of the test, then of the schema."""
    classes: KeptClassChecks = field(default_factory=KeptClassChecks)
    """Instances of classes of checks: one of each for the schema and all that is narrowed from it."""


class Attachments(Struct, frozen=True):
    """The parts of a loaded schema beside its description and its configuration."""

    registered: Registered = field(default_factory=Registered)
    application: "Application | None" = None
    """What answers in this process; None where requests go over the network."""
    location: str | None = None
    """The URL that the user gave for the description."""
    engine: Any = None
    """The `LibraryEngine` of a run that tests this description. Its settings hold, and the description is configured already."""
