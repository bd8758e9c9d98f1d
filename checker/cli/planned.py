"""What commands that send nothing share with `run`: its options, its settings, a folder that nobody keeps."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from checker.cli.filters import read_filters
from checker.cli.main import Root
from checker.cli.options import RUN_SETTINGS, apply_options
from checker.config.config import Config
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.corpus.layout import RunLayout


@contextmanager
def planned_run(
    ctx: click.Context, options: Mapping[str, Any]
) -> Iterator[tuple[RunSettings, RunLayout]]:
    """Settings of the run that these options stand for, and a layout in a folder that goes away.

    Raises `ConfigError` and `UsageError`.
    """
    root = ctx.find_object(Root) or Root()
    filters = read_filters(options)
    config = Config.from_path(root.config_file) if root.config_file else Config.discover()
    has_hooks = bool(root.hooks or config.hooks or os.environ.get("CHECKER_HOOKS"))
    apply_options(config, options, RUN_SETTINGS, has_hooks=has_hooks)
    occasion = Invocation(
        options["location"], filters=filters, app=options["app"], hooks=root.hooks
    )
    settings = run_settings(config, occasion)
    with tempfile.TemporaryDirectory() as folder:
        layout = RunLayout(Path(folder))
        layout.create()
        yield replace(settings, corpus_dir=folder), layout
