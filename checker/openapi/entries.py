"""An operation as the table of contents has it."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from checker.core.operation import Label
from checker.openapi.fields import flag
from checker.validation.pointers import pointer_child


class Entry(Struct, frozen=True):
    """An operation as the table of contents has it: nothing of it is read yet."""

    label: Label
    method: str
    path: str
    pointer: str
    """Of the operation object."""
    path_item: Mapping[str, Any]
    path_item_pointer: str
    definition: Mapping[str, Any]

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags, in order of declaration."""
        tags = self.definition.get("tags")
        return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()

    @property
    def operation_id(self) -> str | None:
        """`operationId`, if there is one."""
        value = self.definition.get("operationId")
        return value if isinstance(value, str) else None

    @property
    def resource_path(self) -> str:
        """The path: URLs name resources."""
        return self.path

    @property
    def resource_method(self) -> str:
        """The method: it says what is done."""
        return self.method

    @property
    def deprecated(self) -> bool:
        """True when the document says so."""
        return bool(flag(self.definition, "deprecated"))

    @property
    def parameter_lists(self) -> tuple[tuple[object, str], tuple[object, str]]:
        """Parameters of the path item and its own as they are declared, each with its place."""
        return (
            (
                self.path_item.get("parameters"),
                pointer_child(self.path_item_pointer, "parameters"),
            ),
            (self.definition.get("parameters"), pointer_child(self.pointer, "parameters")),
        )
