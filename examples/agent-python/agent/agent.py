"""The life of an agent: one thread does all the work, one sends heartbeats, one follows the event stream."""

import hashlib
import pathlib
import random
import threading
import time
import urllib.parse

from . import VERSION
from .api import Gone, Refused, Unavailable
from .bridges import Bridges
from .clock import about, back_off, now_text
from .credentials import parse_nsk
from .edge_keys import EdgeKeys
from .executions import Executions
from .heartbeat import Heartbeats
from .judging import Judge
from .observed import Observed
from .output import say
from .own import self_of, take_self
from .peers import Peers
from .policies import Policies
from .rotation import rotate
from .sealed_secrets import SecretFault, open_secret
from .signatures import Fault, seconds_of
from .stream import Stream
from .tunnel import Tunnel
from .work import Work

#: Between two fetches of edge keys, so that other calls have room under the node's limit.
EDGE_SECONDS = 0.2
DIGEST_AFTER_SECONDS = 2.0
SIGNING_KEYS_EVERY_SECONDS = 60
REFUSED_AGAIN_SECONDS = 600
#: How often it is looked whether the tunnel is still there.
TUNNEL_SECONDS = 10
#: How long the server keeps an endpoint, unless it says otherwise.
ENDPOINT_SECONDS = 300


def binary_checksum():
    """Of the files that this agent consists of."""
    whole = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        whole.update(path.read_bytes())
    return whole.hexdigest()


