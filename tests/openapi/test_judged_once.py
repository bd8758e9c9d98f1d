"""What the referee has judged of a request, it knows of the next one that says it, too."""

from collections import Counter

import pytest

from checker.core.contract import PartVerdict
from checker.core.request import Location, WireRequest
from checker.openapi.referee import Part, Rule
from checker.transport.wire.readings import Reading

from .documents import operation
from .judging import INTEGER, INVALID, OBJECT, VALID, bodied

NUMBER = {"name": "p", "in": "query", "schema": INTEGER}


def test_a_part_that_was_judged_is_not_judged_again_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[object] = []
    usual = Part.judged

    def counted(part: Part, found: list[Reading], rule: Rule) -> list[PartVerdict]:
        judged.append(part.location)
        return usual(part, found, rule)

    monkeypatch.setattr(Part, "judged", counted)
    found = operation({"responses": {}, **bodied(application__json=OBJECT), "parameters": [NUMBER]})
    fields = [(b"Content-Type", b"application/json")]
    requests = [
        WireRequest(found.method, f"/it?p={number}".encode(), fields, body)
        for number in range(3)
        for body in (b"{}", b"[]")
    ]
    whole = [found.judge_request(request).of(Location.BODY) for request in requests]
    assert whole == [VALID, INVALID] * 3
    assert Counter(judged) == {Location.QUERY: 3, Location.BODY: 2}
