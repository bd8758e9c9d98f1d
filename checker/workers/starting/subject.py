"""The subject of a run: the description as it was read, and the settings of its operations."""

import ast
import inspect
import math
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, Final, cast

from msgspec import Struct, field

from checker.checks.custom import ClassCheck, class_checks
from checker.config.operation_settings import OperationResolver
from checker.config.overrides import Overrides, TypeWords
from checker.config.settings import RunSettings
from checker.config.user_code import load_all_hooks, load_attribute
from checker.core.case import Engine
from checker.core.errors import UnreadableFile
from checker.core.hooks import GLOBAL_HOOKS, HookContext, run_hooks
from checker.core.operation import Label
from checker.core.registry import CONSTANT_SOURCES
from checker.core.request import BaseUrl
from checker.core.system import read_local, uncollected
from checker.corpus.layout import RunLayout
from checker.corpus.records import Note
from checker.corpus.secrets import Secrets
from checker.health import Safety, leaves_out
from checker.kinds.protocol import ApiSchema
from checker.workers.authentication.keeper import CredentialKeeper
from checker.workers.authentication.schemes import SchemeCredentials
from checker.workers.class_checks import ClassChecks
from checker.workers.description import Description, read_description, settled_target
from checker.workers.selected import SelectedOperations
from checker.workers.users import ALL_SCHEMAS, UsersCode

