"""The node's leg of a key rotation, over lost answers and restarts (docs: Rotation)."""

from .api import Refused, Unavailable
from .enrol import key_pair


def rotate(kept, call):
    """
    Completes a pending rotation. `call(body)` makes the request and raises as `Server.call` does. True where keys of edges are
    to be fetched; after Unavailable it is to be called again, and sends the same key.
    """
    if "next" not in kept:
        kept["next"] = {**key_pair(), "is_tried": False, "is_open": False}
        kept.save()
    was_tried = kept["next"]["is_tried"]
    if not was_tried:
        kept["next"]["is_tried"] = True
        kept.save()
    try:
        answer = call({"public_key": kept["next"]["public_key"]})
    except Refused as refused:
        if refused.code == "no_pending_rotation":
            return _ended(kept, was_tried)
        if refused.code not in ("public_key_in_use", "invalid_public_key"):
            raise
        if refused.code == "public_key_in_use" and was_tried:
            _adopt(kept)
        else:
            _drop(kept)
        raise Unavailable(f"the rotation needs another key: {refused.code}") from refused
    _adopt(kept, psk_issued_at=answer["psk_issued_at"])
    return True


def settle(kept, own_half):
    """Ends what lost answers left open, with the own half of an epoch that was just fetched."""
    following = kept.get("next", {"is_tried": False, "is_open": False})
    if following["is_tried"] and own_half > kept["psk_issued_at"]:
        _adopt(kept, psk_issued_at=own_half)
    elif following["is_open"]:
        _drop(kept)


def _ended(kept, was_tried):
    """Nothing waits: the pair is of no use, unless an earlier try may have made it the own one."""
    if was_tried:
        kept["next"]["is_open"] = True
        kept.save()
    else:
        _drop(kept)
    return was_tried


def _adopt(kept, **facts):
    following = kept.pop("next")
    kept.update(private_key=following["private_key"], public_key=following["public_key"], **facts)
    kept.save()


def _drop(kept):
    del kept["next"]
    kept.save()
