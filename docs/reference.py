"""Reference pages of the site, generated from the tables of the program when the site is built (a hook of MkDocs)."""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from checker import cli, faces
from checker.commands import legacy, migrate
from checker.commands.config import json_schema
from checker.commands.explain import known_names, pages_for, title_of_name
from checker.commands.topics import KeyOption, by_topic
from checker.config.table import SECTIONS
from checker.core.errors import UsageError
from checker.core.hooks import HOOK_NAMES
from checker.core.reports import REPORT_FORMATS


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, text in pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> None:
    """Let the search list pages for developers after those for users."""
    if page.file.src_uri.startswith("developers/"):
        page.meta["search"] = {"boost": 0.001}


def pages() -> dict[str, str]:
    """Return the Markdown of each page by its name."""
    return {
        "commands": "\n\n".join(["# Commands and options", *commands()]),
        "configuration": "\n\n".join(["# Keys of checker.toml", *sections()]),
        "codes": "\n\n".join(["# Failures, checks and warnings", CODES, *codes()]),
        "reports": "\n\n".join(["# Report formats", table(("name", "title", "file", "written"), formats())]),
        "hooks": "\n\n".join(["# Hooks", HOOKS, table(("hook", "arguments after `ctx`", "scopes", "effect"), hooks())]),
        "python": "\n\n".join(["# Python names", PYTHON, *names()]),
        "earlier": "\n\n".join(["# Earlier options, keys and names", EARLIER, *earlier()]),
    }


CODES = "`checker explain NAME` prints these entries."
HOOKS = """```python
import checker


@checker.hook
def map_query(ctx, query):
    return {**(query or {}), "trace": "checker"}


@checker.hook.apply_to(method="DELETE")
def filter_case(ctx, case):
    return case.path_parameters.get("id") != 1
```

The first argument is a `checker.HookContext`. `@checker.hook` registers a hook for all descriptions (scope `global`), `@schema.hook` for one
(scope `schema`), `@schema.hooks.apply(hook)` for one test (scope `test`). A hooks module is loaded with `CHECKER_HOOKS` or the key `hooks`."""
PYTHON = "Every name is typed. `import checker` loads nothing else; a name is imported when it is first used."
EARLIER = """Options, keys and Python names of earlier tools still work and print the current name. `checker migrate FILE` rewrites a configuration; the old file
is kept as `FILE.before`. The values are samples."""
SAMPLES = {
    "proptest-phases": "explicit,generate",
    "proptest-no-phases": "explicit",
    "proptest-verbosity": "quiet",
    "proptest-suppress-health-check": "too_slow",
    "stateful": "links",
    "force-schema-version": "30",
    "target": "response_time",
    "auth": "user:password",
    "header": "X-Key: 1",
    "data-generation-method": "positive",
    "generation.modes": ["positive", "negative"],
    "checks": "all",
    "exclude-checks": "use_after_free",
    "report": "junit",
    "validate-schema": "true",
    "proptest-report-multiple-bugs": "false",
    "max-response-time": 2000,
    "proptest-deadline": "2000",
    **dict.fromkeys(("set-query", "set-header", "set-cookie", "set-path"), "name=value"),
}
"""Old option or key -> a value that it takes; others take any text, or are switches."""


def earlier() -> Iterator[str]:
    """Yield a table of options, of keys and of Python names."""
    spellings: dict[str, list[str]] = {}
    for flag, (key, _) in legacy.OPTIONS.items():
        spellings.setdefault(key, []).append(flag)
    rows = []
    for key, flags in spellings.items():
        now = sampled(partial(legacy.translated, flags[-1]), key)
        rows.append((", ".join(f"`{flag}`" for flag in flags), f"`{' '.join(now)}`" if now else "always on"))
    rows += [(f"`{name}`", sentence) for name, (_, sentence) in legacy.GONE.items()]
    yield "## Options\n\n" + table(("option", "now"), rows)
    keys = [
        (
            f"`{name}`",
            "<br>".join(
                f"`{key} = {json.dumps(value)}`" for key, value in sampled(partial(legacy.rewritten, name), name)
            )
            or "no effect",
        )
        for name in legacy.RENAMED
    ]
    keys += [(f"`{name}`", instead) for name, instead in migrate.GONE.items()]
    yield "## Keys\n\n" + table(("key", "now"), keys)
    names = [(f"`checker.{old}`", f"`checker.{now}`") for old, now in faces.EARLIER.items()]
    yield "## Python\n\n" + table(("name", "now"), names)


def sampled(translation: Callable[[Any], Iterable[Any]], name: str) -> list[Any]:
    """Return what an old option or key becomes with the first sample that it takes."""
    for sample in (SAMPLES.get(name), "VALUE", True, 2000):
        with suppress(ValueError, TypeError, AttributeError, UsageError):
            if sample is not None and (found := list(translation(sample))):
                return found
    return []


