"""A parsed OpenAPI document and what its references point at."""

from difflib import get_close_matches
from typing import Any
from urllib.parse import unquote

from checker.core.schema import Dialect, Schema, UnresolvableReference
from checker.validation.keywords import subschemas
from checker.validation.pointers import pointer_child

Found = tuple[object, str]
"""A value and its pointer."""


class OpenApiDocument:
    """The document of one API description: implements `checker.core.schema.Document`."""

    __slots__ = ("_found", "_sound", "dialect", "root")

    def __init__(self, root: dict[str, Any], dialect: Dialect) -> None:
        self.root = root
        self.dialect = dialect
        self._found: dict[str, Found] = {}
        self._sound: set[str] = set()

    def schema(self, raw: object, pointer: str) -> Schema:
        """A schema of this document."""
        return Schema(raw, pointer, self.dialect, self)

    def resolve(self, reference: str, *, at: str) -> Found:
        """Target value and its JSON pointer, one hop. Raises `UnresolvableReference`."""
        found = self._found.get(reference)
        if found is None:
            if not reference.startswith("#"):
                raise UnresolvableReference(
                    f"`{reference}` at {at} points outside the document, which cannot be followed yet; "
                    "bundle the description into one file"
                )
            if reference != "#" and not reference.startswith("#/"):
                raise UnresolvableReference(
                    f"`{reference}` at {at} is not a JSON pointer; write it as `#/components/...`"
                )
            found = self._found[reference] = self._walk(reference, at)
        return found

    def dereferenced(self, value: object, at: str) -> Found:
        """The object itself, whatever number of `$ref`s lead to it. Raises `UnresolvableReference`."""
        seen = set()
        while isinstance(value, dict) and isinstance(value.get("$ref"), str):
            reference = value["$ref"]
            if reference in seen:
                raise UnresolvableReference(f"`{reference}` at {at} leads back to itself")
            seen.add(reference)
            value, at = self.resolve(reference, at=at)
        return value, at

    def require_sound(self, schema: Schema) -> None:
        """Raise `UnresolvableReference` when anything that the schema reaches points at nothing."""
        todo: list[Found] = [(schema.raw, schema.pointer)]
        reached = set()
        while todo:
            raw, at = todo.pop()
            if isinstance(raw, dict) and isinstance(raw.get("$ref"), str):
                target, pointer = self.resolve(raw["$ref"], at=at)
                if pointer not in self._sound and pointer not in reached:
                    reached.add(pointer)
                    todo.append((target, pointer))
            for tokens, inner in subschemas(raw, self.dialect):
                todo.append((inner, pointer_child(at, *tokens)))
        self._sound |= reached

    def _walk(self, reference: str, at: str) -> Found:
        value: object = self.root
        pointer = "#"
        for escaped in unquote(reference[1:]).split("/")[1:]:
            token = escaped.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and token in value:
                value = value[token]
            elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
                value = value[int(token)]
            else:
                raise UnresolvableReference(_miss(reference, at, token, value))
            pointer = pointer_child(pointer, token)
        return value, pointer


def _miss(reference: str, at: str, token: str, parent: object) -> str:
    names = [name for name in parent if isinstance(name, str)] if isinstance(parent, dict) else []
    near = get_close_matches(token, names, n=1)
    advice = f"did you mean `{near[0]}`?" if near else f"there is no `{token}`; add it"
    return f"`{reference}` at {at} points at nothing: {advice}"
