"""Real servers of GraphQL: what is planted is found, nothing else; clean ones stay clean."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.apps.graphql import ariadne_shop, careless, depot, graphene_staff, strawberry_library
from tests.apps.serving import serving
from tests.defects.serving import serving_asgi, serving_wsgi
from tests.e2e.runner import SLOW_CLOCK, Command

MOST_REQUESTS = 2_000
SERVERS = ["strawberry", "ariadne", "graphene", "careless", "depot"]
PLANTED: dict[str, dict[tuple[str, str], str]] = {
    "strawberry": strawberry_library.PLANTED,
    "ariadne": ariadne_shop.PLANTED,
    "graphene": graphene_staff.PLANTED,
    "careless": careless.PLANTED,
    "depot": depot.PLANTED,
}


@contextmanager
def served(name: str, tmp_path: Path, *, planted: bool) -> Iterator[tuple[str, ...]]:
    """Arguments for a run against a server: where the description is, and where requests go."""
    if name in ("careless", "depot"):
        # They serve no introspection: their schemas are files.
        text = careless.SDL if name == "careless" else depot.SDL
        (tmp_path / f"{name}.graphql").write_text(text)
        made_here = careless.Careless if name == "careless" else depot.Depots
        with serving(made_here(planted=planted).answer, {}) as app:
            yield f"{name}.graphql", "--url", f"{app.url}/graphql"
        return
    made: dict[str, Any] = {
        "strawberry": strawberry_library.library,
        "ariadne": ariadne_shop.shop,
        "graphene": graphene_staff.staff,
    }
    serve = serving_wsgi if name == "graphene" else serving_asgi
    with serve(made[name](planted=planted)) as url:
        yield (f"{url}/" if name == "ariadne" else f"{url}/graphql",)


@pytest.mark.parametrize("name", SERVERS)
def test_what_is_planted_is_found_and_nothing_else(name: str, tmp_path: Path) -> None:
    with served(name, tmp_path, planted=True) as where:
        ran = Command(tmp_path).run_as_usual(*where, "--mode", "all")
    assert set(ran.defects) == set(PLANTED[name]), ran.shown
    assert all(finding.stage == "minimised" for finding in ran.findings)


@pytest.mark.parametrize("name", SERVERS)
def test_clean_servers_stay_clean(name: str, tmp_path: Path) -> None:
    with served(name, tmp_path, planted=False) as where:
        ran = Command(tmp_path).run_as_usual(*where, "--mode", "all")
    assert ran.defects == [], ran.shown
    assert ran.code == 0, ran.shown
    assert "GraphQL" in ran.stdout


def test_one_worker_sends_what_four_send(tmp_path: Path) -> None:
    (tmp_path / "careless.graphql").write_text(careless.SDL)
    bodies = []
    for workers in (1, 4):
        command = Command(tmp_path / str(workers))
        command.directory.mkdir()
        (command.directory / "careless.graphql").write_text(careless.SDL)
        with serving(careless.Careless(planted=False).answer, {}) as app:
            command.run("careless.graphql", "--url", f"{app.url}/graphql", workers=workers)
            bodies.append({request.body for request in app.seen})
    assert bodies[0] == bodies[1]
    assert len(bodies[0]) > 100


def test_fuzz_reads_what_it_made_and_deleted(tmp_path: Path) -> None:
    depots = depot.Depots(planted=True)
    (tmp_path / "depot.graphql").write_text(depot.SDL)
    command = replace(Command(tmp_path), program=SLOW_CLOCK)
    where = ("depot.graphql", "--url")
    asked = (
        "--checks",
        "not_a_server_error",
        "--include-name-regex",
        "arcel",
        "--mode",
        "positive",
    )
    with serving(depots.answer, {}) as app:
        limits = ("--seed", "1", "--workers", "2", "--max-time", "30")
        ran = command("fuzz", *where, f"{app.url}/graphql", *asked, *limits)
    assert ran.defects == [("Query.parcel", "not_a_server_error")], ran.shown
    assert depots.reached == {"created", "read", "deleted", "read after deletion"}
    assert len(app.seen) <= MOST_REQUESTS
    assert "Query:" in ran.stdout
