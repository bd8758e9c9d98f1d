"""An independent judge of GraphQL requests: graphql-core parses and validates the final bytes."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from graphql import (
    ArgumentNode,
    DocumentNode,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLSchema,
    Node,
    OperationDefinitionNode,
    OperationType,
    Undefined,
    ValueNode,
    get_named_type,
    is_scalar_type,
    is_specified_scalar_type,
    parse,
    specified_rules,
    validate,
    value_from_ast_untyped,
)
from graphql.execution.values import get_variable_values
from graphql.language import NamedTypeNode, VariableDefinitionNode, Visitor, visit
from graphql.utilities import TypeInfo, TypeInfoVisitor
from graphql.validation import ASTValidationRule
from msgspec import Struct

from checker.core.contract import Outcome, PartVerdict, RequestVerdict
from checker.core.request import Location, WireRequest
from checker.core.resource_names import USUAL_COUNTS, is_count, marks_among

_DEEPEST: Final = 4  # Levels of input objects that are searched.


def _doubts(name: str, value: Any, kind: Any, is_mark: bool, depth: int) -> Iterator[str]:
    if value is None or value is Undefined:
        return
    if is_mark or (is_count(name) and isinstance(value, int) and value not in USUAL_COUNTS):
        yield name
    if isinstance(kind, GraphQLInputObjectType) and isinstance(value, dict) and depth:
        marks = marks_among(kind.fields)
        for inner, one in value.items():
            declared = kind.fields.get(inner)
            if declared is not None:
                below = get_named_type(declared.type)
                yield from _doubts(inner, one, below, inner in marks, depth - 1)


_KEPT: Final = 128
_LONGEST_KEPT: Final = 8_192  # Characters of the longest query whose parsed tree is cached.
_MOST_TOKENS: Final = 20_000
_OF_SEVERAL: Final = re.compile("Executable|UniqueOperation|Lone|Subscription|UniqueFragment|UnusedFragment|Cycles")
"""Matches names of rules that a single query or mutation cannot break."""
_BY_SIGN: Final = {
    "@": re.compile("Directive"),
    "...": re.compile("FragmentsOn|KnownFragment|FragmentSpread"),
    "__": re.compile("Introspection"),
}
"""Text that a query must contain to break some rules -> the names of these rules."""


def rules_for(document: DocumentNode, query: str) -> list[type[ASTValidationRule]]:
    """Return the rules of GraphQL that a query could break. Leaving out the others saves a third of the time of validation."""
    first, *others = document.definitions
    if others or not isinstance(first, OperationDefinitionNode):
        return list(specified_rules)
    if first.operation is OperationType.SUBSCRIPTION:
        return list(specified_rules)
    return _rules_without(tuple(sign for sign in _BY_SIGN if sign not in query))


@cache
def _rules_without(signs: tuple[str, ...]) -> list[type[ASTValidationRule]]:
    idle = [_OF_SEVERAL, *(_BY_SIGN[sign] for sign in signs)]
    return [rule for rule in specified_rules if not any(one.search(rule.__name__) for one in idle)]


class QueryReferee:
    """Judges the requests to one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._kept = lru_cache(_KEPT)(self._reading)

    def judge(self, request: WireRequest) -> RequestVerdict:
        """Return whether the query is valid and its variables fit; values of custom scalars are ambiguous."""
        return RequestVerdict((self._verdict(request.body),))

    def refuses(self, body: bytes) -> bool:
        """Whether the bytes of a request are certainly invalid."""
        return self._verdict(body).outcome is Outcome.INVALID

    def _verdict(self, body: bytes | None) -> PartVerdict:
        try:
            value = json.loads(body or b"")
        except (ValueError, RecursionError):
            return _part(Outcome.INVALID, "syntax", "it is not JSON")
        query = value.get("query") if isinstance(value, dict) else None
        if not isinstance(query, str):
            return _part(Outcome.INVALID, "query", "it holds no query")
        given = value.get("variables")
        found = (self._reading if len(query) > _LONGEST_KEPT else self._kept)(query)
        if found.document is None or found.reason:
            return _part(Outcome.INVALID, "validation", found.reason)
        reason, has_custom = self._variables(found.document, given)
        if reason:
            return _part(Outcome.INVALID, "variables", reason)
        if found.has_custom or has_custom:
            return _part(Outcome.AMBIGUOUS, "scalar", "only the server knows which values its custom scalars accept")
        for name, kind, is_mark, node in found.pages:
            page = value_from_ast_untyped(node, dict(given or {}))
            for doubt in _doubts(name, page, kind, is_mark, _DEEPEST):
                return _part(Outcome.AMBIGUOUS, "page", f"only the server knows which values {doubt} has")
        return _part(Outcome.VALID, "", "")

    def _reading(self, query: str) -> "_ReadQuery":
        try:
            document = parse(query, no_location=True, max_tokens=_MOST_TOKENS)
            errors = validate(self._schema, document, rules_for(document, query), max_errors=1)
        except (GraphQLError, RecursionError, IndexError) as error:
            # graphql-core raises an IndexError for a string that ends in a backslash.
            return _ReadQuery(None, _line(error))
        if errors:
            return _ReadQuery(document, _line(errors[0]))
        types = TypeInfo(self._schema)
        looking = _ValueFinder(types)
        visit(document, TypeInfoVisitor(types, looking))
        return _ReadQuery(document, "", looking.has_custom, tuple(looking.pages))

    def _variables(self, document: DocumentNode, given: Any) -> tuple[str, bool]:
        """Return why variables do not fit, and whether some have custom scalars."""
        operation = document.definitions[0]
        assert isinstance(operation, OperationDefinitionNode)
        if given is not None and not isinstance(given, dict):
            return "the variables are no object", False
        values: dict[str, Any] = given or {}
        found = get_variable_values(self._schema, operation.variable_definitions or (), values, max_errors=1)
        if isinstance(found, list):
            return _line(found[0]), False
        custom = any(
            values.get(one.variable.name.value) is not None and _is_custom(self._schema, one)
            for one in operation.variable_definitions or ()
        )
        return "", custom


