"""Brings the WireGuard interface to what the agent knows of its peers (docs: Applying it, Rotation)."""

import time

from .output import say
from .tunnel_config import TunnelPeer, check_peers, endpoint_of, is_reportable, mesh_of

#: Between a rotation and the change of the own key: by then the peers know of it, and the first handshake succeeds.
OWN_KEY_SECONDS = 1.0
#: So long WireGuard keeps a session after its handshake.
SESSION_SECONDS = 180


class Tunnel:
    """`outside()` gives the addresses that the mesh must leave alone. The methods raise TunnelFault, and may be called again."""

    def __init__(self, wireguard, kept, peers, edge_keys, policies, outside):
        self._wireguard, self._kept, self._outside = wireguard, kept, outside
        self._peers, self._edge_keys, self._policies = peers, edge_keys, policies
        self._private_key = self._own_issued_at = None
        self._own_key_due = None
        self._put = {}
        self._refused = {}
        self._obstacle_said = self._reserved = None

    @property
    def listen_port(self):
        return self._wireguard.listen_port

    def open(self):
        """Makes the interface. It has no peers before `apply`."""
        self._wireguard.open(self._kept["private_key"])
        self._private_key, self._own_issued_at = self._kept["private_key"], self._kept["psk_issued_at"]
        self._own_key_due, self._put = None, {}
        say("tunnel", interface=self._wireguard.name, listen_port=self.listen_port, is_up=True)

    def apply(self):
        """Applies what differs. Gives the seconds after which it has to be called again; None where there is nothing to wait for."""
        if not self._wireguard.is_there():
            say("failed", what="tunnel", why="the interface is gone")
            self._wireguard.close()
            self.open()
        wait = self._take_own_key()
        why = self._obstacle()
        if why != self._obstacle_said and why is not None:
            say("tunnel_refused", why=why)
        self._obstacle_said = why
        wanted = {} if why is not None else self._wanted()
        if why is None:
            self._wireguard.set_address(self._kept["mesh_address"])
        self._change(wanted)
        self._wireguard.set_routes(peer.address for peer in wanted.values())
        return wait

    def observed(self):
        """From where the packets of peers come, by id: of those that have a session, and not through a relay."""
        endpoints, handshakes = self._wireguard.endpoints(), self._wireguard.handshakes()
        found = {}
        for peer_id, put in self._put.items():
            endpoint = endpoints.get(put.public_key)
            is_recent = time.time() - handshakes.get(put.public_key, 0) < SESSION_SECONDS
            if endpoint is None or not is_recent or peer_id not in self._peers or not is_reportable(endpoint):
                continue
            if endpoint != self._peers[peer_id].get("fallback_endpoint"):
                found[peer_id] = endpoint
        return found

    def close(self, why):
        """Takes everything down."""
        self._wireguard.close()
        self._put = {}
        say("tunnel", interface=self._wireguard.name, is_up=False, why=why)

    def _take_own_key(self):
        """Changes the own key in the interface where it was rotated. Gives the seconds until then."""
        if self._kept["private_key"] == self._private_key:
            self._own_issued_at, self._own_key_due = self._kept["psk_issued_at"], None
            return None
        now = time.monotonic()
        if self._own_key_due is None:
            self._own_key_due = now + OWN_KEY_SECONDS
        if now < self._own_key_due:
            return self._own_key_due - now
        self._wireguard.set_private_key(self._kept["private_key"])
        self._private_key, self._own_issued_at = self._kept["private_key"], self._kept["psk_issued_at"]
        self._own_key_due = None
        say("tunnel_key", public_key=self._kept["public_key"])
        return None

    def _obstacle(self):
        """Why no peer may be had at all; None where nothing is in the way."""
        if self._policies.isolates():
            return "policies restrict this node, and this agent filters no packets"
        try:
            self._mesh()
        except ValueError as error:
            return str(error)
        return None

    def _mesh(self):
        if self._reserved is None:
            self._reserved = self._outside()
        return mesh_of(self._kept.get("mesh_cidr"), self._kept["mesh_address"], self._reserved)

    def _wanted(self):
        """The peers that the interface is to have, by id."""
        peers = [self._peers[peer_id] for peer_id in self._peers]
        taken, refused = check_peers(peers, self._mesh(), self._kept["mesh_address"], self._kept["public_key"])
        for peer_id, why in refused.items():
            if self._refused.get(peer_id) != why:
                say("peer_refused", peer=peer_id, why=why)
        self._refused = refused
        found = {peer_id: self._wanted_peer(peer_id) for peer_id in taken}
        return {peer_id: peer for peer_id, peer in found.items() if peer is not None}

    def _wanted_peer(self, peer_id):
        """A peer as of its newest keys. Until they are all there it stays as it is, so that a rotation interrupts no traffic."""
        peer, held = self._peers[peer_id], self._edge_keys.in_force(peer_id)
        if held is None or held[1] != f"{self._own_issued_at}|{peer['psk_issued_at']}":
            return self._put.get(peer_id)
        return TunnelPeer(peer["public_key"], held[0], endpoint_of(peer), peer["mesh_address"])

    def _change(self, wanted):
        new = {peer_id: peer for peer_id, peer in wanted.items() if self._put.get(peer_id) != peer}
        # A peer with other keys is removed before it is added: that ends its session, and begins a handshake at once.
        removed = [
            before.public_key
            for peer_id, before in self._put.items()
            if peer_id not in wanted or before[:2] != wanted[peer_id][:2]
        ]
        if not new and not removed:
            return
        present = self._wireguard.endpoints()
        put = [self._with_endpoint(self._put.get(peer_id), peer, present) for peer_id, peer in new.items()]
        self._wireguard.change(removed, put)
        for peer_id, peer in new.items():
            name = self._peers[peer_id].get("name")
            say("tunnel_peer", peer=peer_id, name=name, address=peer.address, endpoint=peer.endpoint)
        for peer_id in [peer_id for peer_id in self._put if peer_id not in wanted]:
            say("tunnel_peer_removed", peer=peer_id)
        self._put = wanted

    @staticmethod
    def _with_endpoint(before, peer, present):
        """A peer may have moved to another address than the server knows. That one is left only where the server has a new one."""
        if before is None or (peer.endpoint and peer.endpoint != before.endpoint):
            return peer
        return peer._replace(endpoint=present.get(before.public_key, peer.endpoint))
