"""The HTML report of a running run, served on loopback. The report follows the journals. Open pages are updated by server-sent events."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from checker.config.settings import RunSettings
from checker.core.errors import UsageError
from checker.corpus.fold import RunView
from checker.corpus.journal import Journals, last_run
from checker.corpus.layout import RunLayout
from checker.reporting.formats.html import body, page
from checker.reporting.report import GOES_ON, Report, report_of
from checker.reporting.shown import ReportContext

_HOST: Final = "127.0.0.1"
_LOOK_S: Final = 2.0  # Seconds between two readings of the journals while a page is open.
_POLICY: Final = "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_SCRIPT: Final = """
const opened = () => new Set(all("details[open]").map((one) => one.id || one.querySelector("summary").textContent));
new EventSource("/events").onmessage = async () => {
  const text = await (await fetch("/body")).text();
  const kept = opened(), typed = document.activeElement && document.activeElement.id;
  for (const one of all("body > header, body > main")) one.remove();
  document.body.insertAdjacentHTML("afterbegin", text);
  for (const one of all("details")) one.open = kept.has(one.id || one.querySelector("summary").textContent);
  arrange();
  if (typed) document.getElementById(typed)?.focus();
};
"""


class LivePage:
    """Serves the report until it is closed. It only reads the journals, so it cannot disturb the run."""

    def __init__(self, settings: RunSettings, port: int) -> None:
        """Raises `UsageError` if the port cannot be used. Port 0 takes any free port."""
        self._settings = settings
        self._layout = RunLayout(Path(settings.corpus.folder))
        before = last_run(self._layout)
        self._before = None if before is None else before.journal
        """The journal of an earlier run in the same corpus."""
        self._journals: Journals | None = None
        self._view = RunView()
        self._began = time.monotonic()
        # Each open page has its own thread, and the readers of the journals have one position.
        self._reading = threading.Lock()
        self._closed = threading.Event()
        try:
            self._server = ThreadingHTTPServer((_HOST, port), self._handler())
        except OSError as error:
            raise UsageError(f"--live-port {port}: {error.strerror}; give another port") from error
        self._server.daemon_threads = True
        self.url = f"http://{_HOST}:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()

    def report(self) -> tuple[Report, ReportContext]:
        with self._reading:
            if self._journals is None:
                run = last_run(self._layout)
                if run is not None and run.journal != self._before:
                    self._journals = Journals(self._layout, above=run.first - 1)
            if self._journals is not None:
                for incarnation, record in self._journals.read_new():
                    self._view.absorb(incarnation, record)
            view = self._view
            title = view.opened.title if view.opened else ""
            settings = self._settings.for_project(title) if title else self._settings
            outcome = view.finished.outcome if view.finished else GOES_ON
            report = report_of(view, settings, outcome, time.monotonic() - self._began)
            return report, ReportContext.of(settings, view.run, view.opened)

    def changes(self) -> Iterator[bytes]:
        """Yield an event whenever journals have grown, else a comment, until the page is closed."""
        known = -1
        while not self._closed.is_set():
            size = 0
            for _, path in self._layout.journal_paths():
                with suppress(OSError):
                    size += path.stat().st_size
            yield b"data: changed\n\n" if size != known else b": nothing new\n\n"
            known = size
            self._closed.wait(_LOOK_S)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        live = self

        class Handler(BaseHTTPRequestHandler):
            """Serves GET requests to loopback names. A site whose name resolves to this machine (DNS rebinding) gets 403."""

            def do_GET(self) -> None:
                """Send the page, its changing part, or the stream of change events."""
                host = self.headers.get("Host", "").rpartition(":")[0]
                if host not in (_HOST, "localhost"):
                    self.send_error(403)
                elif self.path == "/events":
                    self.send_response(200)
                    self.send_header("Content-Type", "text/event-stream")
                    self.send_header("Cache-Control", "no-store")
                    self.end_headers()
                    # The browser may close the page at any time.
                    with suppress(OSError):
                        for line in live.changes():
                            self.wfile.write(line)
                elif self.path == "/body":
                    self._text("".join(body(*live.report())))
                elif self.path.partition("?")[0] == "/":
                    report, context = live.report()
                    self._text("".join(page(report, context, _POLICY, _SCRIPT)))
                else:
                    self.send_error(404)

            def log_message(self, format: str, *args: Any) -> None:
                """Write nothing: the console shows the run."""

            def _text(self, text: str) -> None:
                content = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(content)

        return Handler
