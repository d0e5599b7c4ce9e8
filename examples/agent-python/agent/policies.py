"""Policies (docs: Policies): the entries of a node, and whether a flow between it and a peer passes."""

import functools
import hashlib
import ipaddress
import re

from .canonical import canonical
from .encoding import to_base64

DIRECTIONS = ("ingress", "egress")
EVERY_NODE = 0
#: Every flow of a protocol. ICMP has no ports: its flows have the number 0 here.
_WHOLE = {"tcp": (1, 65535), "udp": (1, 65535), "icmp": (0, 0)}
_MAPPED = ipaddress.ip_network("::ffff:0:0/96")


def fingerprint(rules):
    """SHA-256 of the canonical rules, in padded base64."""
    return to_base64(hashlib.sha256(canonical(rules).encode()).digest())


class Policies:
    """The policies of a node by id, from pulls and events."""

    def __init__(self):
        self._policies = {}

    def __iter__(self):
        return iter(sorted(self._policies))

    def replace(self, pulled):
        """Takes the policies of a pull. Returns the ids of those whose fingerprint is wrong: they stay as they were."""
        kept, refused = {}, []
        for policy in pulled:
            policy_id = policy["policy_id"]
            if fingerprint(policy["rules"]) == policy["fingerprint"]:
                kept[policy_id] = policy
            else:
                refused.append(policy_id)
                if policy_id in self._policies:
                    kept[policy_id] = self._policies[policy_id]
        self._policies = kept
        return refused

    def apply(self, update):
        """Applies a policy_updated; without rules the policy is gone. False where its fingerprint is wrong."""
        if fingerprint(update["rules"]) != update["fingerprint"]:
            return False
        if update["rules"]:
            self._policies[update["policy_id"]] = update
        else:
            self._policies.pop(update["policy_id"], None)
        return True

    def isolates(self):
        """Whether the policies restrict the node in any direction."""
        return any(entry["action"] == "isolate" for entry in _entries({"policies": self._policies.values()}))

    def allows(self, direction, peer, protocol=None, port=None):
        """Whether the node itself lets a flow pass from (ingress) or to (egress) a peer of the state."""
        entries = _entries({"policies": self._policies.values()})
        return _side(entries, peer, direction, _asked(protocol, port))["allowed"]


def verdict(sender, receiver, protocol=None, port=None):
    """Whether a flow passes both ends. Each has `groups`, `mesh_address` and `policies`, as a state has them.

    Without a port some port is meant; without a protocol some protocol, and with a port TCP or UDP.
    """
    ends = (_entries(sender), receiver, "egress"), (_entries(receiver), sender, "ingress")
    asked = _asked(protocol, port)
    allowed = any(_intersection(*(_accepted(*end, name, ports) for end in ends)) for name, ports in asked)
    egress, ingress = (_side(*end, asked) for end in ends)
    return {"allowed": allowed, "egress": egress, "ingress": ingress}


def may_exchange(one, other):
    """Whether some flow passes between two nodes in at least one direction."""
    return verdict(one, other)["allowed"] or verdict(other, one)["allowed"]


def read_entries(rules):
    """The entries to act on. One that is not understood accepts nothing, and isolates unless it is an `accept`."""
    entries = []
    for rule in rules:
        if _is_understood(rule):
            entries.append(rule)
            continue
        rule = rule if isinstance(rule, dict) else {}
        if rule.get("action") != "accept":
            direction = rule.get("direction")
            isolated = [direction] if direction in DIRECTIONS else DIRECTIONS
            entries += [{"action": "isolate", "direction": one} for one in isolated]
    return entries


def _side(entries, peer, direction, asked):
    """What the policies of one end say of a flow."""
    allowed = any(_accepted(entries, peer, direction, name, ports) for name, ports in asked)
    return {"isolated": _is_isolated(entries, direction), "allowed": allowed}


def _entries(own):
    return [entry for policy in own["policies"] for entry in read_entries(policy["rules"])]


def _asked(protocol, port):
    """The protocols that are meant, each with the first and last port."""
    names = [protocol] if protocol else ["tcp", "udp"] if port is not None else list(_WHOLE)
    return [(name, _WHOLE[name] if port is None or name == "icmp" else (port, port)) for name in names]


def _is_isolated(entries, direction):
    return any(entry["action"] == "isolate" and entry["direction"] == direction for entry in entries)


def _accepted(entries, peer, direction, protocol, asked):
    """The ranges of ports that one end lets pass, within those that are asked for."""
    if not _is_isolated(entries, direction):
        return [asked]
    accepted = []
    for entry in entries:
        if entry["action"] != "accept" or entry["direction"] != direction or not _covers(entry, peer):
            continue
        if entry["protocol"] in ("any", protocol):
            accepted += _intersection(entry["ports"] or [_WHOLE[protocol]], [asked])
    return accepted


def _intersection(ranges, others):
    pairs = ((max(a, c), min(b, d)) for a, b in ranges for c, d in others)
    return [(first, last) for first, last in pairs if first <= last]


def _covers(entry, peer):
    return _names(peer, entry["groups"], entry["cidrs"]) and not _names(
        peer, entry["except_groups"], entry["except_cidrs"]
    )


def _names(peer, groups, cidrs):
    if EVERY_NODE in groups or not set(groups).isdisjoint(peer.get("groups", [])):
        return True
    try:
        address = ipaddress.ip_address(peer["mesh_address"])
    except ValueError:
        return False
    return any(address in _network(cidr) for cidr in cidrs)


@functools.lru_cache(maxsize=4_096)
def _network(cidr):
    return ipaddress.ip_network(cidr)


# Which entries are understood.


def _is_understood(rule):
    if not isinstance(rule, dict):
        return False
    checks = {"accept": _ACCEPT, "isolate": _ISOLATE}.get(_text(rule.get("action")))
    if checks is None or checks.keys() != rule.keys() or not all(checks[name](rule[name]) for name in checks):
        return False
    return rule["action"] == "isolate" or rule["protocol"] in ("tcp", "udp") or not rule["ports"]


def _text(value):
    return value if isinstance(value, str) else None


def _is_number(value, least, most):
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_group(value):
    return _is_number(value, 0, 2**53 - 1)


def _is_range(value):
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(_is_number(port, 1, 65535) for port in value) and value[0] <= value[1]


def _is_cidr(value):
    if not isinstance(value, str) or not re.search(r"/(0|[1-9]\d{0,2})\Z", value):
        return False
    try:
        network = _network(value)
    except ValueError:
        return False
    return network.version == 4 or not network.subnet_of(_MAPPED)


def _list_of(check):
    return lambda value: isinstance(value, list) and all(map(check, value))


def _word_of(*words):
    return lambda value: isinstance(value, str) and value in words


_ISOLATE = {"action": _word_of("isolate"), "direction": _word_of(*DIRECTIONS)}
_ACCEPT = {
    "action": _word_of("accept"),
    "cidrs": _list_of(_is_cidr),
    "direction": _word_of(*DIRECTIONS),
    "except_cidrs": _list_of(_is_cidr),
    "except_groups": _list_of(_is_group),
    "groups": _list_of(_is_group),
    "ports": _list_of(_is_range),
    "protocol": _word_of("any", "tcp", "udp", "icmp"),
}
