"""NDJSON: the events of a run, one JSON object on each line, with the name of the event as its only key."""

import base64
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from checker import __version__
from checker.corpus.known import Compared, KnownFailures
from checker.corpus.records import (
    Finding,
    Interaction,
    Note,
    OperationError,
    Quarantined,
    RunFinished,
    RunStarted,
    SchemaOpened,
    WorkerGone,
)
from checker.reporting.baselines import baseline_values
from checker.reporting.events import Event, PhaseFinished, PhaseStarted
from checker.reporting.findings import cause_of, has_response, prose
from checker.reporting.shown import ReportContext, for_equal_bodies, shown_findings, shown_headers, shown_request
from checker.reporting.text import json_text


class EventLines:
    """The lines of the events, each with a number (`id`) and a time. A `StreamWriter`."""

    def __init__(self, context: ReportContext) -> None:
        self.context = context
        self._count = 0
        self._at = context.started_at
        self._held = _HeldAgainst(KnownFailures(context.baseline))

    def head(self) -> str:
        context = self.context
        about = {"command": context.command, "version": __version__, "seed": context.seed}
        return self._line("Initialize", about) + self._line("LoadingStarted", {"location": context.location})

    def event(self, event: Event) -> str:
        match event:
            case Interaction():
                self._at = max(self._at, event.at)
                self._held.tested.add(event.label)
                return self._scenario(event)
            case RunStarted() | RunFinished():
                self._at = event.at
                if isinstance(event, RunStarted):
                    return ""
                lines = ""
                if event.outcome == "interrupted":
                    lines = self._line("Interrupted", {"phase": None})
                if event.outcome == "error":
                    lines += self._line("FatalError", {"message": "the run could not be finished"})
                if self.context.baseline:
                    compared = self._held.compared(event.outcome)
                    lines += self._line("Baseline", baseline_values(compared) or {})
                fields = {"running_time": event.elapsed_s, "stop_reason": event.outcome}
                return lines + self._line("EngineFinished", fields)
            case PhaseStarted():
                begun = {"phase": {"name": event.name}}
                return self._line("PhaseStarted", begun) + self._line(
                    "SuiteStarted", {"suite_id": event.name, "phase": event.name}
                )
            case PhaseFinished():
                found = self._held.findings.values()
                failing = {one.label for one in found if self._held.known.fails(one)}
                known = len(event.failed & {one.label for one in found} - failing)
                failed = len(event.failed) - known
                passed = "success" if event.tested else "skip"
                status = "error" if event.errored else "failure" if failed else passed
                suite = {"suite_id": event.name, "phase": event.name, "status": status}
                phase = {
                    "phase": {"name": event.name},
                    "status": status,
                    "payload": {"tested": event.tested, "failed": failed, "known": known, "errored": event.errored},
                }
                return self._line("SuiteFinished", suite) + self._line("PhaseFinished", phase)
            case SchemaOpened():
                self._held.is_all = event.is_whole
                kind, _, version = event.specification.rpartition(" ")
                loaded = {
                    "location": self.context.location,
                    "base_url": event.base_url,
                    "title": event.title,
                    "specification": {"kind": kind, "version": version},
                    "statistic": {"operations": {"total": event.total, "selected": event.selected}},
                }
                return self._line("LoadingFinished", loaded) + self._line("EngineStarted", {})
            case Finding():
                return self._finding(event) if event.investigation.stage == "minimised" else ""
            case OperationError() | Quarantined():
                return self._line("NonFatalError", _error(event, self.context))
            case Note():
                warning = {"kind": event.kind, "label": event.label, "pointer": event.pointer}
                return self._line("Warning", {**warning, "message": event.text})
            case WorkerGone():
                return ""

    def end(self) -> str:
        """Return nothing: the last event already ends the run."""
        return ""

    def _line(self, name: str, fields: dict[str, Any]) -> str:
        self._count += 1
        about = {"id": f"{self._count:032x}", "timestamp": self._at}
        return json_text({name: {**about, **fields}}) + "\n"

    def _finding(self, event: Finding) -> str:
        self._held.add(event)
        (shown,) = shown_findings([event], self.context)
        return self._line(
            "Finding",
            {
                "fingerprint": event.fingerprint,
                "cause": cause_of(event),
                "code": event.code,
                "check": event.check,
                "operation": event.label,
                "title": event.title,
                "severity": event.severity,
                "message": shown.message,
                "phase": event.phase,
                "case_id": event.case,
                "stability": shown.stability,
                "failure_id": shown.id,
                "standing": str(shown.standing),
                "code_sample": "\n".join(shown.commands),
                "hidden": list(shown.hidden),
            },
        )

    def _scenario(self, interaction: Interaction) -> str:
        """Return the lines of an interaction. Each interaction is its own scenario, so that nothing has to be kept in memory."""
        about = {"suite_id": interaction.phase, "phase": interaction.phase, "label": interaction.label}
        ended = {
            **about,
            "status": interaction.status.lower(),
            "elapsed_time": interaction.exchange.elapsed_s,
            "is_final": False,
            "worker_id": interaction.worker,
            "purpose": interaction.purpose.value,
            "recorder": _recorder(interaction, self.context),
        }
        return self._line("ScenarioStarted", about) + self._line("ScenarioFinished", ended)


