"""One run from beginning to end: lock, workers and outcome."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from checker.config.settings import RunSettings
from checker.core.errors import StorageError
from checker.core.system import limit_reached
from checker.corpus import discoveries
from checker.corpus.fold import RunView
from checker.corpus.layout import RunLayout
from checker.supervisor.endings import CANNOT, RunFault, exit_code, nothing_tested
from checker.supervisor.handle import WorkerPool
from checker.supervisor.launchers import InlineLauncher, ProcessLauncher
from checker.supervisor.lifecycle import Listener, RunLifecycle
from checker.supervisor.lock import Ownership
from checker.supervisor.supervisor import RunEnvironment, Supervisor
from checker.transport.policies import forget_rates


class RunOutcome(Struct, frozen=True):
    """The outcome of a run."""

    exit_code: int
    """0: nothing failed; 1: something failed; 2: the run could not be done, or tested nothing; 130: interrupted."""
    view: RunView
    outcome: str
    """As in `RunFinished`."""
    error: RunFault | None = None
    """Set for exit code 2, and for a run that was given up after it found something."""


def keep_discoveries(settings: RunSettings, view: RunView) -> None:
    """Save the discoveries about the target for the next run. Untested operations keep their earlier ones."""
    if settings.corpus.cache is None:
        return
    directory = Path(settings.corpus.cache)
    known = discoveries.load(directory)
    tested = view.statuses.keys()
    untried = tuple(one for one in known.demands if one.label not in tested)
    shut = {one for one in known.never_allowed if one not in tested}
    shut |= {label for label in tested if view.is_never_allowed(label)}
    needs = {label: scheme for label, scheme in known.auth_needs if label not in tested}
    needs |= view.undeclared_needs()
    kept = discoveries.Discoveries(untried, tuple(shut), tuple(needs.items()))
    heard = view.demands.values() if settings.sources.learns else ()
    if not settings.sources.learns:
        kept = replace(kept, demands=known.demands)
    if not kept.is_empty or heard or not known.is_empty:
        discoveries.save(directory, heard, kept)


def execute(settings: RunSettings, listener: Listener, environment: RunEnvironment | None = None) -> RunOutcome:
    """Run with these settings. The listener is called once with each record, after it is on disk.

    Raises `UsageError` when another supervisor holds the corpus, `StorageError` when it cannot be created.
    """
    around = environment or RunEnvironment()
    layout = RunLayout(Path(settings.corpus.folder))
    launcher = around.launcher or (InlineLauncher() if settings.processes.inline else ProcessLauncher())
    with Ownership(layout) as ownership:
        forget_rates(layout.rates)
        lifecycle = RunLifecycle(layout, settings, listener, around.clock, around.age_s)
        pool = WorkerPool(launcher, ownership)
        supervisor = Supervisor(settings, lifecycle, pool, around)
        try:
            supervisor.run()
        except Exception as stopped:
            sentence = str(stopped) if isinstance(stopped, StorageError) else limit_reached(stopped)
            if not sentence:
                raise
            supervisor.ending.fail(RunFault(sentence))
            pool.close()
            lifecycle.read_rest()
        finally:
            pool.close()
            lifecycle.close()
        view, ending = lifecycle.view, supervisor.ending
        keep_discoveries(settings, view)
        code = exit_code(view, ending)
        error = ending.error
        if error is None and code == CANNOT:
            error = RunFault(nothing_tested(view, ending))
        return RunOutcome(code, view, ending.outcome, error)
