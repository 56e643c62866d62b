# SPDX-License-Identifier: Apache-2.0
"""A slow line to an S3 server: bytes pass as they are, so that a client that dies leaves half a request to the server.

    with SlowWire(server.port, 8 << 10) as wire:
        wire.bytes_per_second = None   # as fast as it goes
        wire.puts_under_way()          # requests that the client is at, and has no answer to
"""

import re
import socket
import threading
import time

from listener import Listener

_STEP_SECONDS = 0.02
_PUT = re.compile(rb"PUT (\S+) HTTP/1\.1\r\n")


class _Line:
    """One connection. A request begins with the first byte after an answer, and ends with the first of its answer."""

    def __init__(self, wire, client):
        self.wire, self.client = wire, client
        self.server = socket.create_connection(("127.0.0.1", wire.upstream_port))
        self.asked = None  # path of the PUT that has no answer yet
        self.between = True
        threading.Thread(target=self._to_server, daemon=True).start()
        threading.Thread(target=self._to_client, daemon=True).start()

    def _to_server(self):
        try:
            while data := self.client.recv(1 << 16):
                if self.between:
                    found = _PUT.match(data)
                    self.asked, self.between = found[1].decode() if found else None, False
                self._send_slowly(data)
        except OSError:
            pass
        self._end()

    def _send_slowly(self, data):
        at = 0
        while at < len(data):
            rate = self.wire.bytes_per_second
            step = len(data) - at if rate is None else min(len(data) - at, max(1, int(rate * _STEP_SECONDS)))
            self.server.sendall(data[at:at + step])
            at += step
            if rate is not None:
                time.sleep(step / rate)

    def _to_client(self):
        try:
            while data := self.server.recv(1 << 16):
                if not data.startswith(b"HTTP/1.1 100"):
                    self.asked, self.between = None, True
                self.client.sendall(data)
        except OSError:
            pass
        self._end()

    def _end(self):
        """A client that has gone is gone for the server at once, whatever it had sent before."""
        self.asked = None
        for one in (self.client, self.server):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class SlowWire(Listener):
    def __init__(self, upstream_port, bytes_per_second):
        self.upstream_port, self.bytes_per_second = upstream_port, bytes_per_second
        self._lines = []

    def puts_under_way(self):
        return [line.asked for line in self._lines if line.asked is not None]

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def take(self, client):
        if self.bytes_per_second is not None:
            # Small, or a whole request lies in the sockets and has left the client before a byte of it arrives.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, max(4096, self.bytes_per_second // 4))
        try:
            self._lines = [line for line in self._lines if line.client.fileno() >= 0][-100:] + [_Line(self, client)]
        except OSError:
            client.close()

    def __exit__(self, *how):
        super().__exit__(*how)
        for line in self._lines:
            line._end()
