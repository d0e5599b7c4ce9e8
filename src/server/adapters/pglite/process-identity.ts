import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'

/** The identity of a process, distinct from a later process with the same number. */
export interface ProcessIdentity {
  readonly pid: number
  /** When it was started, in the system's own notation; empty when that could not be learned. */
  readonly startedAt: string
  /** The boot and pid namespace in which the number means anything; empty where the system has neither. */
  readonly place: string
}

function readOrEmpty(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

function thisPlace(): string {
  const boot = readOrEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const namespace = readOrEmpty(() => readlinkSync('/proc/self/ns/pid'))
  return boot === '' ? '' : `${boot} ${namespace}`
}

/** Fields 3 (state) and 22 (start time in clock ticks) of proc_pid_stat(5); the name before them may hold anything. */
function linuxStat(pid: number): { state: string; startedAt: string } | undefined {
  const stat = readOrEmpty(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state] = fields
  const startedAt = fields[19]
  return state && startedAt ? { state, startedAt } : undefined
}

function startTimeOf(pid: number): string {
  if (process.platform === 'linux') return linuxStat(pid)?.startedAt ?? ''
  return readOrEmpty(() => execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim())
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: startTimeOf(process.pid), place: thisPlace() }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Whether the process runs; `unknown` when it belongs to another boot, container or host, whose numbers mean nothing here. */
export function stateOf(identity: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  if (identity.place !== thisPlace()) return 'unknown'
  if (!exists(identity.pid)) return 'dead'
  const isZombie = process.platform === 'linux' && linuxStat(identity.pid)?.state === 'Z'
  const startedAt = startTimeOf(identity.pid)
  const isAnother = startedAt !== '' && identity.startedAt !== '' && startedAt !== identity.startedAt
  return isZombie || isAnother ? 'dead' : 'alive'
}
