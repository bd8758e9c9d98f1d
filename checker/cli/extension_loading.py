"""Modules of users that extend the command line, and the options that they add."""

import importlib.util
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import click

from checker.cli.extending import GROUPS
from checker.config.attributes import search_working_directory
from checker.config.hooks_loading import MOST_BYTES, load_hooks
from checker.core.errors import UnreadableFile
from checker.core.local_files import read_local

_NAMES_US: Final = re.compile(rb"\bchecker\.cli\b|from\s+checker\s+import\s[^\n]*\bcli\b")


class GroupedOption(click.Option):
    """An option that users added."""

    group = ""
    """Title of its group."""


def load_extensions(specs: Iterable[str]) -> None:
    """Load those modules of hooks that name `checker.cli` into this process, too. Raises `ConfigError`.

    All others run in workers alone: they may crash or hang.
    """
    search_working_directory()
    for spec in specs:
        if _NAMES_US.search(_source_of(spec)):
            load_hooks(spec)


def options_of_users() -> Iterator[click.Option]:
    """Options that were added, group by group."""
    for group in GROUPS:
        for names, settings in group.options:
            option = GroupedOption(names, **settings)
            option.group = group.title
            yield option


def _source_of(spec: str) -> bytes:
    """Source of a module or a file, as far as it is there: whoever loads it says what is wrong with it."""
    try:
        if spec.endswith(".py"):
            path = Path(spec)
        else:
            found = importlib.util.find_spec(spec)
            path = Path(found.origin or "") if found is not None else Path()
        return read_local(path, "a hooks module", most_bytes=MOST_BYTES)
    except (UnreadableFile, ImportError, ValueError):
        return b""
