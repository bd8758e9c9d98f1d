"""Settings of users for their own code: `@constants` names an application or modules whose literals may become values."""

from checker.core.registry import constants

__all__ = ["constants"]
