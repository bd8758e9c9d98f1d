"""A shop by Ariadne: SDL first, enums and nested inputs among its arguments."""

import logging
from typing import Any

from ariadne import MutationType, QueryType, make_executable_schema
from ariadne.asgi import GraphQL

PLANTED = {
    ("Query.orders", "not_a_server_error"): "the state CANCELLED",
    ("Query.order", "response_schema_conformance"): "the total of an order",
    ("Mutation.createOrder", "not_a_server_error"): "an empty list of lines",
    ("Mutation.changeState", "not_a_server_error"): "a reason that is null",
}
SDL = """
enum State { OPEN PAID CANCELLED }
type Line { sku: String!  amount: Int! }
type Order { id: ID!  state: State!  lines(first: Int = 5): [Line!]!  total: Float! }
input NewLine { sku: String!  amount: Int! = 1 }
input NewOrder { lines: [NewLine!]!  state: State = OPEN }
type Query {
  orders(state: State, first: Int = 3): [Order!]!
  order(id: ID!): Order
}
type Mutation {
  createOrder(order: NewOrder!): Order!
  changeState(id: ID!, state: State!, reason: String): Order
}
"""
_SILENT = logging.Logger("silent", logging.CRITICAL + 1)
"""Failures are wanted."""


def shop(*, planted: bool) -> GraphQL:
    """The application; its endpoint is `/`."""
    query, mutation = QueryType(), MutationType()
    order = {"id": "1", "state": "OPEN", "lines": [{"sku": "a", "amount": 1}], "total": 1.5}

    @query.field("orders")
    def orders(_: Any, info: Any, state: str | None = None, first: int | None = 3) -> Any:
        if planted and state == "CANCELLED":
            raise KeyError("cancelled_at")
        return [order] * max(0, min(first or 0, 3))

    @query.field("order")
    def one(_: Any, info: Any, id: str) -> Any:
        return order | {"total": None} if planted else order

    @mutation.field("createOrder")
    def create(_: Any, info: Any, order: dict[str, Any]) -> Any:
        lines = order["lines"]
        first = lines[0] if lines or planted else None
        return {"id": "2", "state": "OPEN", "lines": [first] if first else [], "total": 0.0}

    @mutation.field("changeState")
    def change(_: Any, info: Any, **given: Any) -> Any:
        if planted and "reason" in given:
            len(given["reason"])
        return order | {"state": given["state"]}

    return GraphQL(make_executable_schema(SDL, query, mutation), logger=_SILENT)
