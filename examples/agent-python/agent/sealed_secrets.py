"""Secrets that the configuration of a hosted bridge names, as the server seals them for this node (docs: Secrets)."""

import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
OVERHEAD_BYTES = 28

_VERSION = re.compile(r":[1-9][0-9]*\Z", re.ASCII)


class SecretFault(Exception):
    """`wrong_length` or `not_authentic`: there is no secret to be had from these bytes."""


def open_secret(envelope, nsk_key, node_id, ref, version):
    """Gives the bytes of a secret. `version` is the value of X-Service-Secret-Version, an int. Raises SecretFault."""
    if len(envelope) < OVERHEAD_BYTES:
        raise SecretFault("wrong_length")
    data = f"service/secrets/v1|{node_id.lower()}|{_versioned(ref, version)}".encode()
    try:
        return AESGCM(nsk_key).decrypt(envelope[:NONCE_BYTES], envelope[NONCE_BYTES:], data)
    except InvalidTag:
        raise SecretFault("not_authentic") from None


def _versioned(ref, version):
    """The reference with its own version, or with this one where it has none. The first colon is that of `secret:`."""
    return ref if _VERSION.search(ref.partition(":")[2]) else f"{ref}:{version}"
