"""The texts of credentials, cut by the length of their fields (docs: The node secret key, Join tokens)."""

import re
import uuid
import zlib

from .encoding import from_base64url

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_HEAD = re.compile(r"(nsk|psk|jtk)_([a-z0-9]{1,16})_([0-9a-f]{32})", re.ASCII)
_BASE62 = re.compile(r"[0-9A-Za-z]+", re.ASCII)


class NodeSecretKey:
    """What a node secret key says: `node_id`, `kid` and the 32 bytes `key` that open edge envelopes."""

    def __init__(self, text, env, node_id, kid, key):
        self.text, self.env, self.node_id, self.kid, self.key = text, env, node_id, kid, key


def parse_nsk(text):
    """Reads a node secret key from its end, since its last field has underscores of its own; None where it is none."""
    head, kid_field, key_field = text[:-53], text[-53:-44], text[-44:]
    found = _HEAD.fullmatch(head)
    key = from_base64url(key_field[1:])
    if found is None or found[1] != "nsk" or key is None or len(key) != 32:
        return None
    if kid_field[:1] != "_" or key_field[:1] != "_" or not _BASE62.fullmatch(kid_field[1:]):
        return None
    return NodeSecretKey(text, found[2], str(uuid.UUID(found[3])), kid_field[1:], key)


def parse_token(text):
    """Reads an API token or a join token: its kind, env, id and prefix; None where it is none or not whole."""
    prefix, _, random = text.rpartition("_")
    found = _HEAD.fullmatch(prefix)
    if found is None or found[1] == "nsk" or len(random) != 49 or not _BASE62.fullmatch(random):
        return None
    if _base62(zlib.crc32(text[:-6].encode())) != text[-6:]:
        return None
    kind = {"psk": "api token", "jtk": "join token"}[found[1]]
    return {"kind": kind, "env": found[2], "id": str(uuid.UUID(found[3])), "prefix": prefix}


def _base62(number):
    digits = ""
    while number:
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits.rjust(6, "0")
