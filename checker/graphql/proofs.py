"""Cheap proofs that a request is wrong, from its final text.

graphql-core needs more than a millisecond to say what is wrong with a query, and half of all that is sent is wrong on purpose.
The forms that this package writes are read here in one pass along the types. What is found to be wrong, graphql-core calls
wrong, too; what is not read or not found proves nothing, and is for graphql-core to say.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from graphql import (
    GraphQLError,
    GraphQLField,
    GraphQLSchema,
    GraphQLUnionType,
    OperationType,
    get_named_type,
    is_input_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
    parse_type,
    type_from_ast,
)
from msgspec import Struct

from checker.graphql.coercion import count_faults, innermost_fault

_TOKENS: Final = re.compile(r'[$]?[_A-Za-z][_0-9A-Za-z]*|-?[0-9][-+.0-9eE]*|"(?:[^"\\\n\r]|\\.)*"|[.]{3}|[^ \t\n\r,]')
"""Other texts than tokens come as single characters, which are never accepted here. In a text with an error of syntax it may
be otherwise: such a text is wrong whatever is said of it."""
_BLOCK: Final = '"""'
_NAME: Final = re.compile(r"[_A-Za-z]")
_NUMBER: Final = re.compile(r"[-0-9]")
_WORDS: Final[Mapping[str, Any]] = {"true": True, "false": False, "null": None}
_DEEPEST: Final = 64
_LONGEST: Final = 16_384
"""Characters of a text that is read here."""
_KEPT: Final = 512
_SHOWN: Final = 80
"""Characters of a value in a sentence."""


class UsualQuery(Struct, frozen=True):
    """One query or mutation that was read to its end."""

    fault: str
    """The fault of its text; empty when none was found."""
    variables: tuple[tuple[str, Any], ...]
    """Names and types as the text declares them; none has a default."""

    def fault_of(self, values: Mapping[str, Any]) -> str:
        """Return the fault of the values of its variables; empty when none is found."""
        for name, kind in self.variables:
            # A variable that may be null may be missing (GraphQL, 6.1.2).
            if count_faults(kind, values.get(name)):
                if name not in values:
                    return f"variable `${name}` of type `{kind}` is required, and not given"
                return f"variable `${name}`{_explained(kind, values[name])}"
        return ""


class QueryReader:
    """Reads usual queries to one schema."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self.type_named = lru_cache(_KEPT)(self._type_named)
        self._read = lru_cache(_KEPT)(self._reading)

    def read(self, text: str) -> UsualQuery | None:
        """Return the query of a text; None for one that only graphql-core understands."""
        return None if len(text) > _LONGEST else self._read(text)

    def _reading(self, text: str) -> UsualQuery | None:
        if _BLOCK in text:
            return None
        try:
            return _Reading(self, self._schema, _TOKENS.findall(text)).whole()
        except (_UnreadError, ValueError, IndexError):
            return None

    def _type_named(self, text: str) -> Any:
        """`[ID!]` as a type; None for none that has values."""
        try:
            found = type_from_ast(self._schema, parse_type(text, no_location=True))
        except GraphQLError:
            return None
        return found if found is not None and is_input_type(found) else None


class _UnreadError(Exception):
    """Something that is not read here."""


class _Reading:
    """One text that is being read. Raises `_UnreadError`, `IndexError` at its end, `ValueError` for values."""

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
        self._selection(self._schema.get_root_type(OperationType(word)), _DEEPEST)
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
        """`$id: ID!`, up to the end of the brackets."""
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
        """Fields of a type, up to the end of the braces; of None, nothing is called wrong."""
        if not depth:
            raise _UnreadError
        while not self._takes("}"):
            if not self._takes("..."):
                self._field(kind, depth)
                continue
            # A fragment of another place would need its definition.
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
        """Return the field of a name; None for fields of introspection, too."""
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
        """Names of those that are given, up to the end of the brackets."""
        given = set()
        while not self._takes(")"):
            name = self._name()
            self._wants(":")
            given.add(name)
            known = None if found is None else found.args.get(name)
            if self._tokens[self._at][0] == "$":
                self._at += 1
            else:
                value = self._value(_DEEPEST)
                if known is not None and count_faults(known.type, value):
                    self._find(f"argument `{name}`{_explained(known.type, value)}")
            if found is not None and known is None:
                self._find(f"`{field}` has no argument `{name}`")
        return given

    def _value(self, depth: int) -> Any:
        """A literal as JSON says it: names of enums are texts. What holds variables is not read."""
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
    """The rest of a sentence about a wrong value: what is wrong where in it."""
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
