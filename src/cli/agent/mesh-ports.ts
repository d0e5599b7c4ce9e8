import type { ReadPolicy } from '../../client/agent/policies/own-policies.ts'
import type { Device, DeviceOptions } from './device/device.ts'
import type { MeshNames, MeshNamesOptions } from './names/mesh-names.ts'

/** What the firewall enforces. */
interface FirewallView {
  readonly interfaceName: string
  readonly policies: readonly ReadPolicy[]
  readonly peers: readonly { readonly nodeId: string; readonly address: string; readonly groups: readonly number[] }[]
}

/** Policies on this machine. */
export interface FirewallPort {
  apply(view: FirewallView): Promise<void>
  counters(): Promise<readonly unknown[]>
  /** Why no packet may pass, where policies cannot be enforced; undefined otherwise. */
  fault(): string | undefined
  remove(): Promise<void>
}

/** What the agent changes of this machine. */
export interface MeshPorts {
  openDevice(options: DeviceOptions): Promise<Device>
  openNames(options: Omit<MeshNamesOptions, 'run' | 'system'>): Promise<MeshNames>
  openFirewall(options: { readonly interfaceName: string; readonly log: (line: string) => void }): FirewallPort
}
