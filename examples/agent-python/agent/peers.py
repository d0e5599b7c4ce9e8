"""What a node knows of its peers: from pulls, and from hints in between (docs: Applying it, Types)."""

_FACTS = ("public_key", "mesh_address", "psk_issued_at")


class Peers:
    """Peers by id, with the members that the state has."""

    def __init__(self):
        self._peers = {}

    def __iter__(self):
        return iter(sorted(self._peers))

    def __contains__(self, peer_id):
        return peer_id in self._peers

    def __getitem__(self, peer_id):
        return self._peers[peer_id]

    def replace(self, pulled):
        self._peers = {peer["node_id"]: peer for peer in pulled}

    def apply(self, change):
        """Applies a changed peer of a hint. False where that takes a pull."""
        peer_id = change["node_id"]
        if change["changes"][-1:] == ["deregistered"]:
            self._peers.pop(peer_id, None)
            return True
        facts = {name: value for name, value in change.items() if name != "changes"}
        known = self._peers.get(peer_id)
        if known is None:
            if not all(name in facts for name in _FACTS):
                return False
            known = {"endpoint": ""}
        elif facts.get("psk_issued_at", known["psk_issued_at"]) < known["psk_issued_at"]:
            facts = {name: value for name, value in facts.items() if name not in ("psk_issued_at", "public_key")}
        if "endpoint" in facts:
            known = {name: value for name, value in known.items() if name not in ("fallback_endpoint", "candidates")}
        self._peers[peer_id] = {**known, **facts}
        return True

    def regroup(self, change):
        """Applies a changed group of a hint. Peers that are not known bring their groups when they come."""
        for members, is_in in ((change["added"], True), (change["removed"], False)):
            for peer in (self._peers[peer_id] for peer_id in members if peer_id in self._peers):
                others = [group for group in peer.get("groups", []) if group != change["group"]]
                peer["groups"] = sorted([*others, change["group"]] if is_in else others)
