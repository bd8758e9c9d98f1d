"""All that is ever read of an answer: by checks, by the corpus, by whoever prints it."""

import contextlib
from typing import Any

from checker.checks.judge import Judge, Judgement
from checker.checks.table import BUILT_IN
from checker.core.blocks import Answer, FailedCase, failure_block
from checker.core.case import Case
from checker.core.operation import BrokenOperation, Operation
from checker.core.response import NetworkFailure, Outcome, Response, readable
from checker.corpus.codec import pack, unpack
from checker.corpus.secrets import Secrets, exchange
from checker.openapi.loaders import from_dict
from checker.values.harvest import Places
from checker.values.history import SCALARS
from checker.workers.observers.signals import SignalSet

_NODE = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "maximum": 1000},
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
        "inner": {"$ref": "#/components/schemas/Node"},
    },
}
_REF = {"schema": {"$ref": "#/components/schemas/Node"}}
_HEADERS = {
    "X-Number": {"schema": {"type": "integer"}},
    "X-Flag": {"schema": {"type": "boolean"}},
    "X-List": {"schema": {"type": "array", "items": {"type": "integer"}}},
    "X-Object": {"schema": {"type": "object"}, "explode": True},
    "X-Json": {"content": {"application/json": _REF}},
    "Retry-After": {"schema": {"type": "number"}},
    "Set-Cookie": {"schema": {"type": "string", "maxLength": 100}},
}
_CONTENT = {
    **dict.fromkeys(("application/json", "application/xml", "*/*"), _REF),
    "text/plain": {"schema": {"type": "integer"}},
    "text/event-stream": {"itemSchema": {"type": "object", "required": ["data"]}},
    "application/x-ndjson": {"itemSchema": _REF["schema"]},
}
PROMISE: dict[str, Any] = {"description": "", "headers": _HEADERS, "content": _CONTENT}
COMPONENTS = {"schemas": {"Node": _NODE}}


def _operation() -> Operation:
    paths = {"/{n}": {"get": {"responses": {"200": PROMISE, "4XX": PROMISE}}}}
    raw = {"openapi": "3.2.0", "info": {"title": "T", "version": "1"}, "paths": paths}
    (found,) = from_dict(raw | {"components": COMPONENTS}).get_all_operations()
    assert not isinstance(found, BrokenOperation), found.error
    return found


class Readers:
    """Whoever reads answers, over and over."""

    def __init__(self) -> None:
        self._case = Case(_operation(), "1")
        self._judge = Judge([one for one in BUILT_IN.values() if not one.switch])
        self._signals = SignalSet()
        self._places = Places(self._case.operation.label)
        self._secrets = Secrets([("Authorization", "Bearer 0123456789abcdef")])

    def read(self, outcome: Outcome) -> Judgement | None:
        """What the checks say of it, after everybody else has read it; None of what is not judged."""
        assert outcome.request is not None if isinstance(outcome, Response) else True
        response = outcome.partial if isinstance(outcome, NetworkFailure) else outcome
        if response is None:
            return None
        self._keep(outcome, response)
        judgement = self._judge.verdict(self._case, response)
        assert judgement is not None
        self._signals.observe(self._case, response, judgement)
        for place, value in self._places.leaves(response):
            assert len(place.origin[1]) < 10_000
            assert isinstance(value, SCALARS)
        shown = readable(response.content, (), is_cut=response.is_truncated)
        reached = Answer(response.status_code, response.message, shown.content, shown.is_cut, response.encoding)
        failures = tuple((one.title, one.message) for one in judgement.failures)
        assert failure_block(1, FailedCase("1", failures, reached, ()))
        return judgement

    def _keep(self, outcome: Outcome, response: Response) -> None:
        request = response.request
        assert request is not None
        fields = exchange(request, outcome, self._secrets)
        assert unpack(pack(fields), list)
        assert response.text_lossy() is not None
        assert response.headers is not None
        assert response.truncated(3).body_size == response.body_size
        # The two that say what they raise.
        with contextlib.suppress(UnicodeDecodeError, LookupError):
            assert response.text is not None
        with contextlib.suppress(ValueError):
            response.json()
