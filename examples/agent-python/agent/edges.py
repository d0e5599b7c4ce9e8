"""Edge keys: their envelopes, their epochs, and the digest over all of a node's epochs (docs: Keys)."""

import datetime
import hashlib
import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
ENVELOPE_BYTES = 60

_INSTANT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{9}Z", re.ASCII)


class EnvelopeFault(Exception):
    """`wrong_length` or `not_authentic`: there is no key to be had from these bytes."""


def open_envelope(envelope, nsk_key, node_id, peer_id, epoch):
    """Gives the 32 bytes of an edge key. `epoch` is the value of X-Service-PSK-Epoch as it came. Raises EnvelopeFault."""
    if len(envelope) != ENVELOPE_BYTES:
        raise EnvelopeFault("wrong_length")
    data = f"service/mesh/edge-psk/v1|{node_id.lower()}|{peer_id.lower()}|{epoch}".encode()
    try:
        return AESGCM(nsk_key).decrypt(envelope[:NONCE_BYTES], envelope[NONCE_BYTES:], data)
    except InvalidTag:
        raise EnvelopeFault("not_authentic") from None


def epoch_order(offered, in_force):
    """How an offered epoch stands to the one in force: None, `equal`, `newer`, `older`, `mixed` or `malformed`."""
    halves = _halves(offered)
    if halves is None:
        return "malformed"
    if in_force is None:
        return None
    pairs = list(zip(halves, in_force.split("|")))
    is_newer = any(half > known for half, known in pairs)
    is_older = any(half < known for half, known in pairs)
    if is_newer and is_older:
        return "mixed"
    return "newer" if is_newer else "older" if is_older else "equal"


def is_acceptable(order):
    return order in (None, "equal", "newer")


def digest(epochs):
    """What is reported under `mesh.edge-epochs`, of the epochs in force by peer id."""
    lines = "".join(f"{peer_id}|{epochs[peer_id]}\n" for peer_id in sorted(epochs))
    return {"count": len(epochs), "sha256": hashlib.sha256(lines.encode()).hexdigest()}


def _halves(epoch):
    halves = epoch.split("|")
    return halves if len(halves) == 2 and all(map(_is_instant, halves)) else None


def _is_instant(text):
    found = _INSTANT.fullmatch(text)
    if found is None:
        return False
    try:
        datetime.datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%S")
    except ValueError:
        return False
    return True
