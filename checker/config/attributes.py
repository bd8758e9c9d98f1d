"""Objects of users' modules, named as `module:attribute`."""

import importlib
import os
import re
import sys
from operator import attrgetter
from typing import Any

from checker.core.errors import ConfigError

_NAMED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_attribute(text: str) -> bool:
    """Whether a text has the form `module:attribute`."""
    return _NAMED.fullmatch(text) is not None


def search_working_directory() -> None:
    """Have imports look into the working directory first."""
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)


def load_attribute(text: str, *, what: str) -> Any:
    """What `module:attribute` names; the module may lie in the working directory. `what` it is stands in errors.

    Raises `ConfigError` for whatever goes wrong in the module.
    """
    module, _, attribute = text.partition(":")
    search_working_directory()
    try:
        return attrgetter(attribute)(importlib.import_module(module))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ConfigError(
            f"cannot load the {what} {text!r}: {type(error).__name__}: {reason}; correct the module or the name"
        ) from error
