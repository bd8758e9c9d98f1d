"""Operations of a loaded schema, found by what documents and requests call them."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Final, Protocol

from checker.core.errors import InvalidSchema, OperationNotFound
from checker.core.given_values import require_texts
from checker.core.operation import BrokenOperation
from checker.kinds.protocol import ApiOperation, ApiSchema, OperationEntry

Entry = OperationEntry | BrokenOperation
_WHOLE_PATH: Final = "*"
"""In place of a method: what stands for a path of which nothing more can be read."""


class Readable(Protocol):
    """What lookups ask of a loaded schema."""

    @property
    def opened(self) -> ApiSchema: ...
    def read(self, entry: Entry) -> ApiOperation | BrokenOperation: ...
    def get_all_operations(self) -> Iterator[ApiOperation | BrokenOperation]: ...


def of_method(entries: Mapping[str, Entry], method: str) -> Entry | None:
    """That of a method in any letter case, or what stands for all of a path that cannot be read; None where it has no such method."""
    names = (method, str(method).upper(), _WHOLE_PATH)
    return next((found for name in names if (found := entries.get(name)) is not None), None)


def by_id(schema: Readable, operation_id: str) -> ApiOperation:
    """The operation of an `operationId`. Raises `OperationNotFound` with the nearest one, `InvalidSchema`."""
    known: dict[str, Entry] = {}
    for entry in schema.opened.entries():
        known.setdefault(getattr(entry, "operation_id", None) or "", entry)
    known.pop("", None)
    if operation_id not in known:
        near = nearest(operation_id, known)
        raise OperationNotFound(f"Operation with ID `{operation_id}` not found{near}")
    return readable(schema, known[operation_id])


def by_reference(schema: Readable, reference: str) -> ApiOperation:
    """The operation at a JSON pointer: `#/paths/~1users~1{id}/get`. Raises `OperationNotFound`, `InvalidSchema`."""
    known = {str(getattr(entry, "pointer", "")): entry for entry in schema.opened.entries()}
    if reference not in known:
        near = nearest(reference, known)
        raise OperationNotFound(f"Operation at `{reference}` not found{near}")
    return readable(schema, known[reference])


def by_path(schema: Readable, method: str, path: str) -> ApiOperation | None:
    """The operation that a path such as `/users/7` is for, templates included; None if there is none. Raises `IncorrectUsage`."""
    require_texts(method=method, path=path)
    for entry in schema.opened.entries():
        if entry.method.upper() == method.upper() and fits(entry.path, path):
            found = schema.read(entry)
            return None if isinstance(found, BrokenOperation) else found
    return None


def with_incoming_links(schema: Readable) -> Iterator[ApiOperation]:
    """Selected operations that answers of others lead to, declared or inferred, in document order."""
    targets = {one.target for one in schema.opened.resources().transitions}
    for operation in schema.get_all_operations():
        if not isinstance(operation, BrokenOperation) and operation.label in targets:
            yield operation


def readable(schema: Readable, entry: Entry) -> ApiOperation:
    """The operation of an entry. Raises `InvalidSchema` for one that cannot be read."""
    operation = schema.read(entry)
    if isinstance(operation, BrokenOperation):
        raise InvalidSchema(f"`{entry.label}` cannot be read: {operation.error}")
    return operation


def nearest_path(wanted: object, known: Iterable[str]) -> str:
    """A sentence with the template of a path, or the nearest one of those that are known; empty when none is near."""
    names = list(known)
    template = next((one for one in names if fits(one, str(wanted))), None)
    return f". Did you mean `{template}`?" if template else nearest(wanted, names)


def nearest(wanted: object, known: Iterable[str]) -> str:
    """A sentence with the nearest of some names; empty when none is near."""
    near = get_close_matches(str(wanted), list(known), n=1)
    return f". Did you mean `{near[0]}`?" if near else ""


def fits(template: str, path: str) -> bool:
    """Whether a path is one of those that a template stands for."""
    wanted, given = template.strip("/").split("/"), path.split("?")[0].strip("/").split("/")
    return len(wanted) == len(given) and all(
        one == other or ("{" in one and other != "")
        for one, other in zip(wanted, given, strict=True)
    )
