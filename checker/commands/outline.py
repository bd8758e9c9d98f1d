"""`checker list` and `checker graph`, and the settings of commands that take the options of `run` but test nothing."""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import click
from msgspec import Struct, to_builtins

from checker.commands.command import echo, echo_line
from checker.commands.options import RUN_SETTINGS, configured_by, read_filters, run_options
from checker.commands.topics import TestingCommand
from checker.config.resolve import Invocation, run_settings
from checker.config.settings import RunSettings
from checker.core.graphs import grouped
from checker.core.operation import Label
from checker.core.resources import ResourceModel
from checker.corpus.layout import RunLayout
from checker.reporting.text import json_text, xml_text
from checker.workers.starting.outline import RunOutline, read_outline, read_resources


class EdgeKind(StrEnum):
    """The reason why one operation leads to another."""

    DECLARED = "declared"  # A link of the description is the reason of the edge.
    INFERRED = "inferred"  # Names or types of values are the reason of the edge.
    PLACE = "place"  # By the resource model, it uses a resource that the other operation creates.


class GraphEdge(Struct, frozen=True):
    """An edge from an operation that makes a value or resource to one that uses it."""

    source: Label
    target: Label
    kind: EdgeKind
    name: str  # Name of the link; for an edge by the resource model, the variable that is set.
    values: tuple[str, ...] = ()
    """`path id = $response.body#/id`."""


def edges_of(model: ResourceModel) -> tuple[GraphEdge, ...]:
    """Return all edges: links in their order, then those by the resource model, which never lead to the same operation."""
    found = []
    for one in model.transitions:
        kind = EdgeKind.INFERRED if one.is_inferred else EdgeKind.DECLARED
        values = []
        for value in one.values:
            text = value.value if isinstance(value.value, str) else json.dumps(value.value, ensure_ascii=False)
            values.append(f"{value.location.value} {value.name} = {text}".replace("  ", " "))
        found.append(GraphEdge(one.source, one.target, kind, f"{one.name} [{one.status}]", tuple(values)))
    known = {(edge.source, edge.target) for edge in found}
    for label, use in model.uses.items():
        for variable, owner in use.owners:
            for maker in model.makers(owner):
                if maker != label and (maker, label) not in known:
                    known.add((maker, label))
                    found.append(GraphEdge(maker, label, EdgeKind.PLACE, variable))
    return tuple(found)


def graph_text(title: str, model: ResourceModel) -> str:
    """Return each operation in the order of a run, and below it the operations that its responses lead to."""
    lines = [title or "API"]
    below = grouped((edge.source, edge) for edge in edges_of(model))
    for label in model.ordered:
        lines += ["", f"{label}{'  (makes what others use)' * (label in model.producers)}"]
        for edge in below.get(label, ()):
            lines.append(f"  -> {edge.target}  {edge.kind}: {edge.name}")
            lines += [f"       {value}" for value in edge.values]
    return "\n".join(xml_text(" ".join(line.split("\n"))) for line in lines)


_STYLES: Final = {EdgeKind.DECLARED: "bold", EdgeKind.INFERRED: "solid", EdgeKind.PLACE: "dashed"}


def graph_dot(title: str, model: ResourceModel) -> str:
    """Return a digraph of Graphviz: producers are filled, declared links bold, inferred links dashed."""
    lines = [f"digraph {_quoted(title or 'API')} {{", "  rankdir=LR;", "  node [shape=box];"]
    for label in model.ordered:
        style = " [style=filled, fillcolor=lightgrey]" if label in model.producers else ""
        lines.append(f"  {_quoted(label)}{style};")
    lines += [
        f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [label={_quoted(edge.name)}, style={_STYLES[edge.kind]}];"
        for edge in edges_of(model)
    ]
    return "\n".join((*lines, "}"))


