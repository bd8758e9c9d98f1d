"""Runs command lines one after the other, each in a process that is forked for it: importing takes longer than most runs.

One JSON list of arguments a line in; one JSON object a line out: how the run ended, and the most memory that it took.
"""

import gc
import json
import os
import sys
from functools import partial
from importlib import import_module
from typing import Any

from click.testing import CliRunner

from checker.cli import checker
from tests.fork_server import PRELOADED
from tests.hostile.apart import apart


def main() -> None:
    """Serve until there is nothing more to read."""
    import_module(PRELOADED)
    # What a run loads on its way, this one has loaded; it ends at once.
    _ran(["run", os.devnull, "--url", "http://127.0.0.1:9", "--inline"])
    gc.freeze()
    for line in sys.stdin:
        found = apart(partial(_ran, json.loads(line)))
        # It left no word of itself.
        ended = {"code": -1, "output": "", "bug": found.pop("raised", "")} | found
        sys.stdout.write(json.dumps(ended) + "\n")
        sys.stdout.flush()


def _ran(arguments: list[str]) -> dict[str, Any]:
    result = CliRunner().invoke(checker, arguments, prog_name="checker")
    is_expected = isinstance(result.exception, SystemExit | None)
    return {"code": result.exit_code, "output": result.output, "bug": "" if is_expected else repr(result.exception)}


if __name__ == "__main__":
    main()
