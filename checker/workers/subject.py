"""The description of a run, which is read once and stored without secrets, and the target of its requests."""

import ast
import inspect
import math
import os
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final, cast
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checker.checks.custom import class_checks
from checker.config.operation_settings import OperationResolver
from checker.config.overrides import Overrides, TypeWords
from checker.config.settings import RunSettings, credentials_in, target
from checker.config.user_code import load_all_hooks, load_attribute
from checker.core.case import Engine
from checker.core.digests import digest_of
from checker.core.errors import UnreadableFile, UsageError
from checker.core.hooks import GLOBAL_HOOKS, HookContext, HookSource, run_hooks
from checker.core.operation import Label
from checker.core.providers import registered_names
from checker.core.registry import CONSTANT_SOURCES
from checker.core.request import BaseUrl
from checker.core.system import Later, read_local, uncollected
from checker.corpus import files
from checker.corpus.journal import Loss, damage_note
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note
from checker.corpus.secrets import Secrets, secrets_of
from checker.health import Safety, leaves_out
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
from checker.transport.settings import environment_proxy
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.logins import UserTraffic
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.class_checks import ClassChecks
from checker.workers.selected import SelectedOperations
from checker.workers.users import ALL_SCHEMAS, UsersCode


class Description(Struct, frozen=True):
    """The description as it was read, and its place on disk."""

    schema: ApiSchema
    digest: str  # Digest of the packed document: its name in the run directory.
    notes: tuple[Note, ...] = ()
    """Notes on damage of the stored file, and on hosts of references that were not contacted."""
    once_s: float = 0.0  # CPU-seconds that the first reading took. Later workers read the stored copy instead.


def read_description(settings: RunSettings, layout: RunLayout, given: bytes | None = None) -> Description:
    """Return the description. Once a worker has fetched it, it is read from the run directory, unless the file is damaged.

    `given` is a packed description; then nothing is fetched.
    """
    notes: tuple[Note, ...] = ()
    if settings.document is not None:
        path = layout.document(settings.document)
        data = files.read_file(path)
        if data is not None and digest_of("document", data) == settings.document:
            return Description(unpacked(data), settings.document)
        if data is not None:
            notes = (damage_note(path, "its content does not have the digest in its name", Loss.DESCRIPTION),)
    began_s = time.process_time()
    others: dict[str, str] = {}
    schema = _fetched(settings, settings.location, others.setdefault) if given is None else unpacked(given)
    # This follows all references.
    data = packed(schema)
    notes += tuple(Note("other_hosts", "", host, f"{host} was not asked: {why}") for host, why in others.items())
    name = digest_of("document", data)
    path = layout.document(name)
    if files.read_file(path) != data:
        files.replace_file(path, data)
    return Description(schema, name, notes, time.process_time() - began_s)


def settled_target(
    schema: ApiSchema, settings: RunSettings, operations: OperationResolver, hooks: HookSource = GLOBAL_HOOKS
) -> BaseUrl:
    """Return the base URL of the API. Call this when the schema knows the user's options. Raises `UsageError`."""
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
    """Return the host of the description, if requests go to another host that only the description names; otherwise an empty text."""
    is_given = settings.target.base_url is not None or settings.target.origin is not None
    if is_given or not urlsplit(settings.location).netloc:
        return ""
    source = BaseUrl.from_url(settings.location)
    return "" if source.service == origin.service else source.url


def _changed(settings: RunSettings, schema: ApiSchema) -> frozenset[str] | None:
    """Return the operations that differ from an earlier version of the description; None without an earlier version.

    Raises `LoaderError`, and `UsageError` for a description of another kind.
    """
    since, known = settings.selection.changed_since, settings.selection.changed
    if since is None or known is not None:
        return None if known is None else frozenset(known)
    before = _fetched(settings, since, lambda host, why: None)
    if before.kind != schema.kind:
        raise UsageError(
            f"--changed-since {settings.report.sanitization.redaction.url(since)} is {before.specification}, and the description is {schema.specification}"
        )
    return frozenset(schema.changed_since(before))


def _fetched(settings: RunSettings, location: str, on_other_host: Callable[[str, str], object]) -> ApiSchema:
    common, is_own = settings.common, location == settings.location
    source: DescriptionSource = FileSource(location)
    if is_own and settings.target.app and not urlsplit(location).netloc and not os.path.exists(location):
        app = in_process()
        ask = app.document_of(app.application_named(settings.target.app), location, common.headers, common.http)
        source = ApplicationSource(location, app.site_of(settings.target.app), ask)
    elif urlsplit(location).netloc:
        # The headers may be credentials, and the earlier version may be on another server.
        is_own = is_own or urlsplit(location)[:2] == urlsplit(settings.location)[:2]
        headers = {"headers": dict(common.headers) if is_own else {}}
        source = UrlSource(location, settings.target.wait_for_schema_s, headers)
    redaction = settings.report.sanitization.redaction
    options = FetchOptions.of(common.http, settings.documents, redaction, on_other_host=on_other_host)
    return open_description(source, options)


