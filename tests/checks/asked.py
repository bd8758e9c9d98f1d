"""Checks asked about one exchange that a test writes down."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from checker.checks.context import CheckTools, JudgedInteraction, Peers
from checker.checks.judge import Judge, Judgement, JudgeSettings
from checker.checks.to_run import selected_checks
from checker.core.case import Case
from checker.core.digests import case_id
from checker.core.meta import Binding, CaseMetadata, ComponentProvenance, GenerationMode, PhaseData, PhaseInfo
from checker.core.operation import Location
from checker.core.request import BaseUrl, WireRequest
from checker.core.response import NetworkFailure, Outcome, Response
from checker.kinds.protocol import ApiOperation
from checker.openapi.loaders import from_dict
from checker.openapi.operation import OpenApiOperation
from checker.phases.bindings import renewed
from checker.transport.prepare import RequestMaker

NEGATIVE, POSITIVE = GenerationMode.NEGATIVE, GenerationMode.POSITIVE
_ORIGIN = BaseUrl("http", "127.0.0.1", 80, "/v1")


def operations_of(
    paths: dict[str, Any], components: dict[str, Any] | None = None, **root: Any
) -> dict[str, ApiOperation]:
    """Operations of a document by label."""
    document = {"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": paths, **root}
    if components is not None:
        document["components"] = components
    found = list(from_dict(document).get_all_operations())
    return {str(one.label): one for one in found if isinstance(one, OpenApiOperation)}


@dataclass
class Sent:
    """Stands in place of an exchange that happened: implements `checker.checks.context.Interaction`."""

    case: Case
    request: WireRequest | None
    outcome: Outcome | None


@dataclass
class Exchanges:
    """One operation after the other, as its requests are made, with answers that a test gives."""

    operations: dict[str, ApiOperation]
    headers: tuple[tuple[str, str], ...] = ()
    """What the user gave for every request."""
    neutral: tuple[tuple[str, str], ...] = ()
    """Headers for every request that have no name of credentials."""
    peers: Peers | None = None
    asked: list[WireRequest] = field(default_factory=list)
    """What checks have sent."""

    def __post_init__(self) -> None:
        self._maker = RequestMaker(_ORIGIN, (*self.headers, *self.neutral), version="1")
        self._anonymous = RequestMaker(_ORIGIN, self.neutral, version="1")
        self._bare = RequestMaker(_ORIGIN, (), version="1")

    def sent(
        self,
        label: str,
        status: int,
        received: Sequence[tuple[str, str]] = (),
        *,
        answer: bytes = b"",
        method: str | None = None,
        mode: GenerationMode = NEGATIVE,
        phase: str = "coverage",
        bindings: tuple[Binding, ...] = (),
        data: dict[str, str | None] | None = None,
        pinned: tuple[str, ...] = (),
        index: int = 0,
        **parts: Any,
    ) -> Sent:
        """A case of these parts, its request and its answer."""
        components = {
            location: ComponentProvenance(outside=pinned)
            for location, name in ((Location.PATH, "path_parameters"), (Location.HEADER, "headers"))
            if name in parts
        }
        meta = CaseMetadata(mode, components, PhaseInfo(phase, PhaseData(data or {})), bindings)
        case = Case(self.operations[label], case_id(1, index), meta=meta, **parts)
        request = self._maker.make(case)
        request.method = method or request.method
        return Sent(case, request, Response(status, list(received), answer, request=request))

    def verdict(
        self,
        name: str,
        sent: Sent,
        sequence: Sequence[JudgedInteraction] = (),
        answers: Callable[[WireRequest], Outcome] | None = None,
        **settings: Any,
    ) -> Judgement:
        """What one check says of an exchange; `answers` answers what it sends."""
        assert isinstance(sent.outcome, Response)
        work = self.judge(name, **settings).judge(sent.case, sent.outcome, sequence)
        return self.drive(work, answers)

    def judge(self, name: str, **settings: Any) -> Judge:
        """A judge of one check."""
        return Judge(selected_checks([name]), JudgeSettings({name: settings}), self._tools())

    def failures(self, name: str, sent: Sent, *sequence: JudgedInteraction, **settings: Any) -> list[str]:
        """Keys of the failures; nothing may be in doubt."""
        found = self.verdict(name, sent, sequence, **settings)
        assert found.unjudged == ()
        return [one.unique_key for one in found.failures]

    def drive(
        self, work: Generator[WireRequest, Outcome, Judgement], answers: Callable[[WireRequest], Outcome] | None
    ) -> Judgement:
        """What a judge says in the end; what it sends is kept in `asked`."""
        try:
            wanted = next(work)
            while True:
                assert answers is not None, "a check sends"
                self.asked.append(wanted)
                answer = answers(wanted)
                if not isinstance(answer, NetworkFailure):
                    answer.request = wanted
                wanted = work.send(answer)
        except StopIteration as end:
            found: Judgement = end.value
            return found

    def _tools(self) -> CheckTools:
        return CheckTools(self._maker, self._anonymous, renewed, self.peers, self._bare if self.neutral else None)
