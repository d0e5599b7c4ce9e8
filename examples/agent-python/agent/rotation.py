"""The node's leg of a key rotation, over lost answers and restarts (docs: Rotation)."""

from .api import Refused, Unavailable
from .enrol import key_pair


def rotate(kept, call):
    """
    Completes a pending rotation. `call(body)` makes the request and raises as `Server.call` does. True where the keys are
    other ones now; after Unavailable it is to be called again, and sends the same key.
    """
    if "next" not in kept:
        kept["next"] = {**key_pair(), "is_tried": False}
        kept.save()
    was_tried = kept["next"]["is_tried"]
    if not was_tried:
        kept["next"]["is_tried"] = True
        kept.save()
    try:
        answer = call({"public_key": kept["next"]["public_key"]})
    except Refused as refused:
        if refused.code not in ("no_pending_rotation", "public_key_in_use", "invalid_public_key"):
            raise
        return _settle(kept, refused, was_tried)
    _adopt(kept, psk_issued_at=answer["psk_issued_at"])
    return True


def _settle(kept, refused, was_tried):
    """An earlier try whose answer was lost has succeeded, or the key is of no use."""
    if was_tried and refused.code != "invalid_public_key":
        _adopt(kept)
    else:
        del kept["next"]
        kept.save()
    if refused.code != "no_pending_rotation":
        raise Unavailable(f"the rotation needs another key: {refused.code}")
    return was_tried


def _adopt(kept, **facts):
    following = kept.pop("next")
    kept.update(private_key=following["private_key"], public_key=following["public_key"], **facts)
    kept.save()
