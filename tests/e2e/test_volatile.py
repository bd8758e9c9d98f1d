"""Ten defects whose error texts never repeat are ten findings, and each disclosure in these texts is one more."""

import json
from pathlib import Path
from typing import Any

import pytest

from checker.corpus.records import Finding
from tests.apps.serving import serving
from tests.apps.volatile import DEFECTS, DISCLOSING, document, volatile
from tests.e2e.runner import Command

Sent = tuple[str, str, str]


def sent(method: str, target: str, body: Any) -> Sent:
    return method, target, "" if body is None else json.dumps(body, sort_keys=True)


def sent_by(finding: Finding) -> Sent:
    exchange = finding.interactions[-1].exchange
    body = json.loads(exchange.body) if exchange.body else None
    if body and not str(body.get("note", "")).isascii() and len(body["note"]) == 1:
        # One of them is as good as any other.
        body["note"] = "é"
    return sent(exchange.method, exchange.target.decode(), body)


WANTED = {sent(*smallest): name for name, smallest in DEFECTS.items()}


@pytest.mark.thorough_beyond(1)
@pytest.mark.parametrize("seed", [9, 10])
def test_each_defect_is_found_once_confirmed_and_smallest(seed: int, tmp_path: Path) -> None:
    with serving(volatile(), document()) as app:
        ran = Command(tmp_path).run(*(app.document_url, "-n", "100", "--phases", "fuzzing"), seed=seed, inline=True)
    assert ran.code == 1, ran.shown
    named = [(one.check, WANTED.get(sent_by(one), str(sent_by(one)))) for one in ran.findings]
    assert sorted(name for check, name in named if check == "not_a_server_error") == sorted(DEFECTS), ran.shown
    assert sorted(one for one in named if one[0] != "not_a_server_error") == [
        ("error_disclosure", name) for name in sorted(DISCLOSING)
    ], ran.shown
    assert [finding.label for finding in ran.findings if not finding.investigation.reproduced] == []
    view = ran.view
    assert view.counts.requests - view.counts.cases <= 0.2 * view.counts.requests
    # Confirmed, shown by the simplest case, with an unknown name, sent as printed: nothing is to be shrunk.
    assert [one.investigation.requests for one in ran.findings if one.label.startswith("DELETE")] == [4]
