"""An API with hundreds of defects, the last of them rare: whenever a run is killed, something is being found."""

import json
import random
import time
from typing import Any

from tests.apps.http import Reply, Request
from tests.apps.serving import Answer, json_reply

FIELDS = 16
_TURNS = 48


def document(operations: int) -> dict[str, Any]:
    """`POST /things0` and so on; each answers with the fields `k0` to `k15`, which are integers."""
    names = [f"k{number}" for number in range(FIELDS)]
    return {
        "openapi": "3.0.3",
        "info": {"title": "Chaos", "version": "1"},
        "paths": {f"/things{number}": {"post": _operation(number, names)} for number in range(operations)},
    }


def _operation(number: int, names: list[str]) -> dict[str, Any]:
    body = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 0, "maximum": 99999},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
        },
        "required": ["n", "tags"],
        "additionalProperties": False,
    }
    # Copies of one schema have one cause and are told together: each field has a schema of its own.
    most = 1_000_000 + number * FIELDS
    fields = {name: {"type": "integer", "maximum": most + index} for index, name in enumerate(names)}
    answer = {"type": "object", "properties": fields}
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {"description": "ok", "content": {"application/json": {"schema": answer}}},
            "400": {"description": "not a thing"},
        },
    }


def defective(*, pause_s: float, padding: int = 0) -> Answer:
    """Field `k` is null when the number has a remainder of `k`: often in the first operation, rarely in the last.

    A wrong answer takes `pause_s`, so that shrinking takes its time, and has so many digits more that mean nothing.
    """
    chance = random.Random(1)

    def answered(request: Request) -> Reply:
        number = int(request.target.rpartition(b"things")[2])
        try:
            body = json.loads(request.body)
            n, tags = body["n"], body["tags"]
            turn, field = divmod(n, _TURNS)
            # A service that converts types has one cause in all operations, which are told together.
            if isinstance(n, bool) or not all(isinstance(tag, str) for tag in tags):
                return json_reply({}, 400)
        except (ValueError, TypeError, LookupError):
            # Raised, it would drop the connection: one more defect, which is not told before it has repeated.
            return json_reply({}, 400)
        if field >= FIELDS or turn % (3 + 2 * number):
            return json_reply({"k0": 1})
        time.sleep(pause_s)
        more = f"{chance.getrandbits(4 * padding):x}" if padding else ""
        return json_reply({f"k{field}": None, "more": more})

    return answered
