"""Waiting for what has to come about, on machines of any speed."""

import time
from collections.abc import Callable


def wait_until(is_so: Callable[[], object]) -> None:
    """Return when it is so. The time limit of the test is what ends it where that never comes."""
    while not is_so():
        time.sleep(0.01)
