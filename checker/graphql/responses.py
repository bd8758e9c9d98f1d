"""The contract of GraphQL responses: the selected data, by the types of the schema, and the REST status of resources."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import orjson
from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    get_named_type,
    is_abstract_type,
    parse,
)
from msgspec import Struct, field
from msgspec.structs import replace

from checker.core.contract import (
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
from checker.graphql.scalars import takes_scalar

_KEPT: Final = 1024
_MOST_ITEMS: Final = 1000  # Items of one list that are checked.
_ARGUMENTS: Final = re.compile(r'\((?:[^()"]|"(?:\\.|[^"\\])*+")*+\)')
"""Arguments of a field, or definitions of variables. Nested parentheses occur only in strings."""
_TYPENAME: Final = GraphQLNonNull(GraphQLString)
Path = tuple[str | int, ...]


class Shape(Struct, frozen=True):
    """The declared form of one selected field, or of all data: a type, and the fields that were selected from it."""

    kind: Any  # Its type in the schema.
    place: str  # `Author.born`, the field of the schema; `data` for the whole.
    fields: Mapping[str, "Shape"] = {}  # Selected fields by their names in the response.
    only: frozenset[str] | None = None  # Types of objects that have the field; None for all types.
    possible: frozenset[str] | None = None  # Types that an object may have; None if there is only one.

    def check(self, data: Any, wrong: list[SchemaViolation]) -> None:
        """Add the faults in the data of a response to `wrong`. This shape must be that of all data."""
        self._check_object(self.kind, data, (), wrong)

    def field_at(self, names: Iterable[str]) -> str:
        """Return the field of the schema at a path of the data, `Author.born`; empty if none was selected."""
        shape: Shape | None = self
        for name in names:
            shape = None if shape is None else shape.fields.get(name)
        return "" if shape is None or shape is self else shape.place

    def _check(self, kind: Any, value: Any, path: Path, wrong: list[SchemaViolation]) -> None:
        if isinstance(kind, GraphQLNonNull):
            if value is None:
                wrong.append(_violation(self.place, "non-null", path, f"null, and its type is `{kind}`", kind, None))
                return
            kind = kind.of_type
        if value is None:
            return
        if isinstance(kind, GraphQLList):
            if not isinstance(value, list):
                wrong.append(_violation(self.place, "list", path, f"no list, and its type is `{kind}`", kind, value))
                return
            for number, one in enumerate(value[:_MOST_ITEMS]):
                self._check(kind.of_type, one, (*path, number), wrong)
        elif isinstance(kind, GraphQLEnumType):
            if not isinstance(value, str) or value not in kind.values:
                says = f"{value!r:.80} is no member of the enum `{kind.name}`"
                wrong.append(_violation(self.place, "enum", path, says, kind, value))
        elif isinstance(kind, GraphQLScalarType):
            # An ID accepts numbers but is always serialised as a string (GraphQL, 3.5.5).
            is_id = kind.name == "ID"
            if not (isinstance(value, str) if is_id else takes_scalar(kind.name, value)):
                wrong.append(_violation(self.place, "scalar", path, f"{value!r:.80} is no `{kind.name}`", kind, value))
        else:
            self._check_object(kind, value, path, wrong)

    def _check_object(self, kind: Any, value: Any, path: Path, wrong: list[SchemaViolation]) -> None:
        if not isinstance(value, dict):
            wrong.append(_violation(self.place, "object", path, f"no object, and its type is `{kind}`", kind, value))
            return
        actual = value.get("__typename")
        if self.possible is not None and isinstance(actual, str) and actual not in self.possible:
            says = f"an object of type {actual}, which is no `{kind.name}`"
            wrong.append(_violation(self.place, "possible-type", path, says, kind, actual))
            return
        for key, one in self.fields.items():
            if key in value:
                one._check(one.kind, value[key], (*path, key), wrong)
            elif one.only is None or actual in one.only:
                wrong.append(
                    _violation(one.place, "selected", path, f"the selected field `{key}` is missing", kind, value)
                )


class Shapes:
    """The shapes of the data of queries. Shapes are cached, because queries repeat."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._kept: Callable[[str], Shape | None] = lru_cache(_KEPT)(self._of)

    def of(self, query: str) -> Shape | None:
        """Return the shape of a query's data; None if the query cannot be read."""
        # Argument values differ between cases and do not affect the shape. Without them, texts repeat.
        return self._kept(query if '"""' in query else _ARGUMENTS.sub(" ", query))

    def _of(self, query: str) -> Shape | None:
        try:
            document = parse(query, no_location=True, max_tokens=20_000)
        except (GraphQLError, RecursionError, IndexError):
            return None
        operation = document.definitions[0]
        if not isinstance(operation, OperationDefinitionNode):
            return None
        root = self._schema.get_root_type(operation.operation)
        if root is None:
            return None
        try:
            return self._shape(root, [operation.selection_set], "data", None)
        except (_NoShape, RecursionError):
            return None

    def _shape(self, kind: Any, sets: list[SelectionSetNode], place: str, only: frozenset[str] | None) -> Shape:
        named = get_named_type(kind)
        found: dict[str, _Requested] = {}
        for one in sets:
            self._collect(named, one, None, found)
        fields = {key: self._shape(one.kind, one.sets, one.place, one.only) for key, one in found.items()}
        possible = None
        if is_abstract_type(named):
            possible = frozenset(one.name for one in self._schema.get_possible_types(named))
        return Shape(kind, place, fields, only, possible)

    def _collect(
        self, kind: Any, selection: SelectionSetNode, only: frozenset[str] | None, found: dict[str, "_Requested"]
    ) -> None:
        """Collect the fields of a selection set by their names in the response; `only` are the types that have them."""
        for node in selection.selections:
            if isinstance(node, FragmentSpreadNode) or node.directives:
                raise _NoShape
            if isinstance(node, InlineFragmentNode):
                inner, types = kind, only
                if node.type_condition is not None:
                    inner = self._schema.type_map.get(node.type_condition.name.value)
                    types = self._narrowed(kind, inner, only)
                self._collect(inner, node.selection_set, types, found)
                continue
            assert isinstance(node, FieldNode)
            name = node.name.value
            key = node.alias.value if node.alias else name
            declared, place = _TYPENAME, name
            if name != "__typename":
                one = getattr(kind, "fields", {}).get(name)
                if one is None:
                    raise _NoShape
                declared, place = one.type, f"{kind.name}.{name}"
            chosen = found.get(key)
            if chosen is None:
                chosen = found[key] = _Requested(declared, place, only)
            elif chosen.only is not None:
                chosen.only = None if only is None else chosen.only | only
            if node.selection_set is not None:
                chosen.sets.append(node.selection_set)

    def _narrowed(self, outer: Any, inner: Any, only: frozenset[str] | None) -> frozenset[str] | None:
        if inner is None:
            raise _NoShape
        if inner is outer:
            return only
        named = (
            frozenset(one.name for one in self._schema.get_possible_types(inner))
            if is_abstract_type(inner)
            else frozenset((inner.name,))
        )
        return named if only is None else named & only


