# SPDX-License-Identifier: Apache-2.0
"""A container's credentials endpoint, as ECS and EKS have one: hands out keys to who shows its token.

    with CredentialsEndpoint(keys) as endpoint:
        endpoint.port
        endpoint.asked       # the path of each request that was answered with keys
        endpoint.refused     # of each that was not
"""

import datetime
import http.server
import json
import threading

TOKEN = "the.pods.token"


class CredentialsEndpoint:
    """`keys`: access key, secret key and, of temporary ones, session token. On `address`, where an endpoint may be."""

    def __init__(self, keys, address="127.0.0.1", port=0):
        self.asked, self.refused = [], []
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        told = dict(zip(("AccessKeyId", "SecretAccessKey", "Token"), keys))
        body = json.dumps({**told, "Expiration": end.strftime("%Y-%m-%dT%H:%M:%SZ")}).encode()
        endpoint = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.headers.get("Authorization") == TOKEN:
                    endpoint.asked.append(self.path)
                    self._answer(200, body)
                else:
                    endpoint.refused.append(self.path)
                    self._answer(401, b'{"message": "no such pod"}')

            def _answer(self, status, text):
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer((address, port), Handler)
        self.port = self._server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
