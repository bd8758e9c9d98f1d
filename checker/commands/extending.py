"""Extensions of the command line by user modules: options in their own groups, and handlers of run events."""

import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from msgspec import Struct, field

from checker.config.user_code import MOST_BYTES, load_hooks, search_working_directory
from checker.core.errors import IncorrectUsage, UnreadableFile
from checker.core.system import read_local


class OptionGroup(Struct):
    """Options under one title in the help of `run` and `fuzz`."""

    title: str
    options: list[tuple[tuple[str, ...], dict[str, Any]]] = field(default_factory=list)
    """(names, keyword arguments of `click.option`) of each option."""

    def add_option(self, *names: str, **settings: Any) -> None:
        """Add an option: names like `--team`, and keyword arguments of `click.option`. Raises `IncorrectUsage` for a name that is taken."""
        for name in names:
            taken = [name for group in GROUPS for given, _ in group.options for name in given]
            for command in ("run", "fuzz"):
                params = getattr(import_module("checker.commands.run"), command).params
                taken += [name for one in params for name in one.opts]
            if name in taken:
                raise IncorrectUsage(f"the option {name!r} exists already; choose another name")
        self.options.append((names, settings))


class HandlerContext(Struct):
    """The context that handlers of one run share."""

    config: Any
    """Settings of the run (`checker.config.settings.RunSettings`)."""
    statistics: Any = None
    """The current state of the run (`checker.corpus.fold.RunView`)."""
    exit_code: int | None = None
    """Exit code of the command; None until the run is over."""
    initialization_lines: list[str] = field(default_factory=list)
    summary_lines: list[str] = field(default_factory=list)
    reports: list[tuple[str, str]] = field(default_factory=list)
    """(title, path)."""

    def add_initialization_line(self, line: str) -> None:
        """Show a line below the header. Only `start` may call it."""
        self.initialization_lines.append(line)

    def add_summary_line(self, lines: str | Iterable[str]) -> None:
        """Show a line, or several, in the summary."""
        self.summary_lines += [lines] if isinstance(lines, str) else lines

    def add_report(self, name: str, path: str) -> None:
        """List a file that a handler wrote among the reports."""
        self.reports.append((name, str(path)))


class EventHandler:
    """Receives the events of each run of `run` and `fuzz`. It is created with the values of all options by their names."""

    def __init__(self, *args: Any, **params: Any) -> None:
        """Ignore the options."""

    def start(self, ctx: HandlerContext) -> None:
        """Called before the run."""

    def handle_event(self, ctx: HandlerContext, event: Any) -> None:
        """Called for each event (the classes of `checker.reports.Event`), in their order."""

    def shutdown(self, ctx: HandlerContext) -> None:
        """Called when the run is over and before its summary is shown."""


Handler = TypeVar("Handler", bound=type[EventHandler])
GROUPS: Final[list[OptionGroup]] = []  # The checks in the order of registration.
HANDLERS: Final[list[type[EventHandler]]] = []


def add_group(title: str) -> OptionGroup:
    """Return the group of options with this title of `run` and `fuzz`, and create it on first use."""
    for known in GROUPS:
        if known.title == title:
            return known
    GROUPS.append(OptionGroup(title))
    return GROUPS[-1]


def handler() -> Callable[[Handler], Handler]:
    """Return a decorator that registers a subclass of `EventHandler` for each run. Raises `IncorrectUsage` for other objects."""

    def registered(kind: Handler) -> Handler:
        given: object = kind
        if not (isinstance(given, type) and issubclass(given, EventHandler)):
            raise IncorrectUsage(f"a handler is a subclass of checker.cli.EventHandler, not {kind!r}")
        HANDLERS.append(kind)
        return kind

    return registered


_NAMES_US: Final = re.compile(rb"\bchecker\.cli\b|from\s+checker\s+import\s[^\n]*\bcli\b")


class GroupedOption(click.Option):
    """An option that users added."""

    group = ""


def load_extensions(specs: Iterable[str]) -> None:
    """Load those modules of hooks that contain `checker.cli` into this process as well. Raises `ConfigError`.

    Other modules run only in workers, because they may crash or hang.
    """
    for spec in specs:
        # Only if there are hooks: a `random.py` in that folder would replace the module of Python.
        search_working_directory()
        # A missing module has no source here: loading it reports the error.
        try:
            if spec.endswith(".py"):
                path = Path(spec)
            else:
                found = importlib.util.find_spec(spec)
                path = Path(found.origin or "") if found is not None else Path()
            source = read_local(path, "a hooks module", most_bytes=MOST_BYTES)
        except (UnreadableFile, ImportError, ValueError):
            source = b""
        if _NAMES_US.search(source):
            load_hooks(spec)


def options_of_users() -> Iterator[click.Option]:
    """Yield the options that users added, group by group."""
    for group in GROUPS:
        for names, settings in group.options:
            option = GroupedOption(names, **settings)
            option.group = group.title
            yield option
