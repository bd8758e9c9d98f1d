"""The OpenAPI document of the demo service."""

import json
import pkgutil
from typing import Any


def document_bytes() -> bytes:
    """The document as it is shipped and served: JSON, OpenAPI 3.0.3."""
    # Not importlib.resources: its import costs more than everything else here together.
    data = pkgutil.get_data("checker.demo", "openapi.json")
    if data is None:
        raise FileNotFoundError("openapi.json is missing from checker.demo: install it again")
    return data


def document() -> dict[str, Any]:
    """The document, parsed anew for each caller."""
    parsed: dict[str, Any] = json.loads(document_bytes())
    return parsed
