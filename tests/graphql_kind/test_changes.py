"""The root fields that differ from an earlier version of a schema."""

import pytest

from tests.graphql_kind.making import opened

SCHEMA = """
type Query { user(id: ID!): User  node: Node  find(by: Filter): [Thing] }
type Mutation { add(name: String = "a"): User }
interface Node { id: ID! }
type User implements Node { id: ID!  friends: [User]  level: Level }
type Book implements Node { id: ID!  title: String }
type Shelf { size: Int }
union Thing = Book | Shelf
enum Level { LOW HIGH }
input Filter { text: String  next: Filter }
"""
USER, NODE, FIND, ADD = "Query.user", "Query.node", "Query.find", "Mutation.add"


@pytest.mark.parametrize(
    ("old", "new", "labels"),
    [
        ("type Shelf", '"Boards"\ntype Shelf', {FIND}),
        ("user(id: ID!)", "user(id: ID)", {USER}),
        ('String = "a"', 'String = "b"', {ADD}),
        ("LOW HIGH", "LOW HIGH TOP", {USER, NODE, ADD}),
        ("title: String", "title: String!", {NODE, FIND}),
        ("text: String", "text: String!", {FIND}),
        ("Book implements Node", "Book", {NODE, FIND}),
        ("Book | Shelf", "Book", {FIND}),
        ("node: Node", "node: Node  last: Int", {"Query.last"}),
        ("id: ID!  friends: [User]", "friends: [User]  id: ID!", set()),
    ],
)
def test_a_change_selects_the_fields_that_reach_what_changed(old: str, new: str, labels: set[str]) -> None:
    assert old in SCHEMA
    before, now = opened(SCHEMA), opened(SCHEMA.replace(old, new))
    assert set(now.changed_since(before)) == labels
    # A field that exists only in the earlier version is not one to test.
    assert set(before.changed_since(now)) == labels - {"Query.last"}
