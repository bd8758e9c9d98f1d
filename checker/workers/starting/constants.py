"""Literals of the application under test: what its code compares with is worth sending (`analysis.constants`)."""

import ast
import inspect
import math
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, Final

from checker.config.overrides import Overrides, TypeWords
from checker.config.settings import RunSettings
from checker.config.user_code import load_attribute
from checker.core.errors import UnreadableFile
from checker.core.registry import CONSTANT_SOURCES
from checker.core.system import read_local
from checker.corpus.records import Note

MOST: Final = 256
"""Constants of each type."""
SHARE: Final = 0.1
"""Of the values of a type that are such constants."""
_LONGEST: Final = 100
_MOST_BYTES: Final = 1 << 20
_MOST_FILES: Final = 200
_USUAL: Final = frozenset((0, 1, -1))
"""Every generator sends them."""
_LIBRARIES: Final = tuple(
    sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


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
        except Exception as error:  # noqa: BLE001 - the wall around users' code
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
    """Where an object is defined; objects of frameworks are known by what their routes call."""
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
