"""API descriptions as a test reads them: without the reader of the tool, so that the two can disagree."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

from tests.cassettes import SAFE

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


class _Texts(SAFE):  # type: ignore[misc]
    """YAML whose keys are text and whose dates stay text."""


_Texts.yaml_implicit_resolvers = {
    first: [rule for rule in rules if not rule[0].endswith((":timestamp", ":bool"))]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _word in ("true", "True", "TRUE", "false", "False", "FALSE"):
    _Texts.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("(?i:true|false)$"), [_word[0]])


def read(path: Path) -> dict[str, Any]:
    """The document of a file, JSON or YAML."""
    text = path.read_bytes().decode("utf-8-sig")
    found: dict[str, Any]
    if path.suffix == ".json":
        found = json.loads(text)
    else:
        # S506: the loader is a safe one.
        found = _with_text_keys(yaml.load(text, Loader=_Texts), {})
    return found


def _with_text_keys(value: Any, known: dict[int, Any]) -> Any:
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, dict):
        mapping: dict[str, Any] = {}
        known[id(value)] = mapping
        for key, item in value.items():
            mapping[str(key)] = _with_text_keys(item, known)
        return mapping
    if isinstance(value, list):
        return [_with_text_keys(item, known) for item in value]
    return value


class Missing(LookupError):
    """A reference points at nothing."""


@dataclass(frozen=True)
class Described:
    """One operation of a document."""

    method: str
    path: str
    raw: dict[str, Any]
    path_item: dict[str, Any]

    @property
    def label(self) -> str:
        return f"{self.method} {self.path}"


@dataclass
class Document:
    """A parsed document and what its references point at."""

    root: dict[str, Any]
    is_swagger: bool = field(init=False)
    has_siblings: bool = field(init=False)
    """Whether keywords beside `$ref` count."""
    nullable: str = field(init=False)
    """Keyword that allows null, empty where `type` says it."""

    def __post_init__(self) -> None:
        self.is_swagger = "swagger" in self.root
        version = str(self.root.get("swagger") or self.root.get("openapi"))
        self.has_siblings = version.startswith(("3.1", "3.2"))
        unheard = "" if self.has_siblings else "nullable"
        self.nullable = "x-nullable" if self.is_swagger else unheard

    def target(self, reference: str) -> Any:
        """What a reference into this document names."""
        if not reference.startswith("#"):
            raise Missing(reference)
        value: Any = self.root
        for token in unquote(reference[1:]).split("/")[1:]:
            token = token.replace("~1", "/").replace("~0", "~")
            try:
                value = value[int(token)] if isinstance(value, list) else value[token]
            except (KeyError, ValueError, IndexError, TypeError):
                raise Missing(reference) from None
        return value

    def resolved(self, value: Any) -> Any:
        """The value itself, references followed."""
        seen: set[str] = set()
        while isinstance(value, dict) and isinstance(value.get("$ref"), str):
            if value["$ref"] in seen:
                raise Missing(value["$ref"])
            seen.add(value["$ref"])
            value = self.target(value["$ref"])
        return value

    def operations(self) -> list[Described]:
        """Operations in document order; what cannot be read is left out."""
        found = []
        for path, item in (self.root.get("paths") or {}).items():
            try:
                item = self.resolved(item)
            except Missing:
                continue
            if path.startswith("x-") or not isinstance(item, dict):
                continue
            found += [
                Described(name.upper(), path, raw, item)
                for name, raw in item.items()
                if name.lower() in METHODS and isinstance(raw, dict)
            ]
        return found

    def parameters(self, operation: Described) -> list[dict[str, Any]]:
        """Parameter objects of an operation, those of its path included and overridden."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        for owner in (operation.path_item, operation.raw):
            for item in owner.get("parameters") or ():
                item = self.resolved(item)
                found[item["in"], item["name"]] = item
        return list(found.values())
