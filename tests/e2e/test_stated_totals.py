"""A total that nothing but refusals states is sent in later requests."""

import json
from collections import Counter
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import json_reply, serving
from tests.e2e.runner import Command

TOTAL = 42.5
PAYMENT = {"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}
RESPONSES = {status: {"description": ""} for status in ("201", "400", "405", "415", "422")}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Payments", "version": "1"},
    "paths": {
        "/payments": {
            "post": {
                "requestBody": {"required": True, "content": {"application/json": {"schema": PAYMENT}}},
                "responses": RESPONSES,
            }
        }
    },
}


def test_a_number_that_a_refusal_expects_is_sent(command: Command) -> None:
    statuses = Counter[int]()

    def answer(request: Request) -> Reply:
        if request.method != "POST":
            return Reply(405, headers=(("Allow", "POST"),))
        try:
            amount = json.loads(request.body)["amount"]
        except (ValueError, KeyError, TypeError):
            return json_reply({"detail": "invalid"}, 422)
        status = 422 if isinstance(amount, bool) or not isinstance(amount, int | float) else 400
        status = 201 if amount == TOTAL else status
        statuses[status] += 1
        return json_reply({"detail": f"amount must be {TOTAL}"} if status == 400 else {}, status)

    with serving(answer, DOCUMENT) as app:
        ran = command.run_as_usual(app.document_url, "-n", "20", inline=True)
    assert statuses[201] > statuses[400], (statuses, ran.shown)
