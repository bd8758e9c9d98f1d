"""Answers of servers of GraphQL to what went wrong, as each of them words it."""

from typing import Any

from checker.core.contract import Blame


def _error(message: str, *path: str | int, **extensions: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"message": message, "locations": [{"line": 1, "column": 3}]}
    if path:
        found["path"] = list(path)
    return found | ({"extensions": extensions} if extensions else {})


def _answer(*errors: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"errors": list(errors), **rest}


RECORDED = [
    ("Apollo", Blame.REFUSED, _answer(_error('Cannot query field "x" on type "Query".', code="GRAPHQL_VALIDATION_FAILED"))),
    ("Apollo", Blame.REFUSED, _answer(_error("Syntax Error: Expected Name, found }.", code="GRAPHQL_PARSE_FAILED"))),
    ("Apollo", Blame.REFUSED, _answer(_error('Variable "$id" got invalid value 5', code="BAD_USER_INPUT"))),
    ("Apollo", Blame.FAILED, _answer(_error("boom", "user", code="INTERNAL_SERVER_ERROR"), data={"user": None})),
    ("Apollo", Blame.DENIED, _answer(_error("You must log in", "me", code="UNAUTHENTICATED"), data={"me": None})),
    ("Apollo", Blame.REFUSED, _answer(_error("PersistedQueryNotFound", code="PERSISTED_QUERY_NOT_FOUND"))),
    ("graphql-java", Blame.REFUSED, _answer(_error("Validation error (UndefinedField@[x]) : Field 'x' in type 'Query' is undefined", classification="ValidationError"))),
    ("graphql-java", Blame.REFUSED, _answer(_error("Invalid syntax with offending token '}'", classification="InvalidSyntax"))),
    ("graphql-java", Blame.FAILED, _answer(_error("Exception while fetching data (/user) : null", "user", classification="DataFetchingException"), data={"user": None})),
    ("graphql-java", Blame.BROKEN_PROMISE, _answer(_error("The field at path '/user/name' was declared as a non null type, but the code involved in retrieving data has wrongly returned a null value for a non-null type.", "user", "name", classification="NullValueInNonNullableField"), data={"user": None})),
    ("Hasura", Blame.REFUSED, _answer({"message": "field 'x' not found in type: 'query_root'", "extensions": {"path": "$.selectionSet.x", "code": "validation-failed"}})),
    ("Hasura", Blame.FAILED, _answer({"message": "database query error", "extensions": {"path": "$", "code": "unexpected"}})),
    ("Hasura", Blame.DENIED, _answer({"message": "check constraint of an insert/update permission has failed", "extensions": {"path": "$", "code": "permission-denied"}})),
    ("graphene", Blame.REFUSED, _answer(_error("Unknown argument 'x' on field 'Query.user'."))),
    ("graphene", Blame.FAILED, _answer(_error("division by zero", "rate"), data={"rate": None})),
    ("graphene", Blame.BROKEN_PROMISE, _answer(_error("Cannot return null for non-nullable field User.name.", "user", "name"), data={"user": None})),
    ("Strawberry", Blame.REFUSED, _answer(_error("Variable '$id' of required type 'ID!' was not provided."), data=None)),
    ("Strawberry", Blame.FAILED, _answer(_error("list index out of range", "books"), data=None)),
    ("Strawberry", Blame.FAILED, _answer(_error("Enum 'Genre' cannot represent value: <Broken instance>", "newest", "genre"), data=None)),
    ("Ariadne", Blame.REFUSED, _answer(_error("Field 'user' argument 'id' of type 'ID!' is required, but it was not provided."))),
    ("Ariadne", Blame.FAILED, _answer(_error("'NoneType' object is not subscriptable", "user"), data={"user": None})),
    ("gqlgen", Blame.REFUSED, _answer(_error('Cannot query field "x" on type "Query".', code="GRAPHQL_VALIDATION_FAILED"), data=None)),
    ("gqlgen", Blame.FAILED, _answer({"message": "internal system error", "path": ["user"]}, data=None)),
    ("gqlgen", Blame.BROKEN_PROMISE, _answer({"message": "the requested element is null which the schema does not allow", "path": ["user", "name"]}, data=None)),
    ("Absinthe", Blame.REFUSED, _answer({"message": 'Cannot query field "x" on type "RootQueryType".', "locations": []})),
    ("Absinthe", Blame.REFUSED, _answer({"message": 'Argument "id" has invalid value $id.', "locations": []})),
    ("Absinthe", Blame.DENIED, _answer({"message": "User not found", "path": ["user"], "locations": []}, data={"user": None})),
    ("Rails", Blame.REFUSED, _answer(_error("Field 'x' doesn't exist on type 'Query'", "query", "x", code="undefinedField", typeName="Query"))),
    ("Rails", Blame.REFUSED, _answer(_error("Field 'user' is missing required arguments: id", "query", "user", code="missingRequiredArguments"))),
    ("Rails", Blame.BROKEN_PROMISE, _answer({"message": "Cannot return null for non-nullable field User.name"}, data=None)),
    ("Rails", Blame.DENIED, _answer(_error("No such user", "user"), data={"user": None})),
    ("PostGraphile", Blame.DENIED, _answer(_error('duplicate key value violates unique constraint "person_email_key"', "createPerson"), data={"createPerson": None})),
    ("PostGraphile", Blame.DENIED, _answer(_error('insert or update on table "post" violates foreign key constraint "post_author_id_fkey"', "createPost"), data={"createPost": None})),
    ("PostGraphile", Blame.DENIED, _answer(_error("No values were deleted in collection 'posts' because no values you can delete were found matching these criteria.", "deletePostById"), data={"deletePostById": None})),
    ("PostGraphile", Blame.REFUSED, _answer(_error('new row for relation "person" violates check constraint "person_last_name_check"', "createPerson"), data={"createPerson": None})),
    ("PostGraphile", Blame.REFUSED, _answer(_error('null value in column "created_at" of relation "post" violates not-null constraint', "createPost"), data={"createPost": None})),
    ("PostGraphile", Blame.REFUSED, _answer(_error('invalid input syntax for type inet: ""', "createComment"), data={"createComment": None})),
    ("PostGraphile", Blame.REFUSED, _answer(_error("We don't support setting both first and last", "allPosts"), data={"allPosts": None})),
    ("PostGraphile", Blame.REFUSED, _answer(_error("Invalid cursor, please enter a cursor from a previous request, or null.", "allPosts"), _error("We don't support setting both offset and last", "query", "allPosts"), data={"allPosts": None})),
    ("PostGraphile", Blame.REFUSED, _answer(_error("interval out of range", "createComment"), data={"createComment": None})),
    ("PostGraphile", Blame.REFUSED, _answer(_error("LIMIT must not be negative", "allComments"), data={"allComments": None})),
    ("PostGraphile", Blame.FAILED, _answer(_error("division by zero", "divide"), data={"divide": None})),
    ("Parse", Blame.REFUSED, _answer(_error("player is required", "createGameScore", code=142))),
    ("Parse", Blame.REFUSED, _answer(_error("bad or missing username", "signUp", code=200))),
    ("Parse", Blame.REFUSED, _answer(_error("Cannot set ACL on a Session.", "createSession", code=105))),
    ("Parse", Blame.DENIED, _answer(_error("Object not found.", "user", code=101))),
    ("Parse", Blame.FAILED, _answer(_error("Internal server error", "sessions", code=1))),
    ("Parse", Blame.REFUSED, _answer(_error("you must provide a token", "confirmResetPassword", code="INTERNAL_SERVER_ERROR"))),
    ("Lighthouse", Blame.DENIED, _answer(_error("The title has already been used.", "createPost", category="validation"))),
    ("GraphQL.NET", Blame.FAILED, _answer(_error("Error trying to resolve field 'rate'.", "rate", code="DIVIDE_BY_ZERO"))),
]  # fmt: skip
"""(server, whose fault it is, what it answered)."""
