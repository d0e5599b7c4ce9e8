"""Heartbeats, in a rhythm of their own whatever else happens (docs: Heartbeats)."""

import threading

from .api import Gone, Refused, Unavailable
from .clock import about, now_text


class Heartbeats(threading.Thread):
    """Sends a heartbeat at once, then every `interval` seconds, and sooner where `now` is called."""

    def __init__(self, send, interval, on_answer, on_failure):
        super().__init__(name="heartbeats", daemon=True)
        self._send, self._interval = send, interval
        self._on_answer, self._on_failure = on_answer, on_failure
        self._wake = threading.Event()
        self._is_closed = False

    def run(self):
        while not self._is_closed:
            self._wake.clear()
            wait = about(self._interval)
            try:
                self._on_answer(self._send(now_text()))
            except Unavailable as error:
                self._on_failure("heartbeat", error)
                wait = max(wait, error.retry_after or 0)
            except (Gone, Refused) as error:
                self._on_failure("heartbeat", error)
            self._wake.wait(wait)

    def now(self):
        self._wake.set()

    def close(self):
        self._is_closed = True
        self._wake.set()
