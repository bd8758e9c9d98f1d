"""All services by name, how they are served, and what a run of one has to tell."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.defects import apps, frameworks
from tests.defects.serving import serving_aiohttp, serving_asgi, serving_wsgi
from tests.defects.words import Defect

_SERVED = {
    "flask": (frameworks.flask_app, serving_wsgi),
    "django": (frameworks.django_app, serving_wsgi),
    "fastapi": (frameworks.fastapi_app, serving_asgi),
    "aiohttp": (frameworks.aiohttp_app, serving_aiohttp),
}
NAMES = tuple(sorted(path.stem for path in Path(apps.__path__[0]).glob("[a-z]*.py")))
_OF_A_PATH = ("unsupported_method", "allow_header_conformance")
_ALSO = {
    # One answer that breaks several promises: that a header may be missing is also that wrong data are served.
    "missing_required_header": ("negative_data_rejection",),
    "ignored_auth": ("negative_data_rejection", "missing_required_header"),
    # A framework that serves a method says so when it is asked.
    "unsupported_method": ("allow_header_conformance",),
    "content_type_conformance": ("response_schema_conformance",),
    "status_code_conformance": ("positive_data_acceptance",),
}


@dataclass(frozen=True)
class PlantedService:
    """One service with its description and its defects."""

    name: str
    module: ModuleType

    @property
    def document(self) -> dict[str, Any]:
        """Its description."""
        found: dict[str, Any] = self.module.DOCUMENT
        return found

    @property
    def defects(self) -> tuple[Defect, ...]:
        """What can be planted."""
        found: tuple[Defect, ...] = self.module.DEFECTS
        return found

    @property
    def arguments(self) -> tuple[str, ...]:
        """Options of the command line that it needs."""
        found: tuple[str, ...] = getattr(self.module, "ARGUMENTS", ())
        return found

    @contextmanager
    def serving(self, planted: frozenset[str]) -> Iterator[str]:
        """Serve it with these defects; gives its URL."""
        make, serve = _SERVED[self.module.FRAMEWORK]
        with serve(make(self.module.build(planted))) as url:
            yield url


def service_named(name: str) -> PlantedService:
    """A service by the name of its module."""
    return PlantedService(name, import_module(f"tests.defects.apps.{name}"))


@dataclass(frozen=True)
class Outcome:
    """What a run told of a service."""

    missed: tuple[str, ...]
    """Defects that no finding is about."""
    strange: tuple[tuple[str, str], ...]
    """Findings, as (operation, check), that no defect explains."""


def outcome_of(service: PlantedService, found: set[tuple[str, str]], planted: frozenset[str]) -> Outcome:
    """Match findings, as (operation, check), with what was planted."""
    missed, explained = [], set()
    for defect in service.defects:
        if defect.id not in planted:
            continue
        mine = {one for one in found if _is_about(one, defect)}
        explained |= mine
        explained |= {one for one in found if _is_at(one[0], defect) and one[1] in _ALSO.get(defect.check, ())}
        if not mine:
            missed.append(defect.id)
    return Outcome(tuple(missed), tuple(sorted(found - explained)))


def _is_about(found: tuple[str, str], defect: Defect) -> bool:
    label, check = found
    return check == defect.check and _is_at(label, defect)


def _is_at(label: str, defect: Defect) -> bool:
    if defect.check in _OF_A_PATH:
        return label.partition(" ")[2] == defect.label
    return label == defect.label
