"""What users say of operations, as a configuration would."""

from collections.abc import Mapping
from typing import Any

from checker.config.config import Config
from checker.config.operation_settings import OperationLayers
from checker.config.settings import GROUPS, RunSettings


def saying(said: Mapping[str, Any] | None = None, *operations: Mapping[str, Any], **root: Any) -> OperationLayers:
    """Keys of the root, by name or with underscores for dashes; further tables are `[[operations]]`."""
    document = {name.replace("_", "-"): value for name, value in root.items()} | dict(said or {})
    if operations:
        document["operations"] = list(operations)
    return Config.from_dict(document, environment={}).operation_layers()


def run_settings(location: str = "x", kind: str = "run", seed: int = 1, **fields: Any) -> RunSettings:
    """Return settings of a run; `fields` may be of any group: `workers`, `color`, `folder`."""
    return changed(RunSettings(location, kind, seed), **fields)


def changed(settings: RunSettings, **fields: Any) -> RunSettings:
    """Return these settings with other fields, those of groups included."""
    groups = {name: group for group in reversed(GROUPS) for name in type(getattr(settings, group)).__struct_fields__}
    changes: dict[str, Any] = {}
    for name, value in fields.items():
        if name in RunSettings.__struct_fields__:
            changes[name] = value
        else:
            changes.setdefault(groups[name], {})[name] = value
    return settings.with_changes(**changes)
