"""Bridges that the node hosts: whole configurations, their secrets, and what is reported of each (docs: Bridges)."""

import hashlib
import re
import time

from .canonical import canonical
from .clock import back_off, now_text
from .encoding import to_base64

REPORT_PREFIX = "bridge."
REPORT_BYTES_MAX = 4_096

#: The parts of a configuration whose items may name a secret, and the member that does.
_NAMING = {"ingress": "acme_account_ref", "tunnels": "auth_secret_ref", "user_access": "auth_secret_ref"}
_REF = re.compile(r"secret:[a-z0-9-]+/[a-z0-9-]+/[a-z0-9-]+(:[1-9][0-9]*)?", re.ASCII)


def fingerprint(value):
    """SHA-256 of the canonical JSON, in padded base64."""
    return to_base64(hashlib.sha256(canonical(value).encode()).digest())


def named_secrets(config):
    """The references to secrets that a configuration names, ascending."""
    refs = {item.get(member) for part, member in _NAMING.items() for item in config[part]}
    return sorted(ref for ref in refs if isinstance(ref, str) and _REF.fullmatch(ref))


def is_sound(config):
    """Whether the four parts are there, and every list is in its order with each item once."""
    try:
        relay = config["relay"]
        lists = [[item["slug"] for item in config[part]] for part in _NAMING]
        lists += [tunnel["allowed_subnets"] for tunnel in config["tunnels"]]
        lists += [[peer["public_key"] for peer in one.get("peers", [])] for one in config["user_access"]]
        if relay is not None:
            lists.append([each["peer_node_id"] for each in relay["assignments"]])
            if not isinstance(relay["enabled"], bool) or not isinstance(relay["listen_port"], int):
                return False
        return all(texts == sorted(set(texts)) for texts in lists)
    except (KeyError, TypeError, AttributeError):
        return False


class Bridges:
    """The bridges of a node by resource id.

    `fetch(ref)` gives the version of a secret that it has fetched and opened, or None where there is none; `put(key, value)`
    and `delete(key)` change a state report. All three raise as `Server.call` does.
    """

    def __init__(self, fetch, put, delete):
        self._fetch, self._put, self._delete = fetch, put, delete
        self._configs, self._applied = {}, {}
        self._due, self._outdated, self._later = set(), set(), {}

    def __iter__(self):
        return iter(sorted(self._configs))

    def replace(self, pulled, reports):
        """Takes the bridges of a pull, and the keys of the node's reports. Returns the ids of those that it refuses."""
        given = {one["bridge_resource_id"]: one["effective_config"] for one in pulled}
        refused = [resource_id for resource_id, config in given.items() if not is_sound(config)]
        for gone in [resource_id for resource_id in self._configs if resource_id not in given]:
            self._set(gone, None)
        for resource_id, config in given.items():
            if resource_id not in refused:
                self._set(resource_id, config)
        for key in reports:
            # Of an earlier run.
            if key.startswith(REPORT_PREFIX) and key[len(REPORT_PREFIX):] not in given:
                self._due.add(key[len(REPORT_PREFIX):])
        return refused

    def apply(self, update):
        """Applies a bridge_config_updated; `{}` is the end of the bridge. False where it must be refused."""
        config = update["effective_config"]
        if config != {} and not is_sound(config):
            return False
        self._set(update["bridge_resource_id"], config or None)
        return True

    def refetch(self):
        """Every secret is to be fetched again: one of them may have a new version."""
        self._outdated |= set(self._configs)
        self._due |= set(self._configs)

    def wait(self):
        """Seconds until a bridge is due; None where none is."""
        now = time.monotonic()
        return min((max(0, self._later.get(each, (0, 0))[0] - now) for each in self._due), default=None)

    def settle_one(self):
        """Applies one bridge that is due, and gives what it reports of it: None at its end. One that fails waits longer each time."""
        now = time.monotonic()
        resource_id = min(self._due, key=lambda each: (self._later.get(each, (0, 0))[0], each))
        tries = self._later.get(resource_id, (0, 0))[1]
        self._later[resource_id] = (now + 1 + back_off(tries), tries + 1)
        report = self._settle(resource_id)
        self._due.discard(resource_id)
        self._later.pop(resource_id, None)
        return resource_id, report

    def _set(self, resource_id, config):
        if self._configs.get(resource_id) == config:
            return
        if config is None:
            del self._configs[resource_id]
        else:
            self._configs[resource_id] = config
        self._due.add(resource_id)

    def _settle(self, resource_id):
        key = REPORT_PREFIX + resource_id
        config = self._configs.get(resource_id)
        if config is None:
            # A real host stops what it runs for the bridge here.
            self._applied.pop(resource_id, None)
            self._delete(key)
            return None
        known = {} if resource_id in self._outdated else self._applied.get(resource_id, {}).get("secrets", {})
        secrets, missing = self._secrets(config, known)
        # A real host configures its interfaces, its proxy and its tunnels here, with all secrets at once.
        self._outdated.discard(resource_id)
        self._applied[resource_id] = self._now_applied(resource_id, fingerprint(config), secrets)
        report = _report(self._applied[resource_id], missing)
        self._put(key, report)
        return report

    def _secrets(self, config, known):
        """The version of each secret, and the references that there is nothing for."""
        versions, missing = {}, []
        for ref in named_secrets(config):
            version = known.get(ref) or self._fetch(ref)
            if version is None:
                missing.append(ref)
            else:
                versions[ref] = version
        return versions, missing

    def _now_applied(self, resource_id, digest, secrets):
        former = self._applied.get(resource_id, {})
        at = former["applied_at"] if former.get("fingerprint") == digest else now_text()
        return {"fingerprint": digest, "secrets": secrets, "applied_at": at}


def _report(applied, missing):
    report = {**applied, **({"error": f"{missing[0]} does not exist"} if missing else {})}
    if len(canonical(report).encode()) <= REPORT_BYTES_MAX:
        return report
    secrets = report.pop("secrets")
    return {**report, "secrets_fingerprint": fingerprint(secrets)}