class _NoShape(Exception):
    """The query cannot be understood."""


class _Requested(Struct):
    """A selected field, possibly selected at several places of the query."""

    kind: Any
    place: str
    only: frozenset[str] | None
    sets: list[SelectionSetNode] = field(default_factory=list)


_MOST_SHOWN: Final = 10


class GraphQLContract:
    """Implements `ResponseContract` and `AnswerJudge` of `checker.core.contract`.

    Every status is allowed. Data is judged in 2xx responses, errors also in 4xx and 5xx.
    """

    def __init__(self, schema: GraphQLSchema) -> None:
        self._shapes = Shapes(schema)

    def plan(self, status: int, content_type: str | None) -> ResponsePlan:
        return ResponsePlan(
            status_documented=True,
            documented_statuses=(),
            media_type=MediaTypeVerdict.DOCUMENTED,
            documented_media_types=(),
            body=None,
            answers=self if 200 <= status < 300 or 400 <= status < 600 else None,
        )

    def is_fine(self, response: Response) -> bool:
        """Whether the response has no errors and contains the selected data."""
        value = None if response.status_code >= 400 else _read(response)
        if not isinstance(value, dict) or value.get("errors") or "data" not in value:
            return False
        shape = self._shape(response)
        if shape is None:
            return False
        wrong: list[SchemaViolation] = []
        shape.check(value["data"], wrong)
        return not wrong

    def complaint(self, response: Response) -> Complaint | None:
        """Return the complaint in the `errors` of the response."""
        value = _read(response)
        complaint = complaint_of(value, response.status_code, _sent_texts(response))
        if complaint is None or complaint.blame is not Blame.FAILED:
            return complaint
        shape = self._shape(response)
        part = "" if shape is None else shape.field_at(first_path(value))
        return replace(complaint, part=part)

    def opinions(self, response: Response, case: Any = None) -> BodyOpinions:
        """Return the faults of the data, one for each rule."""
        value = _read(response)
        if response.status_code >= 400:
            # A response with an error status need not contain data.
            return BodyOpinions()
        if isinstance(value, BodyOpinions):
            return value
        if not isinstance(value, dict):
            says = f"a response is an object with `data` or `errors`, not {type(value).__name__}"
            return BodyOpinions((_violation("answer", "type", (), says, "object", value),))
        if value.get("errors") and value.get("data") is None:
            return BodyOpinions()
        shape = self._shape(response)
        if shape is None:
            # The response to an invalid query is not specified.
            return BodyOpinions()
        wrong: list[SchemaViolation] = []
        if "data" not in value:
            wrong.append(_violation("data", "required", (), "neither data nor errors", "{}", value))
        else:
            shape.check(value["data"], wrong)
        # One violation for each rule, because a list of a thousand wrong items is one mistake.
        by_rule: dict[tuple[str, ...], SchemaViolation] = {}
        for one in wrong:
            by_rule.setdefault(one.schema_path, one)
        return BodyOpinions(tuple(by_rule.values())[:_MOST_SHOWN])

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


