"""Users' class checks: they see every response, keep what they want of it, and have the last word once the run is over."""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from checker.checks.check import Applies, Config
from checker.core.errors import CheckError, ConfigError
from checker.core.user_code import refuse_coroutine

AFTER_RESPONSE = "after_response"
AFTER_RUN = "after_run"
_ARGUMENTS = {AFTER_RESPONSE: "(self, context, response, case)", AFTER_RUN: "(self, context)"}
_SWITCH = "enabled"


class RunContext(Struct, frozen=True):
    """The argument of `after_run`."""

    config: Config
    """Settings of the check: what stands in `[checks.<its name>]`."""


def refuse_malformed(kind: type) -> None:
    """Raise `ConfigError` for a class that is no check, `IncorrectUsage` for coroutines."""
    name = kind.__name__
    callbacks = [one for one in vars(kind) if one.startswith("after_")]
    wrong = [one for one in callbacks if one not in _ARGUMENTS]
    if wrong or not any(hasattr(kind, one) for one in _ARGUMENTS):
        found = f"has {wrong[0]}" if wrong else "has neither"
        raise ConfigError(
            f"check {name} {found}; a class check has `{AFTER_RESPONSE}`, `{AFTER_RUN}`, or both"
        )
    for callback, wanted in _ARGUMENTS.items():
        function = getattr(kind, callback, None)
        if function is not None and len(inspect.signature(function).parameters) != _count(wanted):
            raise ConfigError(f"check {name}: {callback} takes {wanted}")
        refuse_coroutine(function, f"check {name}: {callback}")
    if hasattr(kind, "state") != hasattr(kind, "merge"):
        raise ConfigError(
            f"check {name} needs both of `state(self)` and `merge(self, state)`, or neither"
        )


def _count(arguments: str) -> int:
    return arguments.count(",") + 1


class ClassCheck(Struct):
    """One class check at work in one process."""

    name: str
    instance: Any
    config: Config
    applies: Applies = field(default_factory=Applies)

    @classmethod
    def of(cls, kind: type, given: Mapping[str, Any], applies: Applies) -> "ClassCheck":
        """The check with an instance of its own. Raises `ConfigError` for settings that its constructor does not take."""
        name = kind.__name__
        keywords = {key: value for key, value in given.items() if key != _SWITCH}
        refuse_unknown(name, keywords, _keywords(kind))
        try:
            return cls(name, kind(**keywords), keywords, applies)
        except Exception as error:
            raise ConfigError(
                f"check {name} cannot be made: {type(error).__name__}: {error}; "
                f"[checks.{name}] may have {_valid(_keywords(kind))}"
            ) from error

    @property
    def concludes(self) -> bool:
        """Whether it has something to say once the run is over."""
        return hasattr(self.instance, AFTER_RUN)

    @property
    def is_mergeable(self) -> bool:
        """Whether what several processes saw can be put together."""
        return hasattr(self.instance, "merge")

    @property
    def state_name(self) -> str:
        """The name of the state: the method that returns it, or empty for the attributes of the instance."""
        return "state()" if self.is_mergeable else ""

    def state(self) -> object:
        """Return the state that the class keeps. Raises `CheckError`."""
        try:
            return self.instance.state() if self.is_mergeable else vars(self.instance)
        except Exception as error:
            raise CheckError(self.name, error) from error

    def absorb(self, state: Any) -> None:
        """Take what the check kept in another process. Raises `CheckError`."""
        try:
            if self.is_mergeable:
                self.instance.merge(state)
            else:
                vars(self.instance).update(state)
        except Exception as error:
            raise CheckError(self.name, error) from error


def refuse_unknown(name: str, given: Iterable[str], known: Iterable[str] | None) -> None:
    """Raise `ConfigError` for keys of `[checks.<name>]` that nothing takes; `known` is None when all are taken."""
    wrong = [] if known is None else [key for key in given if key not in set(known)]
    if wrong:
        raise ConfigError(f"[checks.{name}] has no option {wrong[0]!r}; it has {_valid(known)}")


def _valid(known: Iterable[str] | None) -> str:
    return ", ".join(map(repr, (_SWITCH, *(known or ()))))


def _keywords(kind: type) -> list[str] | None:
    parameters = inspect.signature(kind).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return [
        one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
