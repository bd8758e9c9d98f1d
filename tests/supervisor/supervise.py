"""A supervisor in a process of its own, to be killed: `-m tests.supervisor.supervise CORPUS WORKERS SECONDS [order=value...]`."""

import sys

from checker.core.system import Interrupts
from checker.supervisor.launchers import ProcessLauncher
from checker.supervisor.supervisor import RunEnvironment, execute
from tests.asking import run_settings, saying
from tests.supervisor.toys import toy_work


def main(corpus: str, workers: str, seconds: str, *orders: str) -> int:
    settings = run_settings(
        location="toy",
        kind="fuzz",
        seed=1,
        folder=corpus,
        workers=int(workers),
        max_time_s=float(seconds),
        operations=saying(
            continue_on_failure=True, headers={name: value for name, _, value in (o.partition("=") for o in orders)}
        ),
    )
    with Interrupts() as interrupts:
        around = RunEnvironment(ProcessLauncher(toy_work), interrupts=interrupts)
        outcome = execute(settings, lambda *_: None, around)
    print(outcome.exit_code, outcome.outcome, *outcome.view.findings, sep="|", flush=True)
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
