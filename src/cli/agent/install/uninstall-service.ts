import type { Place } from '../place.ts'
import type { InstallSystem } from './install-system.ts'
import { removeUnusedCopies } from './program-copy.ts'
import { createSystemd } from './systemd.ts'
import { agentUnits, createUnitFile } from './unit-file.ts'
import { unitNameOf } from './unit-path.ts'

/** What was there, and is gone. */
export interface Uninstalled {
  readonly unit: string
  readonly wasInstalled: boolean
}

/**
 * Stops the service and removes its unit, and the copies of the program that no other unit uses. Tunnels and state stay.
 *
 * @throws CliError where the unit was written by something else.
 */
export async function uninstallService(system: InstallSystem, { directory }: Place): Promise<Uninstalled> {
  const unit = unitNameOf(directory)
  const file = createUnitFile(system.unitFolder, unit)
  const wasInstalled = (await file.read()) !== undefined
  const systemd = createSystemd(system, unit)
  if (wasInstalled && systemd.isRunning) {
    await systemd.stop()
    await systemd.disable()
  }
  await file.remove()
  if (wasInstalled && systemd.isRunning) await systemd.reload()
  await removeUnusedCopies(system.programFolder, await agentUnits(system.unitFolder))
  return { unit, wasInstalled }
}
