"""The tunnel: what WireGuard gets to read, and when. python3 -m unittest, in this folder."""

import io
import ipaddress
import time
import unittest
from contextlib import redirect_stdout
from unittest import mock

from agent.encoding import to_base64
from agent.observed import Observed
from agent.peers import Peers
from agent.policies import Policies, fingerprint
from agent.tunnel import Tunnel
from agent.tunnel_config import TunnelPeer, check_peers, interface_section, mesh_of, peer_section
from agent.wireguard import TunnelFault, WireGuard, interface_name

A, B = "0197a000-0000-7000-8000-00000000a001", "0197a000-0000-7000-8000-00000000b001"
OLD, NEW = "2026-03-01T08:00:00.000000000Z", "2026-03-01T08:00:00.000000001Z"
MESH = ipaddress.IPv4Network("100.64.0.0/10")
OWN, NEXT = to_base64(bytes([1]) * 32), to_base64(bytes([2]) * 32)


def key(number):
    return bytes([number]) * 32


def peer(node_id=A, number=10, psk_issued_at=OLD, **facts):
    facts = {"endpoint": f"203.0.113.{number}:51820", "mesh_address": f"100.64.0.{number}", **facts}
    return {"node_id": node_id, "public_key": to_base64(key(number)), "psk_issued_at": psk_issued_at, **facts}


class TheConfiguration(unittest.TestCase):
    def test_of_an_interface_has_its_key_and_port(self):
        self.assertEqual(interface_section(OWN, 51820), f"[Interface]\nPrivateKey = {OWN}\nListenPort = 51820\n")

    def test_of_a_peer_has_its_key_edge_key_address_and_endpoint(self):
        lines = ["[Peer]", f"PublicKey = {to_base64(key(3))}", f"PresharedKey = {to_base64(key(4))}"]
        lines += ["AllowedIPs = 100.64.0.3/32", "PersistentKeepalive = 25"]
        given = TunnelPeer(to_base64(key(3)), key(4), "", "100.64.0.3")
        self.assertEqual(peer_section(given), "\n".join(lines) + "\n")
        text = peer_section(given._replace(endpoint="[2001:db8::7]:51820"))
        self.assertEqual(text, "\n".join([*lines, "Endpoint = [2001:db8::7]:51820"]) + "\n")


class HostilePeers(unittest.TestCase):
    def refused(self, *peers):
        return check_peers(peers, MESH, "100.64.0.1", OWN)

    def test_are_refused_by_each_of_their_values(self):
        for facts in [
            {"public_key": "k"},
            {"public_key": f"{to_base64(key(10))}\nEndpoint = 203.0.113.66:1"},
            {"public_key": to_base64(bytes(31))},
            {"public_key": OWN},
            {"public_key": None},
            {"mesh_address": "100.64.0.1"},
            {"mesh_address": "203.0.113.10"},
            {"mesh_address": "100.64.0.010"},
            {"mesh_address": "100.64.0.10/8"},
            {"mesh_address": "100.64.0.10, 0.0.0.0/0"},
            {"mesh_address": "100.64.0.10\nroute add default dev ctl0"},
            {"mesh_address": "0.0.0.0/0"},
            {"mesh_address": "fd00::1"},
            {"mesh_address": 1681915914},
            {"mesh_address": ["100.64.0.10"]},
            {"endpoint": "server.example.com:51820"},
            {"endpoint": "203.0.113.7:51820\n[Peer]"},
            {"endpoint": "203.0.113.7:0"},
            {"endpoint": "203.0.113.7:65536"},
            {"endpoint": "203.0.113.7"},
            {"endpoint": "2001:db8::7:51820"},
            {"endpoint": "[fe80::1%eth0]:51820"},
            {"endpoint": "100.64.0.9:51820"},
            {"endpoint": "[::ffff:100.64.0.9]:51820"},
            {"endpoint": "", "fallback_endpoint": "relay:51821"},
        ]:
            with self.subTest(facts):
                taken, refused = self.refused(peer(**facts), peer(B, 11))
                self.assertEqual((taken, list(refused)), ([B], [A]))

    def test_of_one_address_or_key_are_refused_both(self):
        for facts in ({"mesh_address": "100.64.0.10"}, {"public_key": to_base64(key(10))}):
            taken, refused = self.refused(peer(), peer(B, 11, **facts))
            self.assertEqual((taken, sorted(refused)), ([], [A, B]))

    def test_are_no_others(self):
        peers = [peer(), peer(B, 11, endpoint="", fallback_endpoint="[2001:db8::7]:51821")]
        self.assertEqual(self.refused(*peers), ([A, B], {}))


