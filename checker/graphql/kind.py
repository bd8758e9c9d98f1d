"""The row of GraphQL in the table of kinds. The readers of schemas are imported on demand, which takes a tenth of a second."""

import re
from importlib import import_module
from typing import Any, Final

from checker.kinds.protocol import ApiSchema
from checker.kinds.sources import DescriptionSource, FetchOptions

KIND: Final = "graphql"
"""Name of the kind in the table."""
_USUAL_NAME = re.compile(r"(/graphql/?|\.graphqls?|\.gql)\Z", re.IGNORECASE)


class GraphQLKind:
    """Implements `checker.kinds.protocol.DescriptionKind`."""

    name: Final = KIND

    def claims(self, name: str) -> bool:
        """Whether a name is typical of GraphQL schemas and endpoints."""
        return _USUAL_NAME.search(name.partition("?")[0]) is not None

    def open(self, source: DescriptionSource, options: FetchOptions) -> ApiSchema:
        """Return the schema of a source. Raises `LoaderError`."""
        is_claimed = self.claims(source.name)
        schema: ApiSchema = _loaders().open_source(source, options, is_claimed=is_claimed)
        return schema

    def reopen(self, data: bytes) -> ApiSchema:
        """Return the schema that `GraphQLDescription.normalised` wrote."""
        schema: ApiSchema = _loaders().open_normalised(data)
        return schema


GRAPHQL: Final = GraphQLKind()


def _loaders() -> Any:
    return import_module("checker.graphql.loaders")