MOST: Final = 256
"""Constants of each type."""
SHARE: Final = 0.1
"""Share of the values of a type that are such constants."""
_LONGEST: Final = 100
_MOST_BYTES: Final = 1 << 20
_MOST_FILES: Final = 200
_USUAL: Final = frozenset((0, 1, -1))
"""Every generator sends them."""
_LIBRARIES: Final = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def with_constants(settings: RunSettings) -> tuple[RunSettings, list[Note]]:
    """Settings whose strings and numbers are sometimes literals of the application, and what could not be read.

    What users say of a type goes first.
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
            notes.append(_note(name, "it gave nothing that was imported from a file"))
        modules += found
    words = tuple(constants_of(modules))
    if not words:
        return settings, notes
    overrides = settings.sources.overrides
    more = Overrides(overrides.parameters, (*overrides.types, *words))
    return settings.with_changes(sources={"overrides": more}), notes


def constants_of(modules: Iterable[ModuleType]) -> Iterator[TypeWords]:
    """Literals of the files of modules by type: each once, in the order of modules and lines."""
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
    """The module of an application, or the one that is given, and what else of its package is imported."""
    module = item if isinstance(item, ModuleType) else _home_of(item)
    if module is None or _file_of(module) is None:
        return []
    package = (module.__package__ or module.__name__).partition(".")[0]
    # A copy: looking at some modules imports others.
    others = [one for name, one in list(sys.modules.items()) if name.partition(".")[0] == package]
    return [module, *(one for one in others if _file_of(one) is not None)]


def _home_of(item: Any) -> ModuleType | None:
    """Return the module of an object; objects of frameworks are known by the functions of their routes."""
    for one in (item, *_endpoints(item)):
        name = getattr(inspect.unwrap(one) if callable(one) else one, "__module__", None)
        module = sys.modules.get(name) if isinstance(name, str) else None
        if module is not None and _file_of(module) is not None:
            return module
    return None


def _endpoints(app: Any) -> Iterator[Any]:
    """Functions behind the routes of Starlette's and Flask's applications."""
    for route in getattr(app, "routes", ()) or ():
        if callable(endpoint := getattr(route, "endpoint", None)):
            yield endpoint
    views = getattr(app, "view_functions", None)
    if isinstance(views, dict):
        yield from views.values()


def _file_of(module: ModuleType) -> str | None:
    """The source of a module of users; None for what is installed."""
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
    prose = {id(node) for node in _docstrings(tree)}
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


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and node.body and isinstance(node.body[0], ast.Expr):
            value = node.body[0].value
            if isinstance(value, ast.Constant):
                yield value


class Contents(Struct, frozen=True):
    """The description, and those of its operations that are tested."""

    settings: RunSettings
    """Settings of the project of this description."""
    description: Description
    operations: OperationResolver
    selected: SelectedOperations
    notes: tuple[Note, ...] = ()
    """Notes on values that could not be loaded."""


class TestedDescription(Struct, frozen=True):
    """The description as it was read, and the settings of its operations."""

    settings: RunSettings
    description: Description
    operations: OperationResolver
    classes: ClassChecks
    schemes: SchemeCredentials
    origin: BaseUrl
    selected: SelectedOperations
    notes: tuple[Note, ...] = ()
    """Notes on values that could not be loaded."""


def read_subject(settings: RunSettings, layout: RunLayout, users: UsersCode = ALL_SCHEMAS) -> TestedDescription:
    """Hooks and description. Raises `LoaderError`, `ConfigError` and `UsageError`."""
    return subject_of(read_contents(settings, layout, users), users)


def read_contents(settings: RunSettings, layout: RunLayout, users: UsersCode = ALL_SCHEMAS) -> Contents:
    """Return the description to test, for any target. Raises `LoaderError`, `ConfigError` and `UsageError`."""
    # Load the hooks first, so that their errors are reported before anything is fetched.
    load_all_hooks(settings.certain_hooks)
    with uncollected():
        description = read_description(settings, layout, users.description)
    schema = description.schema
    settings = settings.for_project(schema.title)
    load_all_hooks(settings.hooks)
    # Hooks bring sources of constants.
    settings, unread = with_constants(settings)
    run_hooks(GLOBAL_HOOKS.named("after_load_schema"), "after_load_schema", HookContext(), schema)
    # After hooks are loaded: they bring checks.
    operations = OperationResolver(settings.operations)
    level = Safety(settings.target.safety)
    with uncollected():
        selected = SelectedOperations(
            schema,
            settings.selection,
            lambda entry: bool(operations.of(entry).phases) and not leaves_out(level, entry),
            users.transitions,
        )
    return Contents(settings, description, operations, selected, tuple(unread))


def subject_of(contents: Contents, users: UsersCode = ALL_SCHEMAS) -> TestedDescription:
    """Return the subject with the target. Raises `ConfigError` and `UsageError`."""
    settings, operations = contents.settings, contents.operations
    schema = contents.description.schema
    classes = ClassChecks(class_checks(operations.layers.checks_somewhere(), operations.common.check_settings))
    schemes = SchemeCredentials(schema.security_schemes, operations.common.authentication)
    for label, name in settings.auth.needs:
        schemes.need(Label(label), name)
    origin = settled_target(schema, settings, operations, users.hooks)
    named = settings.target.app
    schema.app = users.app if named is None else load_attribute(named, what="application")
    return TestedDescription(
        settings=settings,
        description=contents.description,
        operations=operations,
        classes=classes,
        schemes=schemes,
        origin=origin,
        selected=contents.selected,
        notes=contents.notes,
    )


_ENGINES: Final = "checker.library.run_engine"
"""Stands on a higher floor, and its import takes 0.2 CPU-seconds: only runs whose user code asks for something import it."""


class RunParts(Struct):
    """The parts of a run that its engine uses."""

    schema: ApiSchema
    """Configured with the settings of the run."""
    settings: RunSettings
    operations: OperationResolver
    origin: BaseUrl
    schemes: SchemeCredentials
    classes: tuple[ClassCheck, ...]
    keeper: CredentialKeeper | None = None
    secrets: Secrets = field(default_factory=Secrets)


def give_engine(subject: TestedDescription, users: UsersCode = ALL_SCHEMAS) -> RunParts:
    """Give the selected operations the engine of the loaded schema, or one of the run that is made when user code first needs it.

    Return what the latter is made of: the caller adds credentials and secrets before user code sees a case.
    """
    parts = RunParts(
        subject.description.schema,
        subject.settings,
        subject.operations,
        subject.origin,
        subject.schemes,
        subject.classes.checks,
    )
    later = _LaterEngine(lambda: import_module(_ENGINES).RunEngine(parts))
    subject.selected.engine = users.engine or cast("Engine", later)
    return parts


class _LaterEngine:
    """Implements `checker.core.engine.Engine` by one that is made when a member is first asked for."""

    def __init__(self, make: Callable[[], Engine]) -> None:
        self._make = make

    @cached_property
    def _engine(self) -> Engine:
        return self._make()

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles look for special methods, which must not make the engine.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._engine, name)
