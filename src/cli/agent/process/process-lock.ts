import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { agentError, systemCode } from '../errors.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { startTimeOf } from '../system/process-start.ts'

/** The right of one process to be the agent of a state folder. */
export interface ProcessLock {
  release(): Promise<void>
}

/** The process that holds a lock. */
export interface LockOwner {
  readonly pid: number
  /** Since the machine was started, in clock ticks: it distinguishes a process from a later one with the same number. */
  readonly startTime: string
}

const TRIES_MAX = 5

/** Takes the lock. One of a process that has ended is taken over. @throws CliError where another agent runs. */
export async function takeLock(path: string): Promise<ProcessLock> {
  const own = `${process.pid} ${startTimeOf(process.pid) ?? ''}\n`
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (await created(path, own)) return { release: () => release(path, own) }
    const owner = await lockOwner(path)
    if (owner !== undefined) throw alreadyRunning(path, owner)
    await removeStale(path)
  }
  throw agentError('agent_running', `${path} is being taken by another agent`, { exitCode: EXIT.conflict })
}

/** The running process that holds the lock; undefined where there is none. */
export async function lockOwner(path: string): Promise<LockOwner | undefined> {
  const text = await contentOf(path)
  const [, pid, startTime] = /^(\d+) (\d+)\n$/.exec(text ?? '') ?? []
  if (pid === undefined || startTime === undefined) return undefined
  return startTimeOf(Number(pid)) === startTime ? { pid: Number(pid), startTime } : undefined
}

function alreadyRunning(path: string, { pid }: LockOwner) {
  return agentError('agent_running', `an agent with this state folder already runs as process ${pid} (${path})`, {
    exitCode: EXIT.conflict,
    hints: ['Stop it with "ctl agent down", or give this one its own --state-dir, --interface and --listen-port.'],
  })
}

/** The file appears with its content: one without content looks like that of a process that has ended. */
async function created(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${process.pid}.new`
  await writeFile(draft, text, { mode: 0o600 })
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Moves the lock of a dead process aside first: another process may have replaced it meanwhile, and keeps its own then. */
async function removeStale(path: string): Promise<void> {
  const aside = `${path}.${process.pid}`
  try {
    await rename(path, aside)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return
    throw error
  }
  if ((await lockOwner(aside)) !== undefined) await rename(aside, path)
  else await rm(aside, { force: true })
}

async function release(path: string, own: string): Promise<void> {
  if ((await contentOf(path)) === own) await rm(path, { force: true })
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
