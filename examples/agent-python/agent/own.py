"""What the server knows of the node itself, the block `self` of the state (docs: The node itself)."""

from .rotation import settle

_FACTS = ("name", "mesh_address", "mesh_cidr")


def self_of(state):
    """The members of the block that this agent knows; None where an older server sends none."""
    block = state.get("self")
    return block and {name: block[name] for name in (*_FACTS, "psk_issued_at")}


def take_self(kept, pulled):
    """
    Keeps what is new of the block, and gives it. A newer key than the known one shows that the answer of a rotation was lost.
    An older one shows nothing: the server may answer the state as it last knew it.
    """
    if pulled is None:
        return {}
    new = {name: pulled[name] for name in _FACTS if kept.get(name) != pulled[name]}
    if pulled["psk_issued_at"] > kept["psk_issued_at"]:
        settle(kept, pulled["psk_issued_at"])
        new["psk_issued_at"] = pulled["psk_issued_at"]
    if new:
        kept.update(new)
        kept.save()
    return new
