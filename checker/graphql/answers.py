"""The contract of GraphQL responses: the data that the query selects, by the types of the schema, and the status of resources."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from graphql import GraphQLSchema
from msgspec import Struct
from msgspec.structs import replace

from checker.core.contract import (
    AnswerJudge,
    Blame,
    BodyOpinions,
    Complaint,
    MediaTypeVerdict,
    ResponsePlan,
    SchemaViolation,
    UndecodableBody,
)
from checker.core.resources import CREATING, REMOVING
from checker.core.response import Decoded, Response
from checker.graphql.errors import complaint_of, denied_status, first_path
from checker.graphql.resources import RootRole, status_named
from checker.graphql.shapes import DataFault, Shape, Shapes

_MOST_SHOWN: Final = 10
_UNREAD: Final = object()


class GraphQLContract:
    """Implements `checker.core.contract.ResponseContract`: every status may come; data is judged in 2xx, errors in 4xx and 5xx, too."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._judge = GraphQLAnswers(schema)

    def plan(self, status: int, content_type: str | None) -> ResponsePlan:
        """Plan for a response."""
        answers: AnswerJudge | None = self._judge if 200 <= status < 300 or 400 <= status < 600 else None
        return ResponsePlan(
            status_documented=True,
            documented_statuses=(),
            media_type=MediaTypeVerdict.DOCUMENTED,
            documented_media_types=(),
            body=None,
            answers=answers,
        )


class _ReadAnswer(Struct, frozen=True):
    """An answer as far as it could be read."""

    value: Any
    reason: str = ""
    """The reason why it could not be read."""
    is_cut: bool = False


class GraphQLAnswers:
    """Implements `checker.core.contract.AnswerJudge`."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._shapes = Shapes(schema)

    def is_fine(self, response: Response) -> bool:
        """Whether there are no errors, and data as it was asked for."""
        if response.status_code >= 400:
            return False
        value = _read(response).value
        if not isinstance(value, dict) or value.get("errors"):
            return False
        shape = self._shape(response)
        if shape is None or "data" not in value:
            return False
        wrong: list[DataFault] = []
        shape.check(value["data"], wrong)
        return not wrong

    def complaint(self, response: Response) -> Complaint | None:
        """Return the complaint in the `errors` of the response."""
        value = _read(response).value
        complaint = complaint_of(value, response.status_code)
        if complaint is None or complaint.blame is not Blame.FAILED:
            return complaint
        shape = self._shape(response)
        part = "" if shape is None else shape.field_at(first_path(value))
        return replace(complaint, part=part)

    def opinions(self, response: Response, case: Any = None) -> BodyOpinions:
        """Return the faults of the data, each rule once."""
        read = _read(response)
        if response.status_code >= 400:
            # A refusal promises no data.
            return BodyOpinions()
        if read.is_cut:
            return BodyOpinions(unread="is longer than what is kept of one")
        if read.reason:
            return BodyOpinions(undecodable=UndecodableBody("application/json", read.reason))
        if not isinstance(read.value, dict):
            says = f"an answer is an object with `data` or `errors`, not {type(read.value).__name__}"
            fault = DataFault(("answer", "type"), (), says, "object", read.value)
            return BodyOpinions((_violation(fault),))
        value = read.value
        if value.get("errors") and value.get("data") is None:
            return BodyOpinions()
        shape = self._shape(response)
        if shape is None:
            # The promise to a wrong query is not known.
            return BodyOpinions()
        wrong: list[DataFault] = []
        if "data" not in value:
            wrong.append(DataFault(("data", "required"), (), "neither data nor errors", "{}", value))
        else:
            shape.check(value["data"], wrong)
        by_rule = {one.rule: one for one in reversed(wrong)}
        listed = [one for one in wrong if by_rule[one.rule] is one]
        return BodyOpinions(tuple(map(_violation, listed[:_MOST_SHOWN])))

    def _shape(self, response: Response) -> Shape | None:
        request = response.request
        if request is None or request.body is None:
            return None
        try:
            sent = orjson.loads(request.body)
        except orjson.JSONDecodeError:
            return None
        query = sent.get("query") if isinstance(sent, dict) else None
        return self._shapes.of(query) if isinstance(query, str) else None


def _read(response: Response) -> _ReadAnswer:
    body = response.decoded
    if not isinstance(body, Decoded):
        return _ReadAnswer(_UNREAD, body.message)
    if body.is_cut or response.is_truncated:
        return _ReadAnswer(_UNREAD, is_cut=True)
    try:
        return _ReadAnswer(orjson.loads(body.content))
    except orjson.JSONDecodeError as error:
        return _ReadAnswer(_UNREAD, str(error))


def _violation(wrong: DataFault) -> SchemaViolation:
    return SchemaViolation(
        schema_path=wrong.rule,
        schema_pointer=wrong.rule[0],
        instance_path=("data", *wrong.path),
        keyword=wrong.rule[-1],
        message=wrong.message,
        schema=wrong.promised,
        value=wrong.value,
    )


_STATUSES: Final[Mapping[Blame, int]] = {Blame.REFUSED: 400, Blame.BROKEN_PROMISE: 500, Blame.FAILED: 500}
_MISSING, _UNPROCESSABLE = 404, 422


def data_of(response: Response, field: str) -> tuple[Any, Any]:
    """(the whole answer, what it says of a root field): None for what is not there."""
    body = response.decoded
    try:
        value = orjson.loads(body.content) if isinstance(body, Decoded) else None
    except orjson.JSONDecodeError:
        value = None
    data = value.get("data") if isinstance(value, dict) else None
    return value, data.get(field) if isinstance(data, dict) else None


def resource_status(response: Response, field: str, role: RootRole) -> int:
    """Return 404 for a missing resource, 200 for one that is there, 4xx for a refusal, 500 for a server error.

    A response with another status than 2xx, or without JSON, keeps its own status.
    """
    status = response.status_code
    if not 200 <= status < 300:
        return status
    value, found = data_of(response, field)
    if not isinstance(value, dict):
        return status
    if found is None or (found is False and role.method == REMOVING):
        complaint = complaint_of(value)
        if complaint is None:
            return _absent(role)
        return _STATUSES.get(complaint.blame) or denied_status(value)
    if _has_failed(found, role):
        # They say that it did not work, not why.
        return _UNPROCESSABLE if role.method in CREATING else _MISSING
    other = _other_member(found, role)
    if other:
        return status_named(other)
    return status if _is_shown(found, role.steps) else _absent(role)


def _absent(role: RootRole) -> int:
    return _UNPROCESSABLE if role.method in CREATING else _MISSING


def _has_failed(found: Any, role: RootRole) -> bool:
    """Whether the answer itself says that it did not work: a flag that is false, errors that are listed."""
    if not isinstance(found, dict):
        return False
    said = [found[name] for name in role.witnesses if name in found]
    return any(one is False or (one and one is not True) for one in said)


def _other_member(found: Any, role: RootRole) -> str:
    """Return the type of a union that came instead of the wanted member; empty where that one came, or the type is not known."""
    for place, member in enumerate(role.members):
        if not isinstance(found, dict):
            break
        said = found.get("__typename")
        if member and isinstance(said, str) and said != member:
            return said
        found = found.get(role.steps[place]) if place < len(role.steps) else None
    return ""


def _is_shown(found: Any, steps: tuple[str, ...]) -> bool:
    """Whether the things that an answer is for are in it; a list may be empty."""
    for name in steps:
        if isinstance(found, list):
            return True
        if not isinstance(found, dict) or name not in found:
            return True
        found = found[name]
        if found is None:
            return False
    return True
