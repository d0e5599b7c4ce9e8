import type { Device, DeviceOptions } from './device/device.ts'
import type { Firewall } from './firewall/firewall.ts'
import type { MeshNames, MeshNamesOptions } from './names/mesh-names.ts'

/** What the agent changes of this machine. */
export interface MeshPorts {
  openDevice(options: DeviceOptions): Promise<Device>
  openNames(options: Omit<MeshNamesOptions, 'run' | 'system'>): Promise<MeshNames>
  openFirewall(log: (line: string) => void): Firewall
}
