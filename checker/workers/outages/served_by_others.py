"""What other workers of the run were served, the dead among them: who was never served anything asks again for that."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct, field

from checker.core.errors import CheckerError
from checker.core.operation import Label, Operation
from checker.corpus.journal import JournalReader
from checker.corpus.learned import OperationServed
from checker.phases.literals import literal_case, literal_of
from checker.phases.making import GeneratedCase
from checker.workers.context import WorkerContext
from checker.workers.recording.served import Sent, is_lasting

_PHASE = "witness"


class ServedByOthers(Struct):
    """Requests that journals name. They are read when somebody wants to know, and each part of them once."""

    context: WorkerContext
    _readers: dict[str, JournalReader] = field(default_factory=dict)

    def tell(self, sent: Sent) -> None:
        """Write down what was served here, if others can ask for it again, whatever becomes of this worker."""
        recorder, case = self.context.recorder, sent.made.case
        if not is_lasting(sent):
            return
        request = literal_of(case)
        if not recorder.secrets.is_in([request.query, request.headers, request.cookies]):
            recorder.keep([OperationServed(sent.label, sent.status, request)])

    def news(self) -> Iterator[Sent]:
        """What others were served since the last time."""
        for path in self.context.recorder.peers:
            reader = self._readers.setdefault(path, JournalReader(Path(path)))
            for record in reader.read_new():
                if isinstance(record, OperationServed):
                    yield from self._sent(record)
            reader.close()

    def _sent(self, record: OperationServed) -> Iterator[Sent]:
        operation: Operation | None = self.context.selected.get(Label(record.label))
        if operation is None:
            return
        case = literal_case(operation, record.request, _PHASE, "")
        try:
            request = self.context.tools.maker.make(case)
        except CheckerError:
            # It was made in another way: hooks had a part in it.
            return
        made = GeneratedCase(case, operation.label, (), (), record.request)
        yield Sent(made, request, record.status)
