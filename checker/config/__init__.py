"""Settings: the live configuration object, filters, and the frozen values that a run takes from them."""

from checker.core.errors import ConfigError

__all__ = ["ConfigError"]
