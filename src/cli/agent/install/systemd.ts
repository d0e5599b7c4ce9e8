import { existsSync } from 'node:fs'
import { agentError } from '../errors.ts'
import type { InstallSystem } from './install-system.ts'

/** systemd, for one unit. */
export interface Systemd {
  /** Whether it runs this machine. Nothing else may be called where it does not. */
  readonly isRunning: boolean
  /** Reads the units again. */
  reload(): Promise<void>
  /** Starts the unit at each start of the machine. */
  enable(): Promise<void>
  disable(): Promise<void>
  start(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
  /** The process of the unit; undefined where it does not run. */
  mainPid(): Promise<number | undefined>
}

/** A restart waits for the end of the former process. */
const TIMEOUT_MS = 60_000

/** Opens it. */
export function createSystemd({ run, systemdFolder }: InstallSystem, unit: string): Systemd {
  async function systemctl(args: readonly string[]): Promise<string> {
    const { stdout, stderr, exitCode } = await run('systemctl', args, { timeoutMs: TIMEOUT_MS })
    if (exitCode === 0) return stdout
    throw agentError('systemd_refused', `systemctl ${args.join(' ')} failed: ${stderr.trim().split('\n')[0] ?? ''}`, {
      hints: [`See why: systemctl status ${unit}; journalctl -u ${unit}`],
    })
  }
  const act = (verb: string) => async (): Promise<void> => void (await systemctl([verb, unit]))
  return {
    isRunning: existsSync(systemdFolder),
    reload: async () => void (await systemctl(['daemon-reload'])),
    enable: act('enable'),
    disable: act('disable'),
    start: act('start'),
    restart: act('restart'),
    stop: act('stop'),
    async mainPid() {
      const pid = Number((await systemctl(['show', '--property=MainPID', '--value', unit])).trim())
      return Number.isInteger(pid) && pid > 0 ? pid : undefined
    },
  }
}
