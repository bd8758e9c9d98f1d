"""A cluster whose machines are threads of this process: agents with folders of their own, and real workers below them."""

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from checker.fleet.agent import Agent
from checker.fleet.distant import LostAgent
from checker.workers.entry import Work


class ThreadCluster:
    """`loses` is asked for each news, counted from 0; where it says so, they are lost with the agent and its worker."""

    def __init__(
        self,
        folder: Path,
        work: Work | None = None,
        *,
        loses: Callable[[int], bool] = lambda number: False,
        other_hosts: bool = False,
        processors: int = 1,
    ) -> None:
        self.folder = folder
        self.machine_processors = processors
        self.agents: list[Agent] = []
        self.lost = 0
        self._work = work
        self._loses = loses
        self._other_hosts = other_hosts
        self._threads = ThreadPoolExecutor(32)
        self._gone: set[Agent] = set()
        self._owners: dict[Future[Any], tuple[Agent, str]] = {}
        self._news = 0

    def agent(self) -> Agent:
        folder = self.folder / str(len(self.agents))
        folder.mkdir(parents=True)
        self.agents.append(Agent(folder, self._work))
        return self.agents[-1]

    def put(self, data: bytes) -> bytes:
        return data

    def call(self, agent: Agent, method: str, *given: Any) -> Future[Any]:
        call = self._threads.submit(getattr(agent, method), *given)
        self._owners[call] = agent, method
        return call

    def ready(self, calls: Sequence[Future[Any]], timeout_s: float) -> list[Future[Any]]:
        return list(wait(calls, timeout_s, FIRST_COMPLETED).done)

    def result(self, call: Future[Any]) -> Any:
        agent, method = self._owners.pop(call)
        result = call.result()
        if method == "take":
            self._news += 1
            if self._loses(self._news - 1):
                self.lost += 1
                self._gone.add(agent)
                agent.kill()
        if agent in self._gone:
            raise LostAgent("lost with its machine or its agent")
        return result

    def kill(self, agent: Agent) -> None:
        agent.kill()
        shutil.rmtree(self.folder / str(self.agents.index(agent)), ignore_errors=True)

    def processors(self) -> int:
        return self.machine_processors

    def has_other_hosts(self) -> bool:
        return self._other_hosts

    def close(self) -> None:
        self._threads.shutdown()