MOST: Final = 256  # Constants of each type.
SHARE: Final = 0.1  # Share of a type's values that are such constants.
_LONGEST: Final = 100
_MOST_BYTES: Final = 1 << 20
_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_FILES: Final = 200
_USUAL: Final = frozenset((0, 1, -1))  # Every generator sends these.
_LIBRARIES: Final = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def with_constants(settings: RunSettings) -> tuple[RunSettings, list[Note]]:
    """Return settings with literals of the application as values for strings and numbers, and notes on files that could not be read.

    The user's own values for a type have precedence.
    """
    if not settings.sources.reads_constants:
        return settings, []
    modules: list[ModuleType] = []
    notes = []
    if settings.target.app is not None:
        modules += _modules_of(load_attribute(settings.target.app, what="application"))
    for source in CONSTANT_SOURCES:
        name = getattr(source, "__name__", repr(source))
        try:
            given = source()
        except Exception as error:  # noqa: BLE001 - user code may raise anything
            notes.append(_note(name, f"it raised {type(error).__name__}: {error}"))
            continue
        items = given if isinstance(given, list | tuple | set) else [given]
        found = [module for item in items for module in _modules_of(item)]
        if not found:
            notes.append(_note(name, "it returned no module that was imported from a file"))
        modules += found
    words = tuple(constants_of(modules))
    if not words:
        return settings, notes
    overrides = settings.sources.overrides
    more = Overrides(overrides.parameters, (*overrides.types, *words))
    return settings.with_changes(sources={"overrides": more}), notes


def constants_of(modules: Iterable[ModuleType]) -> Iterator[TypeWords]:
    """Return the literals in the files of modules by type, each once, in the order of modules and lines."""
    found: dict[str, dict[Any, None]] = {"string": {}, "integer": {}, "number": {}}
    files = sorted({str(file) for module in modules if (file := _file_of(module))})
    for file in files[:_MOST_FILES]:
        for kind, value in _literals(file):
            if len(found[kind]) < MOST:
                found[kind][value] = None
    for kind, values in found.items():
        if values:
            yield TypeWords(kind, tuple(values), SHARE, None)


def _note(source: str, reason: str) -> Note:
    return Note("constants_extraction", "", source, f"no constants of {source!r}: {reason}")


def _modules_of(item: Any) -> list[ModuleType]:
    """Return the module of an application, or the given module, and the imported modules of its package."""
    module = item if isinstance(item, ModuleType) else _home_of(item)
    if module is None or _file_of(module) is None:
        return []
    package = (module.__package__ or module.__name__).partition(".")[0]
    # A copy, because reading some modules imports others.
    others = [one for name, one in list(sys.modules.items()) if name.partition(".")[0] == package]
    return [module, *(one for one in others if _file_of(one) is not None)]


def _home_of(item: Any) -> ModuleType | None:
    """Return the module of an object. For applications of Starlette and Flask, this is the module of their route functions."""
    routes = [getattr(route, "endpoint", None) for route in getattr(item, "routes", ()) or ()]
    views = getattr(item, "view_functions", None)
    for one in (item, *filter(callable, routes), *(views.values() if isinstance(views, dict) else ())):
        name = getattr(inspect.unwrap(one) if callable(one) else one, "__module__", None)
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is not None and _file_of(module) is not None:
            return module
    return None


