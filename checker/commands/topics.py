"""Help by topic: a first page of two screens, and all options with their keys and defaults."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from checker.commands.command import CannotRun, Root
from checker.commands.extending import GroupedOption, load_extensions, options_of_users
from checker.commands.legacy import LegacyCommand
from checker.commands.values import SettingOption
from checker.config.table import default_of
from checker.core.errors import ConfigError

MOST_USED: Final = "Most used"
TOPICS: Final[Mapping[str, str]] = {
    MOST_USED: "url|app|headers|auth|phases|checks|exclude_checks|mode|max_examples|max_time|workers|seed|"
    "max_failures|report|include_path|exclude_path|dry_run|shape",
    "Operations": "include_.*|exclude_.*|shard.*|changed_since|with_dependents",
    "Requests": "origin|proxy|tls_verify|request_.*|rate_limit|max_redirects|wait_for_schema|lanes|cluster|max_workers|max_memory|max_disk|safety",
    "Authentication": "auth_.*",
    "Cases": "generation_.*|no_shrink|corpus|suppress_health_check",
    "Checks and failures": "max_response_time|continue_on_failure|baseline.*|compare|warnings|fail_under_.*",
    "Reports": "report_.*|upload_.*|live_port|debug_output_file",
    "Output": "output_.*|max_shown|code_sample_style|no_color|force_color",
    "Others": ".*",
}
"""Title -> names of options, as a pattern; the first match counts."""


_MANY: Final = re.compile(
    r"(?P<filter>(in|ex)clude)-(path|method|name|tag|operation-id|by)(-regex)?|report-[a-z]+-path|fail-under-[a-z-]+"
)
"""Groups of options: one for each kind of filter, each format, and each part of a description."""


_HELPS: Final = frozenset(("--help", "-h", "--help-all"))


class KeyOption(click.Option):
    """An option that sets a key of the configuration."""

    def __init__(self, *given: Any, setting: SettingOption, **more: Any) -> None:
        super().__init__(*given, **more)
        self.setting = setting

    @property
    def note(self) -> str:
        """Return the key, the default and the environment variable of the option."""
        key = ".".join((*self.setting.path, self.setting.key))
        default = default_of(self.setting.path, self.setting.key)
        parts = [key]
        if default not in (None, [], {}, ""):
            shown = str(default).lower() if isinstance(default, bool) else str(default)
            parts.append(f"default: {shown!r}" if "\r" in shown else f"default: {shown}")
        if self.setting.variable:
            parts.append(self.setting.variable)
        return f"[{'; '.join(parts)}]"


def topic_of(option: click.Option) -> str:
    """Return the topic of an option."""
    name = option.name or ""
    return next(title for title, names in TOPICS.items() if re.fullmatch(names, name))


def by_topic(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, list[click.Option]]]:
    """Yield (title, options that are shown) of each topic that has any."""
    params = command.get_params(ctx)
    options = [
        one for one in params if isinstance(one, click.Option) and not one.hidden and not _HELPS.issuperset(one.opts)
    ]
    added = [one for one in options if isinstance(one, GroupedOption)]
    topics: dict[str, list[click.Option]] = {title: [] for title in TOPICS}
    for one in options:
        if one not in added:
            topics[topic_of(one)].append(one)
    yield from ((title, mine) for title, mine in topics.items() if mine)
    for title in dict.fromkeys(one.group for one in added):
        yield title, [one for one in added if one.group == title]


def _record(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    found = option.get_help_record(ctx)
    assert found is not None
    return found


def show_all(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Print all options, each with its key and its default: the callback of `--help-all`."""
    if value and not ctx.resilient_parsing:
        formatter = ctx.make_formatter()
        ctx.command.format_usage(ctx, formatter)
        ctx.command.format_help_text(ctx, formatter)
        for title, options in by_topic(ctx.command, ctx):
            with formatter.section(title):
                rows = []
                for one in options:
                    name, text = _record(one, ctx)
                    rows.append((name, f"{text} {one.note}" if isinstance(one, KeyOption) else text))
                formatter.write_dl(rows)
        click.echo(formatter.getvalue().rstrip("\n"), color=ctx.color)
        ctx.exit()


class TestingCommand(LegacyCommand):
    """`run` and `fuzz`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line, with the options of those modules that are known before the configuration is read."""
        root = ctx.find_object(Root) or Root()
        try:
            load_extensions(filter(None, (*root.hooks, os.environ.get("CHECKER_HOOKS"))))
        except ConfigError as error:
            raise CannotRun(error) from error
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the built-in options and those that users add."""
        return [*super().get_params(ctx), *options_of_users()]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first page of help: the most used options, and the names of the others."""
        others = []
        for title, options in by_topic(self, ctx):
            if title == MOST_USED:
                with formatter.section(title):
                    formatter.write_dl([_record(one, ctx) for one in options])
            else:
                names = (
                    _MANY.sub(
                        lambda found: (
                            "include/exclude-TYPE[-regex]"
                            if found["filter"]
                            else "fail-under-PART"
                            if found[0].startswith("fail")
                            else "report-FORMAT-path"
                        ),
                        one.opts[-1][2:],
                    )
                    for one in options
                )
                others.append((title, ", ".join(dict.fromkeys(names))))
        with formatter.section("Others, without their dashes (--help-all explains them)"):
            formatter.write_dl(others)
