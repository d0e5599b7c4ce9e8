import type { ReadPolicy } from '../../client/agent/policies/own-policies.ts'
import type { Device, DeviceOptions } from './device/device.ts'
import type { NameWay } from './state/agent-state.ts'

/** A name of the mesh and its address. */
export interface MeshName {
  readonly name: string
  readonly address: string
}

/** How the names of the mesh can be looked up on this machine. */
export interface NamesStatus {
  readonly way: string
  readonly listen: string | undefined
  readonly fault: string | undefined
}

/** Names of the mesh on this machine. */
export interface NamesPort {
  publish(names: readonly MeshName[]): Promise<void>
  status(): NamesStatus
  remove(): Promise<void>
}

/** What the firewall enforces. */
export interface FirewallView {
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

/** How names are opened. */
export interface NamesOptions {
  readonly way: NameWay
  readonly interfaceName: string
  readonly log: (line: string) => void
}

/** What the agent changes of this machine. */
export interface MeshPorts {
  openDevice(options: DeviceOptions): Promise<Device>
  openNames(options: NamesOptions): Promise<NamesPort>
  openFirewall(options: { readonly interfaceName: string; readonly log: (line: string) => void }): FirewallPort
}