def _file_of(module: ModuleType) -> str | None:
    """Return the source file of a user module; None for an installed one."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py"):
        return None
    path = os.path.realpath(file)
    return None if path.startswith(_LIBRARIES) or "site-packages" in path else path


def _literals(file: str) -> Iterator[tuple[str, Any]]:
    try:
        tree = ast.parse(read_local(file, "a module", most_bytes=_MOST_BYTES))
    except (UnreadableFile, SyntaxError, ValueError, RecursionError):
        return
    prose = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr):
            prose.add(id(node.body[0].value))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in prose:
            continue
        value = node.value
        if isinstance(value, str) and 0 < len(value) <= _LONGEST:
            yield "string", value
        elif isinstance(value, bool):
            continue
        elif isinstance(value, int) and value not in _USUAL and abs(value) < 1 << 63:
            yield "integer", value
        elif isinstance(value, float) and math.isfinite(value):
            yield "number", value


class Contents(Struct, kw_only=True):
    """The description, and those of its operations that are tested."""

    settings: RunSettings  # Settings of the project to which this description belongs.
    description: Description
    operations: OperationResolver
    selected: SelectedOperations
    notes: tuple[Note, ...] = ()  # Notes on values that could not be loaded.
    changed: frozenset[str] | None = None
    """Operations that are tested because they have changed; None if all are tested."""

    def is_tested(self, label: str) -> bool:
        """Whether changes do not exclude a selected operation from the test."""
        return self.changed is None or label in self.changed


class TestedDescription(Contents):
    """The description with its target, and what requests to the target need."""

    classes: ClassChecks
    schemes: SchemeCredentials
    origin: BaseUrl
    secrets: Secrets
    keeper: CredentialKeeper | None = None
    """The keeper of fetched credentials; None if all credentials are constant, and before the sources of credentials are opened."""


def read_contents(settings: RunSettings, layout: RunLayout, users: UsersCode = ALL_SCHEMAS) -> Contents:
    """Return the description to test, for any target. Raises `LoaderError`, `ConfigError` and `UsageError`."""
    # Hooks are loaded first, so that their errors are reported before anything is fetched.
    load_all_hooks(settings.certain_hooks)
    with uncollected():
        description = read_description(settings, layout, users.description)
    schema = description.schema
    settings = settings.for_project(schema.title)
    load_all_hooks(settings.hooks)
    # Hooks may bring sources of constants.
    settings, unread = with_constants(settings)
    # Before hooks change the description, because the earlier version passes no hook.
    changed = _changed(settings, schema)
    run_hooks(GLOBAL_HOOKS.named("after_load_schema"), "after_load_schema", HookContext(), schema)
    # After hooks are loaded, because hooks register checks.
    operations = OperationResolver(settings.operations)
    level = Safety(settings.target.safety)
    with uncollected():
        selected = SelectedOperations(
            schema,
            settings.selection,
            lambda entry: bool(operations.of(entry).phases) and not leaves_out(level, entry),
            users.transitions,
        )
    if changed is not None and settings.selection.with_dependents:
        changed |= selected.resources.dependents_of(map(Label, changed))
    return Contents(
        settings=settings,
        description=description,
        operations=operations,
        selected=selected,
        notes=tuple(unread),
        changed=changed,
    )


def read_subject(settings: RunSettings, layout: RunLayout, users: UsersCode = ALL_SCHEMAS) -> TestedDescription:
    """Return the description with its target. Raises `LoaderError`, `ConfigError` and `UsageError`."""
    contents = read_contents(settings, layout, users)
    settings, operations, schema = contents.settings, contents.operations, contents.description.schema
    schemes = SchemeCredentials(schema.security_schemes, operations.common.authentication, operations)
    for label, name in settings.auth.needs:
        schemes.need(Label(label), name)
    origin = settled_target(schema, settings, operations, users.hooks)
    proxy = environment_proxy(origin)
    if proxy is not None and not operations.common.http.proxy:
        layers = replace(operations.layers, wide=(*operations.layers.wide, {(): {"proxy": proxy}}))
        settings, operations = settings.with_changes(operations=layers), OperationResolver(layers)
    named = settings.target.app
    schema.app = users.app if named is None else load_attribute(named, what="application")
    return TestedDescription(
        settings=settings,
        description=contents.description,
        operations=operations,
        selected=contents.selected,
        notes=contents.notes,
        changed=contents.changed,
        classes=ClassChecks(class_checks(operations.layers.checks_somewhere(), operations.common.check_settings)),
        schemes=schemes,
        origin=origin,
        secrets=secrets_of(settings, schema.credentials),
    )


RUN_ENGINE: Final[ContextVar[Any]] = ContextVar("RUN_ENGINE", default=None)
"""The engine of the run whose user code this thread calls; None outside of runs. Loaded schemas send requests with this engine."""
_ENGINES: Final = "checker.library.run_engine"
"""The module of the engine, in a higher room. The import of this module takes 0.2 CPU-seconds, so it happens only when user code needs it."""


def give_engine(subject: TestedDescription, users: UsersCode = ALL_SCHEMAS, traffic: UserTraffic | None = None) -> None:
    """Give the selected operations the engine of the loaded schema, or one of the run that is created when user code first needs it.

    `traffic` records the requests of user code, including those of schemas that it loads.
    """
    later = Later(cache(lambda: import_module(_ENGINES).RunEngine(subject, traffic)))
    if traffic is not None:
        RUN_ENGINE.set(later)
    subject.selected.engine = users.engine or cast("Engine", later)
