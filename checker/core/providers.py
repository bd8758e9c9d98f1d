"""Authentication by user code: classes with `get` and `set`, and the operations that they apply to."""

import dataclasses
from collections.abc import Callable, Iterable
from copy import copy, deepcopy
from typing import Any, Final, Protocol, Self, TypedDict, TypeVar, Unpack, overload

from msgspec import Struct

from checker.core.case import Case
from checker.core.credentials import CREDENTIAL_SOURCES, RUNNING_SOURCES, Credentials, CredentialSource, new_values
from checker.core.errors import CredentialError, IncorrectUsage
from checker.core.operation import Operation
from checker.core.operation_filter import OperationAttributes, OperationFilter
from checker.core.response import Response
from checker.core.scalars import is_number
from checker.core.user_code import refuse_coroutine

Decorated = TypeVar("Decorated")
_REFRESH_S: Final = 300
_RETRY_ON: Final = (401,)


class AuthContext(Struct, frozen=True):
    """The context of a provider beside the case."""

    operation: Operation
    app: object | None = None
    """The application in this process that serves the API, if there is one."""

    @classmethod
    def of(cls, operation: Operation) -> "AuthContext":
        """Return the context of an operation."""
        return cls(operation, operation.app)


class AuthProvider(Protocol):
    """A provider of credentials, written by a user. One object in each worker; the result of `get` is shared by its cases."""

    def get(self, case: Case, ctx: AuthContext) -> Any:
        """Return the input of `set`, such as a token: scalars, bytes, lists, tuples, and maps of them. None for nothing."""
        ...

    def set(self, case: Case, data: Any, ctx: AuthContext) -> None:
        """Put the result of `get` into headers, cookies, query and body of a copy of the case."""
        ...


Condition = Callable[[AuthContext], bool]
Signer = Any
"""An object of an HTTP client that signs requests: `httpx.Auth`, or a callable as for `requests`."""


@dataclasses.dataclass(slots=True)
class Scope:
    """The operations that a provider applies to: all, unless `apply_to` or `skip_for` limit them."""

    _filter: OperationFilter = OperationFilter()  # noqa: RUF009 - frozen

    def apply_to(self, func: Condition | None = None, **filters: Unpack[OperationAttributes]) -> Self:
        """Limit the provider to operations that match all of these filters; several calls are alternatives. Returns the object itself.

        Filters: `path`, `method`, `name`, `tag`, `operation_id`, each a text or a list, and with `_regex` a pattern.
        """
        self._filter = self._filter.including(*_given(func), **filters)
        return self

    def skip_for(self, func: Condition | None = None, **filters: Unpack[OperationAttributes]) -> Self:
        """Exclude operations that all of these filters match; several calls are alternatives."""
        self._filter = self._filter.excluding(*_given(func), **filters)
        return self

    def covers(self, context: AuthContext) -> bool:
        """Whether the provider applies to the operation of a context."""
        return self._filter.matches(context)


@dataclasses.dataclass(slots=True)
class SigningScope(Scope):
    """An object that signs the requests of some operations."""

    signer: Signer = None


class ProviderSource(CredentialSource):
    """A provider as a source of credentials."""

    def __init__(self, name: str, provider: AuthProvider, scope: "Registration") -> None:
        self.name = name
        self.refresh_s = scope.refresh_s
        self.is_kept = scope.refresh_s is not None
        self.scope = scope
        self._provider = provider

    def key(self, case: Case) -> str | None:
        """Return the key of `cache_by_key`; None if the provider does not apply to the operation. Raises `CredentialError`."""
        context = AuthContext.of(case.operation)
        asked = "apply_to and skip_for"
        try:
            if not self.scope.covers(context):
                return None
            asked = "cache_by_key"
            return "" if self.scope.cache_by_key is None else repr(self.scope.cache_by_key(case, context))
        except Exception as error:
            raise CredentialError(f"{asked} of {self.name}: {type(error).__name__}: {error}") from error

    def fetch(self, case: Case) -> Credentials:
        """Return the result of `get`. Raises `CredentialError`."""
        try:
            data = self._provider.get(case, AuthContext.of(case.operation))
        except Exception as error:
            raise CredentialError(f"{self.name}.get: {type(error).__name__}: {error}") from error
        return Credentials(data=_written(data, self.name))

    def carried(self, held: Credentials, case: Case) -> Credentials | None:
        """Return the changes that `set` makes to a copy of the case. Raises `CredentialError`."""
        data = plain_data(held.data)
        if data is None:
            return None
        changed = copy(case)
        for part in ("headers", "cookies", "query"):
            setattr(changed, part, dict(getattr(case, part)))
        changed.body = deepcopy(case.body)
        try:
            with RUNNING_SOURCES.adding(self):
                self._provider.set(changed, data, AuthContext.of(case.operation))
        except Exception as error:
            raise CredentialError(f"{self.name}.set: {type(error).__name__}: {error}") from error
        return Credentials(
            new_values(case.headers, changed.headers),
            new_values(case.query, changed.query),
            new_values(case.cookies, changed.cookies),
            case=None if (changed.body, changed.media_type) == (case.body, case.media_type) else changed,
        )

    def is_refused(self, response: Response) -> bool:
        """Whether the response has a status of `retry_on`."""
        return response.status_code in self.scope.retry_on


