"""The description of a run: read once, kept without what is secret, and where it sends the requests."""

import os
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checker.config.operation_settings import OperationResolver
from checker.config.settings import RunSettings, credentials_in, target
from checker.core.digests import digest
from checker.core.errors import UsageError
from checker.core.hooks import GLOBAL_HOOKS, HookSource
from checker.core.providers import registered_names
from checker.core.request import BaseUrl
from checker.corpus import files
from checker.corpus.journal import Loss, damage_note
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note
from checker.kinds.protocol import ApiSchema
from checker.kinds.sources import (
    ApplicationSource,
    DescriptionSource,
    FetchOptions,
    FileSource,
    SchemaOptions,
    UrlSource,
)
from checker.kinds.table import open_description, packed, unpacked
from checker.transport.factories import in_process


class Description(Struct, frozen=True):
    """The description as it was read, and its place on disk."""

    schema: ApiSchema
    digest: str
    """Digest of the packed document: its name in the run directory."""
    notes: tuple[Note, ...] = ()
    """Damage of the file that kept it, and hosts that its references lead to and that were not asked."""
    once_s: float = 0.0
    """CPU-seconds that reading it took, and takes nobody after this worker: they read what it kept."""


def read_description(settings: RunSettings, layout: RunLayout, given: bytes | None = None) -> Description:
    """The description; read from the run directory once anyone has fetched it, unless it was damaged there.

    `given` is what is packed already: then nothing is fetched.
    """
    notes: tuple[Note, ...] = ()
    if settings.document is not None:
        path = layout.document(settings.document)
        data = files.read_file(path)
        if data is not None and _digest(data) == settings.document:
            return Description(unpacked(data), settings.document)
        if data is not None:
            notes = (damage_note(path, "it is not what its name says", Loss.DESCRIPTION),)
    began_s = time.process_time()
    others: dict[str, str] = {}
    schema = _fetched(settings, others.setdefault) if given is None else unpacked(given)
    # Follows all references.
    data = packed(schema)
    notes += tuple(Note("other_hosts", "", host, f"{host} was not asked: {why}") for host, why in others.items())
    name = _digest(data)
    path = layout.document(name)
    if files.read_file(path) != data:
        files.replace_file(path, data)
    return Description(schema, name, notes, time.process_time() - began_s)


def _digest(data: bytes) -> str:
    return digest("document", data.decode("utf-8", "surrogateescape"))


def settled_target(
    schema: ApiSchema, settings: RunSettings, operations: OperationResolver, hooks: HookSource = GLOBAL_HOOKS
) -> BaseUrl:
    """Return the base URL of the API, once the schema knows the user's options. Raises `UsageError`."""
    options = SchemaOptions(
        settings.target.base_url,
        dict(settings.target.server_variables),
        variables_of=lambda operation: dict(operations.of(operation).server_variables),
        asserts_formats=lambda operation: operations.of(operation).validate_formats,
        allows_null=lambda operation: operations.of(operation).cases.graphql_allow_null,
        queries=settings.sources.queries,
        hooks=hooks,
    )
    schema.configure(options)
    given = settings.target.base_url
    site = settings.target.origin or (in_process().site_of(settings.target.app) if settings.target.app else None)
    if given is None and site is not None:
        given = site.rstrip("/") + schema.declared_path
        schema.configure(replace(options, base_url=given))
    base_url = schema.base_url
    if base_url is None:
        raise UsageError("the description names no absolute server; give the base URL of the API with `--url`")
    try:
        names = (*credentials_in(settings), *registered_names())
        return target(base_url, settings.location, given, names)
    except ValueError as error:
        raise UsageError(f"{error}; or give the base URL of the API with `--url`") from error


def other_host(settings: RunSettings, origin: BaseUrl) -> str:
    """Return the host of the description if requests go to another host that it alone names; else an empty text."""
    is_given = settings.target.base_url is not None or settings.target.origin is not None
    if is_given or not urlsplit(settings.location).netloc:
        return ""
    source = BaseUrl.from_url(settings.location)
    return "" if source.service == origin.service else source.url


def _fetched(settings: RunSettings, on_other_host: Callable[[str, str], object]) -> ApiSchema:
    location, common = settings.location, settings.common
    source: DescriptionSource = FileSource(location)
    if settings.target.app and not urlsplit(location).netloc and not os.path.exists(location):
        app = in_process()
        ask = app.document_of(app.application_named(settings.target.app), location, common.headers, common.http)
        source = ApplicationSource(location, app.site_of(settings.target.app), ask)
    elif urlsplit(location).netloc:
        headers = {"headers": dict(common.headers)}
        source = UrlSource(location, settings.target.wait_for_schema_s, headers)
    return open_description(
        source,
        FetchOptions(
            common.http.verify,
            common.http.proxy,
            settings.documents,
            settings.report.sanitization.redaction,
            common.http.cert,
            common.http.cert_key,
            settings.documents.version,
            on_other_host,
        ),
    )
