import { openDevice } from './device/open-device.ts'
import { createFirewall } from './firewall/firewall.ts'
import type { MeshPorts } from './mesh-ports.ts'
import { openMeshNames } from './names/mesh-names.ts'
import type { RunProgram } from './system/run-program.ts'

/** WireGuard, nftables and name resolution of this machine. */
export function machinePorts(run: RunProgram): MeshPorts {
  return {
    openDevice,
    openNames: (options) => openMeshNames({ ...options, run }),
    openFirewall: (log) => createFirewall({ run, log }),
  }
}
