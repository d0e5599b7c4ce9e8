import type { PeerStatus } from './device.ts'

/** A peer as the device has it, with its preshared key. */
export interface PeerRecord extends PeerStatus {
  readonly presharedKey: Uint8Array | undefined
}

/** The configuration and the counters of a device. It has secret keys: it is never logged. */
export interface DeviceRecord {
  readonly privateKey: Uint8Array | undefined
  readonly listenPort: number
  readonly peers: readonly PeerRecord[]
}

/** What changes of one peer. An absent member leaves the device's value. */
export interface PeerEdit {
  /** In base64. */
  readonly publicKey: string
  /** The device forgets the peer and its sessions first. With `isRemoved` alone it is not added again. */
  readonly isRemoved?: boolean
  readonly isAdded?: boolean
  /** 32 bytes; of zeros: none. */
  readonly presharedKey?: Uint8Array
  readonly endpoint?: string
  readonly keepaliveSeconds?: number
  /** All that the peer shall have; `added` where it has the others already and loses none. */
  readonly allowedIps?: { readonly wanted: readonly string[]; readonly added?: readonly string[] }
}

/** What changes of a device. An absent member leaves the device's value. */
export interface DeviceEdit {
  readonly privateKey?: Uint8Array
  readonly listenPort?: number
  readonly peers?: readonly PeerEdit[]
}

/** One way to configure WireGuard. */
export interface Driver {
  readonly kind: 'kernel' | 'wireguard-go'
  read(): Promise<DeviceRecord>
  edit(edit: DeviceEdit): Promise<void>
}
