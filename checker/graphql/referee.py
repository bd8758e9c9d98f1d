"""An independent judge of GraphQL requests: the final bytes are proved to be wrong, or graphql-core validates them."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final

from graphql import (
    ArgumentNode,
    DocumentNode,
    GraphQLArgument,
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
from checker.graphql.proofs import QueryReader

_DEEPEST: Final = 4
"""Input objects in one another that are looked into."""


class PageArgument(Struct, frozen=True):
    """An argument that may ask for a page."""

    name: str
    kind: Any
    """Its type."""
    is_mark: bool
    node: ValueNode
    """Its value in the query."""

    def doubts(self, variables: Mapping[str, Any]) -> Iterator[str]:
        """Names of what only the server knows the right values of."""
        value = value_from_ast_untyped(self.node, dict(variables))
        yield from _doubts(self.name, value, self.kind, self.is_mark, _DEEPEST)


def page_arguments(node: ArgumentNode, args: Mapping[str, GraphQLArgument]) -> list[PageArgument]:
    """The argument, where it is one that may ask for a page; `args` are all that its field has."""
    name = node.name.value
    declared = args.get(name)
    if declared is None:
        return []
    kind, is_mark = get_named_type(declared.type), name in marks_among(args)
    if not (is_mark or is_count(name) or isinstance(kind, GraphQLInputObjectType)):
        return []
    return [PageArgument(name, kind, is_mark, node.value)]


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
_LONGEST_KEPT: Final = 8_192
"""Characters of a query whose tree is kept."""
_SAMPLED: Final = 64
"""One of so many requests that are proved to be wrong goes to graphql-core all the same; the bytes decide which one."""
_MOST_TOKENS: Final = 20_000
_OF_SEVERAL: Final = re.compile("Executable|UniqueOperation|Lone|Subscription|UniqueFragment|UnusedFragment|Cycles")
"""Names of rules that one query or mutation alone cannot break."""
_BY_SIGN: Final = {
    "@": re.compile("Directive"),
    "...": re.compile("FragmentsOn|KnownFragment|FragmentSpread"),
    "__": re.compile("Introspection"),
}
"""Sign without which a text cannot break some rules -> the names of these."""


def rules_for(document: DocumentNode, query: str) -> list[type[ASTValidationRule]]:
    """Return the rules of GraphQL that a query could break. A third of the cost of validation is paid for rules that find nothing."""
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
    """Judge of the requests to one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._usual = QueryReader(schema)
        self._kept = lru_cache(_KEPT)(self._reading)

    def judge(self, request: WireRequest) -> RequestVerdict:
        """Return whether the query is valid and its variables fit; values of custom scalars are ambiguous."""
        return RequestVerdict(tuple(self._verdicts(request.body)))

    def refuses(self, body: bytes) -> bool:
        """Whether a request is wrong, by its bytes."""
        return any(part.outcome is Outcome.INVALID for part in self._verdicts(body))

    def _verdicts(self, body: bytes | None) -> Iterator[PartVerdict]:
        try:
            value = json.loads(body or b"")
        except (ValueError, RecursionError):
            yield _part(Outcome.INVALID, "syntax", "it is not JSON")
            return
        query = value.get("query") if isinstance(value, dict) else None
        if not isinstance(query, str):
            yield _part(Outcome.INVALID, "query", "it holds no query")
            return
        fault = self._proved(query, value.get("variables"))
        if fault is not None and zlib.crc32(body or b"") % _SAMPLED:
            yield fault
            return
        validated = self._validated(query, value.get("variables"))
        if fault is None:
            yield validated
        elif validated.outcome is Outcome.INVALID:
            yield fault
        else:
            yield _part(Outcome.AMBIGUOUS, "proof", f"graphql-core does not say so: {fault.reason}")

    def _validated(self, query: str, given: Any) -> PartVerdict:
        """Return the verdict of graphql-core."""
        found = (self._reading if len(query) > _LONGEST_KEPT else self._kept)(query)
        if found.document is None or found.reason:
            return _part(Outcome.INVALID, "validation", found.reason)
        reason, has_custom = self._variables(found.document, given)
        if reason:
            return _part(Outcome.INVALID, "variables", reason)
        if found.has_custom or has_custom:
            text = "only the server knows what its own scalars take"
            return _part(Outcome.AMBIGUOUS, "scalar", text)
        doubt = next((name for one in found.pages for name in one.doubts(given or {})), "")
        if doubt:
            text = f"only the server knows which values {doubt} has"
            return _part(Outcome.AMBIGUOUS, "page", text)
        return _part(Outcome.VALID, "", "")

    def _proved(self, query: str, given: Any) -> PartVerdict | None:
        """Return the fault that a look at the query and its values shows."""
        usual = self._usual.read(query)
        if usual is None:
            return None
        if usual.fault:
            return _part(Outcome.INVALID, "validation", usual.fault)
        if given is not None and not isinstance(given, dict):
            return None
        fault = usual.fault_of(given or {})
        return _part(Outcome.INVALID, "variables", fault) if fault else None

    def _reading(self, query: str) -> "_ReadQuery":
        try:
            document = parse(query, no_location=True, max_tokens=_MOST_TOKENS)
            errors = validate(self._schema, document, rules_for(document, query), max_errors=1)
        except (GraphQLError, RecursionError, IndexError) as error:
            # An IndexError is what graphql-core makes of a text that ends in a backslash within quotes.
            return _ReadQuery(None, _line(error))
        if errors:
            return _ReadQuery(document, _line(errors[0]))
        types = TypeInfo(self._schema)
        looking = _ValueFinder(types)
        visit(document, TypeInfoVisitor(types, looking))
        return _ReadQuery(document, "", looking.has_custom, tuple(looking.pages))

    def _variables(self, document: DocumentNode, given: Any) -> tuple[str, bool]:
        """Return the reason why they do not fit, and whether some are of custom scalars."""
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
    """Whether values of a variable may hold scalars that only the server knows."""
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
    reason: str
    """The fault; empty for a valid query."""
    has_custom: bool = False
    """Whether it holds values of custom scalars."""
    pages: tuple[PageArgument, ...] = ()
    """Arguments that ask for pages of lists."""


class _ValueFinder(Visitor):
    """Looks for values that stand where a custom scalar is wanted, and for arguments that ask for pages."""

    def __init__(self, types: TypeInfo) -> None:
        super().__init__()
        self.has_custom = False
        self.pages: list[PageArgument] = []
        self._types = types

    def enter(self, node: Node, *_: Any) -> None:
        if node.kind.endswith("_value") and node.kind != "null_value":
            kind: Any = get_named_type(self._types.get_input_type())
            if is_scalar_type(kind) and not is_specified_scalar_type(kind):
                self.has_custom = True
        elif isinstance(node, ArgumentNode):
            field = self._types.get_field_def()
            if field is not None and self._types.get_directive() is None:
                self.pages += page_arguments(node, field.args)


def _part(outcome: Outcome, keyword: str, reason: str) -> PartVerdict:
    return PartVerdict(Location.BODY, "", outcome, "", keyword, (), None, reason)


def _line(error: Exception) -> str:
    return str(getattr(error, "message", error)).partition("\n")[0][:300]
