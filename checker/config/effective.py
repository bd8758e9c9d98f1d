"""What every key comes to, and who said so."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from checker.config import auth
from checker.config.config import Config
from checker.config.filters import Selectable
from checker.config.layers import keys_of, value_in
from checker.config.operation_settings import with_first_headers
from checker.config.reading import Layer
from checker.config.settings import Sanitization
from checker.config.table import SECTIONS, UPLOAD
from checker.core.redact import Redaction

DEFAULT: Final = "default"
COMMAND: Final = "command line"


class Effective(Struct, frozen=True):
    """One key."""

    name: str
    """As in the file, with its sections: `generation.max-examples`."""
    value: Any
    """What is secret in it is masked."""
    source: str
    """`default`, `command line`, a file, or a `[[project]]` table or `[[operations]]` block of it."""


def effective_keys(
    config: Config, redaction: Redaction | None = None, operation: Selectable | None = None
) -> Iterator[Effective]:
    """Every key of the table for one operation, or for what is about no single one, in its order; then those of users' checks."""
    redaction = redaction or Sanitization().redaction
    layers = config.sources
    if operation is not None:
        # What phases say of all operations beats a block; it stands under keys of its own.
        layers[1:1] = _about(config, operation)
    own = {path for layer, _ in layers for path in layer if path not in SECTIONS}
    for path in (*SECTIONS, *sorted(own)):
        for key in keys_of(path):
            named = (name for layer, name in layers if key in layer.get(path, {}))
            value = value_in([layer for layer, _ in layers], path, key)
            masked = _masked(value, redaction, is_secret=(*path, key) in _SECRETS)
            yield Effective(".".join((*path, key)), masked, next(named, DEFAULT))


def _about(config: Config, operation: Selectable) -> Iterator[tuple[Layer, str]]:
    """(what it says, where) of each block that is about an operation; what counts most first."""
    mine = [one for one in enumerate(config.operations) if one[1].filters.matches(operation)]
    values = with_first_headers([block.values for _, block in mine])
    for (number, _), said in zip(mine, values, strict=True):
        yield said, f"{config.config_path} [[operations]] {number}"


_SECRETS: Final = frozenset(
    [(*auth.BASIC, "password"), auth.OPENAPI, ("auth", "dynamic", "openapi"), (*UPLOAD, "token")]
)
"""Keys whose values are secret whatever they are called inside."""


def _masked(value: Any, redaction: Redaction, *, is_secret: bool) -> Any:
    if isinstance(value, dict):
        return {
            name: _masked(one, redaction, is_secret=is_secret or redaction.is_sensitive(str(name)))
            for name, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [_masked(one, redaction, is_secret=is_secret) for one in value]
    if isinstance(value, str):
        return redaction.replacement if is_secret and value else redaction.url(value)
    return value
