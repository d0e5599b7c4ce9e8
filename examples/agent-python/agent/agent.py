"""The life of an agent: one thread does all the work, one sends heartbeats, one follows the event stream."""

import hashlib
import json
import pathlib
import random
import threading
import time

from . import VERSION
from .api import Gone, Refused, Unavailable
from .clock import about, back_off, now_text
from .credentials import parse_nsk
from .edges import EnvelopeFault, digest, epoch_order, is_acceptable, open_envelope
from .executions import Executions
from .heartbeat import Heartbeats
from .output import say
from .peers import Peers
from .rotation import rotate
from .signatures import Fault, SigningKeys, seconds_of, verify_envelope
from .stream import Stream
from .work import Work

#: Between two fetches of edge keys, so that other calls have room under the node's limit.
EDGE_SECONDS = 0.2
DIGEST_AFTER_SECONDS = 1.0
KEYS_EVERY_SECONDS = 60
REFUSED_AGAIN_SECONDS = 600


def binary_checksum():
    """Of the files that this agent consists of."""
    whole = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        whole.update(path.read_bytes())
    return whole.hexdigest()


class Agent:
    """`kept` is the state file's content; `endpoint` what to report as address and port, or None."""

    def __init__(self, server, kept, endpoint=None, heartbeat_seconds=None):
        self._server, self._kept, self._endpoint = server, kept, endpoint
        self._nsk = parse_nsk(kept["nsk"])
        self._node = f"/v1/nodes/{kept['node_id']}"
        self._checksum = binary_checksum()
        self._signing_keys = SigningKeys(kept["signing_keys"])
        self._signing_keys_at = float("-inf")
        self._work = Work()
        self._peers = Peers()
        self._edge_keys = {}
        self._etag = None
        self._reported = None
        self._tries = {}
        self._executions = Executions(kept["results"], kept.save, self._report_execution, say)
        self._ended = threading.Event()
        interval = heartbeat_seconds or kept["heartbeat_interval_seconds"]
        self._heartbeats = Heartbeats(self._beat, interval, self._hinted, self._beat_failed)
        self._stream = Stream(
            server,
            f"{self._node}/events",
            kept["nsk"],
            last_id=lambda: kept.get("last_event_id"),
            on_open=self._stream_opened,
            on_frame=self._work.arrive,
            on_end=self._stream_ended,
        )

    def run(self):
        """Works until `stop`, or until the node is no longer one: then raises Gone."""
        say("started", node_id=self._kept["node_id"], mesh_address=self._kept["mesh_address"])
        self._work.want("capabilities")
        self._work.want("pull")
        if self._endpoint is not None:
            self._work.want("endpoint")
        self._heartbeats.start()
        self._stream.start()
        try:
            while not self._ended.is_set():
                name, frame = self._work.next()
                self._do(name, frame)
        finally:
            self._heartbeats.close()
            self._stream.close()
            self._kept.save()

    def stop(self):
        self._ended.set()
        self._work.want("nothing")

    def _do(self, name, frame):
        """A task that fails for now is asked for again, later each time."""
        if frame is not None:
            return self._take(frame)
        try:
            getattr(self, f"_do_{name}")()
            self._tries.pop(name, None)
        except Gone:
            raise
        except Refused as refused:
            say("refused", task=name, code=refused.code, correlation_id=refused.correlation_id)
            self._work.want(name, about(REFUSED_AGAIN_SECONDS))
        except Unavailable as error:
            tries = self._tries.get(name, 0)
            self._tries[name] = tries + 1
            say("unavailable", task=name, why=str(error))
            self._work.want(name, error.retry_after or back_off(tries))

    def _call(self, method, path, body=None, headers=None):
        return self._server.call(method, path, self._nsk.text, body, headers)

    # Heartbeats: called by their thread.

    def _beat(self, now):
        body = {"client_now": now, "binary_checksum": self._checksum, "binary_version": VERSION}
        return self._call("POST", f"{self._node}/heartbeat", body).json()

    def _hinted(self, answer):
        say("heartbeat", reconcile=answer["reconcile"], rotate_keys=answer["rotate_keys"])
        if answer["reconcile"]:
            self._work.want("pull")
        if answer["rotate_keys"]:
            self._work.want("rotate")

    def _beat_failed(self, error):
        say("heartbeat_failed", why=str(error))
        if isinstance(error, Gone):
            self._work.want("confirm_gone")

    def _do_confirm_gone(self):
        """Whoever works hears it, too, and ends."""
        self._beat(now_text())

    def _do_nothing(self):
        """Wakes the loop."""

    # The event stream: the first two are called by its thread.

    def _stream_opened(self, last_id):
        say("stream", after=last_id)
        self._work.want("pull")

    def _stream_ended(self, error):
        say("stream_ended", why=str(error))
        if isinstance(error, Gone):
            self._work.want("confirm_gone")

    def _take(self, frame):
        try:
            envelope = self._verified(frame)
        except Fault as fault:
            say("event_refused", fault=str(fault))
            return self._work.want("pull")
        place = self._place(envelope, frame.is_first)
        if place == "seen":
            return None
        say("event", type=envelope["type"], node_seq=envelope["node_seq"], place=place)
        if place != "next" or not self._applied(envelope):
            self._work.want("pull")
        self._kept.update(last_event_id=frame.id, node_seq=envelope["node_seq"])
        self._kept["newest_event_at"] = max(self._kept.get("newest_event_at", ""), envelope["occurred_at"])
        return self._kept.save()

    def _verified(self, frame):
        if frame.id is None or not (frame.id.isascii() and frame.id.isdigit() and len(frame.id) <= 20):
            raise Fault("bad_id")
        try:
            envelope = verify_envelope(frame.data, self._signing_keys, self._kept["node_id"])
        except Fault as fault:
            if str(fault) != "unknown_key" or not self._fetched_signing_keys():
                raise
            envelope = verify_envelope(frame.data, self._signing_keys, self._kept["node_id"])
        if envelope["type"] != frame.event:
            raise Fault("type_mismatch")
        return envelope

    def _fetched_signing_keys(self):
        if time.monotonic() - self._signing_keys_at < KEYS_EVERY_SECONDS:
            return False
        self._signing_keys_at = time.monotonic()
        try:
            keys = self._server.call("GET", "/v1/signing-keys").json()
        except (Refused, Unavailable) as error:
            say("unavailable", task="signing_keys", why=str(error))
            return False
        self._signing_keys = SigningKeys(keys)
        self._kept["signing_keys"] = keys
        return True

    def _place(self, envelope, is_first):
        """`next`, `seen`, `gap` or `anew` (docs: Order)."""
        number, last = envelope["node_seq"], self._kept.get("node_seq")
        if last is None or number == last + 1:
            return "next"
        newest = self._kept.get("newest_event_at")
        is_resync = envelope["payload"].get("reason") == "resync"
        if is_first and is_resync and (newest is None or seconds_of(envelope["occurred_at"]) >= seconds_of(newest)):
            return "anew"
        return "gap" if number > last else "seen"

    def _applied(self, envelope):
        """Applies an event. False where that takes a pull, which is also so for what this agent does not know."""
        apply = {"node_state_updated": self._apply_hint, "action_request": self._apply_action}.get(envelope["type"])
        try:
            return apply is not None and apply(envelope["payload"])
        except (KeyError, TypeError, ValueError):
            return False

    def _apply_hint(self, payload):
        if payload["reason"] != "changed":
            self._work.want("pull", random.uniform(0, 5))
            return True
        if "keys" in payload["blocks"]:
            self._heartbeats.now()
        is_enough = all([self._peers.apply(change) for change in payload["peers"]])
        self._settle_edges()
        return is_enough and set(payload["blocks"]) <= {"keys", "peers"}

    def _apply_action(self, payload):
        if not {"execution_id", "action", "type", "status", "expires_at"} <= payload.keys():
            return False
        self._executions.add(dict(payload))
        self._work.want("executions")
        return True

    # The state.

    def _do_pull(self):
        answer = self._call("GET", f"{self._node}/state", headers={"If-None-Match": self._etag} if self._etag else {})
        say("pull", status=answer.status, bytes=len(answer.body), degraded=answer.headers.get("X-Service-Degraded"))
        if answer.status == 304:
            return
        state = answer.json()
        self._etag = answer.headers["ETag"]
        self._peers.replace(state["peers"])
        self._executions.replace(state["executions"])
        self._settle_edges()
        if self._executions.ids():
            self._work.want("executions")

    # Keys.

    def _settle_edges(self):
        """Forgets edges of peers that are gone, and sees to it that the others get their keys."""
        epochs = self._kept["epochs"]
        for gone in [peer_id for peer_id in epochs if peer_id not in self._peers]:
            del epochs[gone]
            self._edge_keys.pop(gone, None)
        if self._edges_due():
            self._work.want("edges", random.uniform(0, 1))
        self._work.want("digest", DIGEST_AFTER_SECONDS)

    def _edges_due(self):
        return [peer_id for peer_id in self._peers if self._is_due(peer_id)]

    def _is_due(self, peer_id):
        if peer_id not in self._edge_keys:
            return True
        own, peer = self._kept["epochs"][peer_id].split("|")
        return self._kept["psk_issued_at"] > own or self._peers[peer_id]["psk_issued_at"] > peer

    def _do_edges(self):
        """Fetches the key of one edge, and comes back for the next."""
        due = self._edges_due()
        if due:
            self._fetch_edge(due[0])
        if len(due) > 1:
            self._work.want("edges", EDGE_SECONDS)
        self._work.want("digest", DIGEST_AFTER_SECONDS)

    def _fetch_edge(self, peer_id):
        try:
            answer = self._call("GET", f"{self._node}/peers/{peer_id}/psk")
        except Refused as refused:
            if refused.code != "peer_not_found":
                raise
            self._work.want("pull")
            raise Unavailable("the peer is gone") from refused
        epoch = answer.headers.get("X-Service-PSK-Epoch", "")
        order = epoch_order(epoch, self._kept["epochs"].get(peer_id))
        if not is_acceptable(order):
            say("edge_refused", peer=peer_id, epoch=epoch, order=order)
            raise Unavailable("the epoch of an edge is not newer")
        try:
            key = open_envelope(answer.body, self._nsk.key, self._kept["node_id"], peer_id, epoch)
        except EnvelopeFault as fault:
            say("edge_refused", peer=peer_id, epoch=epoch, order=str(fault))
            raise Unavailable("the envelope of an edge does not open") from fault
        self._put_in_force(peer_id, epoch, key)

    def _put_in_force(self, peer_id, epoch, key):
        self._edge_keys[peer_id] = key
        self._kept["epochs"][peer_id] = epoch
        own = epoch.split("|")[0]
        if own > self._kept["psk_issued_at"]:
            self._kept["psk_issued_at"] = own
            self._work.want("edges")
        self._kept.save()
        say("edge", peer=peer_id, epoch=epoch, key_sha256=hashlib.sha256(key).hexdigest())

    def _do_rotate(self):
        if not rotate(self._kept, lambda body: self._call("POST", "/v1/keys/rotate", body).json()):
            return
        say("rotated", psk_issued_at=self._kept["psk_issued_at"], public_key=self._kept["public_key"])
        self._edge_keys.clear()
        self._settle_edges()

    def _do_digest(self):
        report = digest({peer_id: self._kept["epochs"][peer_id] for peer_id in self._peers if peer_id in self._edge_keys})
        if report == self._reported:
            return
        self._call("PUT", f"{self._node}/state/reports/mesh.edge-epochs", {"value": report})
        self._reported = report
        say("digest", **report)

    # Reports.

    def _do_capabilities(self):
        body = {"binary_version": VERSION, "binary_checksum": self._checksum}
        answer = self._call("PUT", f"{self._node}/capabilities", body).json()
        say("capabilities", fields_changed=answer["fields_changed"])

    def _do_endpoint(self):
        at = now_text()
        body = {"endpoint": self._endpoint, "nat_type": "unknown", "reported_at": at}
        answer = self._call("PUT", f"{self._node}/endpoint", body).json()
        say("endpoint", stale_after=answer["stale_after"])
        self._work.want("endpoint", about((seconds_of(answer["stale_after"]) - seconds_of(at)) / 2))

    # Executions.

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


def state_of(server, kept):
    """The present state of the node, for a look from outside of its agent."""
    return json.loads(server.call("GET", f"/v1/nodes/{kept['node_id']}/state", kept["nsk"]).body)
