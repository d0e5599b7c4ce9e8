"""The event stream: connects, resumes, cuts it into frames and hands them on (docs: Events)."""

import http.client
import random
import socket as sockets
import threading
import time

from .api import Gone, Refused, Unavailable
from .clock import back_off

#: A stream that lasted so long was a good one.
GOOD_SECONDS = 60


class Frame:
    """`id`, `event` and `data` of a server-sent event. `is_first`: of its connection."""

    def __init__(self, fields, is_first):
        self.id, self.event, self.data = fields.get("id"), fields.get("event"), fields.get("data", "")
        self.is_first = is_first


def frames(lines, on_retry):
    """Cuts lines into frames. Comments and unknown fields are left out; `retry` is told to `on_retry` in seconds."""
    fields, is_first = {}, True
    for raw in lines:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line == "":
            if "data" in fields:
                yield Frame(fields, is_first)
                is_first = False
            fields = {}
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "retry" and value.isdigit():
            on_retry(int(value) / 1000)
        elif name == "data" and "data" in fields:
            fields["data"] += "\n" + value
        elif name:
            fields[name] = value


class Stream(threading.Thread):
    """Keeps a stream open until it is closed. `last_id()` says where to go on."""

    def __init__(self, server, path, nsk, last_id, on_open, on_frame, on_end):
        super().__init__(name="stream", daemon=True)
        self._server, self._path, self._nsk, self._last_id = server, path, nsk, last_id
        self._on_open, self._on_frame, self._on_end = on_open, on_frame, on_end
        self._closed = threading.Event()
        self._socket = None
        self._wait = None

    def run(self):
        tries = 0
        while not self._closed.is_set():
            since = time.monotonic()
            try:
                self._wait = None
                self._follow()
            except (Gone, Refused, Unavailable) as error:
                self._on_end("stream", error)
                self._wait = getattr(error, "retry_after", None)
                if isinstance(error, Gone):
                    return
            tries = 0 if time.monotonic() - since > GOOD_SECONDS else tries + 1
            self._closed.wait(self._wait * random.uniform(1, 1.2) if self._wait else 0.2 + back_off(tries - 1))

    def close(self):
        self._closed.set()
        if self._socket is not None:
            try:
                self._socket.shutdown(sockets.SHUT_RDWR)
            except OSError:
                pass  # It has ended by itself.

    def _follow(self):
        last_id = self._last_id()
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
        self._socket, response = self._server.open_stream(self._path, self._nsk, headers)
        self._on_open(last_id)
        try:
            for frame in frames(response, self._retry):
                self._on_frame(frame)
        except (OSError, ValueError, http.client.HTTPException) as error:
            if not self._closed.is_set():
                raise Unavailable(f"{type(error).__name__}: {error}") from error
        finally:
            response.close()

    def _retry(self, seconds):
        self._wait = seconds
