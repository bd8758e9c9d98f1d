"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.graphql import nodes
from checker.graphql.scalars import scalar
from checker.library.loaders import graphql as _graphql

from_asgi = _graphql.from_asgi
from_dict = _graphql.from_dict
from_file = _graphql.from_file
from_path = _graphql.from_path
from_url = _graphql.from_url
from_wsgi = _graphql.from_wsgi

__all__ = ["from_asgi", "from_dict", "from_file", "from_path", "from_url", "from_wsgi", "nodes", "scalar"]
