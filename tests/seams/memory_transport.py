"""A transport made outside the package, of public names: a shop in memory, whose answers come in any order."""

import json
from random import Random
from typing import Any

from checker.transport import FailureKind, NetworkFailure, Response

MOST = 99


def answer(method: str, target: str, body: bytes | None) -> tuple[int, dict[str, Any]]:
    """Status and JSON of the shop. Two planted defects: large orders fail, the list of items forgets its total."""
    if method == "POST":
        amount = json.loads(body or b"{}").get("amount")
        if not isinstance(amount, int) or isinstance(amount, bool):
            return 400, {"error": "how many?"}
        return (500, {"error": "too many"}) if amount > MOST else (200, {"amount": amount})
    return 200, {"items": []}


class Shop:
    """Keeps what is in flight, and hands it back shuffled."""

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._flying: list[tuple[int, Any]] = []
        self._chance = Random(1)

    def start(self, lane: int, request: Any, *, patience_s: float | None = None) -> None:
        assert lane < self._lanes
        assert all(lane != busy for busy, _ in self._flying)
        self._flying.append((lane, request))

    def flush(self) -> None:
        self._chance.shuffle(self._flying)

    def poll(self, timeout_s: float) -> list[tuple[int, Any]]:
        done = self._flying[:2]
        del self._flying[:2]
        return [(lane, self._answered(request)) for lane, request in done]

    def waited_s(self, lane: int) -> float:
        return 0.0

    def close(self) -> None:
        self._flying.clear()

    def _answered(self, request: Any) -> Any:
        target = request.target.decode("latin-1")
        if target.endswith("/silent"):
            return NetworkFailure(FailureKind.TIMEOUT, "nobody answers", 0.0)
        status, value = answer(request.method, target, request.body)
        content_type = ("Content-Type", "application/json")
        return Response(status, [content_type], json.dumps(value).encode(), request=request)


def shop(origin: Any, settings: Any, lanes: int) -> Shop:
    return Shop(lanes)
