"""A server with a state: parcels, depots, shelves and tags, which are made, read, changed and deleted, each in another style."""

import json
from itertools import count
from threading import Lock
from typing import Any

from graphql import GraphQLSchema, build_schema, execute, parse, validate
from graphql.execution.values import get_variable_values

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply

PLANTED = {
    ("Query.parcel", "not_a_server_error"): "a parcel that was read, and then deleted",
    ("Mutation.deleteDepot", "use_after_free"): "a depot is still there after its deletion",
    ("Mutation.createShelf", "ensure_resource_availability"): "a shelf is not there after it was made",
    ("Mutation.deleteTag", "not_a_server_error"): "a tag that is deleted twice",
    ("Mutation.updateTag", "not_a_server_error"): "a tag that is changed after its deletion",
}
SDL = """
type Parcel { id: ID!  label: String!  weight: Int }
type Depot { id: ID!  name: String  parcels: [Parcel!]! }
type Shelf { id: ID!  code: String! }
type Tag { slug: String!  text: String }
type ShelfEdge { node: Shelf }
type ShelfConnection { edges: [ShelfEdge!]! }
type UserError { message: String! }
type CreateShelfPayload { shelf: Shelf  userErrors: [UserError!]! }
type DeleteDepotPayload { success: Boolean!  deletedId: ID }
input NewParcel { label: String!  weight: Int }
input NewShelf { code: String! }
input TagChange { slug: String!  text: String! }
type Query {
  parcel(id: ID!): Parcel
  parcels(limit: Int = 3): [Parcel!]!
  depot(depotId: ID!): Depot
  shelf(id: ID!): Shelf
  shelves(first: Int = 2): ShelfConnection!
  tag(slug: String!): Tag
}
type Mutation {
  createParcel(parcel: NewParcel!): Parcel!
  deleteParcel(id: ID!): Boolean!
  createDepot(name: String): Depot
  deleteDepot(id: ID!): DeleteDepotPayload!
  createShelf(input: NewShelf!): CreateShelfPayload!
  createTag(text: String!): Tag!
  updateTag(change: TagChange!): Tag
  deleteTag(slug: String!): Tag
}
"""
_SCHEMA = build_schema(SDL)


def by_the_book(schema: GraphQLSchema, root: object, request: Request) -> Reply:
    """What the resolvers of a root object answer to a request that is right."""
    try:
        asked = json.loads(request.body)
        query, variables = asked["query"], asked.get("variables") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return json_reply({"errors": [{"message": "Must provide a query"}]}, 400)
    try:
        document = parse(query)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it
        return json_reply({"errors": [{"message": f"Syntax Error: {error}"}]}, 400)
    wrong = validate(schema, document)
    operation: Any = document.definitions[0]
    if not wrong:
        given = get_variable_values(schema, operation.variable_definitions or (), variables)
        wrong = given if isinstance(given, list) else []
    if wrong:
        return json_reply({"errors": [error.formatted for error in wrong]})
    done = execute(schema, document, root, variable_values=variables)
    assert not hasattr(done, "__await__")
    return json_reply(done.formatted)


class Fallen(Exception):
    """The server did not expect this."""


class Depots:
    """One server. `reached` is what clients have done to one parcel, in this order."""

    def __init__(self, *, planted: bool) -> None:
        self.planted = planted
        self.reached: set[str] = set()
        self._numbers = count(1)
        self._things: dict[str, dict[str, Any]] = {}
        self._deleted: dict[str, str] = {}
        """Id -> what had been done with it before."""
        self._read: set[str] = set()
        self._lock = Lock()

    def answer(self, request: Request) -> Reply:
        """The answer to one request; one is worked on at a time."""
        with self._lock:
            return by_the_book(_SCHEMA, self, request)

    def _made(self, kind: str, **fields: Any) -> dict[str, Any]:
        key = f"{kind}-{next(self._numbers):x}"
        made = self._things[key] = {"id": key, "slug": key, "parcels": [], **fields}
        return made

    def _removed(self, key: str) -> dict[str, Any] | None:
        found = self._things.pop(key, None)
        if found is not None:
            self._deleted[key] = "read" if key in self._read else "made"
        return found

    def _of(self, kind: str) -> list[dict[str, Any]]:
        return [one for key, one in self._things.items() if key.startswith(f"{kind}-")]

    # Resolvers

    def parcel(self, info: object, id: str) -> Any:
        if self._deleted.get(id) == "read":
            self.reached.add("read after deletion")
            if self.planted:
                raise Fallen("the parcel has left the index")
        if id in self._things:
            self._read.add(id)
            self.reached.add("read")
        return self._things.get(id)

    def parcels(self, info: object, limit: int | None) -> Any:
        return self._of("parcel")[: max(limit or 0, 0)]

    def createParcel(self, info: object, parcel: dict[str, Any]) -> Any:
        self.reached.add("created")
        return self._made("parcel", **parcel)

    def deleteParcel(self, info: object, id: str) -> bool:
        is_there = self._removed(id) is not None
        if is_there:
            self.reached.add("deleted")
        return is_there

    def depot(self, info: object, depotId: str) -> Any:
        return self._things.get(depotId)

    def createDepot(self, info: object, name: str | None = None) -> Any:
        return self._made("depot", name=name)

    def deleteDepot(self, info: object, id: str) -> Any:
        is_there = id in self._things if self.planted else self._removed(id) is not None
        return {"success": is_there, "deletedId": id if is_there else None}

    def shelf(self, info: object, id: str) -> Any:
        return self._things.get(id)

    def shelves(self, info: object, first: int | None) -> Any:
        return {"edges": [{"node": one} for one in self._of("shelf")[: max(first or 0, 0)]]}

    def createShelf(self, info: object, input: dict[str, Any]) -> Any:
        made = self._made("shelf", **input)
        if self.planted:
            del self._things[made["id"]]
        return {"shelf": made, "userErrors": []}

    def tag(self, info: object, slug: str) -> Any:
        return self._things.get(slug)

    def createTag(self, info: object, text: str) -> Any:
        return self._made("tag", text=text)

    def updateTag(self, info: object, change: dict[str, Any]) -> Any:
        found = self._things.get(change["slug"])
        if self.planted and change["slug"] in self._deleted:
            raise Fallen("cannot update a tombstone")
        if found is not None:
            found["text"] = change["text"]
        return found

    def deleteTag(self, info: object, slug: str) -> Any:
        if self.planted and slug in self._deleted:
            raise Fallen("tag counter below zero")
        return self._removed(slug)
