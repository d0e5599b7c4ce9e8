"""python3 -m agent run | check-token | vectors"""

import argparse
import os
import signal
import sys
import threading
import time

from .agent import Agent
from .api import Gone, Refused, Server, Unavailable
from .credentials import parse_token
from .enrol import enrol
from .keep import Kept
from .output import say
from .signatures import Fault, SigningKeys, admit
from .vectors import check
from .wireguard import WireGuard, check_programs, interface_name


def main():
    arguments = _parser().parse_args()
    try:
        return arguments.run(arguments)
    except Gone as gone:
        say("gone", code=gone.code, do="enrol this node again with a join token made for it")
        return 3
    except (Refused, Unavailable) as error:
        say("failed", why=str(error), correlation_id=getattr(error, "correlation_id", None))
        return 1
    finally:
        sys.stdout.flush()


def _parser():
    parser = argparse.ArgumentParser(prog="python3 -m agent", description="A small agent for a node of a ctl mesh.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="be the agent of this node; enrols it where there is no state file yet")
    _server_arguments(run)
    run.add_argument("--name", help="of the node, for its enrolment")
    run.add_argument("--kind", default="worker", help="of the node, for its enrolment")
    run.add_argument("--join-token-file", help="file with a join token, for its enrolment")
    run.add_argument("--endpoint", help="address:port under which the node is seen from outside")
    run.add_argument(
        "--wireguard", metavar="IFACE", nargs="?", const="ctl0", type=interface_name, help="carry packets, by this interface (ctl0)"
    )
    run.add_argument("--listen-port", type=_port, default=51820, help="UDP port of the interface")
    run.add_argument("--heartbeat-seconds", type=float, help="instead of the interval that the server asks for")
    run.set_defaults(run=_run)
    token = commands.add_parser("check-token", help="say whether this node lets in who shows the session token on stdin")
    _server_arguments(token)
    token.set_defaults(run=_check_token)
    vectors = commands.add_parser("vectors", help="check this implementation against a folder of test vectors")
    vectors.add_argument("folder")
    vectors.set_defaults(run=_vectors)
    return parser


def _server_arguments(parser):
    parser.add_argument("--url", required=True, help="base URL of the server")
    parser.add_argument("--state", required=True, help="state file; made when the node is enrolled")
    parser.add_argument("--ca-file", help="certificate authority of the server, where it is not a public one")


def _port(text):
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise ValueError(f"{text} is not a port")
    return int(text)


def _run(arguments):
    if arguments.wireguard is not None:
        # Before the join token is used up.
        check_programs()
    server = Server(arguments.url, arguments.ca_file)
    kept, wireguard = _identity(server, arguments), None
    if arguments.wireguard is not None:
        wireguard = WireGuard(arguments.wireguard, kept["node_id"], arguments.listen_port)
    agent = Agent(server, kept, arguments.endpoint, arguments.heartbeat_seconds, wireguard)
    for number in (signal.SIGINT, signal.SIGTERM):
        # In a thread of its own: what a handler interrupts may hold what stopping needs.
        signal.signal(number, lambda *_: threading.Thread(target=agent.stop).start())
    agent.run()
    say("stopped")
    return 0


def _identity(server, arguments):
    if os.path.exists(arguments.state):
        kept = Kept.read(arguments.state)
        if "nsk" in kept:
            return kept
    if arguments.join_token_file is None or arguments.name is None:
        raise SystemExit("there is no state file: --name and --join-token-file are needed to enrol this node")
    with open(arguments.join_token_file, encoding="utf-8") as file:
        join_token = file.read().strip()
    if (parse_token(join_token) or {}).get("kind") != "join token":
        raise SystemExit(f"{arguments.join_token_file} does not hold a whole join token")
    kept = enrol(server, join_token, arguments.state, arguments.name, arguments.kind)
    say("enrolled", node_id=kept["node_id"], name=arguments.name)
    return kept


def _check_token(arguments):
    kept = Kept.read(arguments.state)
    server = Server(arguments.url, arguments.ca_file)
    keys = SigningKeys(server.call("GET", "/v1/signing-keys").json())
    sessions = server.call("GET", f"/v1/nodes/{kept['node_id']}/state", kept["nsk"]).json()["sessions"]
    try:
        session = admit(sys.stdin.read().strip(), keys, kept["node_id"], time.time(), sessions)
    except Fault as fault:
        say("token", admitted=False, fault=str(fault))
        return 1
    say("token", admitted=True, session_id=session["session_id"], kind=session["kind"], target=session["target"])
    return 0


def _vectors(arguments):
    results = list(check(arguments.folder))
    for file, name, holds in results:
        if not holds:
            say("vector_failed", file=file, name=name)
    failed = sum(1 for *_, holds in results if not holds)
    say("vectors", passed=len(results) - failed, failed=failed)
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