class TheMesh(unittest.TestCase):
    def test_is_refused_where_it_would_take_the_network_of_the_node_away(self):
        server = ipaddress.ip_address("10.1.2.3")
        self.assertEqual(mesh_of("100.64.0.0/10", "100.64.0.1", [server, ipaddress.ip_address("2001:db8::1")]), MESH)
        for cidr, own in [
            ("10.0.0.0/8", "10.0.0.1"),
            ("0.0.0.0/0", "100.64.0.1"),
            ("100.64.0.0/10", "203.0.113.1"),
            ("100.64.0.1/10", "100.64.0.1"),
            ("100.64.0.0/10", "100.64.0.1 dev eth0"),
            ("fd00::/8", "fd00::1"),
            (None, "100.64.0.1"),
        ]:
            with self.subTest(cidr=cidr, own=own), self.assertRaises(ValueError):
                mesh_of(cidr, own, [server])


class FakeInterface:
    """What the tunnel asks of WireGuard, in order."""

    name, listen_port = "ctl0", 51820

    def __init__(self):
        self.asked, self.seen, self.routes, self.is_up = [], {}, set(), True
        self.shaken = {}

    def open(self, private_key):
        self.asked.append(("open", private_key))
        self.is_up = True

    def is_there(self):
        return self.is_up

    def set_private_key(self, private_key):
        self.asked.append(("own key", private_key))

    def change(self, remove, put):
        self.asked.append(("change", remove, put))

    def endpoints(self):
        return self.seen

    def handshakes(self):
        return self.shaken

    def set_address(self, address):
        pass

    def set_routes(self, addresses):
        self.routes = set(addresses)

    def close(self):
        self.asked.append(("close",))


class FakeKeys(dict):
    in_force = dict.get


class TheTunnel(unittest.TestCase):
    def setUp(self):
        self.kept = {"private_key": OWN, "public_key": "p", "psk_issued_at": OLD, "mesh_address": "100.64.0.1"}
        self.kept["mesh_cidr"] = "100.64.0.0/10"
        self.wireguard, self.peers, self.keys, self.policies = FakeInterface(), Peers(), FakeKeys(), Policies()
        server = (ipaddress.ip_address("192.0.2.1"), ipaddress.ip_address("192.0.2.2"))
        self.tunnel = Tunnel(self.wireguard, self.kept, self.peers, self.keys, self.policies, lambda: server)
        self.said = io.StringIO()
        silence = redirect_stdout(self.said)
        silence.__enter__()
        self.addCleanup(silence.__exit__, None, None, None)
        self.tunnel.open()
        self.wireguard.asked.clear()

    def applied(self, *peers):
        """Applies a pull with these peers; what was asked of the interface."""
        if peers:
            self.peers.replace(peers)
        self.tunnel.apply()
        asked = self.wireguard.asked[:]
        self.wireguard.asked.clear()
        return asked

    def of(self, given, edge_key):
        return TunnelPeer(given["public_key"], edge_key, given["endpoint"], given["mesh_address"])

    def test_has_a_peer_once_its_edge_key_is_there(self):
        self.assertEqual(self.applied(peer()), [])
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.assertEqual(self.applied(), [("change", [], [self.of(peer(), key(4))])])
        self.assertEqual((self.applied(), self.wireguard.routes), ([], {"100.64.0.10"}))

    def test_removes_a_peer_that_is_gone(self):
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.applied(peer())
        self.peers.replace([])
        self.assertEqual(self.applied(), [("change", [peer()["public_key"]], [])])
        self.assertEqual(self.wireguard.routes, set())

    def test_keeps_the_former_keys_of_a_peer_until_those_of_its_rotation_are_there(self):
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.applied(peer())
        rotated = peer(public_key=to_base64(key(12)), psk_issued_at=NEW)
        self.assertEqual(self.applied(rotated), [])
        self.keys[A] = (key(5), f"{OLD}|{NEW}")
        # Its packets came from elsewhere than the server knows.
        self.wireguard.seen = {peer()["public_key"]: "198.51.100.9:40007"}
        added = self.of({**rotated, "endpoint": "198.51.100.9:40007"}, key(5))
        self.assertEqual(self.applied(), [("change", [peer()["public_key"]], [added])])

    def test_changes_its_own_key_a_second_after_a_rotation_and_then_the_edge_keys(self):
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.applied(peer())
        self.kept.update(private_key=NEXT, psk_issued_at=NEW)
        self.keys[A] = (key(5), f"{NEW}|{OLD}")
        with mock.patch("agent.tunnel.time.monotonic", side_effect=[100.0, 100.9, 101.0]):
            self.assertEqual(self.tunnel.apply(), 1.0)
            self.assertEqual(self.applied(), [])
            asked = self.applied()
        replaced = ("change", [peer()["public_key"]], [self.of(peer(), key(5))])
        self.assertEqual(asked, [("own key", NEXT), replaced])

    def test_follows_a_new_endpoint_and_leaves_the_present_one_otherwise(self):
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.applied(peer())
        moved = peer(endpoint="203.0.113.99:51820")
        self.assertEqual(self.applied(moved), [("change", [], [self.of(moved, key(4))])])
        self.wireguard.seen = {moved["public_key"]: "198.51.100.9:40007"}
        [(_, removed, [put])] = self.applied(peer(endpoint=""))
        self.assertEqual((removed, put.endpoint), ([], "198.51.100.9:40007"))

    def test_has_no_peers_while_policies_restrict_the_node(self):
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.applied(peer())
        rules = [{"action": "isolate", "direction": "egress"}]
        policy = {"policy_id": "a", "revision_id": "r", "fingerprint": fingerprint(rules), "rules": rules}
        self.policies.replace([policy])
        self.assertEqual(self.applied(), [("change", [peer()["public_key"]], [])])
        self.assertEqual(self.wireguard.routes, set())
        self.assertIn("this agent filters no packets", self.said.getvalue())
        self.policies.replace([])
        self.assertEqual(self.applied(), [("change", [], [self.of(peer(), key(4))])])

    def test_has_no_peers_in_a_mesh_with_the_server_in_it(self):
        self.kept["mesh_cidr"], self.kept["mesh_address"] = "192.0.0.0/8", "192.0.2.9"
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.assertEqual(self.applied(peer(mesh_address="192.0.2.10")), [])
        self.assertIn("tunnel_refused", self.said.getvalue())

    def test_is_made_again_with_all_peers_where_the_interface_is_gone(self):
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.applied(peer())
        self.wireguard.is_up = False
        self.assertEqual(self.applied(), [("close",), ("open", OWN), ("change", [], [self.of(peer(), key(4))])])

    def test_sees_peers_that_have_a_session_and_come_by_themselves(self):
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.applied(peer(fallback_endpoint="203.0.113.50:51821"))
        now, public_key = int(time.time()), peer()["public_key"]
        for endpoint, shaken, is_seen in [
            ("198.51.100.9:40007", now, True),
            ("198.51.100.9:40007", now - 200, False),
            ("198.51.100.9:40007", 0, False),
            ("203.0.113.50:51821", now, False),
            ("127.0.0.1:40007", now, False),
            ("[fe80::1%eth0]:40007", now, False),
        ]:
            self.wireguard.seen, self.wireguard.shaken = {public_key: endpoint}, {public_key: shaken}
            self.assertEqual(self.tunnel.observed(), {A: endpoint} if is_seen else {}, endpoint)

    def test_prints_no_key(self):
        self.keys[A] = (key(4), f"{OLD}|{OLD}")
        self.applied(peer())
        self.tunnel.close("stopped")
        self.assertIn("tunnel_peer", self.said.getvalue())
        for secret in (OWN, to_base64(key(4))):
            self.assertNotIn(secret, self.said.getvalue())


