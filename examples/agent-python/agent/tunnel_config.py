"""What WireGuard gets to read: checked peers, and the text of its configuration (wg(8), CONFIGURATION FILE FORMAT)."""

import collections
import ipaddress
import re
import typing

from .encoding import to_base64

KEEPALIVE_SECONDS = 25
#: A mesh that is larger than 10.0.0.0/8 would have most of the internet in it.
SHORTEST_PREFIX = 8

#: 32 bytes in base64: the last character before the padding carries four bits.
_KEY = re.compile(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=", re.ASCII)
_ENDPOINT = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):([1-9][0-9]{0,4})", re.ASCII)


class TunnelPeer(typing.NamedTuple):
    """A peer of the interface. `preshared_key` is 32 bytes; without an `endpoint` WireGuard waits until the peer comes."""

    public_key: str
    preshared_key: bytes
    endpoint: str
    address: str


def mesh_of(cidr, own_address, outside=()):
    """The network of the mesh. Raises ValueError where it cannot be one: `outside` are addresses that the mesh must not have."""
    try:
        mesh = ipaddress.IPv4Network(_text(cidr))
    except ValueError:
        raise ValueError(f"the mesh CIDR {cidr!r} is not an IPv4 network") from None
    if mesh.prefixlen < SHORTEST_PREFIX:
        raise ValueError(f"the mesh CIDR {mesh} is larger than a /{SHORTEST_PREFIX}")
    if _address(own_address) not in mesh:
        raise ValueError(f"the node's own address {own_address} is not in the mesh {mesh}")
    for address in outside:
        if address in mesh:
            raise ValueError(f"the mesh {mesh} has {address} in it, which the node needs to reach the server")
    return mesh


def check_peers(peers, mesh, own_address, own_public_key):
    """
    The ids of the peers that can do no harm, and by id why the others are refused. Of peers that share an address or a key none
    is taken, since nothing shows which one is right.
    """
    addresses = collections.Counter(str(peer["mesh_address"]) for peer in peers)
    keys = collections.Counter(str(peer["public_key"]) for peer in peers)
    taken, refused = [], {}
    for peer in peers:
        try:
            check_peer(peer, mesh)
            if own_address == peer["mesh_address"] or own_public_key == peer["public_key"]:
                raise ValueError("it has the address or the key of this node")
            if addresses[peer["mesh_address"]] > 1 or keys[peer["public_key"]] > 1:
                raise ValueError("another peer has its address or its key")
            taken.append(peer["node_id"])
        except ValueError as error:
            refused[peer["node_id"]] = str(error)
    return taken, refused


def check_peer(peer, mesh):
    """Raises ValueError where a peer of the state is not what the protocol says. Each of its texts ends up on a line of its own."""
    if not _KEY.fullmatch(_text(peer["public_key"])):
        raise ValueError("its public key is not 32 bytes in base64")
    if _address(peer["mesh_address"]) not in mesh:
        raise ValueError(f"its address {peer['mesh_address']} is not in the mesh {mesh}")
    endpoint = endpoint_of(peer)
    if endpoint and _endpoint_address(endpoint) in mesh:
        raise ValueError(f"its endpoint {endpoint} is in the mesh, and the tunnel would lead into itself")


def endpoint_of(peer):
    """Where to reach a peer: directly, else through its relay, else nowhere (docs: Blocks)."""
    return peer["endpoint"] or peer.get("fallback_endpoint") or ""


def is_reportable(endpoint):
    """Whether the server takes an endpoint of WireGuard: one with a zone or a loopback address would refuse the whole report."""
    try:
        address = _endpoint_address(endpoint)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_multicast)


def interface_section(private_key, listen_port):
    """The configuration of an interface without peers. `private_key` is base64, as the state file has it."""
    if not _KEY.fullmatch(private_key):
        raise ValueError("the private key is not 32 bytes in base64")
    return f"[Interface]\nPrivateKey = {private_key}\nListenPort = {listen_port}\n"


def peer_section(peer):
    """The configuration of a TunnelPeer. What it leaves out stays as it is in the interface."""
    lines = [
        "[Peer]",
        f"PublicKey = {peer.public_key}",
        f"PresharedKey = {to_base64(peer.preshared_key)}",
        f"AllowedIPs = {peer.address}/32",
        f"PersistentKeepalive = {KEEPALIVE_SECONDS}",
    ]
    if peer.endpoint:
        lines.append(f"Endpoint = {peer.endpoint}")
    return "\n".join(lines) + "\n"


def _text(value):
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")
    return value


def _address(text):
    """An IPv4 address in its one spelling."""
    try:
        address = ipaddress.IPv4Address(_text(text))
    except ValueError:
        raise ValueError(f"{text!r} is not an IPv4 address") from None
    if str(address) != text:
        raise ValueError(f"{text!r} is not an IPv4 address")
    return address


def _endpoint_address(endpoint):
    found = _ENDPOINT.fullmatch(_text(endpoint))
    try:
        if found is None or int(found[3]) > 65535:
            raise ValueError
        if found[2]:
            return ipaddress.IPv4Address(found[2])
        address = ipaddress.IPv6Address(found[1])
        return address.ipv4_mapped or address
    except ValueError:
        raise ValueError(f"its endpoint {endpoint!r} is not address:port") from None
