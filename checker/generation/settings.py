"""What a program is compiled for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checker.core.meta import GenerationMode


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """How cases are generated (spec 2.6, `generation`)."""

    mode: GenerationMode = GenerationMode.POSITIVE
    allow_x00: bool = True
    """NUL in strings."""
    codec: str | None = None
    """Strings keep to characters of this encoding."""
    exclude_header_characters: str = "\r\n"
    max_body_bytes: int = 32_768
    formats: Mapping[str, Any] = field(default_factory=dict)
    """Format name -> `SearchStrategy`, as users registered it."""
    reuse: bool = False
    """Values of earlier responses may take the place of random ones."""
