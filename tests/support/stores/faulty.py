# SPDX-License-Identifier: Apache-2.0
"""A proxy before an S3 server, for what such a server does not do on demand.

    with FaultyProxy(server.port) as proxy:
        proxy.fault = "unavailable"   # of FAULTS; "" passes everything on
        proxy.stored                  # how often the server took each key
        proxy.read                    # and how often somebody asked for it

Requests go on as they came, with the proxy's own Host, so that their signature stays right.
"""

import collections
import http.client
import http.server
import socket
import threading

_ERROR = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{}</Code><Message>{}</Message></Error>'
_REFUSED = {
    "unavailable": (503, "SlowDown", "Please reduce your request rate."),
    # Answer of MinIO (cmd/api-errors.go).
    "full": (507, "XMinioStorageFull", "Storage backend has reached its minimum free drive threshold."),
}
FAULTS = ("unavailable", "full", "slow", "wrong-etag")
# And "quoting": it refuses, and quotes the request's headers, as AWS and gateways do in several places.


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def setup(self):
        # Small, or a body of a window fits into the sockets and nothing is slow. A roll-up takes a minute then.
        if self.server.owner.may_be_slow:
            self.request.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        super().setup()

    def _body(self):
        size = int(self.headers.get("Content-Length", 0))
        if self.server.owner.fault != "slow":
            return self.rfile.read(size)
        body = b""
        while len(body) < size and not self.server.owner.closing.wait(1):
            byte = self.rfile.read(1) if self.server.owner.fault == "slow" else self.rfile.read(size - len(body))
            if not byte:
                raise ConnectionError("the client has gone")
            body += byte
        return body

    def _answer(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        # The answer to a HEAD tells how long the object is.
        told = dict((name.lower(), value) for name, value in headers).get("content-length")
        self.send_header("Content-Length", told if self.command == "HEAD" and told else str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _pass_on(self):
        owner = self.server.owner
        body = self._body()
        if owner.fault in _REFUSED:
            status, code, message = _REFUSED[owner.fault]
            self._answer(status, [("Content-Type", "application/xml")], _ERROR.format(code, message).encode())
            return
        if owner.fault == "quoting":
            # The last header of the quotation survives the cut of a long message.
            quoted = "; ".join(f"{name}: {value}" for name, value in sorted(self.headers.items(), reverse=True)
                               if name.lower() != "authorization")
            owner.quoted += 1
            self._answer(403, [("Content-Type", "application/xml")],
                         _ERROR.format("SignatureDoesNotMatch", quoted).encode())
            return
        upstream = http.client.HTTPConnection("127.0.0.1", owner.upstream_port, timeout=60)
        try:
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                upstream.putheader(name, value)
            upstream.endheaders(body)
            answer = upstream.getresponse()
            content, headers = answer.read(), answer.getheaders()
        except OSError:
            self._answer(502, [], b"")
            return
        finally:
            upstream.close()
        path, _, query = self.path.partition("?")
        if self.command == "PUT" and answer.status == 200:
            owner.count(owner.stored, path)
        if self.command in ("GET", "HEAD") and "list-type=" not in query:
            owner.count(owner.read, path)
        if owner.fault == "wrong-etag":
            headers = [(name, '"00000000000000000000000000000000"' if name.lower() == "etag" else value)
                       for name, value in headers]
        self._answer(answer.status, headers, content)

    def _serve(self):
        try:
            self._pass_on()
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _serve  # noqa: N815, the base class's names


class FaultyProxy:
    def __init__(self, upstream_port, may_be_slow=True):
        self.upstream_port = upstream_port
        self.may_be_slow = may_be_slow
        self.fault = ""
        self.closing = threading.Event()
        self.stored = collections.Counter()
        self.read = collections.Counter()
        self.quoted = 0
        self._lock = threading.Lock()

    def count(self, counter, path):
        with self._lock:
            counter[path] += 1

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.server.daemon_threads = True
        self.server.owner = self
        self.endpoint = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
