"""Machines of a Ray cluster. The only module that imports Ray."""

import contextlib
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from checker.config.settings import RunSettings
from checker.core.errors import UsageError
from checker.core.system import STOP_SIGNALS
from checker.fleet.agent import Agent, versions
from checker.fleet.distant import DistantLauncher, LostAgent
from checker.fleet.luggage import copy_packages
from checker.supervisor.launchers import locked_folder
from checker.workers.entry import Work

try:
    import ray
    from ray import exceptions
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as missing:
    raise UsageError('a cluster needs Ray: install it with `pip install "checker-api[ray]"`') from missing

_STORE_BYTES: Final = 100 << 20  # Object store of a cluster that a run starts for itself.
_NO_MODULE: Final = "No module named"
_CALLS: Final = 3  # Calls of an agent at the same time: `take` waits while `give` and `kill` are called.


class RayAgent(Agent):
    """An actor of Ray, which has its own process."""

    def __init__(self, work: Work | None = None) -> None:
        folder = locked_folder()
        # User code expects its files in the working directory.
        os.chdir(folder)
        # If the main module has no file name, multiprocessing does not run that of Ray again in each worker.
        sys.modules["__main__"].__file__ = None
        super().__init__(folder, work)

    def leave(self) -> None:
        self.kill()
        os.chdir("/")
        shutil.rmtree(self._folder, ignore_errors=True)


class RayCluster:
    """A cluster that this process is connected to."""

    def __init__(self, address: str, *, workers: int, work: Work | None = None) -> None:
        """`workers`: number of workers, for a cluster that is started here. Raises `UsageError` if there is no cluster at the address."""
        self._work = work
        self._is_own = not ray.is_initialized()
        # Ray's usage statistics go to the internet.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "namespace": "checker"}
        if address == "local":
            options |= {"num_cpus": workers + 1, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
        if self._is_own:
            try:
                with _quiet(), _same_handlers(), _no_command_line(), TemporaryDirectory() as packages:
                    ray.init(address, **options)
                    if address != "local" and self._lacks_checker():
                        ray.shutdown()
                        copy_packages(Path(packages))
                        ray.init(address, runtime_env={"working_dir": packages}, **options)
            except (ConnectionError, RuntimeError, TimeoutError, ValueError, OSError) as error:
                text = str(error).strip() or "the connection failed"
                # A server for clients that has another version of Ray sends a traceback.
                reason = text.splitlines()[-1] if "Traceback" in text else " ".join(text.split())
                raise UsageError(
                    f"no Ray cluster at {address!r}: {reason}; check the address, and that it has Ray {ray.__version__} "
                    f"and Python {versions()[1]} as this machine"
                ) from error
        # Without retries: a repeated order would be carried out twice.
        remote = ray.remote(max_concurrency=_CALLS, max_restarts=0, max_task_retries=0)
        self._actors: Any = remote(RayAgent)
        self._places: dict[Any, str] = {}
        """Agent -> machine."""

    def agent(self) -> Any:
        """Begin an agent on the machine with the fewest agents for each processor."""
        machines, agents = self._machines(), Counter(self._places.values())
        # Ray's own strategy SPREAD put both agents of a run on one of two machines.
        place = min(machines, key=lambda one: (agents[one] + 1) / machines[one], default="")
        strategy = NodeAffinitySchedulingStrategy(place, soft=True) if place else "DEFAULT"
        agent = self._actors.options(scheduling_strategy=strategy).remote(self._work)
        self._places[agent] = place
        return agent

    def put(self, data: bytes) -> Any:
        return ray.put(data)

    def call(self, agent: Any, method: str, *given: Any) -> Any:
        return getattr(agent, method).remote(*given)

    def ready(self, calls: Sequence[Any], timeout_s: float) -> list[Any]:
        if not calls:
            return []
        over, rest = ray.wait(list(calls), num_returns=1, timeout=timeout_s)
        if over and rest:
            over += ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        return list(over)

    def result(self, call: Any) -> Any:
        """Return the result of a call. Raises `LostAgent`."""
        try:
            return ray.get(call)
        except exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error
            if _NO_MODULE in str(error):
                raise UsageError(
                    "a machine of the cluster cannot import checker; install it there in this version, with its "
                    "dependencies, or give the cluster a runtime environment that has it"
                ) from error
            if isinstance(error, exceptions.RayTaskError):
                raise LostAgent(f"lost: {type(cause).__name__}: {' '.join(str(cause).split())}") from error
            raise LostAgent("lost with its machine or its agent") from error

    def kill(self, agent: Any) -> None:
        self._places.pop(agent, None)
        with contextlib.suppress(exceptions.RayError, ValueError):
            ray.get(agent.leave.remote(), timeout=1)
        ray.kill(agent)

    def processors(self) -> int:
        return int(sum(self._machines().values()))

    def has_other_hosts(self) -> bool:
        """Whether a machine of the cluster has another address than this one."""
        here = ray.util.get_node_ip_address()
        return any(node["Alive"] and node["NodeManagerAddress"] != here for node in ray.nodes())

    def _lacks_checker(self) -> bool:
        """Whether a machine of the cluster cannot import checker."""
        probe = ray.remote(num_cpus=0, max_retries=0)(versions)
        places = (NodeAffinitySchedulingStrategy(machine, soft=True) for machine in self._machines())
        try:
            ray.get([probe.options(scheduling_strategy=place).remote() for place in places])
        except (exceptions.RayError, ModuleNotFoundError) as error:
            # A server for clients raises its own error here.
            return _NO_MODULE in str(error)
        return False

    def _machines(self) -> dict[str, float]:
        """Return the processors of each machine that offers any, by the machine's id."""
        offers = ((node["NodeID"], node["Resources"].get("CPU", 0.0)) for node in ray.nodes() if node["Alive"])
        return {machine: processors for machine, processors in offers if processors}

    def close(self) -> None:
        if self._is_own:
            ray.shutdown()


def launcher_of(settings: RunSettings) -> DistantLauncher:
    """Return the launcher of workers on the cluster that settings name. Raises `UsageError`."""
    processes = settings.processes
    cluster = RayCluster(processes.cluster or "auto", workers=processes.workers)
    try:
        return DistantLauncher(cluster, settings, allows_loopback=processes.allows_loopback)
    except UsageError:
        cluster.close()
        raise


@contextlib.contextmanager
def _same_handlers() -> Iterator[None]:
    """Restore the handlers of signals that ask a run to end, because Ray replaces them."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _no_command_line() -> Iterator[None]:
    """Hide the command line, which may contain credentials. Ray shows the command line of each driver on its page of jobs."""
    before = ray._private.utils.get_entrypoint_name
    ray._private.utils.get_entrypoint_name = lambda: "checker"
    try:
        yield
    finally:
        ray._private.utils.get_entrypoint_name = before


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        yield
