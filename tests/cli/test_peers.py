"""Object-level authorization: what one user of an authentication document made, the others do not get to read."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.apps.http import Reply, Request
from tests.apps.notebooks import DOCUMENT, ID, USERS, Notebooks, wfc_document
from tests.apps.serving import json_reply, serving

RUN = ("--inline", "--phases", "stateful", "-n", "12", "--seed", "1", "--mode", "positive")
ONLY = ("-c", "object_level_authorization")
TITLE = "Object-level authorization bypass"
PEERS = '[auth.wfc]\npath = "users.json"\npeers = ["anna", "bert"]\n'


@pytest.fixture
def run(invoke: Any, folder: Path) -> Any:
    (folder / "users.json").write_text(json.dumps(wfc_document()))
    (folder / "checker.toml").write_text(PEERS)

    def called(app: Notebooks, *options: str) -> Any:
        with serving(app.answer, DOCUMENT) as served:
            return invoke("run", served.document_url, "-u", served.url, *RUN, *ONLY, *options)

    return called


@pytest.mark.parametrize("app", [Notebooks(), Notebooks(is_paged=True)], ids=["listed", "listed in pages"])
def test_a_note_that_any_user_reads_is_found_with_a_command_that_shows_it(run, invoke: Any, app: Notebooks) -> None:
    result = run(app)
    assert result.exit_code == 1, result.output
    assert f"{TITLE}: 1" in result.output
    assert "Made by 'anna' with: POST /notes" in result.output
    assert "Read by 'bert' with: GET /notes/" in result.output
    assert "tok-" not in result.output
    assert "intermittent" not in result.output
    assert "Not reproduced" not in result.output
    with serving(Notebooks().answer, DOCUMENT) as fresh:
        again = invoke("replay", "all", "-u", fresh.url)
    assert "showed in 3 of 3 tries" in again.output


@pytest.mark.parametrize(
    "app",
    [
        Notebooks(is_planted=False),
        Notebooks(is_shared=True),
        Notebooks(is_shared=True, is_paged=True),
        Notebooks(is_public=True),
    ],
    ids=["kept apart", "shared by lists", "shared by lists in pages", "public"],
)
def test_notes_that_are_well_kept_or_meant_for_all_are_no_failure(run, app: Notebooks) -> None:
    result = run(app)
    assert result.exit_code == 0, result.output
    # It has asked.
    assert app.readers["bert"] >= 3


def test_without_peers_nobody_else_asks(run, folder: Path) -> None:
    (folder / "checker.toml").write_text('[auth.wfc]\npath = "users.json"\n')
    app = Notebooks()
    result = run(app)
    assert result.exit_code == 0, result.output
    assert "object_level_authorization needs `peers` in `[auth.wfc]`" in result.stderr
    assert not app.readers["bert"]


@pytest.mark.parametrize(
    ("peers", "said"),
    [
        ('["anna"]', "'peers' must name two users or more"),
        ('["anna", "carl"]', "there is no user 'carl' in the document"),
        ('["anna", "anna"]', "'anna' is given more than once"),
        ("3", "Must be an array"),
    ],
)
def test_peers_that_mean_nothing_are_one_sentence(run, folder: Path, peers: str, said: str) -> None:
    (folder / "checker.toml").write_text(f'[auth.wfc]\npath = "users.json"\npeers = {peers}\n')
    result = run(Notebooks())
    assert result.exit_code == 2
    assert said in result.output


def test_the_check_can_be_switched_off(invoke: Any, run, folder: Path) -> None:
    app = Notebooks()
    off = "[checks.object_level_authorization]\nenabled = false\n"
    (folder / "checker.toml").write_text(PEERS + off)
    with serving(app.answer, DOCUMENT) as served:
        result = invoke("run", served.document_url, "-u", served.url, *RUN)
    assert TITLE not in result.output
    assert app.readers["anna"]
    assert not app.readers["bert"]


class Shop:
    """Carts of each user become orders; `is_planted`: every user reads all orders. `POST /marks` marks a product for all users."""

    def __init__(self, *, is_planted: bool) -> None:
        self.is_planted = is_planted
        self.carts: list[str] = []
        self.orders: list[str] = []

    def answer(self, request: Request) -> Reply:
        user = request.headers.get("authorization", "").removeprefix("Bearer tok-")
        method, parts = request.method, request.target.decode("latin-1").partition("?")[0].strip("/").split("/")
        if user not in USERS:
            return json_reply({}, 401)
        if method == "POST" and parts == ["carts"]:
            self.carts.append(user)
            return json_reply({"id": len(self.carts)}, 201)
        number = int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() and len(parts[1]) < 9 else 0
        if method == "POST" and parts[2:] == ["checkout"] and 0 < number <= len(self.carts):
            self.orders.append(user)
            return json_reply({"id": len(self.orders), "number": f"N{len(self.orders)}"}, 201)
        if method == "POST" and parts[2:] == ["marks"] and 0 < number < 9:
            return json_reply({"product": {"id": number, "name": f"P{number}"}}, 201)
        if method == "GET" and parts[0] == "products" and 0 < number < 9:
            return json_reply({"id": number, "name": f"P{number}"})
        if method == "GET" and parts[0] == "orders" and 0 < number <= len(self.orders):
            is_let_in = self.is_planted or self.orders[number - 1] == user
            return json_reply({"id": number, "number": f"N{number}"}) if is_let_in else json_reply({}, 404)
        return json_reply({}, 404)


def _shop_document() -> dict[str, Any]:
    def operation(status: int, *, link: str = "", pointer: str = "/id", **more: Any) -> dict[str, Any]:
        answer: dict[str, Any] = {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}
        if link:
            answer["links"] = {"next": {"operationId": link, "parameters": {"id": f"$response.body#{pointer}"}}}
        return {"responses": {str(status): answer, "404": {"description": ""}, "401": {"description": ""}}, **more}

    small = {**ID, "schema": {"type": "integer", "minimum": 1, "maximum": 8}}
    marks = operation(201, link="product", pointer="/product/id", operationId="mark", parameters=[small])
    checkout = operation(201, link="order", operationId="checkout", parameters=[ID])
    paths = {
        "/carts": {"post": operation(201, link="checkout")},
        "/carts/{id}/checkout": {"post": checkout},
        "/orders/{id}": {"get": operation(200, operationId="order", parameters=[ID])},
        "/products/{id}/marks": {"post": marks},
        "/products/{id}": {"get": operation(200, operationId="product", parameters=[small])},
    }
    return DOCUMENT | {"paths": paths}


@pytest.mark.parametrize("is_planted", [True, False])
def test_an_order_that_an_action_on_a_cart_made_belongs_to_the_user(invoke: Any, run, is_planted: bool) -> None:
    with serving(Shop(is_planted=is_planted).answer, _shop_document()) as served:
        result = invoke("run", served.document_url, "-u", served.url, *RUN, *ONLY)
    assert result.exit_code == is_planted, result.output
    assert (f"{TITLE}: 1" in result.output) is is_planted
    assert "/products" not in result.output
    if is_planted:
        assert "Made by 'anna' with: POST /carts/" in result.output
        assert "intermittent" not in result.output
