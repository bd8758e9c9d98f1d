"""Kinds of descriptions, phases, transports, reports, warnings, the command line."""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from checker import APIOperation, Case, CheckResult, cli, config, kinds, observers, phases, reports, transport, warnings


class Answer:
    """Promises `ok`."""

    reads_prefix = refuses_compressed = False

    def is_valid(self, content: bytes) -> bool:
        return content == b"ok"

    def opinions(self, content: bytes) -> kinds.BodyOpinions:
        if b"\0" in content:
            return kinds.BodyOpinions(undecodable=kinds.UndecodableBody("text/plain", "NUL"))
        wrong = kinds.SchemaViolation(("answer",), "#1", (), "answer", "not ok", "ok", "?")
        return kinds.BodyOpinions((wrong,))


class Contract:
    """Answers with 200."""

    def plan(self, status: int, content_type: str | None) -> kinds.ResponsePlan:
        documented = kinds.MediaTypeVerdict.DOCUMENTED
        return kinds.ResponsePlan(status == 200, ("200",), documented, ("text/plain",), Answer())


class Commands:
    """A kind of descriptions."""

    name = "commands"

    def claims(self, name: str) -> bool:
        return name.endswith(".commands")

    def open(self, source: kinds.DescriptionSource, options: kinds.FetchOptions) -> kinds.ApiSchema:
        if isinstance(source, kinds.FileSource):
            return self.reopen(Path(source.path).read_bytes())
        if isinstance(source, kinds.TextSource):
            return self.reopen(source.data)
        if isinstance(source, kinds.UrlSource):
            raise kinds.ForeignDescription(f"{source.url} is no file")
        raise config.ConfigError("commands are read from files")

    def reopen(self, data: bytes) -> kinds.ApiSchema:
        body = kinds.Body("text/plain", kinds.json_schema({"type": "string"}), "#put", {})
        operation = kinds.DeclaredOperation(kinds.Label("do put"), Contract(), bodies=(body,))
        return kinds.DeclaredSchema(self.name, "Commands 1", data, (operation,), "Commands")


kinds.register(Commands())


def quotations(operation: APIOperation, context: phases.ListingContext) -> Iterator[Case]:
    for one in operation.parameters:
        if one.location is kinds.Location.QUERY and context.is_first_of_path:
            yield operation.Case(query={one.name: "'"})


phases.register(phases.Phase("quoting", phases.CaseSource.LISTED, quotations, tries_saved=True))


class Tally:
    """Notes each judged case."""

    def saw(self, flight: observers.InFlight, verdict: observers.Verdict) -> list[observers.Note] | None:
        return [observers.Note("tally", flight.made.label, "", verdict.case.id)]


observers.register(observers.ObserverRow("tally", lambda tools: Tally(), one_in=2))


class Memory(transport.BlockingTransport):
    """Asks nobody."""


def shop(origin: transport.BaseUrl, settings: transport.HttpSettings, lanes: int) -> transport.Transport:
    def answer(request: transport.WireRequest, timeout_s: float) -> transport.Response | transport.NetworkFailure:
        if request.method == "TRACE":
            return transport.NetworkFailure(transport.FailureKind.TIMEOUT, "nobody answers", 0.0)
        return transport.Response(200, [], json.dumps({}).encode(), request=request)

    return Memory(answer, settings)


async def asgi(scope: Any, receive: Any, send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


def wsgi(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    start_response("200 OK", [])
    return [b""]


transports = [transport.asgi(asgi), transport.wsgi(wsgi), shop]


class Lines:
    """A report that is written while the run goes on."""

    def __init__(self, context: reports.ReportContext) -> None:
        self.seed = context.seed

    def head(self) -> str:
        return "what\n"

    def event(self, event: reports.Event) -> str:
        match event:
            case reports.Interaction():
                return f"{event.label}\n"
            case reports.Finding() if event.investigation.stage == "minimised":
                return f"{event.title}\n"
            case _:
                return ""

    def end(self) -> str:
        return f"{self.seed}\n"


reports.register(reports.ReportFormat("csv", "CSV", "csv", Lines, streams=True, needs_traffic=True))


def one_answer(facts: warnings.WarningFacts) -> Iterator[warnings.Note]:
    for label, statuses in facts.positive():
        if len(statuses) == 1:
            yield warnings.Note("one_answer", label, "", "always one")


warnings.register(warnings.WarningRow("one_answer", "One answer", "Look.", trigger=one_answer))


def outcome(result: CheckResult) -> str:
    name, status, failure = result
    return f"{name}: {status}" if failure is None else failure.title


modules = [cli, transport, warnings, phases, kinds, reports]
