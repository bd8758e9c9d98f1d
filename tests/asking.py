"""What users say of operations, as a configuration would."""

from collections.abc import Mapping
from typing import Any

from checker.config.config import Config
from checker.config.operation_settings import OperationLayers


def saying(
    said: Mapping[str, Any] | None = None, *operations: Mapping[str, Any], **root: Any
) -> OperationLayers:
    """Keys of the root, by name or with underscores for dashes; further tables are `[[operations]]`."""
    document = {name.replace("_", "-"): value for name, value in root.items()} | dict(said or {})
    if operations:
        document["operations"] = list(operations)
    return Config.from_dict(document, environment={}).operation_layers()
