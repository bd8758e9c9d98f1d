"""Unions of what was asked for and of what may go wrong: `union BookResult = Book | BookNotFound | InvalidInput`."""

from typing import Final

from graphql import GraphQLObjectType, GraphQLUnionType

from checker.core.resource_names import words

_WRONG: Final = frozenset(
    ["error", "errors", "exception", "failure", "fault", "problem", "problems", "invalid", "denied", "forbidden", "unauthorized",
     "unauthorised", "unauthenticated", "conflict", "rejected", "failed", "missing", "taken", "already", "not", "unknown"]
)  # fmt: skip
_STATUSES: Final = (
    (404, frozenset(("found", "missing", "unknown"))),
    (409, frozenset(("exists", "already", "taken", "conflict", "duplicate"))),
    (401, frozenset(("unauthenticated", "unauthorized", "unauthorised"))),
    (403, frozenset(("denied", "forbidden", "allowed", "authorized", "permission", "access"))),
    (429, frozenset(("limit", "throttled"))),
)
"""Words by which names of types say what others say by status."""
_UNPROCESSABLE: Final = 422


def asked_for(union: GraphQLUnionType) -> GraphQLObjectType | None:
    """The one member that is no error; None where several are none, so that each may be the answer."""
    fine = [one for one in union.types if not _is_wrong(one)]
    return fine[0] if len(fine) == 1 else None


def status_named(name: str) -> int:
    """The status by which others say what an answer of this type, which was not asked for, says."""
    spoken = set(words(name))
    return next((status for status, said in _STATUSES if said & spoken), _UNPROCESSABLE)


def _is_wrong(member: GraphQLObjectType) -> bool:
    return any(not _WRONG.isdisjoint(words(one.name)) for one in (member, *member.interfaces))
