"""Where the node sees its peers: reported, so that one behind a NAT is found at the port that it has there (docs: Observed endpoints)."""

import time

PEERS_OF_A_REPORT = 64


class Observed:
    """`report(seen)` sends the endpoints of up to 64 peers by id to the server, and raises as `Server.call` does."""

    def __init__(self, report):
        self._report = report
        self._reported = {}
        self._again_at = 0.0

    def settle(self, seen, ttl_seconds):
        """Reports what is new of the endpoints by peer id, and all of them at half of the time for which the server keeps them."""
        now = time.monotonic()
        if now >= self._again_at:
            self._reported, self._again_at = {}, now + ttl_seconds / 2
        new = [(peer_id, endpoint) for peer_id, endpoint in seen.items() if self._reported.get(peer_id) != endpoint]
        for first in range(0, len(new), PEERS_OF_A_REPORT):
            part = dict(new[first : first + PEERS_OF_A_REPORT])
            self._report(part)
            self._reported.update(part)
