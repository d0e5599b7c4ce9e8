import type { ProgramFile } from './program-file.ts'

/** How this process is upgraded, and whether it is an upgrade on trial. */
export interface Upgrading {
  /** Undefined where it does not run from the one file of a release. */
  readonly file: ProgramFile | undefined
  /** Where the upgrade program is; `/etc/ctl` when absent. */
  readonly folder?: string
  /** Whether the agent before the upgrade watches this one, and brings itself back where this one does not work. */
  readonly isWatched: () => boolean
  /** Whether that agent has ended, and a service manager starts the next one. */
  readonly isOrphan: () => boolean
}

/** Has the process id of the agent that watches. */
export const TRIAL_VARIABLE = 'CTL_AGENT_TRIAL'
/** systemd gives it to its services. */
export const SERVICE_VARIABLE = 'INVOCATION_ID'

/** How the process with that environment is upgraded. */
export function upgradingOf(
  file: ProgramFile | undefined,
  env: Readonly<Record<string, string | undefined>>,
  parent: () => number = () => process.ppid,
): Upgrading {
  const [watcher, service] = [env[TRIAL_VARIABLE], env[SERVICE_VARIABLE]]
  const isWatched = (): boolean => watcher !== undefined && parent() === Number(watcher)
  return {
    file,
    isWatched,
    isOrphan: () => watcher !== undefined && service !== undefined && !isWatched(),
  }
}
