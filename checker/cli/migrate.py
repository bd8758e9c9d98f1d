"""`checker migrate`."""

from pathlib import Path

import click

from checker.cli.command import Command
from checker.config.config import Config
from checker.config.migration import migrated
from checker.core.errors import UsageError


@click.command(cls=Command)
@click.argument(
    "file", metavar="CONFIG", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--dry-run", is_flag=True, help="Print the new file instead of writing it.")
def migrate(file: Path, *, dry_run: bool) -> None:
    """Rewrite CONFIG with the keys of today, and tell each change; the old file stays beside it as CONFIG.before."""
    try:
        before = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error
    text, changes = migrated(before)
    for change in changes:
        click.echo(change, err=dry_run)
    if dry_run:
        click.echo(text, nl=False)
        return
    if changes:
        file.with_name(f"{file.name}.before").write_text(before, encoding="utf-8")
        file.write_text(text, encoding="utf-8")
    else:
        click.echo("nothing to change")
    Config.from_path(file)
