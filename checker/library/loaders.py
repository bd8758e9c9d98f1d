"""`checker.openapi.from_*`: schemas whose operations can make, send and judge cases."""

import codecs
import os
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from msgspec.structs import replace

from checker.config.config import Config
from checker.config.resolve import Invocation, fetch_limits, run_settings, sanitization_of
from checker.config.user_code import load_all_hooks
from checker.core.errors import IncorrectUsage
from checker.core.hooks import GLOBAL_HOOKS, HookContext, run_hooks
from checker.core.operation_filter import Predicate
from checker.core.system import later
from checker.core.user_code import plainly, require
from checker.kinds.protocol import ApiSchema
from checker.kinds.sources import ApplicationSource, FetchOptions, FileSource, TextSource, UrlSource, ValueSource
from checker.kinds.table import kind_named, open_as
from checker.library.decorators import Attachments
from checker.library.schema import LoadedSchema

if TYPE_CHECKING:
    import checker.transport.applications as applications
    from checker.transport.applications import Application
else:
    applications = later("checker.transport.applications")


class Loaders:
    """Opens descriptions of one kind. The kind itself is imported when the first one is opened."""

    def __init__(self, kind: str) -> None:
        """`kind` is a name in the table of kinds."""
        self._kind = kind

    @plainly
    def from_dict(self, schema: Mapping[str, Any], *, config: Config | None = None) -> LoadedSchema:
        """Return the schema of a parsed document. Raises `LoaderError`, `IncorrectUsage` if it is no mapping."""
        require(isinstance(schema, Mapping), "schema", "a dict, the parsed document", schema)
        config, options = _configured(config)
        return _ready(kind_named(self._kind).open(ValueSource(schema), options), config)

    @plainly
    def from_path(
        self, path: str | os.PathLike[str], *, encoding: str = "utf-8", config: Config | None = None
    ) -> LoadedSchema:
        """Return the schema of a file. Raises `LoaderError`, `IncorrectUsage` for an unknown encoding."""
        try:
            codecs.lookup(encoding)
        except (LookupError, TypeError):
            raise IncorrectUsage(f"`encoding` must be one that Python knows, got {encoding!r}") from None
        if not isinstance(path, str | os.PathLike):
            raise IncorrectUsage(f"`path` must be the path of a file, got {path!r:.80}")
        config, options = _configured(config)
        return _ready(kind_named(self._kind).open(FileSource(path, encoding), options), config)

    @plainly
    def from_file(self, file: IO[str] | IO[bytes] | str | bytes, *, config: Config | None = None) -> LoadedSchema:
        """Return the schema of an open file or of its content. Raises `LoaderError`, `IncorrectUsage` for a path."""
        # Each description has several lines or braces.
        if isinstance(file, str) and "\n" not in file and "{" not in file and os.path.isfile(file):
            raise IncorrectUsage(
                f"`from_file` takes an open file or its text, and {file!r} is the path of a file: use `from_path`"
            )
        read = getattr(file, "read", None)
        found = read() if callable(read) else file
        if not isinstance(found, str | bytes):
            raise IncorrectUsage(f"`from_file` takes an open file or its text, got {file!r:.80}")
        data = found.encode("utf-8", "surrogatepass") if isinstance(found, str) else found
        config, options = _configured(config)
        return _ready(kind_named(self._kind).open(TextSource(data, "the file"), options), config)

    @plainly
    def from_url(
        self, url: str, *, wait_for_schema: float | None = None, config: Config | None = None, **options: Any
    ) -> LoadedSchema:
        """Return the schema at a URL, after waiting at most `wait_for_schema` seconds. Options are those of `httpx.get`.

        Options and configured headers are sent only to the server of this URL. Raises `LoaderError`.
        """
        if not isinstance(url, str):
            raise IncorrectUsage(f"`url` must be a text such as http://127.0.0.1/openapi.json, got {url!r:.80}")
        if not isinstance(wait_for_schema, int | float | None):
            raise IncorrectUsage(f"`wait_for_schema` must be a number of seconds, got {wait_for_schema!r:.80}")
        headers = _mapping("headers", options.get("headers"))
        config, way = _configured(config)
        settings = run_settings(config, Invocation(url))
        configured = dict(settings.common.headers)
        options["headers"] = {**configured, **headers}
        way = replace(way, verify=options.pop("verify", way.verify), proxy=options.pop("proxy", way.proxy))
        wait_s = settings.target.wait_for_schema_s if wait_for_schema is None else wait_for_schema
        return _ready(open_as(kind_named(self._kind), UrlSource(url, wait_s, options), way), config, location=url)

    @plainly
    def from_asgi(
        self,
        path: str,
        app: Any,
        *,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        query_string: str | bytes | Mapping[str, Any] = "",
        raise_server_exceptions: bool = True,
        config: Config | None = None,
    ) -> LoadedSchema:
        """Return the schema that an ASGI application serves at a path. The cases are sent to the application.

        `headers`, `cookies` and `query_string` (a text or a mapping) belong to the request for the description.
        An exception of the application passes through calls of cases, unless `raise_server_exceptions` is False: then the
        response has status 500 and the traceback, as in runs.
        Raises `LoaderError`, `ValueError` for a URL in place of the path, `IncorrectUsage` for other objects.
        """
        path = _with_query(path, query_string)
        if not applications.protocols_of(app)[0]:
            raise IncorrectUsage(f"{app!r:.80} is a WSGI application: use `from_wsgi`")
        application = applications.AsgiApplication(app, raises=raise_server_exceptions)
        return self._of_application(path, app, application, (_sent(headers, cookies), config))

    @plainly
    def from_wsgi(
        self,
        path: str,
        app: Any,
        *,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        query_string: str | bytes | Mapping[str, Any] = "",
        raise_server_exceptions: bool = True,
        config: Config | None = None,
    ) -> LoadedSchema:
        """Return the schema that a WSGI application serves at a path. The cases are sent to the application.

        `headers`, `cookies` and `query_string` (a text or a mapping) belong to the request for the description.
        An exception of the application passes through calls of cases, unless `raise_server_exceptions` is False: then the
        response has status 500 and the traceback, as in runs.
        Raises `LoaderError`, `ValueError` for a URL in place of the path, `IncorrectUsage` for other objects.
        """
        path = _with_query(path, query_string)
        if not applications.protocols_of(app)[1]:
            raise IncorrectUsage(f"{app!r:.80} is an ASGI application: use `from_asgi`")
        application = applications.WsgiApplication(app, raises=raise_server_exceptions)
        return self._of_application(path, app, application, (_sent(headers, cookies), config))

    def _of_application(
        self, path: str, app: Any, application: "Application", given: tuple[Mapping[str, str], Config | None]
    ) -> LoadedSchema:
        """Return the schema of an application; `given` are headers and configuration."""
        headers, (config, options) = given[0], _configured(given[1])
        url, common = application.origin.url, config.operation_layers().common
        sent = {**dict(common.headers), **headers}.items()
        exchange = applications.document_of(application, path, sent, common.http)
        schema = kind_named(self._kind).open(ApplicationSource(path, url, exchange), options)
        schema.serve_from(app, url)
        return _ready(schema, config, application)


