"""Work in a process of its own that is forked for it, so that nothing of it stays, and its memory is what it took."""

import json
import os
import resource
import traceback
from collections.abc import Callable
from typing import Any

_HANGS_S = 300
"""Of CPU: what takes so long never ends."""


def apart(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What came of it, and `peak_mib`, the most memory of the process; `raised` instead where it came to nothing.

    The process begins with the memory of this one, which has to be small and may have no threads.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        resource.setrlimit(resource.RLIMIT_CPU, (_HANGS_S, _HANGS_S))
        try:
            found = work()
        except BaseException:  # noqa: BLE001 - what is told is that it was raised
            found = {"raised": traceback.format_exc()}
        with os.fdopen(theirs, "w") as told:
            json.dump(found, told)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as heard:
        text = heard.read()
    _, status, used = os.wait4(child, 0)
    found = json.loads(text) if text else {"raised": f"it ended with {os.waitstatus_to_exitcode(status)}"}
    return {**found, "peak_mib": used.ru_maxrss // 1024}
