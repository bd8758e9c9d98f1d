"""The table of kinds, and opening of descriptions."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from msgspec import Struct

from checker.config.user_code import load_plugins
from checker.core.errors import ForeignDescription, LoaderError
from checker.core.registry import Registry
from checker.kinds.protocol import ApiSchema, DescriptionKind
from checker.kinds.sources import DescriptionSource, FetchOptions, UrlSource


class BuiltInKind(Struct, frozen=True):
    """Implements `checker.kinds.protocol.DescriptionKind` for a kind of this package.

    Loaders are imported on first use, because those of GraphQL take a tenth of a second.
    """

    name: str
    usual_name: str  # Pattern of the ends of typical names, in any letter case.

    def claims(self, name: str) -> bool:
        """Whether a name is typical of such descriptions and endpoints."""
        return re.search(rf"({self.usual_name})\Z", name.partition("?")[0], re.IGNORECASE) is not None

    def open(self, source: DescriptionSource, options: FetchOptions) -> ApiSchema:
        """Return the schema of a source. Raises `LoaderError`."""
        schema: ApiSchema = import_module(f"checker.{self.name}.loaders").open_source(source, options)
        return schema

    def reopen(self, data: bytes) -> ApiSchema:
        """Return the schema that `ApiSchema.normalised` wrote."""
        schema: ApiSchema = import_module(f"checker.{self.name}.loaders").open_normalised(data)
        return schema


_KINDS: Final[Registry[DescriptionKind]] = Registry("kind")
"""Name -> kind. A description that no kind claims is tried in this order."""
OPENAPI: Final = _KINDS.add_row(BuiltInKind("openapi", r"(openapi|swagger)\.(json|ya?ml)"))
GRAPHQL: Final = _KINDS.add_row(BuiltInKind("graphql", r"/graphql/?|\.graphqls?|\.gql"))


def register(kind: DescriptionKind) -> DescriptionKind:
    """Add a kind and return it. Raises `IncorrectUsage` if there is one of that name."""
    return _KINDS.add_row(kind)


def kind_named(name: str) -> DescriptionKind:
    """Return a kind by its name. Raises `LoaderError`."""
    if name not in _KINDS:
        load_plugins()
    if name not in _KINDS:
        raise LoaderError(f"no kind of description is called {name!r}; install or load what registers it")
    return _KINDS[name]


def open_description(source: DescriptionSource, options: FetchOptions) -> ApiSchema:
    """Open a description of any kind. If no kind accepts the description, raises the `LoaderError` of the likeliest kind."""
    refusal: ForeignDescription | None = None
    for kind in _likeliest_first(source.name):
        try:
            return open_as(kind, source, options)
        except ForeignDescription as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def open_as(kind: DescriptionKind, source: DescriptionSource, options: FetchOptions) -> ApiSchema:
    """Open a description of one kind. Raises `LoaderError` with the requested URL."""
    try:
        return kind.open(source, options)
    except LoaderError as error:
        if isinstance(source, UrlSource):
            error.url = error.url or options.redaction.url(source.url)
        raise


def packed(schema: ApiSchema) -> bytes:
    """Return bytes from which `unpacked` makes an equal schema in any process."""
    return schema.kind.encode() + b"\n" + schema.normalised()


def unpacked(data: bytes) -> ApiSchema:
    """Return the schema that `packed` wrote. Raises `LoaderError`."""
    name, _, rest = data.partition(b"\n")
    return kind_named(name.decode()).reopen(rest)


def _likeliest_first(name: str) -> Iterator[DescriptionKind]:
    """Yield all kinds, those that claim the name first. Plug-ins come last, because finding them takes time."""
    known = list(_KINDS.values())
    yield from sorted(known, key=lambda kind: not kind.claims(name))
    load_plugins()
    yield from (kind for kind in list(_KINDS.values()) if kind not in known)