def _quoted(text: str) -> str:
    """Return a quoted string of the DOT language, in which a backslash begins an escape of labels."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{xml_text(" ".join(escaped.split()))}"'


_ARROWS: Final = {EdgeKind.DECLARED: "==>", EdgeKind.INFERRED: "-->", EdgeKind.PLACE: "-.->"}


def graph_mermaid(title: str, model: ResourceModel) -> str:
    """Return a flowchart of Mermaid: producers are rounded, declared links thick, inferred links dotted."""
    names = {label: f"n{number}" for number, label in enumerate(model.ordered)}
    lines = ["---", f"title: {json.dumps(title)}", "---"] if title else []
    lines.append("flowchart LR")
    for label, name in names.items():
        opened, closed = ("([", "])") if label in model.producers else ("[", "]")
        lines.append(f"  {name}{opened}{_entities(label)}{closed}")
    lines += [
        f"  {names[edge.source]} {_ARROWS[edge.kind]}|{_entities(edge.name)}| {names[edge.target]}"
        for edge in edges_of(model)
    ]
    return "\n".join(lines)


def _entities(text: str) -> str:
    """Return a quoted string in which special characters of Mermaid are character entities."""
    flat = xml_text(" ".join(text.split()))
    return '"' + re.sub(r"[^\w /.-]", lambda found: f"#{ord(found[0])};", flat) + '"'


GRAPHS: Final[Mapping[str, Callable[[str, ResourceModel], str]]] = {
    "text": graph_text,
    "dot": graph_dot,
    "mermaid": graph_mermaid,
}
"""Name of a format -> its writer."""


_WIDEST = 60  # Most columns of labels: a longer one shifts only its own line.


def outline_text(outline: RunOutline) -> str:
    """Return one line for each operation: its label, its inputs (`*`: required), the phases that test it."""
    head = " · ".join(
        part
        for part in (outline.title, outline.specification, f"{outline.selected} selected / {outline.total} total")
        if part
    )
    lines = [head]
    if outline.filters:
        lines.append(f"Filters: {', '.join(outline.filters)}")
    lines.append("")
    width = min(_WIDEST, max((len(one.label) for one in outline.operations), default=0))
    for one in outline.operations:
        parts = [f"{found.name}{'*' * found.is_required} ({found.location})" for found in one.inputs]
        parts += [f"body {name}" for name in one.media_types]
        notes = [", ".join(parts) or "-", f"[{', '.join(one.phases) or 'no phase'}]"]
        if one.deprecated:
            notes.append("deprecated")
        lines.append("  ".join((f"{one.label:<{width}}", *notes)))
    if outline.broken:
        lines += ["", "Not readable:"]
        lines += [f"{label}: {error}" for label, error in outline.broken]
    return "\n".join(xml_text(" ".join(line.splitlines())) for line in lines)


def outline_json(outline: RunOutline) -> str:
    """Return an object: `operations` in document order, each with `label`, `inputs`, `phases` and further properties."""
    plain = to_builtins(outline)
    plain["selected"] = outline.selected
    plain["broken"] = [{"label": label, "error": error} for label, error in outline.broken]
    return json_text(plain, indent=True)


@contextmanager
def planned_run(ctx: click.Context, options: Mapping[str, Any]) -> Iterator[tuple[RunSettings, RunLayout]]:
    """Yield the settings of a run with these options, and a temporary folder. Raises `ConfigError` and `UsageError`."""
    filters = read_filters(options)
    config, root = configured_by(ctx, options, RUN_SETTINGS)
    occasion = Invocation(options["location"], filters=filters, app=options["app"], hooks=root.hooks)
    settings = run_settings(config, occasion)
    with tempfile.TemporaryDirectory() as folder:
        layout = RunLayout(Path(folder))
        layout.create()
        yield settings.with_changes(corpus={"folder": folder}), layout


@click.command(cls=TestingCommand)
@click.option(
    "--format",
    "shape",
    type=click.Choice(tuple(GRAPHS)),
    default="text",
    help="Text for people, or a graph for Graphviz or Mermaid.",
)
@run_options(RUN_SETTINGS)
@click.pass_context
def graph(ctx: click.Context, /, shape: str, **options: Any) -> None:
    """Show which operations create the resources that others use, and the links from responses to requests.

    Only the request for the description at LOCATION is sent.
    """
    with planned_run(ctx, options) as (settings, layout):
        title, model = read_resources(settings, layout)
    echo(GRAPHS[shape](title, model))


@click.command(cls=TestingCommand)
@click.option(
    "--format",
    "shape",
    type=click.Choice(("text", "json")),
    default="text",
    help="Text for people, or one JSON object.",
)
@run_options(RUN_SETTINGS)
@click.pass_context
def list(ctx: click.Context, /, shape: str, **options: Any) -> None:
    """List the operations that `run` with these options would test, with their inputs and the phases that test them.

    Only the request for the description at LOCATION is sent.
    """
    with planned_run(ctx, options) as (settings, layout):
        outline = read_outline(settings, layout)
    for sentence in outline.unmatched:
        echo_line(f"Warning: {sentence}", err=True)
    echo(outline_json(outline) if shape == "json" else outline_text(outline))
