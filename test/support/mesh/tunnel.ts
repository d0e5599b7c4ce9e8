import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { publicKeyOf } from '../../../src/cli/agent/device/keys.ts'
import type { DevicePeer } from '../../../src/cli/agent/device/device.ts'
import type { SentOptions } from './device-calls.ts'
import { type DeviceProcess, startDeviceProcess } from './device-process.ts'
import type { Box, Lab } from './lab.ts'

/** A private key in bytes. */
export function newPrivateKey(): Uint8Array {
  return new Uint8Array(generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-32))
}

/** A preshared key in bytes. */
export function newPresharedKey(): Uint8Array {
  return new Uint8Array(randomBytes(32))
}

/** One end of a tunnel: a device that is open in a box. */
export interface TunnelEnd {
  readonly box: Box
  readonly process: DeviceProcess
  readonly options: SentOptions
  /** In the tunnel. */
  readonly address: string
  /** As the other end is to have this one. */
  asPeer(facts?: Partial<DevicePeer>): DevicePeer
}

/** Opens a device in a box, without peers. */
export async function openTunnelEnd(
  lab: Lab,
  box: Box,
  { address, bundle, folder }: { readonly address: string; readonly bundle: string; readonly folder: string },
): Promise<TunnelEnd> {
  const process = startDeviceProcess(lab, box, bundle)
  const options: SentOptions = {
    name: 'ctl0',
    owner: `node-${box.name}`,
    privateKey: newPrivateKey(),
    listenPort: 51_820,
    mtu: 1420,
    isUserspace: false,
    logFile: join(folder, `${box.name}.log`),
  }
  await process.call({ method: 'open', options })
  await process.call({ method: 'setAddress', address })
  return {
    box,
    process,
    options,
    address,
    asPeer: (facts = {}) => ({
      publicKey: publicKeyOf(options.privateKey),
      presharedKey: undefined,
      endpoint: `${box.address}:${options.listenPort}`,
      allowedIps: [`${address}/32`],
      keepaliveSeconds: 0,
      ...facts,
    }),
  }
}

/** Makes two ends peers of each other, with a preshared key and routes. */
export async function connectEnds(one: TunnelEnd, other: TunnelEnd, presharedKey: Uint8Array): Promise<void> {
  for (const [end, far] of [
    [one, other],
    [other, one],
  ] as const) {
    await end.process.call({ method: 'change', change: { put: [far.asPeer({ presharedKey })], remove: [] } })
    await end.process.call({ method: 'setRoutes', cidrs: [`${far.address}/32`] })
  }
}