class ObservedEndpoints(unittest.TestCase):
    def test_are_reported_when_they_are_new_and_again_at_half_of_their_time(self):
        reports = []
        observed = Observed(reports.append)
        with mock.patch("agent.observed.time.monotonic", side_effect=[100, 110, 120, 250]):
            for seen in ({A: "e"}, {A: "e"}, {A: "e", B: "f"}, {A: "e", B: "f"}):
                observed.settle(seen, 300)
        self.assertEqual(reports, [{A: "e"}, {B: "f"}, {A: "e", B: "f"}])

    def test_are_reported_of_64_peers_at_once(self):
        reports = []
        Observed(reports.append).settle({str(number): "e" for number in range(130)}, 300)
        self.assertEqual([len(report) for report in reports], [64, 64, 2])


class Programs(unittest.TestCase):
    def test_get_keys_by_standard_input_alone(self):
        ran = []

        def run(words, input, **_):
            ran.append((words, input))
            return mock.Mock(returncode=0, stdout="", stderr="")

        with mock.patch("agent.wireguard.subprocess.run", run):
            wireguard = WireGuard("ctl9", A, 51820)
            wireguard.open(OWN)
            wireguard.set_private_key(NEXT)
            wireguard.change([], [TunnelPeer(to_base64(key(3)), key(4), "", "100.64.0.3")])
        for secret in (OWN, NEXT, to_base64(key(4))):
            self.assertEqual([secret in "".join(words) for words, _ in ran], [False] * len(ran))
            self.assertTrue(any(secret in (text or "") for _, text in ran))

    def test_are_quoted_without_keys(self):
        failed = mock.Mock(returncode=1, stderr=f"Key is not the correct length or format: `{OWN}'\n")
        with mock.patch("agent.wireguard.subprocess.run", return_value=failed), self.assertRaises(TunnelFault) as caught:
            WireGuard("ctl9", A, 51820).set_private_key(OWN)
        self.assertEqual(str(caught.exception), "wg set failed: Key is not the correct length or format: `(key)'")

    def test_get_no_option_as_the_name_of_an_interface(self):
        self.assertEqual(interface_name("wg-mesh.1"), "wg-mesh.1")
        for name in ("", "-batch", "a" * 16, "a b", "a/b", "a\n", ".."):
            with self.subTest(name), self.assertRaises(ValueError):
                interface_name(name)


if __name__ == "__main__":
    unittest.main()
