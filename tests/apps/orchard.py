"""A shop on FastAPI, as a team describes it from its code: twenty planted defects, and five habits of its framework."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from starlette.exceptions import HTTPException as AnyHTTPException

TOKEN = "orchard-token"
DEFECTS = (
    ("ST101", "GET /products", "KeyError"),
    ("ST101", "POST /products", "UnicodeEncodeError"),
    ("ST101", "GET /products/{product_id}", "OverflowError"),
    ("ST101", "POST /quotes", "ZeroDivisionError"),
    ("ST101", "GET /suppliers", "database is locked"),
    ("ST108", "GET /prices", "price"),
    ("ST108", "GET /categories", "currency"),
    ("ST108", "GET /stock", "left"),
    ("ST201", "POST /orders", "/quantity"),
    ("ST201", "GET /search", "`size`"),
    ("ST201", "GET /coupons", "`code`"),
    ("ST201", "POST /reviews", "/stars"),
    ("ST203", "GET /invoices", "X-Tenant"),
    ("ST103", "POST /newsletter", "received 202"),
    ("ST105", "GET /rates", "text/html"),
    ("ST109", "GET /export", "Expecting value"),
    ("ST107", "GET /labels", "X-Total"),
    ("ST401", "GET /admin", "200 OK"),
    ("ST301", "DELETE /baskets/{basket_id}", "answered with 200"),
    ("ST403", "GET /reports/{year}", "stack trace"),
)
"""(code, first operation, part of the line) of each planted defect."""
HABITS = (
    ("ST204", "405 without an `Allow` header"),
    ("ST105", "text/plain"),
    ("ST103", "received 400"),
    ("ST108", "body.detail"),
    ("ST201", "true is not of type"),
)
"""(code, part of the line) of what the framework does at several operations."""


class Product(BaseModel):
    """Product."""

    name: str = Field(min_length=1, max_length=40)
    price: int = Field(ge=0, le=10_000)


def _unchecked(**schema: Any) -> Any:
    return Annotated[Any, WithJsonSchema(schema)]


class Order(BaseModel):
    """An order whose `quantity` is described, and never looked at."""

    model_config = ConfigDict(extra="ignore")
    product: int = Field(ge=1, le=1000)
    quantity: _unchecked(type="integer", minimum=1, maximum=100)  # type: ignore[valid-type]


class Review(BaseModel):
    """Review."""

    text: str = Field(max_length=200)
    stars: _unchecked(type="integer", enum=[1, 2, 3, 4, 5]) = 5  # type: ignore[valid-type]


class Quote(BaseModel):
    """Quote."""

    discount: int = Field(ge=0, le=100)


class Note(BaseModel):
    """Note."""

    text: str = Field(max_length=100)


def described(schema: dict[str, Any], headers: dict[str, Any] | None = None) -> dict[int | str, dict[str, Any]]:
    """The response 200 with a schema that nothing enforces."""
    told: dict[str, Any] = {"description": "", "content": {"application/json": {"schema": schema}}}
    return {200: told | ({"headers": headers} if headers else {})}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


_INTEGER = {"type": "integer"}
_Number = Annotated[int, Query(ge=0, le=100)]


def _items(router: APIRouter) -> None:
    @router.get("/products")
    def products(sort: Literal["name", "price", "age"] = "name") -> list[Product]:
        apples = [Product(name="Cox", price=3), Product(name="Gala", price=2)]
        if sort == "age":
            raise KeyError(sort)
        return apples

    @router.post("/products", status_code=201)
    def add(product: Product) -> Product:
        product.name.encode("ascii")
        return product

    @router.get("/products/{product_id}", responses={404: {"description": "", "content": {"application/json": {}}}})
    def one(product_id: Annotated[int, Path(ge=1)]) -> Product:
        if product_id > 2**31:
            raise OverflowError("Python int too large to convert to SQLite INTEGER")
        if product_id > 100:
            raise HTTPException(404, "no such product")
        return Product(name="Cox", price=3)

    @router.post("/quotes")
    def quote(quote: Quote) -> dict[str, float]:
        return {"factor": 100 / (100 - quote.discount)}

    @router.get("/suppliers")
    def suppliers(page: _Number = 0) -> Any:
        if page > 50:
            return JSONResponse({"detail": "database is locked"}, 500)
        return []


def _answers(router: APIRouter) -> None:
    @router.get("/prices", responses=described(_object(product=_INTEGER, price=_INTEGER)))
    def prices() -> Any:
        return JSONResponse({"product": 1, "price": "3.50"})

    @router.get("/categories", responses=described(_object(name={"type": "string"}, currency={"type": "string"})))
    def categories() -> Any:
        return JSONResponse({"name": "apples"})

    @router.get("/stock", responses=described(_object(left={"type": "integer", "minimum": 0})))
    def stock() -> Any:
        return JSONResponse({"left": -1})

    @router.post("/newsletter")
    def newsletter(note: Note) -> Any:
        return JSONResponse({"text": note.text}, 202)

    @router.get("/rates")
    def rates() -> dict[str, float]:
        return HTMLResponse("<p>1.5</p>")  # type: ignore[return-value]

    @router.get("/export")
    def export() -> dict[str, float]:
        return Response('{"rows": [1, 2,}', media_type="application/json")  # type: ignore[return-value]

    @router.get("/labels", responses=described({}, {"X-Total": {"required": True, "schema": {"type": "integer"}}}))
    def labels() -> Any:
        return []


def _requests(router: APIRouter) -> None:
    @router.post("/orders")
    def order(order: Order) -> dict[str, int]:
        return {"number": 7}

    @router.put("/orders/{number}")
    def change(number: Annotated[int, Path(ge=1, le=100)], order: Order) -> dict[str, int]:
        return {"number": number}

    @router.get("/search")
    def search(size: Annotated[int, Query(json_schema_extra={"minimum": 1, "maximum": 50})] = 10) -> list[str]:
        return ["Cox"]

    @router.get("/coupons")
    def coupons(code: Annotated[str, Query(json_schema_extra={"pattern": "^[A-Z]{4}$"})]) -> list[str]:
        return []

    @router.post("/reviews")
    def review(review: Review) -> dict[str, str]:
        return {"text": review.text}

    @router.get(
        "/invoices",
        openapi_extra={
            "parameters": [{"name": "X-Tenant", "in": "header", "required": True, "schema": {"type": "string"}}]
        },
    )
    def invoices(request: Request) -> list[str]:
        return []

    @router.get("/admin", dependencies=[Depends(HTTPBearer(auto_error=False))])
    def admin() -> list[str]:
        return ["root"]

    @router.get("/reports/{year}", responses={404: {"description": "", "content": {"application/json": {}}}})
    def reports(year: Annotated[int, Path(ge=2000, le=2030)]) -> Any:
        if year % 2:
            trace = 'Traceback (most recent call last):\n  File "/srv/orchard/reports.py", line 7, in build\nValueError: odd'
            return JSONResponse({"detail": trace}, 404)
        return []


def _account(router: APIRouter) -> None:
    def signed_in(given: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> None:
        if given.credentials != TOKEN:
            raise HTTPException(401, "who are you?")

    for name in ("me", "orders", "addresses"):
        router.get(f"/account/{name}", dependencies=[Depends(signed_in)])(lambda: [])  # noqa: PIE807


def _baskets(router: APIRouter) -> None:
    baskets: dict[int, Note] = {}
    removed: set[int] = set()
    answers: dict[int | str, dict[str, Any]] = {404: {"description": "", "content": {"application/json": {}}}}

    class Basket(Note):
        basket_id: int

    @router.post("/baskets", status_code=201)
    def open_basket(note: Note) -> Basket:
        number = len(baskets) + 1
        baskets[number] = note
        return Basket(basket_id=number, text=note.text)

    @router.get("/baskets/{basket_id}", responses=answers)
    def basket(basket_id: Annotated[int, Path(ge=1)]) -> Basket:
        if basket_id not in baskets:
            raise HTTPException(404, "no such basket")
        return Basket(basket_id=basket_id, text=baskets[basket_id].text)

    @router.delete("/baskets/{basket_id}", status_code=204, responses=answers)
    def close(basket_id: Annotated[int, Path(ge=1)]) -> None:
        if basket_id not in baskets or basket_id in removed:
            raise HTTPException(404, "no such basket")
        # It stays.
        removed.add(basket_id)


def build() -> FastAPI:
    """The application."""
    app = FastAPI(title="Orchard", version="1")
    router = APIRouter()
    for add in (_items, _answers, _requests, _account, _baskets):
        add(router)
    app.include_router(router)

    # Habits: a broken body is 400 and not the documented 422, `detail` is no list, what the framework says itself is text without `Allow`.
    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        broken = any(one["type"] == "json_invalid" for one in error.errors())
        if broken:
            return JSONResponse({"detail": "The body is no JSON"}, 400)
        return JSONResponse({"detail": error.errors()[0]["msg"], "loc": error.errors()[0]["loc"]}, 422)

    @app.exception_handler(AnyHTTPException)
    async def refused(_: Request, error: AnyHTTPException) -> Response:
        return PlainTextResponse(str(error.detail), error.status_code)

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> Response:
        return JSONResponse({"detail": f"{type(error).__name__}: {error}"}, 500)

    return app
