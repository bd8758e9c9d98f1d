"""User-defined checks, as functions and as classes."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar, overload

from msgspec import Struct, field

from checker.checks.check import Applies, Check, Config
from checker.checks.context import PASSED, CheckContext, CheckFunction, Failures, Found
from checker.checks.table import BUILT_IN
from checker.core.case import Case
from checker.core.errors import CheckError, ConfigError
from checker.core.failures import Failure
from checker.core.meta import generation_mode
from checker.core.registry import Registry
from checker.core.response import Response
from checker.core.send import Exchanging
from checker.core.templates import error_template, sent_texts
from checker.core.user_code import RunningCode, refuse_coroutine, require, several, takes

AFTER_RESPONSE = "after_response"
AFTER_RUN = "after_run"
_ARGUMENTS = {AFTER_RESPONSE: "(self, context, response, case)", AFTER_RUN: "(self, context)"}
_SWITCH = "enabled"


class RunContext(Struct, frozen=True):
    """The argument of `after_run`."""

    config: Config  # Settings of the check: `[checks.<name>]`.


def refuse_malformed(kind: type) -> None:
    """Raise `ConfigError` for a class that is not a check, `IncorrectUsage` for coroutines."""
    name = kind.__name__
    callbacks = [one for one in vars(kind) if one.startswith("after_")]
    wrong = [one for one in callbacks if one not in _ARGUMENTS]
    if wrong or not any(hasattr(kind, one) for one in _ARGUMENTS):
        found = f"has {wrong[0]}" if wrong else "has neither"
        raise ConfigError(f"check {name} {found}; a class check has `{AFTER_RESPONSE}`, `{AFTER_RUN}`, or both")
    for callback, wanted in _ARGUMENTS.items():
        function = getattr(kind, callback, None)
        if function is not None and not takes(function, wanted.count(",") + 1):
            raise ConfigError(f"check {name}: {callback} takes {wanted}")
        refuse_coroutine(function, f"check {name}: {callback}")
    if hasattr(kind, "state") != hasattr(kind, "merge"):
        raise ConfigError(f"check {name} needs both of `state(self)` and `merge(self, state)`, or neither")


class ClassCheck(Struct):
    """A class check with its instance in one process."""

    name: str
    instance: Any
    config: Config
    applies: Applies = field(default_factory=Applies)

    @classmethod
    def of(cls, kind: type, given: Mapping[str, Any], applies: Applies) -> "ClassCheck":
        """Return a new instance. Raises `ConfigError` for settings that its constructor does not accept."""
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
        """Whether the class has `after_run`."""
        return hasattr(self.instance, AFTER_RUN)

    @property
    def is_mergeable(self) -> bool:
        """Whether the states of several processes can be merged."""
        return hasattr(self.instance, "merge")

    def state(self) -> object:
        """Return the state that the class keeps. Raises `CheckError`."""
        try:
            return self.instance.state() if self.is_mergeable else vars(self.instance)
        except Exception as error:
            raise CheckError(self.name, error) from error

    def absorb(self, state: Any) -> None:
        """Merge the state of another process. Raises `CheckError`."""
        try:
            if self.is_mergeable:
                self.instance.merge(state)
            else:
                vars(self.instance).update(state)
        except Exception as error:
            raise CheckError(self.name, error) from error


def refuse_unknown(name: str, given: Iterable[str], known: Iterable[str] | None) -> None:
    """Raise `ConfigError` for unknown keys of `[checks.<name>]`. `known` is None if all keys are allowed."""
    wrong = [] if known is None else [key for key in given if key not in set(known)]
    if wrong:
        raise ConfigError(f"[checks.{name}] has no option {wrong[0]!r}; it has {_valid(known)}")


def _valid(known: Iterable[str] | None) -> str:
    return ", ".join(map(repr, (_SWITCH, *(known or ()))))


def _keywords(kind: type) -> list[str] | None:
    parameters = inspect.signature(kind).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return [one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]


Decorated = TypeVar("Decorated", bound=Callable[..., Any])
UserCheck = Callable[[CheckContext, Response, Case], object]
"""A user's check. It raises an exception on failure. Failures in its result also count."""


class CustomCheck(Struct, frozen=True):
    """A check that a user registered."""

    source: Callable[..., Any]  # Function `(context, response, case)`, or a class.
    applies: Applies = field(default_factory=Applies)


CUSTOM_CHECKS: Final[Registry[CustomCheck]] = Registry("check", built_in=BUILT_IN)
"""User-defined checks by name, in the order of registration."""


RUNNING_CHECKS: Final = RunningCode("checks")
"""The running checks, so that a check which validates a response does not run again for that response."""


class CustomFailure(Failure, code="ST901"):
    """An assertion of a user's check."""


