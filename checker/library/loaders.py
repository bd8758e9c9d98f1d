"""`checker.openapi.from_*`: schemas whose operations can make, send and judge cases."""

import codecs
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import IO, Any

from checker.config.config import Config
from checker.config.hooks_loading import load_all_hooks
from checker.config.resolve import Occasion, fetch_limits, run_settings, sanitization_of
from checker.core.errors import IncorrectUsage, LoaderError
from checker.core.request import WireRequest
from checker.core.response import Response
from checker.library.applications import Application, AsgiApplication, WsgiApplication
from checker.library.engine import with_engine
from checker.openapi import loaders
from checker.openapi.schema import OpenApiSchema


def from_dict(schema: Mapping[str, Any], *, config: Config | None = None) -> OpenApiSchema:
    """Schema of a parsed document. Raises `LoaderError`."""
    config, way = _configured(config)
    return _ready(loaders.from_dict(schema, way=way), config)


def from_path(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", config: Config | None = None
) -> OpenApiSchema:
    """Schema of a file, JSON or YAML. Raises `LoaderError`, `IncorrectUsage` when there is no such encoding."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise IncorrectUsage(
            f"`encoding` must be one that Python knows, got {encoding!r}"
        ) from None
    config, way = _configured(config)
    return _ready(loaders.from_path(path, encoding=encoding, way=way), config)


def from_file(file: IO[str] | str, *, config: Config | None = None) -> OpenApiSchema:
    """Schema of an open text file or of a text. Raises `LoaderError`."""
    text = file if isinstance(file, str) else file.read()
    data = text.encode("utf-8", "surrogatepass")
    config, way = _configured(config)
    return _ready(loaders.from_bytes(data, name="the file", way=way), config)


def from_url(
    url: str,
    *,
    wait_for_schema: float | None = None,
    config: Config | None = None,
    **options: Any,
) -> OpenApiSchema:
    """Schema behind a URL, waiting at most `wait_for_schema` seconds for it. Options go to `httpx.get`.

    They, and the configured headers, go to the server of this URL alone. Raises `LoaderError`.
    """
    config, way = _configured(config)
    settings = run_settings(config, Occasion(url))
    options["headers"] = {**dict(settings.common.headers), **dict(options.get("headers") or {})}
    way = replace(
        way, verify=options.pop("verify", way.verify), proxy=options.pop("proxy", way.proxy)
    )
    wait_s = settings.wait_for_schema_s if wait_for_schema is None else wait_for_schema
    schema = loaders.from_url(url, wait_for_schema=wait_s, way=way, **options)
    return _ready(schema, config, location=url)


def from_asgi(
    path: str,
    app: Any,
    *,
    headers: Mapping[str, str] | None = None,
    config: Config | None = None,
) -> OpenApiSchema:
    """Schema that an ASGI application serves under a path; its cases are sent to the application itself.

    Raises `LoaderError`.
    """
    return _of_application(path, app, AsgiApplication(app), headers or {}, config)


def from_wsgi(
    path: str,
    app: Any,
    *,
    headers: Mapping[str, str] | None = None,
    config: Config | None = None,
) -> OpenApiSchema:
    """The same for a WSGI application. Raises `LoaderError`."""
    return _of_application(path, app, WsgiApplication(app), headers or {}, config)


def _of_application(
    path: str, app: Any, application: Application, headers: Mapping[str, str], config: Config | None
) -> OpenApiSchema:
    config, way = _configured(config)
    location = application.origin.url + (path if path.startswith("/") else f"/{path}")
    common = config.operation_layers().common
    target = location.removeprefix(application.origin.url).encode()
    sent = [(n.encode(), v.encode()) for n, v in {**dict(common.headers), **headers}.items()]
    answer = application.send(WireRequest("GET", target, sent), common.request_timeout_s)
    if not isinstance(answer, Response):
        raise LoaderError(f"{path} of the application cannot be loaded: {answer.message}")
    if answer.status_code != 200:
        raise LoaderError(
            f"{path} of the application answers with status {answer.status_code}; give the path of its API description",
            answer.content.decode("utf-8", "replace").splitlines()[-10:],
        )
    schema = loaders.from_bytes(
        answer.content, name=path, content_type=answer.content_type, location=location, way=way
    )
    schema.serve_from(app, application.origin.url)
    return _ready(schema, config, application)


def _configured(config: Config | None) -> tuple[Config, loaders.Way]:
    """The given configuration or the nearest one, and how it has documents fetched."""
    config = Config.discover() if config is None else config
    way = loaders.Way(
        config.tls_verify,
        config.proxy,
        fetch_limits(config),
        sanitization_of(config).redaction,
    )
    return config, way


def _ready(
    schema: OpenApiSchema,
    config: Config,
    application: Application | None = None,
    *,
    location: str | None = None,
) -> OpenApiSchema:
    schema = with_engine(schema, config, application, location=location)
    load_all_hooks(run_settings(config.for_project(schema.title), Occasion("")).hooks)
    return schema
