"""The table of kinds, and opening of descriptions. A kind is imported on first use."""

from collections.abc import Iterator
from importlib import import_module
from typing import Final

from checker.config.user_code import load_plugins
from checker.core.errors import ForeignDescription, LoaderError
from checker.core.registry import Registry
from checker.kinds.protocol import ApiSchema, DescriptionKind
from checker.kinds.sources import DescriptionSource, FetchOptions, UrlSource

BUILT_IN: Final = {"openapi": "checker.openapi.loaders:OPENAPI", "graphql": "checker.graphql.kind:GRAPHQL"}
"""Name -> module:attribute. A description that no kind claims is tried in this order."""

_REGISTERED: Final[Registry[DescriptionKind]] = Registry("kind", built_in=BUILT_IN)


def register(kind: DescriptionKind) -> DescriptionKind:
    """Add a kind and return it. Raises `IncorrectUsage` if there is one of that name."""
    return _REGISTERED.add_row(kind)


def kind_named(name: str) -> DescriptionKind:
    """Return a kind by its name. Raises `LoaderError`."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        found: DescriptionKind = getattr(import_module(module), attribute)
        return found
    if name not in _REGISTERED:
        load_plugins()
    if name not in _REGISTERED:
        raise LoaderError(f"no kind of description is called {name!r}; install or load what registers it")
    return _REGISTERED[name]


def open_description(source: DescriptionSource, options: FetchOptions) -> ApiSchema:
    """Open a description of any kind. Raises `LoaderError`, that of the likeliest kind if no kind accepts the description."""
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
    known = [kind_named(row) for row in BUILT_IN] + list(_REGISTERED.values())
    yield from sorted(known, key=lambda kind: not kind.claims(name))
    load_plugins()
    yield from (kind for kind in list(_REGISTERED.values()) if kind not in known)