@overload
def check(function: Decorated) -> Decorated: ...
@overload
def check(
    *,
    phases: Iterable[str] | None = None,
    modes: Iterable[str] | None = None,
    statuses: Iterable[int | str] | None = None,
) -> Callable[[Decorated], Decorated]: ...
def check(
    function: Any = None,
    *,
    phases: Iterable[str] | None = None,
    modes: Iterable[str] | None = None,
    statuses: Iterable[int | str] | None = None,
) -> Any:
    """Register a check, a function `(context, response, case)` that raises an exception on failure, and return it.

    With `phases`, `modes` or `statuses` it runs for those interactions only. A function that yields cases, or requests made
    by `context.make`, receives their responses.
    """
    applies = Applies(
        phases=None if phases is None else frozenset(several("phases", phases, "names of phases")),
        modes=None if modes is None else frozenset(map(generation_mode, several("modes", modes, "names of modes"))),
        statuses=None if statuses is None else tuple(map(str, several("statuses", statuses, "a list of statuses"))),
    )

    def register(source: Decorated) -> Decorated:
        require(hasattr(source, "__name__"), "check", "a function or a class", source)
        name = source.__name__
        if inspect.isclass(source):
            refuse_malformed(source)
        else:
            if not takes(source, 3):
                found = inspect.signature(source)
                raise TypeError(f"check {name!r} is called with (context, response, case), which does not fit {found}")
            refuse_coroutine(source, f"check {name!r}")
        CUSTOM_CHECKS.add(name, CustomCheck(source, applies))
        return source

    return register if function is None else register(function)


def class_checks(names: Iterable[str], given: Mapping[str, Mapping[str, Any]]) -> tuple[ClassCheck, ...]:
    """Return an instance of each selected class check. Raises `ConfigError`. `given`: name of a check -> its settings."""
    wanted, found = set(names), []
    for name, one in CUSTOM_CHECKS.items():
        settings = given.get(name, {})
        if name not in wanted:
            continue
        if inspect.isclass(one.source):
            found.append(ClassCheck.of(one.source, settings, one.applies))
        else:
            refuse_unknown(name, settings, ())
    return tuple(found)


def after_run(check: ClassCheck) -> Failures:
    """Return the failures of a class check about the whole run. Raises `CheckError`."""
    try:
        found = check.instance.after_run(RunContext(check.config))
        failures = _failures_in(found)
    except Exception as error:  # noqa: BLE001 - user code may raise anything
        failures = _raised(check.name, error, None)
    for failure in failures:
        failure.check = failure.check or check.name
    return failures


def custom_check(name: str, function: Callable[..., Any], applies: Applies | None = None) -> Check:
    """Return the check of a user's function `(context, response, case)`. An `AssertionError` becomes a failure.

    Other exceptions become a `CheckError`. Raises `IncorrectUsage` for a coroutine function.
    """
    refuse_coroutine(function, f"check {name!r}")
    run = _sending if inspect.isgeneratorfunction(function) else _plain
    return Check(name, run(name, function), applies=applies or Applies(), sees_operation_settings=True)


def _plain(name: str, function: Callable[..., Any]) -> CheckFunction:
    def run(context: CheckContext) -> Failures:
        if function in RUNNING_CHECKS:
            return PASSED
        try:
            with RUNNING_CHECKS.adding(function):
                return _failures_in(function(context, _readable(context.response), context.case))
        except Exception as error:  # noqa: BLE001 - user code may raise anything
            return _raised(name, error, context)

    return run


def _sending(name: str, function: Callable[..., Any]) -> CheckFunction:
    def run(context: CheckContext) -> Exchanging[Found]:
        if function in RUNNING_CHECKS:
            return PASSED
        work = function(context, _readable(context.response), context.case)
        outcome = None
        while True:
            try:
                with RUNNING_CHECKS.adding(function):
                    wanted = work.send(outcome)
                request = context.make(wanted) if isinstance(wanted, Case) else wanted
            except StopIteration as end:
                return _failures_in(end.value)
            except Exception as error:  # noqa: BLE001 - user code may raise anything
                return _raised(name, error, context)
            outcome = yield request

    return run


def _readable(response: Response) -> Response:
    """Return a response whose request user code can read."""
    if response.request is not None:
        response.request.shown()
    return response


def _failures_in(found: object) -> Failures:
    """Return the failures in the result of a user's function; other results are ignored."""
    if isinstance(found, Failure):
        return (found,)
    several = found if isinstance(found, list | tuple) else ()
    return tuple(one for one in several if isinstance(one, Failure))


def _raised(name: str, error: Exception, context: CheckContext | None) -> Failures:
    match error:
        case Failure():
            return (error,)
        case ExceptionGroup():
            return tuple(failure for one in error.exceptions for failure in _raised(name, one, context))
        case AssertionError():
            content = str(error).encode("utf-8", "surrogatepass")
            text = (
                error_template(content)
                if context is None
                else error_template(content, sent_texts(context.case), context.described)
            )
            title = f"Custom check failed: `{name}`"
            return (CustomFailure(str(error), title=title, text=text),)
        case _:
            raise CheckError(name, error) from error
