"""The servers of GraphQL by name: what is planted in each, and how it is served, planted or as its clean twin."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.apps.graphql import ariadne_shop, careless, depot, graphene_staff, strawberry_library
from tests.apps.serving import serving
from tests.defects.serving import serving_asgi, serving_wsgi

PLANTED: Mapping[str, Mapping[tuple[str, str], str]] = {
    "strawberry": strawberry_library.PLANTED,
    "ariadne": ariadne_shop.PLANTED,
    "graphene": graphene_staff.PLANTED,
    "careless": careless.PLANTED,
    "depot": depot.PLANTED,
}
"""Name of a server -> (operation, check) -> what is wrong there."""


@contextmanager
def served(name: str, directory: Path, *, planted: bool) -> Iterator[tuple[str, ...]]:
    """Arguments for a run against a server: where the description is, and where requests go."""
    if name in ("careless", "depot"):
        # They serve no introspection: their schemas are files.
        text = careless.SDL if name == "careless" else depot.SDL
        path = directory / f"{name}.graphql"
        path.write_text(text)
        made_here = careless.Careless if name == "careless" else depot.Depots
        with serving(made_here(planted=planted).answer, {}) as app:
            yield path.name, "--url", f"{app.url}/graphql"
        return
    made: dict[str, Any] = {
        "strawberry": strawberry_library.library,
        "ariadne": ariadne_shop.shop,
        "graphene": graphene_staff.staff,
    }
    serve = serving_wsgi if name == "graphene" else serving_asgi
    with serve(made[name](planted=planted)) as url:
        yield (f"{url}/" if name == "ariadne" else f"{url}/graphql",)
