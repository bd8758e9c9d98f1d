"""Schemas of the corpora: JSON Schema Test Suite, operations of OpenAPI documents, configuration files of the schema store."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from checker.core.errors import LoaderError
from checker.core.operation import Body, BrokenOperation, Location, Operation, Parameter
from checker.core.schema import Dialect, Schema
from checker.openapi import loaders
from checker.schema.keywords import standard_dialect
from tests.measuring.documents import JsonDocument

SUITE_URI = "http://localhost:1234/"
"""Where the documents beside the suite are to be found."""
_DRAFTS: Final = {dialect.value: dialect for dialect in Dialect}


@dataclass(frozen=True, slots=True)
class Sample:
    """A schema to make values of."""

    name: str
    schema: Schema
    location: Location = Location.BODY
    media_type: str = "application/json"
    instances: tuple[tuple[Any, bool], ...] = ()
    """Labelled values: is it valid. Only the suite has them."""
    asserts_formats: bool = True
    """What the labels mean."""

    @property
    def is_satisfiable(self) -> bool | None:
        """Whether a label says so; None when nobody knows."""
        return any(is_valid for _, is_valid in self.instances) or None


def suite(corpora: Path) -> Iterator[Sample]:
    """Groups of the JSON Schema Test Suite, draft 4 to 2020-12."""
    folder = corpora / "jsonschema-suite"
    raw: dict[str, object] = json.loads((folder / "remotes.json").read_bytes())
    others = {SUITE_URI + path: document for path, document in raw.items()}
    for path in sorted(folder.glob("draft*.json")):
        for group in json.loads(path.read_bytes()):
            dialect = _DRAFTS[group["draft"]]
            document = JsonDocument(group["schema"], dialect, others=others)
            yield Sample(
                f"{group['draft']}/{group['file']}#{group['index']}",
                Schema(group["schema"], "#", dialect, document),
                instances=tuple((test["data"], test["valid"]) for test in group["tests"]),
                asserts_formats=group["file"].startswith("optional/format"),
            )


def schemastore(corpora: Path) -> Iterator[Sample]:
    """Real schemas of configuration files; one that names no dialect is read by draft 7."""
    for path in sorted((corpora / "schemastore").glob("*.json")):
        root = json.loads(path.read_bytes())
        said = (
            str(root.get("$schema", ""))
            .removesuffix("#")
            .replace("https://json-schema.org/draft-", "http://json-schema.org/draft-")
        )
        dialect = standard_dialect(said) or Dialect.DRAFT7
        yield Sample(path.name, Schema(root, "#", dialect, JsonDocument(root, dialect)))


def openapi(corpora: Path) -> Iterator[Sample]:
    """Each parameter and each body of each operation."""
    for path in openapi_documents(corpora):
        for operation in operations(path):
            yield from of_operation(operation, f"{path.name} {operation.label}")


def of_operation(operation: Operation, name: str) -> Iterator[Sample]:
    """Each parameter and each body of one operation."""
    parts: list[Parameter | Body] = [*operation.parameters, *operation.bodies]
    for part in parts:
        if isinstance(part, Parameter):
            media_type = part.media_type or ""
            label = f"{name} {part.location} {part.name}"
            yield Sample(label, part.schema, part.location, media_type)
        else:
            yield Sample(f"{name} body {part.media_type}", part.schema, media_type=part.media_type)


def openapi_documents(place: Path) -> Iterator[Path]:
    """Files of a folder, of the OpenAPI folder in it, or the one file."""
    if place.is_file():
        yield place
        return
    folder = place / "openapi" if (place / "openapi").is_dir() else place
    yield from sorted(path for path in folder.iterdir() if path.suffix in (".json", ".yaml", ".yml"))


def operations(path: Path) -> Iterator[Operation]:
    """Operations of a document that can be read; none of one that cannot."""
    try:
        schema = loaders.from_path(str(path))
    except LoaderError:
        return
    for operation in schema.get_all_operations():
        if not isinstance(operation, BrokenOperation):
            yield operation


def share(options: list[str]) -> slice:
    """`3/12` among options: the third of every twelve things; all without it."""
    for option in options:
        which, is_share, every = option.partition("/")
        if is_share and which.isdecimal() and every.isdecimal():
            return slice(int(which) - 1, None, int(every))
    return slice(None)


READERS: Final = {"suite": suite, "openapi": openapi, "schemastore": schemastore}
