"""Compiles policies. Only the server does this; it is here so that the vectors are checked by one more implementation."""

import ipaddress

from .canonical import canonical


def compile_policy(policy, groups):
    """The canonical text of a policy; `groups` has the group of each selector but `*`, which is 0."""
    rules = policy["rules"]
    isolated = policy.get("isolates", [rule["direction"] for rule in rules])
    entries = [{"action": "isolate", "direction": direction} for direction in isolated]
    entries += [_accept(rule, {**groups, "*": 0}) for rule in rules]
    return "[" + ",".join(sorted(set(map(canonical, entries)), key=str.encode)) + "]"


def _accept(rule, groups):
    return {
        "action": "accept",
        "cidrs": _networks(rule.get("cidrs", [])),
        "direction": rule["direction"],
        "except_cidrs": _networks(rule.get("except_cidrs", [])),
        "except_groups": [groups[rule["except_peers"]]] if "except_peers" in rule else [],
        "groups": [groups[rule["peers"]]] if "peers" in rule else [],
        "ports": _merged(sorted(map(_range, rule.get("ports", [])))),
        "protocol": rule["protocol"],
    }


def _networks(texts):
    return sorted({str(ipaddress.ip_network(text)) for text in texts}, key=str.encode)


def _range(text):
    first, _, last = text.partition("-")
    return [int(first), int(last or first)]


def _merged(ranges):
    merged = []
    for first, last in ranges:
        if merged and first <= merged[-1][1] + 1:
            merged[-1][1] = max(merged[-1][1], last)
        else:
            merged.append([first, last])
    return merged
