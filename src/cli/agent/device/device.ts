/** A peer as the device shall have it. */
export interface DevicePeer {
  /** In base64. */
  readonly publicKey: string
  /** 32 bytes; undefined: none. */
  readonly presharedKey: Uint8Array | undefined
  /** `address:port`, an IPv6 address in brackets; undefined: keep what the device has. */
  readonly endpoint: string | undefined
  readonly allowedIps: readonly string[]
  /** 0: none. */
  readonly keepaliveSeconds: number
}

/** A peer as the device has it. */
export interface PeerStatus {
  /** In base64. */
  readonly publicKey: string
  /** `address:port`, an IPv6 address in brackets; undefined: none is known. */
  readonly endpoint: string | undefined
  /** Unix time; undefined: there was none. */
  readonly latestHandshakeMs: number | undefined
  readonly receivedBytes: number
  readonly sentBytes: number
  readonly allowedIps: readonly string[]
  readonly hasPresharedKey: boolean
  /** 0: none. */
  readonly keepaliveSeconds: number
}

/** Peers to add or change, and the public keys of those to remove. */
export interface DeviceChange {
  readonly put: readonly DevicePeer[]
  readonly remove: readonly string[]
}

/** Another endpoint for a peer that the device has. */
export interface EndpointMove {
  readonly publicKey: string
  readonly endpoint: string
  /** Ends the session, if there is one, and begins a handshake there; else a packet of the session is sent there. */
  readonly isRenewed: boolean
}

/** What the device reports about itself. */
export interface DeviceStatus {
  /** In base64; undefined: no private key is set. */
  readonly publicKey: string | undefined
  readonly listenPort: number
  readonly peers: readonly PeerStatus[]
}

/** A WireGuard interface of this machine. */
export interface Device {
  readonly name: string
  readonly kind: 'kernel' | 'wireguard-go'
  /** Replaces the private key, 32 bytes. Sessions end: each peer needs a handshake. */
  setPrivateKey(key: Uint8Array): Promise<void>
  /**
   * Adds or changes peers, whose allowed IPs are replaced, and removes others, in one transaction of the device. Peers that the
   * device has so already are not touched. A peer that is in both is removed first.
   */
  change(change: DeviceChange): Promise<void>
  status(): Promise<DeviceStatus>
  /**
   * Sends a packet to each of these peers now, by public key: in its session, or else for a new one, which is repeated for 10 s.
   * So a peer learns the address of this machine, and the translations of addresses on the way are opened. One without an endpoint
   * is left out.
   */
  wake(publicKeys: readonly string[]): Promise<void>
  /** Gives peers another endpoint and sends a packet there now. One that is not there, or whose key changes just now, is left out. */
  move(moves: readonly EndpointMove[]): Promise<void>
  /** Gives the interface this one address, as a host address, or none. */
  setAddress(address: string | undefined): Promise<void>
  /** Sets exactly these routes through the interface. `source`: the address of packets that this machine itself sends by them. */
  setRoutes(cidrs: readonly string[], source?: string): Promise<void>
  /** Removes the interface and ends wireguard-go. */
  remove(): Promise<void>
  /** Stops watching; the interface and its process stay. */
  close(): Promise<void>
}

/** How an interface is opened. */
export interface DeviceOptions {
  /** Of the interface. */
  readonly name: string
  /** The id of the node that owns the interface. It is kept as the alias of the link, `ctl <node id>`. */
  readonly owner: string
  /** 32 bytes. */
  readonly privateKey: Uint8Array
  readonly listenPort: number
  readonly mtu: number
  /** Uses wireguard-go even where the kernel has WireGuard. */
  readonly isUserspace: boolean
  /** Receives the log of wireguard-go. */
  readonly logFile: string
  /** wireguard-go died, or the interface was removed, and it was made again with an empty configuration: put all peers again. */
  readonly onRestarted: () => void
}
