"""Checks this implementation against the test vectors of docs/vectors."""

import itertools
import json
import pathlib

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from .canonical import canonical
from .credentials import parse_nsk, parse_token
from .edges import EnvelopeFault, digest, epoch_order, is_acceptable, open_envelope
from .own import self_of
from .policies import fingerprint, may_exchange, verdict
from .policy_compiler import compile_policy
from .sealed_secrets import SecretFault, open_secret
from .selectors import evaluate
from .signatures import Fault, SigningKeys, admit, read_envelope, verify_envelope


def check(folder):
    """Yields file, name of the vector and whether it holds, for every vector of the folder."""
    files = {path.stem: path for path in sorted(pathlib.Path(folder).glob("*.json"))}
    missing = sorted(CHECKS.keys() ^ files.keys())
    for name in missing:
        yield name, "both the file and the check are there", False
    for name in sorted(CHECKS.keys() & files.keys()):
        document = json.loads(files[name].read_text(encoding="utf-8"))
        for vector in document["vectors"]:
            found = CHECKS[name](vector["input"], document.get("keys"))
            yield name, vector["name"], found == vector["expected"]


def _credential(given, _keys):
    nsk = parse_nsk(given["text"])
    if nsk is not None:
        fields = {"env": nsk.env, "node_id": nsk.node_id, "kid": nsk.kid, "key_hex": nsk.key.hex()}
        return {"kind": "node secret key", **fields}
    return parse_token(given["text"]) or {"kind": None}


def _envelope(given, _keys):
    place = given["node_id"], given["peer_node_id"], given["epoch"]
    try:
        key = open_envelope(bytes.fromhex(given["envelope_hex"]), bytes.fromhex(given["nsk_key_hex"]), *place)
    except EnvelopeFault as fault:
        return {"fault": str(fault)}
    return {"edge_key_hex": key.hex()}


def _edge_key(given, _keys):
    """Only the server does this; it is here so that the vectors are checked by one more library."""
    low, high = sorted((given["one"], given["other"]), key=lambda end: end["node_id"])
    info = f"service/mesh/edge-psk/v1|{low['node_id']}|{high['node_id']}"
    secrets = bytes.fromhex(low["psk_hex"] + high["psk_hex"])
    key = HKDF(algorithm=SHA256(), length=32, salt=b"", info=info.encode()).derive(secrets)
    return {"info": info, "edge_key_hex": key.hex()}


def _epoch(given, _keys):
    order = epoch_order(given["epoch"], given["in_force"])
    return {"order": order, "acceptable": is_acceptable(order)}


def _event(given, keys):
    try:
        envelope = verify_envelope(given["data"], SigningKeys(keys), given["node_id"])
    except Fault as fault:
        return {"fault": str(fault)}
    _, signed, signature = read_envelope(given["data"])
    facts = {"node_seq": envelope["node_seq"], "type": envelope["type"]}
    return {**facts, "signed_text": signed, "signature": signature}


def _secret(given, _keys):
    envelope, key = bytes.fromhex(given["envelope_hex"]), bytes.fromhex(given["nsk_key_hex"])
    try:
        secret = open_secret(envelope, key, given["node_id"], given["ref"], given["version"])
    except SecretFault as fault:
        return {"fault": str(fault)}
    return {"secret": secret.decode()}


def _selector(given, _keys):
    """Only the server does this, as with the edge keys."""
    ids = ("project", given.get("project_id")), ("domain", given.get("domain_id"))
    scopes = [f"{kind}:{one}" for kind, one in ids if one] + ["platform"]
    found, errors, selected = evaluate(given["text"], given["definitions"], scopes, given.get("objects", []))
    return {"canonical": found, "errors": errors, **({"selected": selected} if "objects" in given else {})}


def _session_token(given, keys):
    try:
        session = admit(given["token"], SigningKeys(keys), given["node_id"], given["now"], given["sessions"])
    except Fault as fault:
        return {"fault": str(fault)}
    return {"session_id": session["session_id"]}


def _state(given, _keys):
    state = json.loads(given["body"])
    if canonical(state) != given["body"]:
        return {"fault": "not canonical"}
    epochs = {peer["node_id"]: f"{given['psk_issued_at']}|{peer['psk_issued_at']}" for peer in state["peers"]}
    policies = state["policy"]["policies"]
    return {
        "self": self_of(state),
        "names": {peer["node_id"]: peer["name"] for peer in state["peers"] if "name" in peer},
        "peers": [peer["node_id"] for peer in state["peers"]],
        "candidates": {peer["node_id"]: peer["candidates"] for peer in state["peers"] if "candidates" in peer},
        "subnets": {peer["node_id"]: peer["subnets"] for peer in state["peers"] if "subnets" in peer},
        "epochs": epochs,
        "report": digest(epochs),
        "fingerprints": {policy["policy_id"]: fingerprint(policy["rules"]) for policy in policies},
        "bridges": [bridge["bridge_resource_id"] for bridge in state["bridge"]["resources"]],
        "executions": [execution["execution_id"] for execution in state["executions"]],
        "sessions": [session["session_id"] for session in state["sessions"]],
    }


def _policies(given, _keys):
    if "policy" in given:
        text = compile_policy(given["policy"], given["groups"])
        return {"text": text, "fingerprint": fingerprint(json.loads(text))}
    nodes = given["nodes"]
    flows = ((nodes[flow["from"]], nodes[flow["to"]], flow.get("protocol"), flow.get("port")) for flow in given["flows"])
    pairs = itertools.combinations(sorted(nodes), 2)
    return {
        "verdicts": [verdict(*flow) for flow in flows],
        "may_exchange": [list(pair) for pair in pairs if may_exchange(*(nodes[name] for name in pair))],
    }


CHECKS = {
    "credential-formats": _credential,
    "edge-envelope": _envelope,
    "edge-epoch": _epoch,
    "edge-key": _edge_key,
    "epoch-digest": lambda given, _keys: digest(given["epochs"]),
    "event-signature": _event,
    "node-secrets": _secret,
    "policies": _policies,
    "selectors": _selector,
    "session-token": _session_token,
    "state-snapshot": _state,
}
