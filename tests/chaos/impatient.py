"""The command line with shorter deadlines for hooks and a slow clock: a script, so that hangs need not take minutes in a test."""

from importlib import import_module

from msgspec.structs import replace

from checker.__main__ import main
from checker.corpus.inflight import Stage
from checker.supervisor.state import Deadlines

HOOK_S = 1.0


def _shorten() -> None:
    patient = Deadlines.of

    def of(timeout_s: float, *, waiting_s: float = 0.0) -> Deadlines:
        usual = patient(timeout_s, waiting_s=waiting_s)
        return replace(usual, stages={**usual.stages, Stage.HOOK: HOOK_S})

    Deadlines.of = staticmethod(of)  # type: ignore[method-assign]


if __name__ == "__main__":
    import_module("tests.e2e.slow_clock").install()
    _shorten()
    main()
