"""Requests in flight on several lanes at once: one libcurl multi handle, one thread."""

import time
from collections.abc import Callable

import pycurl
from msgspec import Struct

from checker.core.request import BaseUrl, WireRequest
from checker.core.response import FailureKind, NetworkFailure, Outcome
from checker.transport.connections import Connections
from checker.transport.header_lines import Unsendable
from checker.transport.lane import Lane
from checker.transport.settings import HttpSettings

__all__ = ["HttpLanes", "HttpSettings"]

_JUST_NOW_S = 30e-6
"""So soon after a `perform` another one finds nothing."""
_SWEEP_S = 0.25
_MAX_SELECT_S = 1.0
_MEANWHILE_S = 0.2
_SPARE_CONNECTIONS = 8
"""Connections that stay open beside one for each lane, for operations that travel otherwise.

Investigations ask for new connections, and libcurl keeps the old ones: against a server that fails at random a worker held
400 of them.
"""


class _Clock(Struct):
    """A clock of the wall time in which requests were in flight and the worker was busy elsewhere."""

    stalled_s: float = 0.0
    left: float = 0.0


class HttpLanes:
    """Implements `checker.core.send.Transport`: sends on idle lanes and hands back lanes that finished. Not thread-safe.

    The rhythm that costs least: take all finished lanes, `start` all their next requests, `flush` once, judge, `poll`.
    """

    def __init__(
        self,
        origin: BaseUrl,
        settings: HttpSettings,
        lanes: int,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`now` is a clock in seconds that never goes back."""
        self._settings = settings
        self._now = now
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, lanes + _SPARE_CONNECTIONS)
        self._connections = Connections()
        self._lanes: list[Lane] = []
        self._by_handle: dict[pycurl.Curl, Lane] = {}
        self._unsent: list[Lane] = []
        self._flying = 0
        self._done: list[tuple[int, Outcome]] = []
        self._clock = _Clock()
        self._next_sweep = 0.0
        for index in range(lanes):
            lane = Lane(index, origin, settings, self._connections)
            self._lanes.append(lane)
            self._by_handle[lane.curl] = lane

    @property
    def stalled_s(self) -> float:
        """Seconds in which requests were in flight and we were elsewhere. `elapsed` has them subtracted already."""
        return self._clock.stalled_s

    @property
    def acknowledged(self) -> int:
        """Number of responses whose first part was acknowledged before the rest arrived."""
        return self._connections.acknowledged

    def busy(self) -> int:
        """Lanes whose outcome was not handed out yet."""
        return self._flying + len(self._done)

    def start(
        self,
        lane: int,
        request: WireRequest,
        *,
        patience_s: float | None = None,
    ) -> None:
        """Queue a request on an idle lane; `flush` sends it. What cannot be sent comes back from `poll`.

        After `patience_s`, if that is less than the time that the settings give, it is given up.
        """
        chosen = self._lanes[lane]
        if chosen.busy:
            raise ValueError(f"lane {lane} is busy")
        chosen.busy = True
        try:
            chosen.load(request, patience_s)
            self._multi.add_handle(chosen.curl)
        except Unsendable as reason:
            self._finish(chosen, NetworkFailure(FailureKind.UNSENDABLE, str(reason), 0.0))
            return
        except Exception as error:  # noqa: BLE001 - the worker's wall: whose request it is, is known here alone
            text = f"the request could not be sent: {type(error).__name__}: {error}"
            self._finish(chosen, NetworkFailure(FailureKind.OTHER, text, 0.0, cause=error))
            return
        self._flying += 1
        chosen.is_flying = True
        self._unsent.append(chosen)

    def flush(self) -> None:
        """Send all that was started, in one go."""
        now = self._arrive()
        for lane in self._unsent:
            lane.started = now
            lane.stalled_before_s = self._clock.stalled_s
        self._unsent.clear()
        self._connections.look()
        self._multi.perform()
        self._connections.look_away()
        self._clock.left = self._now()

    def poll(self, timeout_s: float) -> list[tuple[int, Outcome]]:
        """Lanes that finished, with what they brought; waits at most `timeout_s` when there is none."""
        self._pump(self._now() + timeout_s)
        done, self._done = self._done, []
        for lane, _ in done:
            self._lanes[lane].busy = False
        return done

    def send(
        self,
        lane: int,
        request: WireRequest,
        *,
        patience_s: float | None = None,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> Outcome:
        """Outcome of one request, waited for. Lanes that finish meanwhile are kept for the next `poll`.

        `meanwhile` is called now and then; what it raises abandons the request, and passes through.
        """
        self.start(lane, request, patience_s=patience_s)
        kept: list[tuple[int, Outcome]] = []
        while True:
            self._pump(self._now() + _MEANWHILE_S)
            for finished in self._done:
                if finished[0] != lane:
                    kept.append(finished)
                    continue
                self._lanes[lane].busy = False
                self._done = kept + self._done[self._done.index(finished) + 1 :]
                return finished[1]
            self._done = []
            try:
                meanwhile()
            except BaseException:
                self._done = kept
                self._land(self._lanes[lane].curl).busy = False
                raise

    def waited_s(self, lane: int) -> float:
        """Return the seconds since the request on a lane was sent, without the time in which the worker was busy elsewhere; 0 if none is in flight."""
        chosen = self._lanes[lane]
        return self._elapsed(chosen, self._now()) if chosen.is_flying else 0.0

    def close(self) -> None:
        """Drop what is in flight and close all connections."""
        for lane in self._lanes:
            if lane.is_flying:
                self._multi.remove_handle(lane.curl)
            lane.curl.close()
        self._lanes.clear()
        self._by_handle.clear()
        self._multi.close()

    def _arrive(self) -> float:
        now = self._now()
        if self._flying > len(self._unsent):
            self._clock.stalled_s += now - self._clock.left
        self._clock.left = now
        return now

    def _pump(self, deadline: float) -> None:
        """Drive transfers until one has finished, nothing flies, or the deadline has passed."""
        if self._unsent:
            self.flush()
        left = self._clock.left
        now = self._arrive()
        if self._flying:
            if now - left > _JUST_NOW_S:
                self._multi.perform()
            # Also right after `flush`: a near target answers while its requests are being written.
            self._collect()
        while self._flying and not self._done:
            now = self._now()
            if now >= deadline:
                break
            self._wait(deadline - now)
            self._multi.perform()
            self._collect()
            if not self._done:
                self._sweep(self._now())
        self._clock.left = self._now()

    def _wait(self, limit_s: float) -> None:
        """Wait for a socket, not longer than until libcurl's own next timer."""
        timer_ms = self._multi.timeout()
        wait_s = min(limit_s, _MAX_SELECT_S) if timer_ms < 0 else min(limit_s, timer_ms / 1000)
        if wait_s <= 0:
            return
        before = self._now()
        if self._multi.select(wait_s) <= 0 and self._now() - before < wait_s / 2:
            # No descriptor that select(2) can watch (name lookup, or one above 1023): do not spin.
            time.sleep(min(wait_s, 0.001))

    def _collect(self) -> None:
        while True:
            queued, succeeded, failed = self._multi.info_read()
            if succeeded or failed:
                now = self._now()
                ran = now - self._clock.stalled_s
                for curl in succeeded:
                    self._multi.remove_handle(curl)
                    lane = self._by_handle[curl]
                    lane.is_flying = False
                    self._flying -= 1
                    elapsed_s = ran - lane.started + lane.stalled_before_s
                    self._done.append((lane.index, _read(lane.arrived, elapsed_s)))
                for curl, code, text in failed:
                    lane = self._land(curl)
                    if lane.wants_another_connection():
                        self._multi.add_handle(curl)
                        self._flying += 1
                        lane.is_flying = True
                        continue
                    elapsed_s = self._elapsed(lane, now)
                    self._finish(lane, _read(lane.failure, elapsed_s, code, text))
            if not queued:
                break
        # A response in one packet has ended by now, and costs no socket option.
        for lane in self._lanes if self._flying else ():
            if lane.is_flying:
                lane.acknowledge()

    def _sweep(self, now: float) -> None:
        """Cut event streams that were listened to long enough."""
        if now < self._next_sweep:
            return
        self._next_sweep = now + _SWEEP_S
        limit = self._settings.stream_time_s
        for lane in self._lanes:
            if not lane.is_flying or not lane.is_event_stream:
                continue
            if now - lane.started > limit or lane.has_enough_events:
                self._land(lane.curl)
                self._finish(lane, _read(lane.sample, self._elapsed(lane, now)))

    def _land(self, curl: pycurl.Curl) -> Lane:
        self._multi.remove_handle(curl)
        self._flying -= 1
        lane = self._by_handle[curl]
        lane.is_flying = False
        return lane

    def _elapsed(self, lane: Lane, now: float) -> float:
        return now - lane.started - (self._clock.stalled_s - lane.stalled_before_s)

    def _finish(self, lane: Lane, outcome: Outcome) -> None:
        self._done.append((lane.index, outcome))


def _read(read: Callable[..., Outcome], elapsed_s: float, *more: object) -> Outcome:
    """Outcome of one transfer, whatever the server made of it."""
    try:
        return read(elapsed_s, *more)
    except Exception as error:  # noqa: BLE001 - the worker's wall: whose answer it is, is known here alone
        text = f"the answer could not be read: {type(error).__name__}: {error}"
        return NetworkFailure(FailureKind.OTHER, text, elapsed_s, cause=error)
