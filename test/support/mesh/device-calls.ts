import type { DeviceChange, DeviceOptions } from '../../../src/cli/agent/device/device.ts'

/** Options of a device, as another process is sent them. */
export type SentOptions = Omit<DeviceOptions, 'onRestarted'>

/** What `device-child` is asked for. */
export type DeviceCall =
  | { readonly method: 'open'; readonly options: SentOptions }
  | { readonly method: 'removeDevice'; readonly options: Pick<DeviceOptions, 'name' | 'owner'> }
  | {
      readonly method: 'setPrivateKey' | 'change' | 'status' | 'setAddress' | 'setRoutes' | 'remove' | 'close'
      readonly key?: Uint8Array
      readonly change?: DeviceChange
      readonly address?: string
      readonly cidrs?: readonly string[]
    }

/** Writes keys so that `revive` reads them again. */
export function preserve(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}

/** Reads the keys of a message. */
export function revive(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('bytes' in value)) return value
  return typeof value.bytes === 'string' ? new Uint8Array(Buffer.from(value.bytes, 'base64')) : value
}
