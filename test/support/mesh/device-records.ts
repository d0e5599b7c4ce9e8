import type { DeviceRecord, PeerRecord } from '../../../src/cli/agent/device/driver.ts'

/** Public keys, all of them well-formed. */
export const KEYS = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString('base64')) as unknown as readonly [
  string,
  string,
  string,
]

/** A peer as a device has it. */
export function had(facts: Partial<PeerRecord> & { readonly publicKey: string }): PeerRecord {
  return {
    presharedKey: undefined,
    hasPresharedKey: facts.presharedKey !== undefined,
    endpoint: '10.99.1.2:51820',
    latestHandshakeMs: undefined,
    receivedBytes: 0,
    sentBytes: 0,
    allowedIps: ['10.7.0.2/32'],
    keepaliveSeconds: 0,
    ...facts,
  }
}

/** A device with these peers. */
export function recordOf(...peers: readonly PeerRecord[]): DeviceRecord {
  return { privateKey: new Uint8Array(32).fill(9), listenPort: 51_820, peers }
}
