"""A cluster that remembers which workers have opened the description and which of them got leases, in order."""

from typing import Any

from checker.fleet.luggage import News, Order, read
from checker.workers.messages import Assign, Opened
from checker.workers.queues import decode


class Watched:
    """A cluster around another one. Its agents are counted from 0."""

    def __init__(self, cluster: Any) -> None:
        self.agents: list[Any] = []
        self._cluster = cluster
        self._events: list[tuple[str, int]] = []
        self._takers: dict[Any, int] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    def agent(self) -> Any:
        self.agents.append(self._cluster.agent())
        return self.agents[-1]

    def call(self, agent: Any, method: str, *given: Any) -> Any:
        number = self.agents.index(agent)
        messages = map(decode, read(given[0], Order).messages if method == "give" else ())
        self._events += (("lease", number) for one in messages if isinstance(one, Assign))
        call = self._cluster.call(agent, method, *given)
        if method == "take":
            self._takers[call] = number
        return call

    def result(self, call: Any) -> Any:
        result = self._cluster.result(call)
        if call in self._takers:
            number, messages = self._takers.pop(call), map(decode, read(result, News).messages)
            self._events += (("opened", number) for one in messages if isinstance(one, Opened))
        return result

    def leases_before(self, agent: int) -> int | None:
        """Return how many leases others got between the start of an agent's work and its first lease; None if it got none."""
        if ("lease", agent) not in self._events:
            return None
        return self._events.index(("lease", agent)) - self._events.index(("opened", agent)) - 1
