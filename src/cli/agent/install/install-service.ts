import { existsSync } from 'node:fs'
import type { EnrolledState } from '../agent-core.ts'
import type { Place } from '../place.ts'
import { endBySignal } from '../process/take-down.ts'
import { lockOwner } from '../process/process-lock.ts'
import { chooseNode } from './choose-node.ts'
import type { InstallSystem } from './install-system.ts'
import { copyProgram, removeUnusedCopies } from './program-copy.ts'
import { createSystemd, type Systemd } from './systemd.ts'
import { agentUnits, createUnitFile } from './unit-file.ts'
import { unitNameOf, unitPath } from './unit-path.ts'
import { unitText } from './unit-text.ts'

/** What is installed. */
export interface InstallOptions {
  readonly system: InstallSystem
  readonly place: Place
  /** Of this program. */
  readonly version: string
  /** The state of the node; called once nothing else is in the way. */
  readonly enrolled: () => Promise<EnrolledState>
}

/** What was installed. */
export interface Installed {
  readonly unit: string
  readonly path: string
  readonly isChanged: boolean
  /** Undefined: systemd does not run here, so nothing was started. */
  readonly pid: number | undefined
  readonly isSystemdRunning: boolean
}

/**
 * Installs the agent as a service, and starts it where systemd runs. Nothing changes where it is installed so already.
 *
 * @throws CliError for a path that a unit cannot have, a Node that a service cannot run, or what keeps the node from being enrolled.
 */
export async function installService({ system, place, version, enrolled }: InstallOptions): Promise<Installed> {
  const stateDir = unitPath(place.directory, 'the state folder')
  const unit = unitNameOf(stateDir)
  const [file, systemd] = [createUnitFile(system.unitFolder, unit), createSystemd(system, unit)]
  const before = await file.read()
  const node = unitPath(await chooseNode({ running: system.node, run: system.run }), 'Node')
  const writesEtc = doesWriteEtc(system, await enrolled())
  const { main } = await copyProgram({ sources: system.program, root: system.programFolder, version })
  const facts = { node, program: unitPath(main, 'the copy of the agent'), stateDir, writesEtc }
  const text = unitText({ ...facts, isUpgraded: existsSync(system.upgradeProgram) })
  const isChanged = text !== before
  if (isChanged) await file.write(text)
  if (systemd.isRunning) await putInForce(systemd, place, isChanged)
  await removeUnusedCopies(system.programFolder, await agentUnits(system.unitFolder))
  const pid = systemd.isRunning ? await systemd.mainPid() : undefined
  return { unit, path: file.path, isChanged, pid, isSystemdRunning: systemd.isRunning }
}

function doesWriteEtc({ openresolvConfig }: InstallSystem, { machine: { names } }: EnrolledState): boolean {
  return names === 'hosts' || (names === 'auto' && existsSync(openresolvConfig))
}

/** The tunnels stay up while one agent ends and the next one starts. */
async function putInForce(systemd: Systemd, place: Place, isChanged: boolean): Promise<void> {
  if (isChanged) await systemd.reload()
  await systemd.enable()
  const owner = await lockOwner(place.lock)
  if (owner !== undefined && owner.pid !== (await systemd.mainPid())) await endBySignal(place, owner)
  await (isChanged ? systemd.restart() : systemd.start())
}
