"""CPU per request of the whole loop against a bare libcurl multi loop that sends the same bytes, in one run.

    python benchmarks/hot_path.py [FOLDER OF THE C TARGET]

Required: at 8 lanes loop <= 4 x bare (aim 3), at 1 lane <= 2.5 x.
"""

import statistics
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path

import pycurl

from benchmarks.target import folder_argument, target
from checker.config.settings import RunSettings
from checker.core.meta import PhaseInfo
from checker.core.operation import Label
from checker.core.request import WireRequest
from checker.corpus.fold import RunView, fold
from checker.corpus.layout import RunLayout
from checker.corpus.reader import Journals
from checker.workers.loop import Worker
from checker.workers.messages import Assign, Drain, Idle, Task
from checker.workers.opening import Workplace, open_workplace
from checker.workers.queues import Receiver, Sender

KIND = "fuzz"
PHASE = "exploration"
REQUESTS = 12_000
ROUNDS = 5
LIMITS = {8: 4.0, 1: 2.5}


def main() -> int:
    """Print the table; exit code 1 when a limit is broken."""
    broken = 0
    with target(folder_argument()) as server:
        print(f"target: {server.name}; {REQUESTS} requests a round, median of {ROUNDS} rounds")
        for lanes, limit in LIMITS.items():
            bare, loop, parts = [], [], []
            for number in range(ROUNDS):
                cpu, ledger, requests = whole_loop(server.document, server.url, lanes, number)
                loop.append(cpu)
                parts.append(ledger)
                bare.append(bare_loop(server.url, requests, lanes))
            ratios = [one / other for one, other in zip(loop, bare, strict=True)]
            ratio = statistics.median(ratios)
            verdict = "ok" if ratio <= limit else "TOO SLOW"
            broken += ratio > limit
            print(
                f"{lanes} lanes: bare {statistics.median(bare):6.1f} us  loop {statistics.median(loop):6.1f} us"
                f"  ratio {ratio:.2f} (limit {limit}, rounds {min(ratios):.2f}-{max(ratios):.2f})  {verdict}"
            )
            names = ("make", "wait", "judge", "record", "idle")
            medians = [statistics.median(part[i] for part in parts) for i in range(len(names))]
            print(
                "   wall us per request: "
                + "  ".join(f"{n} {m:.1f}" for n, m in zip(names, medians, strict=True))
            )
    return 1 if broken else 0


def whole_loop(
    document: str, url: str, lanes: int, seed: int
) -> tuple[float, list[float], list[WireRequest]]:
    """(CPU us per request, ledger in us per request, a sample of what was sent) of the worker loop, everything on."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = RunSettings(document, KIND, seed)
        settings = replace(
            settings,
            base_url=url,
            lanes=lanes,
            corpus_dir=str(Path(scratch, "corpus")),
            database="none",
            no_shrink=True,
            continue_on_failure=True,
        )
        down_read, down_write = Pipe(duplex=False)
        up_read, up_write = Pipe(duplex=False)
        down, up = Sender(down_write), Receiver(up_read)
        with open_workplace(1, settings) as place:
            labels = tuple(card.label for card in place.opened.operations)
            sample = [_request(place, labels[i % len(labels)], i) for i in range(40 * len(labels))]
            worker = Worker(place, Receiver(down_read), Sender(up_write))
            down.send(Assign((Task(f"{seed:016x}", PHASE, labels, seed, 0, REQUESTS, 600.0),)))
            listener = threading.Thread(target=_drain_when_idle, args=(up, down), daemon=True)
            listener.start()
            place.ledger.take()
            began = time.process_time()
            worker.run()
            cpu = time.process_time() - began
        view = _view(Path(settings.corpus_dir))
    requests = view.requests
    return 1e6 * cpu / requests, [1e6 * seconds / requests for seconds in view.ledger], sample


def _view(corpus: Path) -> RunView:
    with closing(Journals(RunLayout(corpus))) as journals:
        return fold(journals.finish_all())


def _request(place: Workplace, label: str, index: int) -> WireRequest:
    made = place.factory.make(Label(label), 7, index, PhaseInfo("exploration"))
    return place.tools.maker.make(made.case)


def _drain_when_idle(up: Receiver, down: Sender) -> None:
    while up.wait(60.0) and not up.closed:
        while (message := up.get_nowait()) is not None:
            if isinstance(message, Idle):
                down.send(Drain())
                return


def bare_loop(url: str, requests: list[WireRequest], lanes: int) -> float:
    """CPU us per request of a CurlMulti with reused handles that sends prebuilt bytes and looks at nothing."""
    multi = pycurl.CurlMulti()
    handles = [_handle(url) for _ in range(lanes)]
    prepared = [
        (r.method, r.target, [b"%b: %b" % h for h in r.headers] + [b"Expect:"], r.body)
        for r in requests
    ]
    flying = sent = done = 0
    began = time.process_time()
    free = list(handles)
    while done < REQUESTS:
        while free and sent < REQUESTS:
            curl = free.pop()
            _load(curl, prepared[sent % len(prepared)])
            multi.add_handle(curl)
            sent += 1
            flying += 1
        multi.perform()
        _, succeeded, failed = multi.info_read()
        for curl in [*succeeded, *(one[0] for one in failed)]:
            multi.remove_handle(curl)
            free.append(curl)
            flying -= 1
            done += 1
        if not succeeded and not failed and flying:
            multi.select(1.0)
    cpu = time.process_time() - began
    for curl in handles:
        curl.close()
    return 1e6 * cpu / REQUESTS


def _handle(url: str) -> pycurl.Curl:
    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, url + "/")
    curl.setopt(pycurl.NOSIGNAL, 1)
    curl.setopt(pycurl.HEADERFUNCTION, _ignore)
    curl.setopt(pycurl.WRITEFUNCTION, _ignore)
    return curl


def _ignore(data: bytes) -> None:
    pass


def _load(curl: pycurl.Curl, prepared: tuple[str, bytes, list[bytes], bytes | None]) -> None:
    method, target_, headers, body = prepared
    if body is None:
        curl.setopt(pycurl.HTTPGET, 1)
    else:
        curl.setopt(pycurl.POSTFIELDS, body)
    curl.setopt(pycurl.CUSTOMREQUEST, method)
    curl.setopt(pycurl.REQUEST_TARGET, target_)
    curl.setopt(pycurl.HTTPHEADER, headers)


if __name__ == "__main__":
    raise SystemExit(main())