def _read(response: Response) -> Any:
    """Return the value of a response body, or the opinions on a body that cannot be read."""
    body = response.decoded
    if not isinstance(body, Decoded):
        return BodyOpinions(undecodable=UndecodableBody("application/json", body.message))
    if body.is_cut or response.is_truncated:
        return BodyOpinions(unread="is longer than the part of a body that is kept")
    try:
        return orjson.loads(body.content)
    except orjson.JSONDecodeError as error:
        return BodyOpinions(undecodable=UndecodableBody("application/json", str(error)))


def _violation(place: str, rule: str, path: Path, message: str, promised: object, value: Any) -> SchemaViolation:
    """Return the fault of a part of a response: the place in the schema, the rule and the type that it promises."""
    return SchemaViolation((place, rule), place, ("data", *path), rule, message, f"{promised}", value)


_STATUSES: Final[Mapping[Blame, int]] = {Blame.REFUSED: 400, Blame.BROKEN_PROMISE: 500, Blame.FAILED: 500}
_MISSING, _UNPROCESSABLE = 404, 422


def data_of(response: Response, field: str) -> tuple[Any, Any]:
    """Return (the whole response, its data for a root field); None for missing data."""
    value = _read(response)
    data = value.get("data") if isinstance(value, dict) else None
    return value, data.get(field) if isinstance(data, dict) else None


def _sent_texts(response: Response) -> Iterator[str]:
    """Yield the texts in the variables of a response's request, if that is JSON."""
    body = None if response.request is None else response.request.body
    try:
        pending = [orjson.loads(body)["variables"]] if body and b"variables" in body else []
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def resource_status(response: Response, field: str, role: RootRole) -> int:
    """Return 404 for a missing resource, 200 for an existing one, 4xx for a refusal, 500 for a server error.

    A response whose status is no 2xx, or that is no JSON, keeps its status.
    """
    status = response.status_code
    if not 200 <= status < 300:
        return status
    value, found = data_of(response, field)
    if not isinstance(value, dict):
        return status
    if found is None or (found is False and role.method == REMOVING):
        complaint = complaint_of(value, sent=_sent_texts(response))
        return _absent(role) if complaint is None else _STATUSES.get(complaint.blame) or denied_status(value)
    said = [found[name] for name in role.witnesses if name in found] if isinstance(found, dict) else []
    if any(one is False or (one and one is not True) for one in said):
        # The errors show that the operation failed, but not why.
        return _absent(role)
    other = _other_member(found, role)
    if other:
        return status_named(other)
    return status if _is_shown(found, role.steps) else _absent(role)


def _absent(role: RootRole) -> int:
    return _UNPROCESSABLE if role.method in CREATING else _MISSING


def _other_member(found: Any, role: RootRole) -> str:
    """Return the type that a union returned in place of the wanted member; empty for the wanted one, or if unknown."""
    for place, member in enumerate(role.members):
        if not isinstance(found, dict):
            break
        said = found.get("__typename")
        if member and isinstance(said, str) and said != member:
            return said
        found = found.get(role.steps[place]) if place < len(role.steps) else None
    return ""


def _is_shown(found: Any, steps: tuple[str, ...]) -> bool:
    """Whether the response contains the requested objects; a list may be empty."""
    for name in steps:
        if isinstance(found, list):
            return True
        if not isinstance(found, dict) or name not in found:
            return True
        found = found[name]
        if found is None:
            return False
    return True
