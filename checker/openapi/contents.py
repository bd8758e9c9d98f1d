"""The table of contents of a document: its operations and their places, without reading them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from checker.core.errors import HookExecutionError
from checker.core.hooks import Hook, HookContext, run_hooks
from checker.core.operation import BrokenOperation, Label
from checker.core.schema import SchemaWarning, UnresolvableReference, WarningKind, pointer_child
from checker.kinds.protocol import DroppedOperation
from checker.openapi.documents.dialects import METHODS, Edition, elements, flag, kind_of, members
from checker.openapi.documents.references import OpenApiDocument


class Entry(Struct, frozen=True):
    """An operation in the table of contents, not read yet."""

    label: Label
    method: str
    path: str
    """The template of the path as it is sent: `/a/{id}` of `/a/{id:[0-9]+}#byId`."""
    pointer: str  # JSON pointer of the operation object.
    path_item: Mapping[str, Any]
    path_item_pointer: str
    definition: Mapping[str, Any]

    @property
    def declared_path(self) -> str:
        """Return the path as the document spells it."""
        return self.label.partition(" ")[2]

    @property
    def fragment(self) -> str:
        return self.declared_path.partition("#")[2]

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(tag for tag in elements(self.definition.get("tags")) if isinstance(tag, str) and tag.strip())

    @property
    def operation_id(self) -> str | None:
        value = self.definition.get("operationId")
        return value if isinstance(value, str) else None

    @property
    def resource_path(self) -> str:
        return self.path

    @property
    def resource_method(self) -> str:
        return self.method

    @property
    def deprecated(self) -> bool:
        return bool(flag(self.definition, "deprecated"))

    @property
    def parameter_lists(self) -> tuple[tuple[object, str], tuple[object, str]]:
        """Return the parameter lists of the path item and the operation, each with its place."""
        return (
            (self.path_item.get("parameters"), pointer_child(self.path_item_pointer, "parameters")),
            (self.definition.get("parameters"), pointer_child(self.pointer, "parameters")),
        )


_IS_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+").fullmatch
"""RFC 9110, 5.6.2."""
_LONGEST_PATH = 65_536  # Characters. Servers need not read request lines longer than 8,000 octets (RFC 9112, 3).
_MOST_VARIABLES = 100
_SHOWN = 100
_OF_OPERATIONS = frozenset({"responses", "requestBody", "operationId"})
"""Keys that occur in operations, but not in path items themselves."""


_VARIABLE: Final = re.compile(r"\{((?:[^{}]|\{[^{}]*\})*)\}")
"""A variable of a path in any notation; a regular expression inside may have braces of its own."""
_NAME: Final = re.compile(r"\s*\+?\s*([^\s:?*+={}]+)")


def variable_name(text: str) -> str:
    """Return the name in a path variable: `id` of ` id `, `id?`, `id*`, `+id`, `id:[0-9]+` and `id=shelves/*`."""
    found = _NAME.match(text)
    return found[1] if found else text


def notations_of(path: str) -> dict[str, str]:
    """Return the notation of each variable of a declared path, by name."""
    notations = dict.fromkeys(_VARIABLE.findall(path.partition("#")[0]))
    names = [variable_name(text) for text in notations]
    # Two variables whose notations have the same name would get the same value.
    return dict(zip(names if len(set(names)) == len(names) else notations, notations, strict=True))


def sent_path(path: str) -> str:
    """Return the template of the path that is sent.

    A fragment is not part of a request target (RFC 3986, 3.5): descriptions use it to tell operations of one path apart.
    """
    names = {text: name for name, text in notations_of(path).items()}
    sent = _VARIABLE.sub(lambda found: "{" + names[found[1]] + "}", path.partition("#")[0])
    return f"/{sent}" if sent and not sent.startswith("/") else sent


Content = Entry | BrokenOperation | DroppedOperation  # The rows of a table of contents.


def table_of_contents(document: OpenApiDocument, edition: Edition, hooks: Sequence[Hook] = ()) -> Iterator[Content]:
    """Yield the operations in document order; an operation that cannot be read does not affect others.

    `hooks` are those of `before_process_path`: they may change the methods of a path. Raises `HookExecutionError`.
    """
    paths = document.root.get("paths")
    if paths is None:
        return
    if not isinstance(paths, dict):
        yield _broken("*", "", "`paths` must be an object of path items; correct it")
        return
    for path, raw in paths.items():
        if path.startswith("x-") or raw is None:
            continue
        sizes = (
            (len(path), "characters", _LONGEST_PATH, "shorten it"),
            (path.count("{"), "variables", _MOST_VARIABLES, "use fewer"),
        )
        too_large = next((one for one in sizes if one[0] > one[2]), None)
        if too_large is not None:
            size, noun, most, advice = too_large
            reason = f"the path that begins so has {size:,} {noun}, and {most:,} are the limit; {advice}"
            yield _broken("*", f"{path[:_SHOWN]}...", reason)
            continue
        at = pointer_child("#/paths", path)
        found: dict[Label, Content] = {}
        try:
            for item, place in _parts(document, raw, at, "path item"):
                if item is not None:
                    run_hooks(hooks, "before_process_path", HookContext(), path, item)
                for entry in _operations(document, path, item, place, edition):
                    found.setdefault(entry.label, entry)
        except (UnresolvableReference, HookExecutionError) as error:
            yield _broken("*", path, str(error))
        yield from found.values()


def _parts(document: OpenApiDocument, raw: object, at: str, kind: str) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """Yield an object and then the target of its `$ref`, each with its place; siblings of the reference take precedence."""
    seen = set()
    while at not in seen:
        seen.add(at)
        if not isinstance(raw, dict):
            yield None, at
            return
        reference = raw.get("$ref")
        if reference is not None and not isinstance(reference, str):
            raise UnresolvableReference(f"the `$ref` of the {kind} at {at} must be text; found {kind_of(reference)}")
        item = {key: value for key, value in raw.items() if key != "$ref"}
        if item or not isinstance(reference, str):
            yield item, at
        if not isinstance(reference, str):
            return
        raw, at = document.resolve(reference, at=at)
    raise UnresolvableReference(f"the {kind} at {at} leads back to itself; point it at another")


def _operations(
    document: OpenApiDocument, path: str, item: dict[str, Any] | None, at: str, edition: Edition
) -> Iterator[Content]:
    if item is None:
        yield _broken("*", path, f"the path item at {at} is not an object; correct it")
        return
    for name, definition in item.items():
        if name.lower() in edition.methods:
            yield _operation(document, name.upper(), path, definition, (item, at), pointer_child(at, name))
        elif (
            isinstance(definition, dict)
            and not name.startswith("x-")
            and (name.lower() in METHODS or not _OF_OPERATIONS.isdisjoint(definition))
        ):
            yield _dropped(name.upper(), path, pointer_child(at, name), edition)
    for name, definition, pointer in members(item, at, "additionalOperations"):
        if edition.has_other_methods:
            yield _operation(document, name, path, definition, (item, at), pointer)
        else:
            yield _dropped(name, path, pointer, edition)


def _dropped(method: str, path: str, pointer: str, edition: Edition) -> DroppedOperation:
    label = Label(f"{method} {path}")
    message = f"the method of the operation at {pointer} is not known to {edition.name}; it is not tested"
    return DroppedOperation(label, SchemaWarning(WarningKind.UNKNOWN_METHOD, label, pointer, message), method, path)


def _operation(
    document: OpenApiDocument,
    method: str,
    path: str,
    definition: object,
    path_item: tuple[Mapping[str, Any], str],
    pointer: str,
) -> Entry | BrokenOperation:
    if not _IS_TOKEN(method):
        return _broken(method, path, f"the method `{method}` at {pointer} is not one of HTTP (RFC 9110, 9.1)")
    if isinstance(definition, dict) and "$ref" in definition:
        # OpenAPI allows no reference here, but bundlers follow it, and descriptions split into many files rely on that.
        try:
            parts = list(_parts(document, definition, pointer, "operation"))
        except UnresolvableReference as error:
            return _broken(method, path, str(error))
        target, pointer = parts[-1]
        definition = (
            None if target is None else {key: one for part, _ in reversed(parts) for key, one in (part or {}).items()}
        )
    if not isinstance(definition, dict):
        return _broken(method, path, f"the operation at {pointer} is not an object; correct it")
    return Entry(Label(f"{method} {path}"), method, sent_path(path), pointer, *path_item, definition)


def _broken(method: str, path: str, error: str) -> BrokenOperation:
    return BrokenOperation(Label(f"{method} {path}".strip()), method, path, error)
