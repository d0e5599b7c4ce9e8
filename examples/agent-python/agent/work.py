"""What an agent has to do, by name and by when: asked for twice, it is done once."""

import queue
import threading
import time


class Work:
    """Tasks by name with the moment from which on they are due, and a queue of what arrives in order."""

    def __init__(self):
        self._due = {}
        self._lock = threading.Lock()
        self._arrived = queue.Queue(maxsize=1_000)

    def want(self, name, after=0.0):
        """Asks for a task, `after` seconds from now at the latest."""
        at = time.monotonic() + after
        with self._lock:
            self._due[name] = min(at, self._due.get(name, at))
        self._wake()

    def put_off(self, name, after):
        """Asks for a task `after` seconds from now, and not before, whenever it was asked for."""
        with self._lock:
            self._due[name] = time.monotonic() + after
        self._wake()

    def arrive(self, item):
        """Hands on something that is to be dealt with in order; waits while there is too much of it."""
        self._arrived.put(item)

    def next(self):
        """Waits for the next thing to do: `(None, item)` of what arrived, or `(name, None)` of a task."""
        while True:
            name, wait = self._first()
            if name is not None and wait <= 0:
                with self._lock:
                    self._due.pop(name, None)
                return name, None
            try:
                item = self._arrived.get(timeout=wait)
            except queue.Empty:
                continue
            if item is not None:
                return None, item

    def _first(self):
        with self._lock:
            if not self._due:
                return None, None
            name = min(self._due, key=self._due.get)
            return name, self._due[name] - time.monotonic()

    def _wake(self):
        try:
            self._arrived.put_nowait(None)
        except queue.Full:
            pass  # Whoever waits is about to be woken anyway.
