"""An independent judge of GraphQL requests, from their final bytes.

graphql-core needs more than a millisecond to find the fault of a query, and half of all requests are wrong on
purpose. So the forms of queries that this package writes are first read in one pass along the types. A fault found
there is one for graphql-core as well; any other query is validated by graphql-core.
"""

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
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    Node,
    OperationDefinitionNode,
    OperationType,
    Undefined,
    ValueNode,
    get_named_type,
    is_input_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
    is_scalar_type,
    is_specified_scalar_type,
    parse,
    parse_type,
    specified_rules,
    type_from_ast,
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
from checker.graphql.scalars import count_faults, innermost_fault

_TOKENS: Final = re.compile(r'[$]?[_A-Za-z][_0-9A-Za-z]*|-?[0-9][-+.0-9eE]*|"(?:[^"\\\n\r]|\\.)*"|[.]{3}|[^ \t\n\r,]')
"""A character that begins no token is a token of its own and is never accepted.

In a text with a syntax error tokens may be split differently, but such a text is invalid in any case.
"""
_BLOCK: Final = '"""'
_NAME: Final = re.compile(r"[_A-Za-z]")
_NUMBER: Final = re.compile(r"[-0-9]")
_WORDS: Final[Mapping[str, Any]] = {"true": True, "false": False, "null": None}
_DEEPEST_TEXT: Final = 64
_LONGEST: Final = 16_384
"""Characters of the longest text that is read here."""
_KEPT_TEXTS: Final = 512
_SHOWN: Final = 80
"""Characters of a value in a message."""


class UsualQuery(Struct, frozen=True):
    """A query or mutation that was read completely."""

    fault: str
    """The fault of its text; empty if there is none."""
    variables: tuple[tuple[str, Any], ...]
    """Names and types of variables as the text declares them, without defaults."""

    def fault_of(self, values: Mapping[str, Any]) -> str:
        """Return the fault of the values of its variables; empty if none is found."""
        for name, kind in self.variables:
            # A variable that may be null may be missing (GraphQL, 6.1.2).
            if count_faults(kind, values.get(name)):
                if name not in values:
                    return f"variable `${name}` of type `{kind}` is required, and not given"
                return f"variable `${name}`{_explained(kind, values[name])}"
        return ""


