"""A web server on this machine that answers exactly what a test tells it to.

``Reply`` says how one address is answered, also wrongly: slowly, in part, packed, or never.
"""

from __future__ import annotations

import contextlib
import gzip
import http.server
import json
import socket
import ssl
import threading
import time
from typing import Any

HTML = "<!doctype html><html><head><title>Home</title></head><body>Welcome</body></html>"
SIGN_IN = "<!doctype html><html><body><form><input type='password'></form></body></html>"


class Reply:
    """One answer. ``drip`` sends a byte at a time, ``cut`` ends it after that many bytes."""

    def __init__(
        self,
        body: str | bytes = b"",
        status: int = 200,
        headers: dict[str, str] | None = None,
        *,
        media: str = "text/markdown",
        etag: str | None = None,
        modified: str | None = None,
        gzipped: bool = False,
        delay: float = 0.0,
        drip: float = 0.0,
        hang: bool = False,
        cut: int | None = None,
        raw: bytes | None = None,
    ) -> None:
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = {"Content-Type": media, **(headers or {})}
        if gzipped:
            self.body = gzip.compress(self.body)
            self.headers["Content-Encoding"] = "gzip"
        self.validators = {"ETag": etag, "Last-Modified": modified}
        self.delay, self.drip, self.hang, self.cut, self.raw = delay, drip, hang, cut, raw


def as_json(value: Any, **options: Any) -> Reply:
    return Reply(json.dumps(value), media="application/json", **options)


class SiteServer(http.server.ThreadingHTTPServer):
    """``pages`` maps a path to its ``Reply``; ``requests`` are (path, headers) as they came."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tls = tls
        self.pages: dict[str, Reply] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.arrived = threading.Condition()
        self.released = threading.Event()
        self.at_once = self.most_at_once = self.connections = 0
        self._open: set[socket.socket] = set()
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{'localhost' if self.tls else '127.0.0.1'}:{self.server_port}"

    def asked(self, path: str) -> int:
        """How often that path was asked for."""
        return sum(1 for asked, _ in self.requests if asked == path)

    def wait_for(self, path: str, times: int = 1) -> None:
        """Return once that path has been asked for so often."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: self.asked(path) >= times, 5)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        self._open.add(request)
        super().process_request(request, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        if not self.tls:
            super().finish_request(request, client_address)
            return
        with contextlib.suppress(OSError):
            wrapped = self.tls.wrap_socket(request, server_side=True)
            self._open.add(wrapped)
            with wrapped:
                super().finish_request(wrapped, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what many tests are about."""

    def close(self) -> None:
        self.released.set()
        self.shutdown()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self.server_close()
        self._thread.join(5)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: SiteServer

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        with self.server.arrived:
            self.server.requests.append((self.path, dict(self.headers)))
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
            self.server.arrived.notify_all()
        try:
            reply = self.server.pages.get(self.path)
            self._answer(reply or Reply("Not here", 404, media="text/plain"))
        finally:
            with self.server.arrived:
                self.server.at_once -= 1

    def _answer(self, reply: Reply) -> None:
        if reply.delay:
            time.sleep(reply.delay)
        if reply.hang:
            self.server.released.wait(30)
            self.close_connection = True
            return
        if reply.raw is not None:
            self.wfile.write(reply.raw)
            self.close_connection = True
            return
        for name, condition in (("ETag", "If-None-Match"), ("Last-Modified", "If-Modified-Since")):
            if reply.validators[name] and self.headers.get(condition) == reply.validators[name]:
                self.send_response(304)
                self.end_headers()
                return
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        headers = {"Content-Length": str(len(reply.body)), **reply.headers}
        for name, value in {**headers, **reply.validators}.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        body = reply.body if reply.cut is None else reply.body[: reply.cut]
        self.close_connection |= reply.cut is not None
        if not reply.drip:
            self.wfile.write(body)
            return
        for byte in body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if self.server.released.wait(reply.drip):
                return


class Proxy(SiteServer):
    """A proxy: what it was asked for is in ``requests``; ``CONNECT`` is piped through."""

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = _ProxyHandler


class _ProxyHandler(_Handler):
    def do_CONNECT(self) -> None:
        self.server.requests.append((self.path, dict(self.headers)))
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as upstream:
            self.send_response(200)
            self.end_headers()
            self.wfile.flush()
            back = threading.Thread(target=_pipe, args=(upstream, self.connection), daemon=True)
            back.start()
            _pipe(self.connection, upstream)
            with contextlib.suppress(OSError):
                upstream.shutdown(socket.SHUT_RDWR)
            back.join(5)
        self.close_connection = True


def _pipe(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
