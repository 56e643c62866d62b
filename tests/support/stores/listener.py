# SPDX-License-Identifier: Apache-2.0
"""A port of this machine that takes connections until the block ends: `take(client)` has each."""

import socket
import threading


class Listener:
    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)  # or accept() holds the port
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.take(client)

    def take(self, client):
        """On the thread that accepts: it must not wait."""
        raise NotImplementedError
