"""The row of OpenAPI in the table of kinds."""

import re
from typing import Final

from checker.core.request import WireRequest
from checker.kinds.sources import (
    ApplicationSource,
    DescriptionSource,
    FetchOptions,
    FileSource,
    TextSource,
    UrlSource,
    ValueSource,
)
from checker.openapi import loaders
from checker.openapi.schema import KIND, OpenApiSchema, open_normalised

_USUAL_NAME = re.compile(r"(openapi|swagger)\.(json|ya?ml)\Z", re.IGNORECASE)


class OpenApiKind:
    """Implements `checker.kinds.protocol.DescriptionKind`."""

    name: Final = KIND

    def claims(self, name: str) -> bool:
        """Whether it is called as OpenAPI documents are."""
        return _USUAL_NAME.search(name) is not None

    def open(self, source: DescriptionSource, options: FetchOptions) -> OpenApiSchema:
        """The schema. Raises `LoaderError`."""
        match source:
            case FileSource(path, encoding):
                return loaders.from_path(path, encoding=encoding, way=options)
            case UrlSource(url, wait_s, more):
                return loaders.from_url(url, wait_for_schema=wait_s, way=options, **more)
            case TextSource(data, name):
                return loaders.from_bytes(data, name=name, way=options)
            case ValueSource(value):
                return loaders.from_dict(value, way=options)
            case ApplicationSource():
                return _asked(source, options)

    def reopen(self, data: bytes) -> OpenApiSchema:
        """The schema that `OpenApiSchema.normalised` wrote down."""
        return open_normalised(data)


OPENAPI: Final = OpenApiKind()


def _asked(source: ApplicationSource, options: FetchOptions) -> OpenApiSchema:
    """The document that an application serves."""
    path = source.path if source.path.startswith("/") else f"/{source.path}"
    answer = source.document(
        WireRequest("GET", path.encode(), []), "give the path of its API description"
    )
    return loaders.from_bytes(
        answer.content,
        name=source.path,
        content_type=answer.content_type,
        location=source.url + path,
        way=options,
    )