class _HeldAgainst(Struct):
    """The findings so far. The findings are compared with the baseline at the end."""

    known: KnownFailures
    tested: set[str] = field(default_factory=set)
    findings: dict[str, Finding] = field(default_factory=dict)
    is_all: bool = False  # Whether all operations are selected.

    def add(self, finding: Finding) -> None:
        """Add a finding, or remove it if it is withdrawn or a duplicate."""
        if finding.same_as or finding.investigation.withdrawn or not self.known.baseline:
            self.findings.pop(finding.fingerprint, None)
        else:
            self.findings[finding.fingerprint] = replace(finding, interactions=())

    def compared(self, outcome: str) -> Compared:
        is_whole = self.is_all and outcome == "completed"
        return self.known.compared(self.findings.values(), self.tested, is_whole=is_whole)


def _recorder(interaction: Interaction, context: ReportContext) -> dict[str, Any]:
    sent, exchange = shown_request(interaction, context), interaction.exchange
    response = None
    if has_response(exchange):
        response = {
            "status_code": exchange.status,
            "headers": shown_headers(exchange, context),
            "content": _encoded(exchange.response_body),
            "content_size": exchange.response_size,
            "elapsed": exchange.elapsed_s,
        }
    meta = {
        "generation": {"time": interaction.generation_s, "mode": interaction.mode},
        "components": {one.location: {"mode": one.mode} for one in interaction.components},
        "phase": {"name": interaction.phase, "data": dict(interaction.phase_data)},
    }
    request: dict[str, Any] = {"method": sent.method, "uri": sent.url, "headers": sent.headers}
    if sent.body is not None:
        request["body"] = _encoded(sent.body)
        if sent.body_size > len(sent.body):
            request["body_size"] = sent.body_size
    checks = [
        {
            "name": check.name,
            "status": check.status.lower(),
            **({"failure": {"message": check.message}} if check.message is not None else {}),
        }
        for check in interaction.checks
    ]
    return {
        "label": interaction.label,
        "cases": {interaction.case: {"value": {"id": interaction.case, "meta": meta}}},
        "checks": {interaction.case: checks},
        "interactions": {
            interaction.case: {
                "request": request,
                "response": response,
                "failure": exchange.failure,
                "timestamp": interaction.at,
            }
        },
    }


def _error(event: OperationError | Quarantined, context: ReportContext) -> dict[str, Any]:
    if isinstance(event, Quarantined):
        info = {"title": "Quarantined case", "message": event.reason}
        return {"info": info, "label": event.label, "phase": None, "related_to_operation": True}
    command = context.masking.command(event.request, [event.components]) if event.request else None
    info = {"title": event.title, "message": prose(event.message, context.masking.command)}
    if command is not None:
        info["code_sample"] = command.text
    return {"info": info, "label": event.label, "phase": event.phase or None, "related_to_operation": bool(event.label)}


@for_equal_bodies
def _encoded(content: bytes) -> dict[str, str]:
    return {"$base64": base64.b64encode(content).decode("ascii")}
