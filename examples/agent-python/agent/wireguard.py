"""The WireGuard interface of the node, by the programs `ip`, `wg` and, where the kernel has no WireGuard, `wireguard-go`."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

from .api import Unavailable
from .tunnel_config import interface_section, peer_section

MTU = 1420
PROGRAM_SECONDS = 10
START_SECONDS = 5
_POLL_SECONDS = 0.02
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}", re.ASCII)
_KEY_IN_TEXT = re.compile(r"[A-Za-z0-9+/]{43}=", re.ASCII)


class TunnelFault(Unavailable):
    """The interface could not be read or changed. What failed is tried again like a call to the server."""


def interface_name(text):
    """A name that Linux takes, and no option of a program."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text} is not the name of an interface")
    return text


def check_programs():
    """Raises TunnelFault where a program is missing that every tunnel needs."""
    for program, package in (("ip", "iproute2"), ("wg", "wireguard-tools")):
        if shutil.which(program) is None:
            raise TunnelFault(f"{program} is not installed; on Debian it is in the package {package}")


class WireGuard:
    """One interface, which belongs to the node `node_id` and to nothing else. Secret keys go by standard input alone."""

    def __init__(self, name, node_id, listen_port):
        self.name, self.listen_port = name, listen_port
        self._alias = f"agent-python {node_id}"
        self._is_made = False
        self._process = None

    def open(self, private_key):
        """Makes the interface, without address and peers. One that an earlier run of this node has left is replaced."""
        self._remove_leftover()
        try:
            self._make()
            self._is_made = True
            self._ip("link", "set", "dev", self.name, "alias", self._alias)
            self._wg("setconf", self.name, "/dev/stdin", secret=interface_section(private_key, self.listen_port))
            self._ip("link", "set", "dev", self.name, "mtu", str(MTU), "up")
        except TunnelFault:
            self.close()
            raise

    def is_there(self):
        """False where the interface was removed, or wireguard-go has ended."""
        return self._exists() and (self._process is None or self._process.poll() is None)

    def set_private_key(self, private_key):
        """Ends all sessions with peers: they are of the former key."""
        self._wg("set", self.name, "private-key", "/dev/stdin", secret=private_key + "\n")

    def change(self, remove, put):
        """Removes peers by their public keys, then adds or changes TunnelPeers."""
        if remove:
            self._wg("set", self.name, *(word for key in remove for word in ("peer", key, "remove")))
        if put:
            self._wg("addconf", self.name, "/dev/stdin", secret="".join(map(peer_section, put)))

    def endpoints(self):
        """Where WireGuard sends the packets of each peer now, by public key: from there its last packets came."""
        return {key: endpoint for key, endpoint in self._shown("endpoints").items() if endpoint != "(none)"}

    def handshakes(self):
        """The instant of the last handshake with each peer, by public key, in Unix seconds; 0 where there was none."""
        return {key: int(seconds) for key, seconds in self._shown("latest-handshakes").items()}

    def set_address(self, address):
        self._ip("address", "replace", f"{address}/32", "dev", self.name)

    def set_routes(self, addresses):
        """Routes exactly these addresses through the interface, each by itself and never the whole mesh."""
        routes = json.loads(self._ip("-j", "-4", "route", "show", "dev", self.name) or "[]")
        present = {route["dst"] for route in routes if route.get("protocol") != "kernel"}
        wanted = set(addresses)
        lines = [f"route del {address} dev {self.name}\n" for address in sorted(present - wanted)]
        lines += [f"route add {address}/32 dev {self.name}\n" for address in sorted(wanted - present)]
        if lines:
            # With -force one route that is refused does not keep the others from being set.
            self._run("ip", "-force", "-batch", "-", stdin="".join(lines))

    def close(self):
        """Removes the interface with its address, routes and peers, and ends wireguard-go."""
        try:
            if self._is_made and self._exists():
                self._ip("link", "delete", "dev", self.name)
            self._is_made = False
        finally:
            self._end_process()

    def _shown(self, what):
        return dict(line.split("\t") for line in self._wg("show", self.name, what).splitlines())

    def _make(self):
        try:
            self._ip("link", "add", "dev", self.name, "type", "wireguard")
        except TunnelFault as fault:
            if not re.search("unknown device type|not supported", str(fault), re.IGNORECASE):
                raise
            self._start_wireguard_go()

    def _start_wireguard_go(self):
        if shutil.which("wireguard-go") is None:
            raise TunnelFault("the kernel has no WireGuard, and wireguard-go is not installed")
        environment = {**os.environ, "WG_PROCESS_FOREGROUND": "1", "LOG_LEVEL": "error"}
        self._process = subprocess.Popen(
            ["wireguard-go", self.name],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            env=environment,
            # Ctrl-C ends the agent, which then ends wireguard-go.
            start_new_session=True,
        )
        until = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < until:
            if self._answers():
                return
            time.sleep(_POLL_SECONDS)
        raise TunnelFault(f"wireguard-go did not make the interface {self.name}; see its output above")

    def _end_process(self):
        """wireguard-go ends by itself once its interface is gone."""
        if self._process is None:
            return
        try:
            self._process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _remove_leftover(self):
        if not self._exists():
            return
        if not self._is_own():
            raise TunnelFault(f"there is an interface {self.name} already, which is not of this agent: choose another name")
        self._ip("link", "delete", "dev", self.name)
        # The wireguard-go of the earlier run answers until it has ended.
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self._answers():
            time.sleep(_POLL_SECONDS)

    def _answers(self):
        try:
            self._wg("show", self.name, "listen-port")
            return True
        except TunnelFault:
            return False

    def _exists(self):
        try:
            socket.if_nametoindex(self.name)
            return True
        except OSError:
            return False

    def _is_own(self):
        [link] = json.loads(self._ip("-j", "link", "show", "dev", self.name))
        return link.get("ifalias") == self._alias

    def _ip(self, *arguments):
        return self._run("ip", *arguments)

    def _wg(self, *arguments, secret=None):
        return self._run("wg", *arguments, stdin=secret)

    @staticmethod
    def _run(*words, stdin=None):
        """Runs a program without a shell. The first line of its message is quoted without keys."""
        try:
            ended = subprocess.run(words, input=stdin or "", capture_output=True, text=True, timeout=PROGRAM_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            # Not the text of the error: that of a timeout has all arguments.
            raise TunnelFault(f"{words[0]} could not be run: {type(error).__name__}") from None
        if ended.returncode != 0:
            message = _KEY_IN_TEXT.sub("(key)", (ended.stderr.strip().splitlines() or ["no reason given"])[0])
            verb = next((word for word in words[1:] if not word.startswith("-")), "route")
            raise TunnelFault(f"{words[0]} {verb} failed: {message}")
        return ended.stdout
