import type { RunProgram } from '../system/run-program.ts'
import { builtProgram, type ProgramSources } from './program-copy.ts'

/** Where a service is installed on this machine. */
export interface InstallSystem {
  readonly run: RunProgram
  /** Holds the units of the administrator. */
  readonly unitFolder: string
  /** Holds the copies of the agent's program. */
  readonly programFolder: string
  readonly program: ProgramSources
  /** Exists while systemd runs. */
  readonly systemdFolder: string
  /** Exists where openresolv writes `/etc/resolv.conf`. */
  readonly openresolvConfig: string
  /** Exists where executions of `upgrade_agent` upgrade the agent. */
  readonly upgradeProgram: string
  /** The Node that runs this program. */
  readonly node: string
}

/** The paths of Linux. */
export function linuxSystem(run: RunProgram): InstallSystem {
  return {
    run,
    unitFolder: '/etc/systemd/system',
    programFolder: '/usr/local/lib/ctl-mesh',
    program: builtProgram(),
    systemdFolder: '/run/systemd/system',
    openresolvConfig: '/etc/resolvconf.conf',
    upgradeProgram: '/etc/ctl/upgrade',
    node: process.execPath,
  }
}
