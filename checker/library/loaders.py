"""`checker.openapi.from_*`: schemas whose operations can make, send and judge cases."""

import os
from collections.abc import Mapping
from typing import IO, Any

from checker.config.config import Config
from checker.config.hooks_loading import load_all_hooks
from checker.config.resolve import Occasion, run_settings
from checker.core.errors import NotAvailableYet
from checker.library.engine import with_engine
from checker.openapi import loaders
from checker.openapi.schema import OpenApiSchema


def from_dict(schema: Mapping[str, Any], *, config: Config | None = None) -> OpenApiSchema:
    """Schema of a parsed document. Raises `LoaderError`."""
    return _ready(loaders.from_dict(schema), config)


def from_path(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", config: Config | None = None
) -> OpenApiSchema:
    """Schema of a file, JSON or YAML. Raises `LoaderError`."""
    return _ready(loaders.from_path(path, encoding=encoding), config)


def from_file(file: IO[str] | str, *, config: Config | None = None) -> OpenApiSchema:
    """Schema of an open text file or of a text. Raises `LoaderError`."""
    text = file if isinstance(file, str) else file.read()
    data = text.encode("utf-8", "surrogatepass")
    return _ready(loaders.from_bytes(data, name="the file"), config)


def from_url(
    url: str,
    *,
    wait_for_schema: float | None = None,
    config: Config | None = None,
    **options: Any,
) -> OpenApiSchema:
    """Schema behind a URL, waiting at most `wait_for_schema` seconds for it. Options go to `httpx.get`.

    Raises `LoaderError`.
    """
    config = Config.discover() if config is None else config
    settings = run_settings(config, Occasion(url))
    options["headers"] = {**dict(settings.headers), **dict(options.get("headers") or {})}
    options.setdefault("verify", settings.tls_verify)
    wait_s = settings.wait_for_schema_s if wait_for_schema is None else wait_for_schema
    return _ready(loaders.from_url(url, wait_for_schema=wait_s, **options), config)


def from_asgi(*_: Any, **__: Any) -> OpenApiSchema:
    """Schema of an ASGI application."""
    raise NotAvailableYet("checker.openapi.from_asgi")


def from_wsgi(*_: Any, **__: Any) -> OpenApiSchema:
    """Schema of a WSGI application."""
    raise NotAvailableYet("checker.openapi.from_wsgi")


def _ready(schema: OpenApiSchema, config: Config | None) -> OpenApiSchema:
    config = Config.discover() if config is None else config
    schema = with_engine(schema, config)
    load_all_hooks(run_settings(config, Occasion("")).hooks)
    return schema