def commands() -> Iterator[str]:
    """Yield a section for each command."""
    root = click.Context(cli.checker, info_name="checker")
    for name in cli.checker.list_commands(root):
        command = cli.checker.get_command(root, name)
        assert command is not None, name
        yield from section_of(command, click.Context(command, info_name=name, parent=root))


def section_of(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the sections of a command and of the commands below it."""
    yield f"## {context.command_path}"
    yield f"```text\n{command.get_usage(context)}\n```"
    yield inspect.cleandoc(command.help or "").replace("\b\n", "")
    for title, options in by_topic(command, context):
        rows = [(f"`{record[0]}`", record[1], note) for record, note in (noted(one, context) for one in options)]
        yield f"**{title}**\n\n" + table(("option", "effect", "key and default"), rows)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None, name
            yield from section_of(below, click.Context(below, info_name=name, parent=context))


def noted(option: click.Option, context: click.Context) -> tuple[tuple[str, str], str]:
    """Return the name and the help of an option, and the key that it sets."""
    record = option.get_help_record(context)
    assert record is not None, option
    return record, f"`{option.note[1:-1]}`" if isinstance(option, KeyOption) else ""


def sections() -> Iterator[str]:
    """Yield a table for each section of the configuration."""
    options = option_of_keys()
    schema = json_schema()
    yield "The JSON Schema with the same keys, for editors: `checker config schema`."
    for path, keys in SECTIONS.items():
        node = schema
        for part in path:
            node = node["properties"].get(part, {"properties": {}})
        yield f"## {'[' + '.'.join(path) + ']' if path else 'Top level'}"
        rows = [
            (
                f"`{name}`",
                accepted(node["properties"].get(name, {})) or key.kind.noun,
                shown(key.default),
                options.get((path, name), ""),
                key.about,
            )
            for name, key in keys.items()
        ]
        yield table(("key", "value", "default", "option", "effect"), rows)


def option_of_keys() -> dict[tuple[tuple[str, ...], str], str]:
    """Return the option of each key that has one."""
    root = click.Context(cli.checker, info_name="checker")
    found: dict[tuple[tuple[str, ...], str], str] = {}
    for name in ("run", "fuzz"):
        command = cli.checker.get_command(root, name)
        assert command is not None
        for option in command.params:
            if isinstance(option, KeyOption):
                place = (option.setting.path, option.setting.key)
                found.setdefault(place, f"`{option.opts[-1]}`")
    return found


def accepted(schema: dict[str, Any]) -> str:
    """Return the values that a key takes, in words."""
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(accepted(one) for one in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {accepted(schema['items'])}"
    limits = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {schema[name]:g}" for name, sign in limits.items() if name in schema]
    types = schema.get("type", [])
    return " ".join([" or ".join([types] if isinstance(types, str) else types), *bounds]).strip()


def shown(default: Any) -> str:
    """Return a default as it is written in the file."""
    if default is None:
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    text = repr(list(default)) if isinstance(default, tuple | frozenset | set) else repr(default)
    return f"`{text.replace(chr(39), chr(34))}`"


def codes() -> Iterator[str]:
    """Yield the entry of each failure, check and warning."""
    for name in known_names():
        yield f"## {name}: {title_of_name(name)}"
        for page in pages_for(name) or ():
            yield "\n".join(f"    {line}".rstrip() for line in page.splitlines())


def formats() -> list[tuple[str, ...]]:
    """Return a row for each report format."""
    return [
        (
            f"`{row.name}`",
            row.title,
            "a folder" if row.is_folder else f"`.{row.extension}`",
            "event by event" if row.streams else "at the end",
        )
        for row in REPORT_FORMATS.values()
    ]


def hooks() -> list[tuple[str, ...]]:
    """Return a row for each hook."""
    rows = []
    for name, hook in HOOK_NAMES.items():
        scopes = ", ".join(scope.value for scope in hook.scopes)
        rows.append((f"`{name}`", ", ".join(f"`{one}`" for one in hook.arguments), scopes, hook.effect))
    return rows


def names() -> Iterator[str]:
    """Yield a section for each public name, with its signature and docstring."""
    for name in faces.PUBLIC:
        thing = faces.resolve(name)
        if inspect.ismodule(thing):
            continue
        yield f"## checker.{name}"
        if callable(thing):
            yield f"```python\n{name.rpartition('.')[2]}{signature(thing)}\n```"
        if text := inspect.getdoc(thing):
            yield text
        if inspect.isclass(thing):
            yield from members(thing)


def signature(thing: Any) -> str:
    """Return the parameters of a callable, or `(...)` for one that has no signature."""
    try:
        return str(inspect.signature(thing))
    except ValueError:
        return "(...)"


def members(kind: type) -> Iterator[str]:
    """Yield a line for each public method and property that the class itself defines."""
    for name, member in vars(kind).items():
        text = inspect.getdoc(member) or ""
        if (
            not name.startswith("_")
            and text
            and (inspect.isfunction(member) or isinstance(member, property | classmethod))
        ):
            yield f"- `{name}`: {' '.join(text.split())}"


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )
