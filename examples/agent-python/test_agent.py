"""What the vectors do not say: python3 -m unittest, in this folder."""

import io
import os
import tempfile
import unittest

from agent.api import Answer, Refused, Unavailable
from agent.bridges import Bridges, fingerprint as config_fingerprint
from agent.edge_keys import EdgeKeys
from agent.executions import Executions
from agent.heartbeat import Heartbeats
from agent.judging import Judge
from agent.keep import Kept
from agent.own import take_self
from agent.peers import Peers
from agent.policies import Policies, fingerprint
from agent.rotation import rotate, settle
from agent.stream import frames

A, B, C = (f"0197a000-0000-7000-8000-00000000{digit}001" for digit in "abc")
OLD, NEW = "2026-03-01T08:00:00.000000000Z", "2026-03-01T08:00:00.000000001Z"


def peer(node_id, psk_issued_at=OLD):
    return {"node_id": node_id, "public_key": "k", "mesh_address": "m", "endpoint": "e", "psk_issued_at": psk_issued_at}


class Kepts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "state.json")

    def kept(self, **members):
        kept = Kept(self.path, members)
        kept.save()
        return kept


def tunnel(slug, ref, subnets=("10.1.0.0/16",)):
    return {"slug": slug, "auth_secret_ref": ref, "allowed_subnets": list(subnets)}


def config(*tunnels, relay=None):
    return {"ingress": [], "relay": relay, "tunnels": list(tunnels), "user_access": []}


class HostedBridges(unittest.TestCase):
    def setUp(self):
        self.versions, self.reports, self.fetched = {"secret:a/p/hq": 1}, {}, []
        self.bridges = Bridges(self.fetch, self.reports.__setitem__, lambda key: self.reports.pop(key, None))

    def fetch(self, ref):
        self.fetched.append(ref)
        version = self.versions.get(ref)
        if isinstance(version, Exception):
            raise version
        return version

    def settle(self):
        while self.bridges.wait() == 0:
            self.bridges.settle_one()
        return self.reports

    def pulled(self, *configs, reports=()):
        resources = [{"bridge_resource_id": f"r{number}", "effective_config": each} for number, each in enumerate(configs)]
        return self.bridges.replace(resources, reports)

    def event(self, effective_config):
        return self.bridges.apply({"bridge_resource_id": "r0", "effective_config": effective_config})

    def test_are_applied_from_pulls_and_events_and_reported_with_their_secrets(self):
        hq = tunnel("hq", "secret:a/p/hq")
        self.assertEqual(self.pulled(config(hq)), [])
        report = self.settle()["bridge.r0"]
        self.assertEqual((report["fingerprint"], report["secrets"]), (config_fingerprint(config(hq)), {"secret:a/p/hq": 1}))
        self.assertTrue(self.event(config()))
        self.assertEqual(self.settle()["bridge.r0"]["secrets"], {})
        self.assertTrue(self.event({}))
        self.assertEqual(self.settle(), {})

    def test_fetch_a_secret_again_only_where_that_is_asked(self):
        self.pulled(config(tunnel("hq", "secret:a/p/hq")))
        self.settle()
        self.event(config(tunnel("hq", "secret:a/p/hq", ["10.2.0.0/16"])))
        self.settle()
        self.versions["secret:a/p/hq"] = 2
        self.bridges.refetch()
        self.assertEqual(self.settle()["bridge.r0"]["secrets"], {"secret:a/p/hq": 2})
        self.assertEqual(len(self.fetched), 2)

    def test_report_a_secret_that_is_missing_and_wait_where_it_cannot_be_fetched_now(self):
        self.versions = {"secret:a/p/hq": None, "secret:a/p/late": Unavailable("later")}
        self.pulled(config(tunnel("hq", "secret:a/p/hq")))
        self.assertEqual(self.settle()["bridge.r0"]["error"], "secret:a/p/hq does not exist")
        self.event(config(tunnel("hq", "secret:a/p/late")))
        with self.assertRaises(Unavailable):
            self.bridges.settle_one()
        self.assertGreater(self.bridges.wait(), 0)

    def test_refuse_what_is_out_of_order_and_keep_the_former_one(self):
        self.pulled(config())
        before = dict(self.settle())
        a, b = tunnel("a", "secret:a/p/hq"), tunnel("b", "secret:a/p/hq")
        relay = {"enabled": True, "listen_port": 1, "assignments": [{"peer_node_id": "2"}, {"peer_node_id": "1"}]}
        for wrong in (config(b, a), config(a, a), config(tunnel("a", "x", ["b", "a"])), config(relay=relay), {"relay": None}):
            self.assertFalse(self.event(wrong))
            self.assertEqual(self.pulled(wrong), ["r0"])
        self.assertEqual(self.settle(), before)

    def test_delete_reports_of_an_earlier_run(self):
        self.reports.update({"bridge.gone": {}, "workload.1": {}})
        self.pulled(config(), reports=list(self.reports))
        self.assertEqual(sorted(self.settle()), ["bridge.r0", "workload.1"])

    def test_report_the_fingerprint_of_many_secrets(self):
        refs = [f"secret:a/p/{'x' * 40}-{number:03}" for number in range(100)]
        self.versions = {ref: 1 for ref in refs}
        self.pulled(config(*(tunnel(ref[-3:], ref) for ref in refs)))
        report = self.settle()["bridge.r0"]
        self.assertEqual(report["secrets_fingerprint"], config_fingerprint(self.versions))
        self.assertNotIn("secrets", report)


class HeartbeatsThroughAProxy(unittest.TestCase):
    def test_go_on_after_an_answer_that_is_not_json(self):
        failures, answers = [], []

        def send(now):
            return Answer(200, {}, b"<html>" if not failures else b'{"reconcile": false}').json()

        def answered(answer):
            answers.append(answer)
            beats.close()

        beats = Heartbeats(send, 0.01, answered, lambda what, error: failures.append(error))
        beats.start()
        beats.join(10)
        self.assertEqual(([type(error) for error in failures], answers), ([Unavailable], [{"reconcile": False}]))


class StateFile(Kepts):
    def test_is_for_its_user_alone_and_survives(self):
        self.kept(nsk="secret")
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)
        self.assertEqual(Kept.read(self.path)["nsk"], "secret")


class Rotation(Kepts):
    def rotated(self, *answers):
        """Answers in turn; the keys that were sent, and what became of each try."""
        kept, sent, ends = self.kept(public_key="own", private_key="own", psk_issued_at=OLD), [], []
        for answer in answers:
            def call(body, answer=answer):
                sent.append(body["public_key"])
                if isinstance(answer, Exception):
                    raise answer
                return answer
            try:
                ends.append(rotate(Kept.read(self.path), call))
            except Unavailable:
                ends.append("again")
        return Kept.read(self.path), sent, ends

    def test_takes_the_new_pair_with_its_instant(self):
        kept, sent, ends = self.rotated({"psk_issued_at": NEW})
        self.assertEqual((kept["public_key"], kept["psk_issued_at"], ends), (sent[0], NEW, [True]))
        self.assertNotIn("next", kept)

    def test_sends_the_same_key_after_a_lost_answer_and_a_restart(self):
        kept, sent, ends = self.rotated(Unavailable("lost"), {"psk_issued_at": NEW})
        self.assertEqual((sent[0], kept["public_key"], ends), (sent[1], sent[0], ["again", True]))

    def test_finds_out_by_an_epoch_what_became_of_a_lost_answer(self):
        for own_half, is_taken in [(NEW, True), (OLD, False)]:
            with self.subTest(own_half):
                kept, sent, ends = self.rotated(Unavailable("lost"), Refused(409, "no_pending_rotation", None))
                self.assertEqual((kept["public_key"], ends), ("own", ["again", True]))
                settle(kept, own_half)
                self.assertEqual(kept["public_key"], sent[0] if is_taken else "own")
                self.assertNotIn("next", kept)

    def test_an_epoch_may_tell_before_the_call_is_repeated(self):
        for own_half, is_taken in [(NEW, True), (OLD, False)]:
            with self.subTest(own_half):
                kept, sent, _ = self.rotated(Unavailable("lost"))
                settle(kept, own_half)
                self.assertEqual((kept["public_key"] == sent[0], "next" in kept), (is_taken, not is_taken))

    def test_keeps_its_keys_where_nothing_waits(self):
        kept, _, ends = self.rotated(Refused(409, "no_pending_rotation", None))
        self.assertEqual((kept["public_key"], ends), ("own", [False]))

    def test_makes_another_key_where_the_lost_one_is_its_own_already(self):
        lost, used, taken = Unavailable("lost"), Refused(409, "public_key_in_use", None), {"psk_issued_at": NEW}
        kept, sent, ends = self.rotated(lost, used, taken)
        self.assertEqual((len(set(sent)), kept["public_key"], ends), (2, sent[2], ["again", "again", True]))


class TheNodeItself(Kepts):
    pulled = {"name": "web-1", "mesh_address": "100.64.0.1", "mesh_cidr": "100.64.0.0/10", "psk_issued_at": OLD}

    def test_is_kept_once(self):
        kept = self.kept(mesh_address="100.64.0.1", psk_issued_at=OLD)
        self.assertEqual(take_self(kept, self.pulled), {"name": "web-1", "mesh_cidr": "100.64.0.0/10"})
        self.assertEqual(take_self(kept, {**self.pulled, "zone": "z1"}), {})
        self.assertEqual(take_self(kept, {**self.pulled, "name": "web-9"}), {"name": "web-9"})
        self.assertEqual((kept["name"], kept["mesh_address"]), ("web-9", "100.64.0.1"))
        self.assertEqual(take_self(kept, None), {})

    def test_shows_that_a_rotation_succeeded_whose_answer_was_lost(self):
        following = {"private_key": "p", "public_key": "q", "is_tried": True, "is_open": True}
        kept = self.kept(**self.pulled, private_key="a", public_key="b", next=following)
        self.assertEqual(take_self(kept, {**self.pulled, "psk_issued_at": NEW}), {"psk_issued_at": NEW})
        self.assertEqual((kept["public_key"], kept["psk_issued_at"], "next" in kept), ("q", NEW, False))

    def test_of_an_older_answer_ends_no_rotation(self):
        following = {"private_key": "p", "public_key": "q", "is_tried": True, "is_open": True}
        for known in (OLD, NEW):
            kept = self.kept(**{**self.pulled, "psk_issued_at": known}, next=following)
            self.assertEqual((take_self(kept, self.pulled), "next" in kept), ({}, True))


class PeerChanges(unittest.TestCase):
    def setUp(self):
        self.peers = Peers()
        self.peers.replace([peer(A, NEW)])

    def test_a_peer_that_is_gone_is_removed(self):
        self.assertTrue(self.peers.apply({"node_id": A, "changes": ["key_rotated", "deregistered"], "public_key": "x"}))
        self.assertEqual(list(self.peers), [])

    def test_a_new_one_needs_its_facts(self):
        self.assertFalse(self.peers.apply({"node_id": B, "changes": ["endpoint_changed"], "endpoint": "e"}))
        told = {**peer(B), "psk_issued_at": NEW, "changes": ["registered", "psk_assigned"]}
        self.assertTrue(self.peers.apply(told))
        self.assertEqual(self.peers[B]["psk_issued_at"], NEW)

    def test_an_older_key_was_told_late(self):
        late = {"node_id": A, "changes": ["key_rotated"], "public_key": "old", "psk_issued_at": OLD}
        self.assertTrue(self.peers.apply({**late, "endpoint": ""}))
        self.assertEqual(self.peers[A], {**peer(A, NEW), "endpoint": ""})

    def test_a_rename_changes_the_name_alone(self):
        self.assertTrue(self.peers.apply({"node_id": A, "changes": ["renamed"], "name": "db-2"}))
        self.assertEqual(self.peers[A], {**peer(A, NEW), "name": "db-2"})
        self.assertFalse(self.peers.apply({"node_id": B, "changes": ["renamed"], "name": "db-2"}))

    def test_an_endpoint_comes_with_its_fallback_and_its_candidates(self):
        reached = {"endpoint": "", "fallback_endpoint": "relay", "candidates": ["192.168.1.7:51820"]}
        self.peers.apply({"node_id": A, "changes": ["endpoint_changed"], **reached})
        self.assertEqual(self.peers[A], {**peer(A, NEW), **reached})
        self.peers.apply({"node_id": A, "changes": ["endpoint_changed"], "endpoint": "new"})
        self.assertEqual(self.peers[A], {**peer(A, NEW), "endpoint": "new"})


class Order(Kepts):
    def test_of_events(self):
        kept = self.kept(signing_keys={"keys": []}, node_seq=7, newest_event_at="2026-03-01T08:00:00.000Z")
        judge = Judge(kept, lambda: None)
        resync, hint = {"reason": "resync"}, {"reason": "changed"}
        for number, payload, occurred_at, is_first, place in [
            (8, hint, "08:00:01", False, "next"),
            (7, hint, "08:00:01", False, "seen"),
            (10, hint, "08:00:01", False, "gap"),
            (3, resync, "08:00:01", True, "anew"),
            (3, resync, "08:00:01", False, "seen"),
            (3, resync, "07:59:59", True, "seen"),
        ]:
            event = {"node_seq": number, "payload": payload, "occurred_at": f"2026-03-01T{occurred_at}.000Z"}
            self.assertEqual(judge.place(event, is_first), place, (number, payload, is_first))


class Frames(unittest.TestCase):
    def test_are_cut_at_empty_lines(self):
        text = b":keep-alive\n\nretry: 1500\n\nid: 12\nevent: a\ndata: {}\nlater: x\n\n: more\nid: 13\nevent: b\ndata:[]\n\n"
        waits = []
        found = [(one.id, one.event, one.data, one.is_first) for one in frames(io.BytesIO(text), waits.append)]
        self.assertEqual(found, [("12", "a", "{}", True), ("13", "b", "[]", False)])
        self.assertEqual(waits, [1.5])


class RefusedEdges(Kepts):
    def test_stay_as_they_are_and_hold_up_no_other(self):
        class Answer:
            headers, body = {"X-Service-PSK-Epoch": f"{OLD}|{OLD}"}, b""

        kept = self.kept(node_id=C, psk_issued_at=NEW, epochs={A: f"{NEW}|{NEW}"})
        peers, asked = Peers(), []
        peers.replace([peer(A, NEW), peer(B)])
        keys = EdgeKeys(kept, None, peers, lambda peer_id: asked.append(peer_id) or Answer)
        keys.fetch_one()
        self.assertEqual((asked, kept["epochs"]), ([A], {A: f"{NEW}|{NEW}"}))
        with self.assertRaises(AttributeError):
            keys.fetch_one()  # The other one's epoch is accepted, and its envelope would be opened.
        self.assertEqual(asked, [A, B])


class GroupsOfPeers(unittest.TestCase):
    def test_follow_the_hints(self):
        peers = Peers()
        peers.replace([{**peer(A), "groups": [2, 9]}, peer(B)])
        peers.regroup({"group": 5, "added": [A, B, C], "removed": []})
        peers.regroup({"group": 5, "added": [A], "removed": []})
        peers.regroup({"group": 9, "added": [], "removed": [A, B, C]})
        self.assertEqual([(known, peers[known]["groups"]) for known in peers], [(A, [2, 5]), (B, [5])])
        peers.apply({"node_id": B, "changes": ["groups_changed"], "groups": [1]})
        self.assertEqual(peers[B]["groups"], [1])


class PoliciesOfTheNode(unittest.TestCase):
    isolated = [{"action": "isolate", "direction": "ingress"}]
    accept = {"action": "accept", "direction": "ingress", "protocol": "tcp", "ports": [[22, 22]], "groups": [7]}
    accept = {**accept, "cidrs": [], "except_cidrs": [], "except_groups": []}

    def policy(self, policy_id, rules, **members):
        return {"policy_id": policy_id, "revision_id": "r", "fingerprint": fingerprint(rules), "rules": rules, **members}

    def admits(self, policies, *groups):
        return policies.allows("ingress", {"groups": list(groups), "mesh_address": "100.64.0.2"}, "tcp", 22)

    def test_decide_as_pulls_and_updates_say(self):
        policies = Policies()
        self.assertTrue(self.admits(policies))
        self.assertEqual(policies.replace([self.policy("a", self.isolated), self.policy("b", [self.accept])]), [])
        self.assertEqual((self.admits(policies, 7), self.admits(policies, 8)), (True, False))
        self.assertTrue(policies.apply(self.policy("b", [{**self.accept, "groups": [8]}])))
        self.assertEqual((self.admits(policies, 7), self.admits(policies, 8)), (False, True))
        self.assertTrue(policies.apply(self.policy("a", [])))
        self.assertEqual((list(policies), self.admits(policies, 7)), (["b"], True))
        self.assertEqual((policies.replace([]), list(policies)), ([], []))

    def test_stay_as_they_were_where_the_fingerprint_is_wrong(self):
        policies, forged = Policies(), self.policy("a", [], fingerprint=fingerprint(self.isolated))
        self.assertEqual((policies.replace([forged]), list(policies)), (["a"], []))
        policies.replace([self.policy("a", self.isolated)])
        self.assertFalse(policies.apply(forged))
        self.assertEqual((policies.replace([forged]), self.admits(policies, 7)), (["a"], False))


class OncePerExecution(unittest.TestCase):
    def test_a_result_that_could_not_be_reported_is_reported_later(self):
        reported, fails = [], [False, False, True, False]

        def report(_id, body):
            if fails.pop(0):
                raise Unavailable("lost")
            reported.append(body["status"])

        results = {}
        executions = Executions(results, lambda: None, report, lambda *_, **__: None)
        ping = {"execution_id": "1", "action": "ping", "type": "builtin", "status": "pending"}
        executions.add({**ping, "expires_at": "2100-01-01T00:00:00.000Z"})
        with self.assertRaises(Unavailable):
            executions.carry_out("1")
        executions.add({**ping, "expires_at": "2100-01-01T00:00:00.000Z"})
        executions.carry_out("1")
        self.assertEqual((reported, executions.ids()), (["ack", "started", "succeeded"], []))

    def test_one_that_was_begun_before_a_restart_has_failed(self):
        reported = []
        executions = Executions({}, lambda: None, lambda _id, body: reported.append(body), lambda *_, **__: None)
        begun = {"execution_id": "1", "action": "ping", "type": "builtin", "status": "started"}
        executions.replace([{**begun, "expires_at": "2100-01-01T00:00:00.000Z"}])
        executions.carry_out("1")
        self.assertEqual([body["status"] for body in reported], ["failed"])


if __name__ == "__main__":
    unittest.main()