class Agent:
    """
    `kept` is the content of the state file; `endpoint` what to report as address and port, or None; `wireguard` the interface that
    is to carry packets, or None.
    """

    def __init__(self, server, kept, endpoint=None, heartbeat_seconds=None, wireguard=None):
        self._server, self._kept, self._endpoint = server, kept, endpoint
        self._nsk = parse_nsk(kept["nsk"])
        self._node = f"/v1/nodes/{kept['node_id']}"
        self._binary = {"binary_version": VERSION, "binary_checksum": binary_checksum()}
        self._work = Work()
        self._tries = {}
        self._ended = threading.Event()
        self._etag = self._reported = None
        self._signing_keys_at = float("-inf")
        self._judge = Judge(kept, self._fetch_signing_keys)
        self._peers = Peers()
        self._policies = Policies()
        self._bridges = Bridges(self._fetch_secret, self._put_report, self._delete_report)
        self._edge_keys = EdgeKeys(kept, self._nsk, self._peers, self._fetch_edge)
        self._tunnel = None
        if wireguard is not None:
            self._tunnel = Tunnel(wireguard, kept, self._peers, self._edge_keys, self._policies, server.addresses)
        self._observed = Observed(self._report_observed)
        self._endpoint_seconds = ENDPOINT_SECONDS
        self._executions = Executions(kept["results"], kept.save, self._report_execution, say)
        interval = heartbeat_seconds or kept["heartbeat_interval_seconds"]
        self._heartbeats = Heartbeats(self._beat, interval, self._hinted, self._failed_beside)
        self._stream = Stream(
            server,
            f"{self._node}/events",
            kept["nsk"],
            last_id=lambda: kept.get("last_event_id"),
            on_open=self._stream_opened,
            on_frame=self._work.arrive,
            on_end=self._failed_beside,
        )

    def run(self):
        """Works until `stop`, or until the node is no longer one: then raises Gone."""
        say("started", node_id=self._kept["node_id"], mesh_address=self._kept["mesh_address"])
        if self._tunnel is not None:
            self._tunnel.open()
        ended_by = "stopped"
        try:
            self._go_on()
        except Gone as gone:
            ended_by = f"the server refuses the key of this node ({gone.code})"
            raise
        except BaseException as error:
            ended_by = type(error).__name__
            raise
        finally:
            self._heartbeats.close()
            self._stream.close()
            self._end_with(ended_by)

    def _end_with(self, why):
        try:
            if self._tunnel is not None:
                self._tunnel.close(why)
        finally:
            self._kept.save()

    def _go_on(self):
        for task in ("pull", "capabilities", "endpoint"):
            self._work.want(task)
        self._heartbeats.start()
        self._stream.start()
        while not self._ended.is_set():
            task, frame = self._work.next()
            if frame is not None:
                self._take(frame)
            else:
                self._do(task)

    def stop(self):
        """Ends `run` after what it is at. Not for signal handlers, which may interrupt what it takes."""
        self._ended.set()
        self._work.want("nothing")

    def _do(self, task):
        """Does a task. One that fails for now is asked for again, later each time."""
        try:
            getattr(self, f"_do_{task}")()
            self._tries.pop(task, None)
        except Gone:
            raise
        except Refused as refused:
            say("refused", task=task, code=refused.code, correlation_id=refused.correlation_id)
            self._work.want(task, about(REFUSED_AGAIN_SECONDS))
        except Unavailable as error:
            tries = self._tries.get(task, 0)
            self._tries[task] = tries + 1
            say("unavailable", task=task, why=str(error))
            self._work.want(task, error.retry_after or back_off(tries))

    def _call(self, method, path, body=None, headers=None):
        return self._server.call(method, path, self._nsk.text, body, headers)

    # Called by the other two threads: they only ask for work.

    def _beat(self, now):
        return self._call("POST", f"{self._node}/heartbeat", {"client_now": now, **self._binary}).json()

    def _hinted(self, answer):
        say("heartbeat", reconcile=answer["reconcile"], rotate_keys=answer["rotate_keys"])
        if answer["reconcile"]:
            self._work.want("pull")
        if answer["rotate_keys"]:
            self._work.want("rotate")

    def _stream_opened(self, last_id):
        say("stream", after=last_id)
        self._work.want("pull")

    def _failed_beside(self, what, error):
        say("failed", what=what, why=str(error))
        if isinstance(error, Gone):
            self._work.want("confirmation")

    # Events.

    def _take(self, frame):
        try:
            envelope = self._judge.verified(frame)
        except Fault as fault:
            say("event_refused", fault=str(fault))
            return self._work.want("pull")
        place = self._judge.place(envelope, frame.is_first)
        if place == "seen":
            return None
        say("event", type=envelope["type"], node_seq=envelope["node_seq"], place=place)
        is_enough = self._applied(envelope)
        if place == "gap" or not is_enough:
            self._work.want("pull")
        if place == "gap":
            self._refetch_secrets()
        return self._judge.passed(frame, envelope)

    def _applied(self, envelope):
        """Applies an event. False where that takes a pull, as it does for whatever this agent does not know."""
        apply = {
            "node_state_updated": self._apply_hint,
            "policy_updated": self._apply_policy,
            "bridge_config_updated": self._apply_bridge,
            "action_request": self._apply_action,
        }.get(envelope["type"])
        try:
            return apply is not None and apply(envelope["payload"])
        except (KeyError, TypeError, ValueError):
            return False

    def _apply_hint(self, payload):
        if payload["reason"] != "changed" or "bridge" in payload["blocks"]:
            self._refetch_secrets()
        if payload["reason"] != "changed":
            self._work.want("pull", random.uniform(0, 5))
            return True
        if "keys" in payload["blocks"]:
            self._heartbeats.now()
        is_enough = all([self._peers.apply(change) for change in payload["peers"]])
        for change in payload.get("groups", []):
            self._peers.regroup(change)
        self._settle_edges()
        return is_enough and set(payload["blocks"]) <= {"keys", "peers"}

    def _apply_policy(self, payload):
        if self._policies.apply(payload):
            self._settle_tunnel()
            return True
        say("policy_refused", policy_id=payload["policy_id"])
        return False

    def _apply_bridge(self, payload):
        is_taken = self._bridges.apply(payload)
        if not is_taken:
            say("bridge_refused", bridge_resource_id=payload["bridge_resource_id"])
        self._settle_bridges()
        return is_taken

    def _refetch_secrets(self):
        self._bridges.refetch()
        self._settle_bridges()

    def _apply_action(self, payload):
        if not {"execution_id", "action", "type", "status", "expires_at"} <= payload.keys():
            return False
        self._executions.add(dict(payload))
        self._work.want("executions")
        return True

    def _fetch_signing_keys(self):
        if time.monotonic() - self._signing_keys_at < SIGNING_KEYS_EVERY_SECONDS:
            return None
        self._signing_keys_at = time.monotonic()
        try:
            return self._server.call("GET", "/v1/signing-keys").json()
        except (Refused, Unavailable) as error:
            say("unavailable", task="signing_keys", why=str(error))
            return None

    # Tasks.

    def _do_nothing(self):
        """Wakes the loop."""

    def _do_confirmation(self):
        """Another thread was told that the key is dead: here that ends the agent."""
        self._beat(now_text())

    def _do_pull(self):
        answer = self._call("GET", f"{self._node}/state", headers={"If-None-Match": self._etag} if self._etag else {})
        say("pull", status=answer.status, bytes=len(answer.body), degraded=answer.headers.get("X-Service-Degraded"))
        if answer.status == 304:
            return
        state = answer.json()
        self._peers.replace(state["peers"])
        self._executions.replace(state["executions"])
        for policy_id in self._policies.replace(state["policy"]["policies"]):
            say("policy_refused", policy_id=policy_id)
        for resource_id in self._bridges.replace(state["bridge"]["resources"], state["state/reports"]):
            say("bridge_refused", bridge_resource_id=resource_id)
        self._etag = answer.headers.get("ETag")
        new = take_self(self._kept, self_of(state))
        if new:
            say("self", **new)
        self._settle_edges()
        self._settle_bridges()
        if self._executions.ids():
            self._work.want("executions")

    def _settle_edges(self):
        self._edge_keys.settle()
        if self._edge_keys.wait() is not None:
            self._work.want("edges", random.uniform(0, 1))
        self._work.put_off("digest", DIGEST_AFTER_SECONDS)
        self._settle_tunnel()

    def _do_edges(self):
        """Fetches the key of one edge, and comes back for the next."""
        try:
            self._edge_keys.fetch_one()
        finally:
            wait = self._edge_keys.wait()
            if wait is not None:
                self._work.want("edges", max(EDGE_SECONDS, wait))
            self._work.put_off("digest", DIGEST_AFTER_SECONDS)
            self._settle_tunnel()

    def _fetch_edge(self, peer_id):
        try:
            return self._call("GET", f"{self._node}/peers/{peer_id}/psk")
        except Refused as refused:
            if refused.code != "peer_not_found":
                raise
            self._work.want("pull")
            raise Unavailable(str(refused)) from refused

    def _settle_tunnel(self):
        if self._tunnel is not None:
            self._work.want("tunnel")

    def _do_tunnel(self):
        wait = self._tunnel.apply()
        self._work.want("tunnel", TUNNEL_SECONDS if wait is None else wait)
        self._work.want("observed", TUNNEL_SECONDS)

    def _do_observed(self):
        self._observed.settle(self._tunnel.observed(), self._endpoint_seconds)

    def _report_observed(self, seen):
        observed = [{"peer_node_id": peer_id, "endpoint": seen[peer_id]} for peer_id in sorted(seen)]
        body = {"observed": observed, "reported_at": now_text()}
        answer = self._call("PUT", f"{self._node}/observed-endpoints", body).json()
        say("observed", taken=answer["taken"], ignored=answer["ignored"])

    def _settle_bridges(self):
        wait = self._bridges.wait()
        if wait is not None:
            self._work.want("bridges", wait)

    def _do_bridges(self):
        """Applies one bridge, and comes back for the next."""
        try:
            if self._bridges.wait() == 0:
                resource_id, report = self._bridges.settle_one()
                say("bridge", bridge_resource_id=resource_id, report=report)
        finally:
            self._settle_bridges()

    def _fetch_secret(self, ref):
        """Fetches and opens a secret. Gives its version; None where there is none for this node."""
        try:
            answer = self._call("GET", f"{self._node}/secrets?ref={urllib.parse.quote(ref, safe='')}")
        except Refused as refused:
            if refused.code != "secret_not_found":
                raise
            return None
        version = int(answer.headers.get("X-Service-Secret-Version", "0"))
        try:
            open_secret(answer.body, self._nsk.key, self._kept["node_id"], ref, version)
        except SecretFault as fault:
            say("secret_refused", ref=ref, why=str(fault))
            raise Unavailable(f"{ref}: {fault}") from fault
        say("secret", ref=ref, version=version)
        return version

    def _put_report(self, key, value):
        self._call("PUT", f"{self._node}/state/reports/{key}", {"value": value})

    def _delete_report(self, key):
        try:
            self._call("DELETE", f"{self._node}/state/reports/{key}")
        except Refused as refused:
            if refused.code != "report_not_found":
                raise

    def _do_rotate(self):
        if rotate(self._kept, lambda body: self._call("POST", "/v1/keys/rotate", body).json()):
            is_open = "next" in self._kept
            say("rotated", psk_issued_at=self._kept["psk_issued_at"], is_confirmed=not is_open)
            self._edge_keys.outdate()
            self._settle_edges()

    def _do_digest(self):
        report = self._edge_keys.report()
        if report != self._reported:
            self._call("PUT", f"{self._node}/state/reports/mesh.edge-epochs", {"value": report})
            self._reported = report
            say("digest", **report)

    def _do_capabilities(self):
        answer = self._call("PUT", f"{self._node}/capabilities", self._binary).json()
        say("capabilities", fields_changed=answer["fields_changed"])

    def _do_endpoint(self):
        endpoint = self._own_endpoint()
        if endpoint is None:
            return
        at = now_text()
        body = {"endpoint": endpoint, "nat_type": "unknown", "reported_at": at}
        stale_after = self._call("PUT", f"{self._node}/endpoint", body).json()["stale_after"]
        say("endpoint", endpoint=endpoint, stale_after=stale_after)
        self._endpoint_seconds = seconds_of(stale_after) - seconds_of(at)
        self._work.want("endpoint", about(self._endpoint_seconds / 2))

    def _own_endpoint(self):
        """What was given; else a guess, which what peers see replaces (docs: Observed endpoints)."""
        if self._endpoint is not None or self._tunnel is None:
            return self._endpoint
        address = self._server.addresses()[0]
        if address.is_loopback or address.is_link_local or address.is_unspecified:
            return None
        text = f"[{address}]" if address.version == 6 else str(address)
        return f"{text}:{self._tunnel.listen_port}"

    def _do_executions(self):
        for execution_id in self._executions.ids():
            try:
                self._executions.carry_out(execution_id)
            except Gone:
                raise
            except Refused as refused:
                say("execution_dropped", execution_id=execution_id, code=refused.code)
                self._executions.forget(execution_id)

    def _report_execution(self, execution_id, body):
        self._call("POST", f"{self._node}/executions/{execution_id}", body)