def _is_custom(schema: GraphQLSchema, declared: VariableDefinitionNode) -> bool:
    """Whether values of a variable may contain scalars that only the server knows."""
    node: Node = declared.type
    while not isinstance(node, NamedTypeNode):
        node = node.type  # type: ignore[attr-defined]
    return _holds_custom(schema.type_map.get(node.name.value), set())


def _holds_custom(kind: Any, seen: set[str]) -> bool:
    if kind is None:
        return True
    if is_scalar_type(kind):
        return not is_specified_scalar_type(kind)
    fields: Mapping[str, Any] = getattr(kind, "fields", None) or {}
    if kind.name in seen:
        return False
    seen.add(kind.name)
    return any(_holds_custom(get_named_type(one.type), seen) for one in fields.values())


class _ReadQuery(Struct, frozen=True):
    """The facts about a query that do not depend on its variables."""

    document: DocumentNode | None
    reason: str  # The fault; empty for a valid query.
    has_custom: bool = False  # Whether it contains values of custom scalars.
    pages: tuple[tuple[str, Any, bool, ValueNode], ...] = ()
    """(name, type, whether it is a cursor, value) of arguments that may request pages of lists."""


class _ValueFinder(Visitor):
    """Finds values of custom scalars, and arguments that request pages."""

    def __init__(self, types: TypeInfo) -> None:
        super().__init__()
        self.has_custom = False
        self.pages: list[tuple[str, Any, bool, ValueNode]] = []
        self._types = types

    def enter(self, node: Node, *_: Any) -> None:
        if node.kind.endswith("_value") and node.kind != "null_value":
            kind: Any = get_named_type(self._types.get_input_type())
            if is_scalar_type(kind) and not is_specified_scalar_type(kind):
                self.has_custom = True
        elif isinstance(node, ArgumentNode):
            field = self._types.get_field_def()
            name = node.name.value
            if field is None or self._types.get_directive() is not None or name not in field.args:
                return
            kind, is_mark = get_named_type(field.args[name].type), name in marks_among(field.args)
            if is_mark or is_count(name) or isinstance(kind, GraphQLInputObjectType):
                self.pages.append((name, kind, is_mark, node.value))


def _part(outcome: Outcome, keyword: str, reason: str) -> PartVerdict:
    return PartVerdict(Location.BODY, "", outcome, "", keyword, (), None, reason)


def _line(error: Exception) -> str:
    text = str(getattr(error, "message", error)).partition("\n")[0]
    # The end of the message, after the value of a variable, states the fault.
    return text if len(text) <= 300 else f"{text[:100]}...{text[-197:]}"
