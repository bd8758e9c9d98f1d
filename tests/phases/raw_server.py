"""A server that shows requests as they arrived."""

import socket
import threading


class RawServer:
    """Keeps every request as it arrived and answers each with the next status."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []
        self.status = 200
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                head = b""
                size = 0
                while line := stream.readline():
                    head += line
                    if line.lower().startswith(b"content-length:"):
                        size = int(line.split(b":")[1])
                    if line == b"\r\n":
                        break
                if head:
                    self.seen.append(head + stream.read(size))
                    connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % self.status)
