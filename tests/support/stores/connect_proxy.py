# SPDX-License-Identifier: Apache-2.0
"""An HTTP proxy that does CONNECT and nothing else, to one port of this machine, for who shows name and password.

    with ConnectProxy(server.port) as proxy:
        proxy.url()          # http://agent:PASSWORD@127.0.0.1:PORT
        proxy.asked          # the HOST:PORT of each tunnel
        proxy.refused        # requests that were anything else, or came without the password
"""

import base64
import re
import socket
import threading
import urllib.parse

from listener import Listener

PASSWORD = "a/b+c%d:e f"


class ConnectProxy(Listener):
    def __init__(self, upstream_port):
        self.upstream_port = upstream_port
        self.asked, self.refused = [], []

    def url(self, password=PASSWORD):
        return f"http://agent:{urllib.parse.quote(password, safe='')}@127.0.0.1:{self.port}"

    def bare_url(self):
        return f"http://127.0.0.1:{self.port}"

    def _serve(self, client):
        try:
            head = b""
            while b"\r\n\r\n" not in head:
                data = client.recv(4096)
                if not data:
                    return
                head += data
            line = head.split(b"\r\n")[0].decode()
            asked = re.fullmatch(r"CONNECT (\S+) HTTP/1\.1", line)
            word = base64.b64encode(f"agent:{PASSWORD}".encode())
            if asked is None or b"\r\nproxy-authorization: basic " + word.lower() not in head.lower():
                self.refused.append(line)
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n"
                               b"Content-Length: 0\r\nConnection: close\r\n\r\n")
                return
            self.asked.append(asked[1])
            with socket.create_connection(("127.0.0.1", self.upstream_port)) as server:
                for one in (client, server):
                    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=self._copy, args=(server, client), daemon=True)
                back.start()
                self._copy(client, server)
                back.join()
        except OSError:
            pass
        finally:
            client.close()

    @staticmethod
    def _copy(source, sink):
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def take(self, client):
        threading.Thread(target=self._serve, args=(client,), daemon=True).start()
