import type { MeshNetwork } from '../../server-answers/mesh-network.ts'
import type { Surroundings } from '../../server-answers/subnet-fault.ts'
import { machineAddresses, type MachineQuery } from '../../system/machine-addresses.ts'

/** Reads what a tunnel must leave alone. @throws CliError where `ip` is not installed. */
export async function readSurroundings(query: MachineQuery, mesh: MeshNetwork): Promise<Surroundings> {
  return { mesh, machine: await machineAddresses(query) }
}
