"""Queries that users wrote in files: the operation of each, and its faults."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    parse,
    print_ast,
    validate,
)
from graphql.execution.values import get_variable_values
from graphql.utilities import separate_operations
from msgspec import Struct, field

from checker.config.files import QueryFile
from checker.core.operation import Example, Label

_MOST_TOKENS: Final = 100_000
_MOST_SPREADS: Final = 100


class WrittenQueries(Struct):
    """Queries of all files, by root field."""

    by_label: dict[Label, list[Example]] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)  # (where, fault), one for each query that is not sent.


def written_queries(schema: GraphQLSchema, files: Iterable[QueryFile]) -> WrittenQueries:
    """Return the valid queries as bodies of their first root field."""
    found = WrittenQueries()
    for file in files:
        try:
            document = parse(file.text, no_location=True, max_tokens=_MOST_TOKENS)
            variables = json.loads(file.variables or "{}")
            if not isinstance(variables, dict):
                raise ValueError("its variables are not an object")
        except (GraphQLError, ValueError, RecursionError) as error:
            found.faults.append((file.path, f"it cannot be read: {_line(error)}; correct it"))
            continue
        operations = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
        if not operations:
            found.faults.append((file.path, "it holds no query; write one"))
        apart: Mapping[str, DocumentNode] = separate_operations(document)
        for operation in operations:
            name = operation.name.value if operation.name else ""
            where = f"{file.path} {name}".rstrip()
            fragments = [one for one in apart[name].definitions if isinstance(one, FragmentDefinitionNode)]
            whole = DocumentNode(definitions=(operation, *fragments))
            given = _own(variables, operation, operations)
            try:
                label = _label(schema, document, operation)
                wrong: object = validate(schema, whole, max_errors=1) or get_variable_values(
                    schema, operation.variable_definitions or (), given, max_errors=1
                )
                # The values of right variables are a dict.
                if isinstance(wrong, list):
                    raise wrong[0]
            except (GraphQLError, ValueError, RecursionError) as error:
                found.faults.append((where, f"{_line(error)}; it is not sent"))
                continue
            value: dict[str, Any] = {"query": print_ast(whole), "variables": given}
            value |= {"operationName": name} if name else {}
            found.by_label.setdefault(label, []).append(Example(value, where, name, is_settled=True))
    return found


def _own(
    variables: dict[str, Any], operation: OperationDefinitionNode, operations: list[OperationDefinitionNode]
) -> dict[str, Any]:
    """Return the variables of one operation: all variables, or those under its name if each operation has some."""
    names = {one.name.value for one in operations if one.name}
    if variables and variables.keys() <= names and all(isinstance(one, dict) for one in variables.values()):
        own: dict[str, Any] = variables.get(operation.name.value if operation.name else "", {})
        return own
    declared = {one.variable.name.value for one in operation.variable_definitions or ()}
    return {key: value for key, value in variables.items() if key in declared}


def _label(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) -> Label:
    """Return the label of the first root field, such as `Query.user`. Raises `ValueError`."""
    if operation.operation is OperationType.SUBSCRIPTION:
        raise ValueError("it is a subscription, and those are not tested")
    root = schema.get_root_type(operation.operation)
    if root is None:
        raise ValueError(f"the schema has no {operation.operation.value}")
    fragments = {
        one.name.value: one.selection_set for one in document.definitions if isinstance(one, FragmentDefinitionNode)
    }
    for name in _fields(operation.selection_set, fragments, [0]):
        if name in root.fields:
            return Label(f"{root.name}.{name}")
        if not name.startswith("__"):
            raise ValueError(f"`{root.name}` has no field `{name}`")
    raise ValueError("it asks for nothing of the schema")


def _fields(selection: SelectionSetNode, fragments: Mapping[str, SelectionSetNode], seen: list[int]) -> Iterator[str]:
    seen[0] += 1
    for one in selection.selections if seen[0] < _MOST_SPREADS else ():
        if isinstance(one, FieldNode):
            yield one.name.value
        elif isinstance(one, InlineFragmentNode):
            yield from _fields(one.selection_set, fragments, seen)
        elif isinstance(one, FragmentSpreadNode) and one.name.value in fragments:
            yield from _fields(fragments[one.name.value], fragments, seen)


def _line(error: Exception) -> str:
    return str(getattr(error, "message", error)).partition("\n")[0][:300].rstrip(".")
