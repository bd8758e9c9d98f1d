"""Cassettes as a test reads them: by libyaml where it is, in a tenth of the time that the reader in Python takes."""

from pathlib import Path
from typing import Any, Final

import yaml

SAFE: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(text: str | bytes) -> Any:
    """What a document of YAML says."""
    # S506: the loader is a safe one.
    return yaml.load(text, SAFE)


def cassette_of(path: Path) -> dict[str, Any]:
    """The whole document of a file."""
    found: dict[str, Any] = read(path.read_text("utf-8"))
    return found


def interactions_of(path: Path) -> list[dict[str, Any]]:
    """What was recorded, in order."""
    return cassette_of(path)["http_interactions"] or []