def _mapping(argument: str, given: object) -> dict[str, str]:
    """Return headers or cookies by name, as texts. Raises `IncorrectUsage` for other values."""
    try:
        found = dict(given or {})  # type: ignore[call-overload]
    except (TypeError, ValueError):
        found = {None: given}
    is_right = all(isinstance(name, str) for name in found)
    require(is_right, argument, "a mapping of names to values", given)
    return {name: value.decode("latin-1") if isinstance(value, bytes) else str(value) for name, value in found.items()}


def _sent(headers: object, cookies: object) -> dict[str, str]:
    """Return the headers with the cookies among them. Raises `IncorrectUsage` for other values."""
    sent = _mapping("headers", headers)
    pairs = [f"{name}={value}" for name, value in _mapping("cookies", cookies).items()]
    if pairs:
        # All cookies are in one header, because some applications replace the first header by a second one.
        pairs[:0] = [sent.pop(name) for name in list(sent) if name.lower() == "cookie"]
        sent["Cookie"] = "; ".join(pairs)
    return sent


def _with_query(path: object, query: str | bytes | Mapping[str, Any]) -> str:
    """Return a path with a query, a text or a mapping. Raises `IncorrectUsage` for other values."""
    if not isinstance(path, str):
        raise IncorrectUsage(
            f"the path of the description comes first, then the application: got {path!r:.80} as the path"
        )
    if "://" in path:
        raise ValueError(f"Schema path should be relative for WSGI/ASGI loaders, got {path!r}")
    require(isinstance(query, str | bytes | Mapping), "query_string", "a text or a mapping of names to values", query)
    text = query.decode() if isinstance(query, bytes) else query if isinstance(query, str) else urlencode(query, True)
    return f"{path}{'&' if '?' in path else '?'}{text.removeprefix('?')}" if text else path


openapi: Final = Loaders("openapi")
graphql: Final = Loaders("graphql")


def _configured(config: Config | None) -> tuple[Config, FetchOptions]:
    """Return the given or the nearest configuration, and its options for fetching documents."""
    config = Config.discover() if config is None else config
    if not isinstance(config, Config):
        raise IncorrectUsage(
            f"`config` must be a `checker.Config`, got {config!r:.80}; make one by `checker.Config.from_dict`"
        )
    # Hooks are loaded first, since some of them change the document.
    load_all_hooks(run_settings(config, Invocation("")).certain_hooks)
    http = config.operation_layers().common.http
    return config, FetchOptions.of(http, fetch_limits(config), sanitization_of(config).redaction)


def _ready(
    opened: ApiSchema, config: Config, application: "Application | None" = None, *, location: str | None = None
) -> LoadedSchema:
    """Return the loaded schema. `application` replaces the network; `location` is the URL that the user gave."""
    own = config.for_project(opened.title)
    load_all_hooks(run_settings(own, Invocation("")).hooks)
    attached = Attachments(application=application, location=location)
    schema = LoadedSchema(opened, own, attached)
    run_hooks(GLOBAL_HOOKS.named("after_load_schema"), "after_load_schema", HookContext(), schema)
    return schema


def require_security_scheme(name: str) -> Predicate:
    """Return a filter for operations that accept credentials of the named security scheme.

    Security of an operation overrides that of the description. For `include`, `exclude`, `apply_to`, `skip_for`.
    """
    if not isinstance(name, str):
        raise IncorrectUsage(f"the name of a security scheme must be a string, got {name!r}")

    def requires(context: Any) -> bool:
        alternatives = getattr(context.operation, "security", ())
        return any(scheme.name == name for one in alternatives for scheme in one.schemes)

    return requires
