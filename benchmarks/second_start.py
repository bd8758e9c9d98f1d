"""What a worker's start costs once the description has been opened: CPU beyond that of one for a description of one operation.

    python -m benchmarks.second_start DOCUMENT

Required: at most 3 x the parse of the normalised description. All of a start is measured, as workers make it: in a new
process that has the imports, from the settings to the message that the work can begin; for `fuzz`, which does more.
"""

import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from msgspec.structs import replace

from checker.config.settings import CaseSources, CorpusSettings, RunSettings, TargetSettings
from checker.corpus.layout import RunLayout
from checker.workers.starting.opening import open_worker_context

ROUNDS = 5
_BARE = {
    "openapi": "3.0.3",
    "info": {"title": "One", "version": "1"},
    "paths": {"/one": {"get": {"responses": {"200": {"description": ""}}}}},
}


def second_start(path: Path) -> tuple[float, float]:
    """CPU seconds (of a second start beyond that of the smallest description, of the parse alone)."""
    with tempfile.TemporaryDirectory() as scratch:
        bare = Path(scratch, "bare.json")
        bare.write_text(json.dumps(_BARE))
        usual_s, _ = _measured(bare, Path(scratch, "bare"))
        start_s, parse_s = _measured(path, Path(scratch, "run"))
    return start_s - usual_s, parse_s


def _measured(path: Path, folder: Path) -> tuple[float, float]:
    """CPU seconds (of a second start, of the parse), the best of some."""
    settings = RunSettings(
        str(path),
        "fuzz",
        seed=1,
        target=TargetSettings("http://127.0.0.1:9"),
        corpus=CorpusSettings(str(folder)),
        sources=CaseSources(database="none"),
    )
    document = _in_a_child(lambda: open_worker_context(0, settings).opened.document)
    again = replace(settings, document=document)
    data = RunLayout(folder).document(document).read_bytes()

    def started() -> float:
        before = time.process_time()
        open_worker_context(1, again)
        return time.process_time() - before

    def parsed() -> float:
        # As in a worker: most of a parse with collections is collections.
        gc.disable()
        before = time.process_time()
        orjson.loads(data)
        return time.process_time() - before

    return (min(_in_a_child(started) for _ in range(ROUNDS)), min(_in_a_child(parsed) for _ in range(ROUNDS)))


def _in_a_child(act: Callable[[], Any]) -> Any:
    """What a process of its own makes of it: every worker's memory is new."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, orjson.dumps(act()))
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return orjson.loads(said)


if __name__ == "__main__":
    print(json.dumps(second_start(Path(sys.argv[1]))))