class ProviderOptions(TypedDict, total=False):
    """The lifetime of the result of a provider."""

    refresh_interval: int | None  # Seconds, 300 by default; None: `get` is called for each case.
    cache_by_key: Callable[[Case, AuthContext], Any] | None  # Cases with the same key share the result of `get`.
    retry_on: Iterable[int] | None  # Statuses after which `get` is called again, 401 by default.


class AuthRegistry:
    """Providers, in the order of registration: `checker.auth`, `schema.auth`."""

    def __init__(self) -> None:
        self.providers: list[ProviderSource] = []
        self.signers: list[SigningScope] = []

    @overload
    def __call__(self, provider: None = None, **options: Unpack[ProviderOptions]) -> "Registration": ...
    @overload
    def __call__(self, provider: object, **options: Unpack[ProviderOptions]) -> Any: ...
    def __call__(self, provider: Any = None, **options: Unpack[ProviderOptions]) -> Any:
        """A decorator that registers a provider class; its `apply_to` and `skip_for` limit the operations."""
        registration = Registration(self, **options)
        return registration if provider is None else registration(provider)

    def set_from_requests(self, auth: Signer) -> SigningScope:
        """Let an object of an HTTP client sign each request: `httpx.Auth`, or a callable as for `requests`.

        Raises `IncorrectUsage` for anything else.
        """
        if not callable(auth) and not hasattr(auth, "auth_flow"):
            raise IncorrectUsage(
                f"`set_from_requests` takes an object such as `requests.auth.HTTPBasicAuth(user, password)`, got {auth!r:.80}"
            )
        signing = SigningScope(signer=auth)
        self.signers.append(signing)
        return signing

    def unregister(self) -> None:
        """Remove all providers."""
        self.providers.clear()
        self.signers.clear()

    def __bool__(self) -> bool:
        return bool(self.providers or self.signers)


class Registration(Scope):
    """Registers the class that it decorates."""

    def __init__(
        self,
        registry: AuthRegistry,
        *,
        refresh_interval: int | None = _REFRESH_S,
        cache_by_key: Callable[[Case, AuthContext], Any] | None = None,
        retry_on: Iterable[int] | None = None,
    ) -> None:
        super().__init__()
        self._registry = registry
        interval: Any = refresh_interval
        if interval is not None and (not is_number(interval) or interval < 0):
            raise IncorrectUsage(
                f"`refresh_interval` must be a number of seconds, or None to disable caching, got {interval!r:.80}"
            )
        self.refresh_s: float | None = interval
        if cache_by_key is not None and not callable(cache_by_key):
            raise IncorrectUsage(
                f"`cache_by_key` must be a function that takes a case and a context, got {cache_by_key!r:.80}"
            )
        self.cache_by_key = cache_by_key
        statuses: Any = _RETRY_ON if retry_on is None else retry_on
        statuses = tuple(statuses) if isinstance(statuses, Iterable) else (statuses,)
        if not all(isinstance(one, int) and 100 <= one <= 599 for one in statuses):
            raise IncorrectUsage(f"`retry_on` must be a list of statuses such as [401], got {retry_on!r:.80}")
        self.retry_on: tuple[int, ...] = statuses

    def __call__(self, provider: Decorated) -> Decorated:
        """Register a class with `get` and `set`, and return it. Raises `IncorrectUsage` for other objects."""
        for name in ("get", "set"):
            if not callable(getattr(provider, name, None)):
                shown = getattr(provider, "__name__", repr(provider))
                raise IncorrectUsage(f"{shown} is no authentication provider: it has no `{name}`")
            refuse_coroutine(getattr(provider, name), f"`{name}` of an authentication provider")
        known = {one.name for one in self._registry.providers}
        name = provider.__name__ if isinstance(provider, type) else type(provider).__name__
        while name in known:
            name += "+"
        made: Any = provider() if isinstance(provider, type) else provider
        self._registry.providers.append(ProviderSource(name, made, self))
        return provider


GLOBAL_AUTH: Final = AuthRegistry()  # `checker.auth`: providers for every API.


def registered_names(registries: Iterable[AuthRegistry] = (GLOBAL_AUTH,)) -> tuple[str, ...]:
    """Return the names, as messages call them, of the registered sources, and of the providers of the nearest registry that has any."""
    nearest = next(filter(None, registries), GLOBAL_AUTH)
    names = (*CREDENTIAL_SOURCES, *(one.name for one in nearest.providers))
    signers = (type(one.signer).__name__ for one in nearest.signers)
    return tuple(f"source {name}" for name in (*names, *signers))


def _given(func: Condition | None) -> tuple[Condition, ...]:
    return () if func is None else (func,)


def _written(value: Any, name: str) -> Any:
    """Return a value with containers as tagged lists, so that tuples stay tuples on their way to other workers."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return [kind, *(_written(item, name) for item in value)]
    if isinstance(value, dict):
        return ["map", *(_written(part, name) for item in value.items() for part in item)]
    raise CredentialError(
        f"{name}.get gives a {type(value).__name__}, which other workers cannot have; "
        "give texts, numbers, bytes, lists, tuples or maps of them"
    )


def plain_data(written: Any) -> Any:
    """Return the result of a provider's `get` as it was, from its form between workers; other data unchanged."""
    match written:
        case ["map", *parts]:
            items = list(map(plain_data, parts))
            return dict(zip(items[::2], items[1::2], strict=True))
        case ["list" | "tuple" as kind, *parts]:
            items = list(map(plain_data, parts))
            return items if kind == "list" else tuple(items)
        case _:
            return written
