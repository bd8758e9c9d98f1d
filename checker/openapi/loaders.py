"""OpenAPI documents opened: from a dictionary, a file, a URL, or bytes."""

import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx

from checker.core.errors import LoaderError
from checker.openapi.parsing import as_parsed, parse
from checker.openapi.schema import OpenApiSchema, open_normalised

__all__ = ["from_bytes", "from_dict", "from_path", "from_url", "open_normalised"]

_USER_AGENT = "checker"
_RETRY_S = 0.25


def from_dict(schema: Mapping[str, Any], *, base_url: str | None = None) -> OpenApiSchema:
    """Schema of a parsed document. Raises `LoaderError`."""
    return _opened(as_parsed(schema), name="the schema", base_url=base_url)


def from_path(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", base_url: str | None = None
) -> OpenApiSchema:
    """Schema of a file, JSON or YAML. Raises `LoaderError`."""
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise LoaderError(f"{name} does not exist; give the path of an OpenAPI document") from None
    except IsADirectoryError:
        raise LoaderError(
            f"{name} is a directory; give the path of an OpenAPI document in it"
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LoaderError(f"{name} cannot be read: {reason}; make it readable") from error
    value = parse(data, name=name, content_type=f"text/plain; charset={encoding}")
    return _opened(value, name=name, base_url=base_url)


def from_bytes(
    data: bytes, *, name: str, content_type: str | None = None, base_url: str | None = None
) -> OpenApiSchema:
    """Schema of a document in memory; `name` stands for it in errors. Raises `LoaderError`."""
    return _opened(parse(data, name=name, content_type=content_type), name=name, base_url=base_url)


def from_url(
    url: str,
    *,
    wait_for_schema: float | None = None,
    base_url: str | None = None,
    verify: bool | str = True,
    **options: Any,
) -> OpenApiSchema:
    """Schema behind a URL. `wait_for_schema` is the longest time to wait for it, in seconds.

    Options go to `httpx.get`: `headers`, `timeout`, `auth`, `params`, `cookies`. Raises `LoaderError`.
    """
    if not re.match("https?://[^/]", url):
        raise LoaderError(
            f"{url} is not an http(s) URL; give one like http://127.0.0.1:8080/openapi.json"
        )
    options["headers"] = {"User-Agent": _USER_AGENT, **dict(options.get("headers") or {})}
    certificates = _certificates(verify) if isinstance(verify, str) else verify
    options = {"timeout": 10.0, "follow_redirects": True, "verify": certificates} | options
    response = _waited(lambda: _fetched(url, options), wait_for_schema)
    location = str(response.url)
    value = parse(response.content, name=url, content_type=response.headers.get("content-type"))
    return _opened(value, name=url, location=location, base_url=base_url)


def _opened(
    value: object, *, name: str, location: str | None = None, base_url: str | None = None
) -> OpenApiSchema:
    if not isinstance(value, Mapping):
        kinds = {list: "a list", str: "text", type(None): "nothing"}
        found = kinds.get(type(value), "a single value")
        raise LoaderError(
            f"{name} is not an API description: an object was expected, {found} was found; "
            "give an OpenAPI document"
        )
    root = value if isinstance(value, dict) else dict(value)
    try:
        return OpenApiSchema(root, location=location, base_url=base_url)
    except LoaderError as error:
        error.extras.append(f"Document: {name}")
        raise


def _certificates(path: str) -> ssl.SSLContext:
    """Authorities of a bundle, or of a folder of them."""
    try:
        if os.path.isdir(path):
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise LoaderError(
            f"the certificates in {path} cannot be used: {reason}; give a CA bundle in PEM form"
        ) from error


class _NotReady(LoaderError):
    """The API may be starting yet: worth another try."""


def _waited(fetch: Callable[[], httpx.Response], wait_for_schema: float | None) -> httpx.Response:
    deadline = time.monotonic() + (wait_for_schema or 0.0)
    while True:
        try:
            return fetch()
        except _NotReady:
            if time.monotonic() + _RETRY_S > deadline:
                raise
            time.sleep(_RETRY_S)


def _fetched(url: str, options: dict[str, Any]) -> httpx.Response:
    try:
        response = httpx.get(url, **options)
    except (httpx.ConnectError, httpx.TimeoutException) as error:
        raise _NotReady(_network_sentence(url, error), [str(error)]) from error
    except httpx.HTTPError as error:
        raise LoaderError(_network_sentence(url, error), [str(error)]) from error
    except (httpx.InvalidURL, UnicodeError) as error:
        raise LoaderError(f"{url} is not a URL: {error}; correct it") from error
    if response.status_code >= 400:
        side = "server" if response.status_code >= 500 else "client"
        reason = f"{response.status_code} {response.reason_phrase}".strip()
        kind = _NotReady if response.status_code == 503 else LoaderError
        raise kind(
            f"Failed to load {url} due to {side} error (HTTP {reason}); check the URL and its credentials",
            [f"HTTP {reason}", *response.text[:500].splitlines()[:10]],
        )
    return response


def _network_sentence(url: str, error: httpx.HTTPError) -> str:
    text = str(error)
    if isinstance(error, httpx.TimeoutException):
        return f"{url} did not answer in time; check that the API is up or give a longer time-out"
    if "CERTIFICATE" in text.upper():
        return f"{url} has a certificate that cannot be verified; give its CA bundle or switch verification off"
    if isinstance(error, httpx.ConnectError):
        kind = "refused the connection" if "refused" in text.lower() else "cannot be connected to"
        return f"{url} {kind}; check that the API is running there"
    return (
        f"{url} cannot be loaded: {text or type(error).__name__}; check that it serves the document"
    )
