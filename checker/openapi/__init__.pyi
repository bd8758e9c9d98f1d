"""Made of `checker.faces.PUBLIC` by `python -m tests.typed.stubs`: what type checkers see of names that are resolved on first use."""

from checker.core.registry import register_format as format
from checker.core.registry import register_media_type as media_type
from checker.library.loaders import openapi as _openapi
from checker.library.loaders import require_security_scheme

from_asgi = _openapi.from_asgi
from_dict = _openapi.from_dict
from_file = _openapi.from_file
from_path = _openapi.from_path
from_url = _openapi.from_url
from_wsgi = _openapi.from_wsgi

__all__ = [
    "format",
    "from_asgi",
    "from_dict",
    "from_file",
    "from_path",
    "from_url",
    "from_wsgi",
    "media_type",
    "require_security_scheme",
]
