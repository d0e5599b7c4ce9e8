"""The keys of a node's edges: which are due, fetching them, and which epochs may come into force (docs: Keys)."""

import hashlib
import time

from .clock import back_off
from .edges import EnvelopeFault, digest, epoch_order, is_acceptable, open_envelope
from .output import say
from .rotation import settle


class EdgeKeys:
    """Keys by peer, in memory; their epochs are in the state file. `fetch(peer_id)` raises as `Server.call` does."""

    def __init__(self, kept, nsk, peers, fetch):
        self._kept, self._nsk, self._peers, self._fetch = kept, nsk, peers, fetch
        self._keys = {}
        self._outdated = set()
        self._later = {}

    def settle(self):
        """Forgets edges of peers that are gone."""
        epochs = self._kept["epochs"]
        for gone in [peer_id for peer_id in epochs if peer_id not in self._peers]:
            del epochs[gone]
            self._keys.pop(gone, None)
            self._later.pop(gone, None)

    def outdate(self):
        """Every key is to be fetched anew. Until then the present ones stay in force."""
        self._outdated = set(self._keys)

    def wait(self):
        """Seconds until an edge is due; None where none is."""
        now = time.monotonic()
        return min((max(0, self._later.get(peer_id, (0, 0))[0] - now) for peer_id in self._due()), default=None)

    def in_force(self, peer_id):
        """The key of an edge and its epoch; None where it has none yet."""
        key = self._keys.get(peer_id)
        return None if key is None else (key, self._kept["epochs"][peer_id])

    def report(self):
        """The digest over the epochs whose key is in force."""
        return digest({peer_id: self._kept["epochs"][peer_id] for peer_id in self._peers if peer_id in self._keys})

    def fetch_one(self):
        """Fetches the key that has waited longest. One that is refused waits longer each time, and the others go on."""
        now = time.monotonic()
        due = [peer_id for peer_id in self._due() if self._later.get(peer_id, (0, 0))[0] <= now]
        if not due:
            return
        peer_id = min(due, key=lambda peer: self._later.get(peer, (0, 0)))
        tries = self._later.get(peer_id, (0, 0))[1]
        self._later[peer_id] = (now + 1 + back_off(tries), tries + 1)
        if self._put_in_force(peer_id, self._fetch(peer_id)):
            del self._later[peer_id]

    def _due(self):
        return [peer_id for peer_id in self._peers if self._is_due(peer_id)]

    def _is_due(self, peer_id):
        if peer_id not in self._keys or peer_id in self._outdated:
            return True
        own, peer = self._kept["epochs"][peer_id].split("|")
        return self._kept["psk_issued_at"] > own or self._peers[peer_id]["psk_issued_at"] > peer

    def _put_in_force(self, peer_id, answer):
        epoch = answer.headers.get("X-Service-PSK-Epoch", "")
        order = epoch_order(epoch, self._kept["epochs"].get(peer_id))
        if not is_acceptable(order):
            say("edge_refused", peer=peer_id, epoch=epoch, why=order)
            return False
        try:
            key = open_envelope(answer.body, self._nsk.key, self._kept["node_id"], peer_id, epoch)
        except EnvelopeFault as fault:
            say("edge_refused", peer=peer_id, epoch=epoch, why=str(fault))
            return False
        self._keys[peer_id] = key
        self._outdated.discard(peer_id)
        self._kept["epochs"][peer_id] = epoch
        # A rotation whose answer was lost shows in the own half.
        own = epoch.split("|")[0]
        settle(self._kept, own)
        self._kept["psk_issued_at"] = max(self._kept["psk_issued_at"], own)
        self._kept.save()
        name = self._peers[peer_id].get("name")
        say("edge", peer=peer_id, name=name, epoch=epoch, key_sha256=hashlib.sha256(key).hexdigest())
        return True

