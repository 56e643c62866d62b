# SPDX-License-Identifier: Apache-2.0
"""An S3 server that takes everything, keeps nothing and counts what came: on a loopback port, in a process of its own."""

import contextlib
import hashlib
import http.server
import multiprocessing
import re
import threading

_XML = '<?xml version="1.0" encoding="UTF-8"?>'
# s3cmd looks for the bucket's place first.
_LOCATION = _XML + '<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>'


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *_):
        pass

    def _take(self):
        left = int(self.headers.get("Content-Length") or 0)
        self.server.count(left, "Signature=" in (self.headers.get("Authorization") or ""))
        digest = hashlib.md5(usedforsecurity=False)
        while left > 0:
            chunk = self.rfile.read(min(left, 1 << 18))
            if not chunk:
                break
            digest.update(chunk)
            left -= len(chunk)
        return f'"{digest.hexdigest()}"'

    def _reply(self, body="", etag=None):
        data = body.encode()
        self.send_response(200)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def do_PUT(self):
        self._reply(etag=self._take())  # s3cmd compares it

    def do_POST(self):
        self._take()
        if "uploadId=" in self.path:
            self._reply(_XML + '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>')
        else:
            self._reply(_XML + "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")

    def do_GET(self):
        self._reply(_LOCATION if re.search(r"[?&]location", self.path) else "")

    do_HEAD = do_GET


class _Sink(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, bodies):
        super().__init__(("127.0.0.1", 0), _Handler)
        self._bodies = bodies
        self._lock = threading.Lock()

    def count(self, size, signed):
        with self._lock:
            self._bodies[0] += size
            self._bodies[1] += 1
            self._bodies[2] += signed


def _serve(pipe, bodies):
    sink = _Sink(bodies)
    pipe.send(sink.server_port)
    sink.serve_forever()


@contextlib.contextmanager
def running():
    """(port, counters of bytes, requests with a body's length, signed ones)."""
    ours, theirs = multiprocessing.Pipe()
    bodies = multiprocessing.Array("q", 3, lock=False)
    process = multiprocessing.Process(target=_serve, args=(theirs, bodies), daemon=True)
    process.start()
    try:
        yield ours.recv(), bodies
    finally:
        process.terminate()
        process.join()
