"""CPU per request of the transport alone: a bare libcurl multi loop, our lanes, and lanes with requests made from cases.

    python -m benchmarks.transport [FOLDER OF THE C TARGET]

Wished: at 8 lanes at most 12 us over bare.
"""

import statistics
import time
from collections.abc import Callable
from itertools import cycle

from benchmarks.hot_path import REQUESTS, Bare
from benchmarks.target import folder_argument, target
from checker import openapi
from checker.config.operation_settings import HttpSettings
from checker.core.case import Case
from checker.core.operation import BrokenOperation, Location
from checker.core.request import BaseUrl, WireRequest
from checker.transport.http import HttpLanes
from checker.transport.prepare import RequestMaker

ROUNDS = 5
_BODY = {"name": "abc", "email": "a@b.example", "age": 12, "tags": ["x", "y"], "address": {"zip": "12345"}}


def main() -> int:
    """Print the table."""
    with target(folder_argument()) as server:
        origin = BaseUrl.from_url(server.url)
        cases = list(_cases(server.document))
        maker = RequestMaker(origin, version="0")
        requests = [maker.make(case) for case in cases]
        print(f"target: {server.name}; {REQUESTS} requests a round, median of {ROUNDS} rounds")
        for lanes in (1, 8):
            bare_loop = Bare(server.url, requests, lanes)
            rounds = [
                (
                    bare_loop.round(),
                    _lanes_loop(origin, lanes, cycle(requests).__next__),
                    _lanes_loop(origin, lanes, _making(maker, cases)),
                )
                for _ in range(ROUNDS)
            ]
            bare_loop.close()
            bare, sent, made = (statistics.median(column) for column in zip(*rounds, strict=True))
            print(
                f"{lanes} lanes: bare {bare:5.1f} us  lanes {sent:5.1f} us  with making {made:5.1f} us"
                f"  over bare {made - bare:5.1f} us"
            )
    return 0


def _cases(document: str) -> list[Case]:
    """One case for each operation, with simple values at every place."""
    opener = openapi.from_url if document.startswith("http") else openapi.from_path
    cases: list[Case] = []
    for operation in opener(document).get_all_operations():
        if isinstance(operation, BrokenOperation):
            continue
        parts: dict[Location, dict[str, object]] = {place: {} for place in Location}
        for parameter in operation.parameters:
            parts[parameter.location][parameter.name] = "abc123"
        case = Case(
            operation,
            f"{len(cases):012x}",
            path_parameters=parts[Location.PATH],
            query=parts[Location.QUERY],
            headers=parts[Location.HEADER],
        )
        if operation.bodies:
            case.body, case.media_type = _BODY, operation.bodies[0].media_type
        cases.append(case)
    return cases


def _making(maker: RequestMaker, cases: list[Case]) -> Callable[[], WireRequest]:
    following = cycle(cases).__next__
    return lambda: maker.make(following())


def _lanes_loop(origin: BaseUrl, lanes: int, following: Callable[[], WireRequest]) -> float:
    http = HttpLanes(origin, HttpSettings(), lanes)
    began = time.process_time()
    for lane in range(lanes):
        http.start(lane, following())
    http.flush()
    done = 0
    while done < REQUESTS:
        for lane, _ in http.poll(1.0):
            done += 1
            http.start(lane, following())
        http.flush()
    cpu = time.process_time() - began
    http.close()
    return 1e6 * cpu / done


if __name__ == "__main__":
    raise SystemExit(main())
