"""Enrolment with a join token (docs: Enrolment)."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from . import VERSION
from .encoding import to_base64
from .keep import Kept


def key_pair():
    """A fresh Curve25519 pair, both halves in padded base64."""
    private = X25519PrivateKey.generate()
    public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    secret = private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    return {"private_key": to_base64(secret), "public_key": to_base64(public)}


def enrol(server, join_token, path, name, kind):
    """Enrols this node and writes its state file, the private key before the call. Raises as `Server.call` does."""
    kept = Kept(path, key_pair())
    kept.save()
    body = {"name": name, "kind": kind, "public_key": kept["public_key"], "binary_version": VERSION}
    answer = server.call("POST", "/v1/nodes/register", join_token, body).json()
    kept.update(
        {
            "node_id": answer["node_id"],
            "domain_id": answer["domain_id"],
            "mesh_address": answer["mesh_address"],
            "mesh_cidr": answer.get("mesh_cidr"),
            "nsk": answer["nsk"],
            "psk_issued_at": answer["psk_issued_at"],
            "heartbeat_interval_seconds": answer["heartbeat_interval_seconds"],
            "signing_keys": {"keys": answer["signing_keys"]},
            "epochs": {},
            "results": {},
        }
    )
    kept.save()
    return kept
