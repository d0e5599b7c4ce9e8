"""Ed25519 signatures of the server: signed event envelopes and session tokens (docs: Events, Mediated sessions)."""

import datetime
import json
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .encoding import from_base64url

_SIGNATURE = re.compile(r',"signature":"([A-Za-z0-9_-]{85}[AQgw])"\}\Z', re.ASCII)
_TEXTS = ("domain_id", "event_id", "kid", "node_id", "occurred_at", "type")


class Fault(Exception):
    """Why something signed is not to be acted upon, by the name that the documents give it."""


class SigningKeys:
    """The keys of a JWK Set, by name."""

    def __init__(self, jwk_set):
        keys = jwk_set["keys"]
        self._keys = {key["kid"]: key for key in keys if key["kty"] == "OKP" and key["crv"] == "Ed25519"}

    def has(self, kid):
        return kid in self._keys

    def find(self, kid):
        if kid not in self._keys:
            raise Fault("unknown_key")
        return self._keys[kid]

    def verify(self, kid, signature, signed):
        try:
            Ed25519PublicKey.from_public_bytes(from_base64url(self.find(kid)["x"])).verify(signature, signed)
        except InvalidSignature:
            raise Fault("bad_signature") from None


def read_envelope(data):
    """Cuts the data of a frame into envelope, signed text and signature, which proves nothing yet. Raises Fault."""
    found = _SIGNATURE.search(data)
    if found is None:
        raise Fault("malformed")
    signed = data[: found.start()] + "}"
    envelope = _json_object(signed)
    has_texts = all(isinstance(envelope.get(name), str) for name in _TEXTS)
    if envelope.get("api_version") != "v1" or "signature" in envelope or not has_texts:
        raise Fault("malformed")
    if not isinstance(envelope.get("node_seq"), int) or not isinstance(envelope.get("payload"), dict):
        raise Fault("malformed")
    return envelope, signed, found[1]


def verify_envelope(data, keys, node_id):
    """Gives the envelope where it is genuine and for that node. Raises Fault."""
    envelope, signed, signature = read_envelope(data)
    key = keys.find(envelope["kid"])
    if seconds_of(envelope["occurred_at"]) >= key.get("exp", float("inf")):
        raise Fault("expired_key")
    keys.verify(envelope["kid"], from_base64url(signature), signed.encode())
    if envelope["node_id"] != node_id:
        raise Fault("wrong_node")
    return envelope


def admit(token, keys, node_id, now, sessions):
    """Gives the live session that a token opens. `now` in Unix seconds, `sessions` as the state has them. Raises Fault."""
    head, claims, signature, signed = _read_token(token)
    if head.get("alg") != "EdDSA":
        raise Fault("wrong_algorithm")
    key = keys.find(head.get("kid"))
    keys.verify(head["kid"], signature, signed)
    if claims.get("iat", 0) >= key.get("exp", float("inf")):
        raise Fault("expired_key")
    if claims.get("aud") != node_id:
        raise Fault("wrong_node")
    if now >= claims.get("exp", 0):
        raise Fault("expired")
    session = next((one for one in sessions if one["session_id"] == claims.get("jti")), None)
    if session is None:
        raise Fault("not_live")
    if any(session[name] != claims.get(name) for name in ("kind", "target")):
        raise Fault("wrong_session")
    return session


def seconds_of(instant):
    """Unix seconds of an RFC 3339 instant."""
    try:
        return datetime.datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp()
    except ValueError:
        raise Fault("malformed") from None


def _read_token(token):
    parts = token.split(".")
    decoded = [from_base64url(part) for part in parts]
    if len(parts) != 3 or None in decoded:
        raise Fault("malformed")
    head, claims, signature = decoded
    return _json_object(head), _json_object(claims), signature, f"{parts[0]}.{parts[1]}".encode()


def _json_object(text):
    try:
        value = json.loads(text)
    except ValueError:
        raise Fault("malformed") from None
    if not isinstance(value, dict):
        raise Fault("malformed")
    return value