class QueryReader:
    """Reads the usual forms of queries to one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self.type_named = lru_cache(_KEPT_TEXTS)(self._type_named)
        self._read = lru_cache(_KEPT_TEXTS)(self._reading)

    def read(self, text: str) -> UsualQuery | None:
        """Return the query of a text; None if only graphql-core can read it."""
        return None if len(text) > _LONGEST else self._read(text)

    def _reading(self, text: str) -> UsualQuery | None:
        if _BLOCK in text:
            return None
        try:
            return _Reading(self, self._schema, _TOKENS.findall(text)).whole()
        except (_UnreadError, ValueError, IndexError):
            return None

    def _type_named(self, text: str) -> Any:
        """Return `[ID!]` as a type; None for a type without values."""
        try:
            found = type_from_ast(self._schema, parse_type(text, no_location=True))
        except GraphQLError:
            return None
        return found if found is not None and is_input_type(found) else None


class _UnreadError(Exception):
    """A construct that is not read here."""


class _Reading:
    """Reads one text. Raises `_UnreadError`, `IndexError` at its end, `ValueError` for values."""

    def __init__(self, reader: QueryReader, schema: GraphQLSchema, tokens: list[str]) -> None:
        self._reader = reader
        self._schema = schema
        self._tokens = tokens
        self._at = 0
        self._fault = ""
        """The first fault."""

    def whole(self) -> UsualQuery:
        word = self._next()
        if word == "{":
            self._at -= 1
            word = "query"
        if word not in ("query", "mutation"):
            raise _UnreadError
        if _NAME.match(self._tokens[self._at]):
            self._at += 1
        variables = tuple(self._declared()) if self._takes("(") else ()
        self._wants("{")
        self._selection(self._schema.get_root_type(OperationType(word)), _DEEPEST_TEXT)
        if self._at != len(self._tokens):
            raise _UnreadError
        return UsualQuery(self._fault, variables)

    def _next(self) -> str:
        found = self._tokens[self._at]
        self._at += 1
        return found

    def _takes(self, token: str) -> bool:
        is_next = self._tokens[self._at] == token
        self._at += is_next
        return is_next

    def _wants(self, token: str) -> None:
        if self._next() != token:
            raise _UnreadError

    def _name(self) -> str:
        found = self._next()
        if not _NAME.match(found):
            raise _UnreadError
        return found

    def _find(self, fault: str) -> None:
        self._fault = self._fault or fault

    def _declared(self) -> Iterator[tuple[str, Any]]:
        """Yield the declared variables, `$id: ID!`, up to the closing parenthesis."""
        while not self._takes(")"):
            name = self._next()
            self._wants(":")
            text = ""
            while self._tokens[self._at] in "[]!" or _NAME.match(self._tokens[self._at]):
                text += self._next()
            kind = self._reader.type_named(text)
            if name[0] != "$" or kind is None:
                raise _UnreadError
            yield name[1:], kind

    def _selection(self, kind: Any, depth: int) -> None:
        """Read the fields of a type up to the closing brace; for None, no fault is reported."""
        if not depth:
            raise _UnreadError
        while not self._takes("}"):
            if not self._takes("..."):
                self._field(kind, depth)
                continue
            # A named fragment would need its definition.
            self._wants("on")
            inner = self._schema.type_map.get(self._name())
            self._wants("{")
            self._selection(inner, depth - 1)

    def _field(self, kind: Any, depth: int) -> None:
        name = self._name()
        if self._takes(":"):
            name = self._name()
        found = self._field_of(kind, name)
        given = self._arguments(name, found) if self._takes("(") else set()
        if found is not None:
            for key, one in found.args.items():
                if key not in given and is_required_argument(one):
                    self._find(f"`{name}` needs its argument `{key}`")
        inner = None if found is None else get_named_type(found.type)
        is_leaf = inner is not None and is_leaf_type(inner)
        if self._takes("{"):
            if is_leaf:
                self._find(f"`{name}` is a `{inner}`, which has no fields")
            self._selection(None if is_leaf else inner, depth - 1)
        elif inner is not None and not is_leaf:
            self._find(f"of `{name}` no fields are selected, which a `{inner}` needs")

    def _field_of(self, kind: Any, name: str) -> GraphQLField | None:
        """Return the field of a name; None also for fields of introspection."""
        if kind is None or name.startswith("__"):
            return None
        fields = {} if isinstance(kind, GraphQLUnionType) else getattr(kind, "fields", None)
        if fields is None:
            return None
        found = fields.get(name)
        if found is None:
            self._find(f"`{kind}` has no field `{name}`")
        return found

    def _arguments(self, field: str, found: GraphQLField | None) -> set[str]:
        """Return the names of the given arguments, up to the closing parenthesis."""
        given = set()
        while not self._takes(")"):
            name = self._name()
            self._wants(":")
            given.add(name)
            known = None if found is None else found.args.get(name)
            if self._tokens[self._at][0] == "$":
                self._at += 1
            else:
                value = self._value(_DEEPEST_TEXT)
                if known is not None and count_faults(known.type, value):
                    self._find(f"argument `{name}`{_explained(known.type, value)}")
            if found is not None and known is None:
                self._find(f"`{field}` has no argument `{name}`")
        return given

    def _value(self, depth: int) -> Any:
        """Return a literal as JSON: names of enums are texts. Literals with variables are not read."""
        token = self._next()
        if not depth:
            raise _UnreadError
        if token[0] == '"':
            return json.loads(token, strict=False)
        if _NUMBER.match(token):
            return int(token) if token.lstrip("-").isdecimal() else float(token)
        if token == "[":
            items = []
            while not self._takes("]"):
                items.append(self._value(depth - 1))
            return items
        if token == "{":
            members = {}
            while not self._takes("}"):
                name = self._name()
                self._wants(":")
                members[name] = self._value(depth - 1)
            return members
        if not _NAME.match(token):
            raise _UnreadError
        return _WORDS.get(token, token)


def _explained(kind: Any, value: Any) -> str:
    """Return the end of a message about a wrong value: its place and its fault."""
    path, inner, found = innermost_fault(kind, value)
    where = f" at `{'.'.join(map(str, path))}`" if path else ""
    named = get_named_type(inner)
    fields: Mapping[str, Any] = getattr(named, "fields", None) or {}
    if isinstance(found, dict) and fields:
        strange = [name for name in found if name not in fields]
        if strange:
            return f"{where} has a member `{strange[0]}`, which `{named}` has not"
        if named.is_one_of:
            return f"{where} has to give exactly one member of `{named}`, and not null"
        missing = [name for name in fields if name not in found]
        required = [name for name in missing if is_required_input_field(fields[name])]
        return f"{where} lacks `{', '.join(required)}`, which `{named}` requires"
    shown = json.dumps(found, ensure_ascii=False)
    return f"{where} is {shown:.{_SHOWN}}, which is no `{inner}`"


_DEEPEST: Final = 4
"""Levels of input objects that are searched."""


class PageArgument(Struct, frozen=True):
    """An argument that may ask for a page."""

    name: str
    kind: Any
    """Its type."""
    is_mark: bool
    node: ValueNode
    """Its value in the query."""

    def doubts(self, variables: Mapping[str, Any]) -> Iterator[str]:
        """Yield the names of values that only the server can judge."""
        value = value_from_ast_untyped(self.node, dict(variables))
        yield from _doubts(self.name, value, self.kind, self.is_mark, _DEEPEST)


def page_arguments(node: ArgumentNode, args: Mapping[str, GraphQLArgument]) -> list[PageArgument]:
    """Return the argument if it may ask for a page; `args` are all arguments of its field."""
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
"""Characters of the longest query whose tree is kept."""
_SAMPLED: Final = 64
"""One of so many provably wrong requests goes to graphql-core as a cross-check; the bytes decide which one."""
_MOST_TOKENS: Final = 20_000
_OF_SEVERAL: Final = re.compile("Executable|UniqueOperation|Lone|Subscription|UniqueFragment|UnusedFragment|Cycles")
"""Names of rules that a single query or mutation cannot break."""
_BY_SIGN: Final = {
    "@": re.compile("Directive"),
    "...": re.compile("FragmentsOn|KnownFragment|FragmentSpread"),
    "__": re.compile("Introspection"),
}
"""Text that is necessary to break some rules -> the names of these rules."""


def rules_for(document: DocumentNode, query: str) -> list[type[ASTValidationRule]]:
    """Return the rules of GraphQL that a query could break.

    Rules that cannot find anything are a third of the cost of validation.
    """
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
        self._usual = QueryReader(schema)
        self._kept = lru_cache(_KEPT)(self._reading)

    def judge(self, request: WireRequest) -> RequestVerdict:
        """Return whether the query is valid and its variables fit; values of custom scalars are ambiguous."""
        return RequestVerdict(tuple(self._verdicts(request.body)))

    def refuses(self, body: bytes) -> bool:
        """Whether the bytes of a request are wrong."""
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
        """Return the fault that the fast reader finds; None if it finds none."""
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
            # graphql-core raises an IndexError for a text that ends in a backslash inside quotes.
            return _ReadQuery(None, _line(error))
        if errors:
            return _ReadQuery(document, _line(errors[0]))
        types = TypeInfo(self._schema)
        looking = _ValueFinder(types)
        visit(document, TypeInfoVisitor(types, looking))
        return _ReadQuery(document, "", looking.has_custom, tuple(looking.pages))

    def _variables(self, document: DocumentNode, given: Any) -> tuple[str, bool]:
        """Return the reason why variables do not fit, and whether some are of custom scalars."""
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
    reason: str
    """The fault; empty for a valid query."""
    has_custom: bool = False
    """Whether it holds values of custom scalars."""
    pages: tuple[PageArgument, ...] = ()
    """Arguments that ask for pages of lists."""


class _ValueFinder(Visitor):
    """Finds values of custom scalars, and arguments that ask for pages."""

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
