"""The command line with a uniform choice of operations, in turns of seconds: none depends on what an operation has shown."""

import sys
from importlib import import_module

import checker.supervisor.fuzz_plan as fuzz_plan

if __name__ == "__main__":
    # No operation is ever quiet, so that each has the same share of the time.
    fuzz_plan.QUIET_CASES = sys.maxsize
    fuzz_plan.FIRST_CASES = fuzz_plan.USUAL_CASES = fuzz_plan.MOST_CASES = 512
    import_module("checker.__main__").main()
