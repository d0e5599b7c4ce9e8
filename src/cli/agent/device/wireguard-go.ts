import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, fchmodSync, openSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { EXIT } from '../../errors/exit-code.ts'
import { cleanEnvironment } from '../system/clean-environment.ts'
import { missingProgram } from '../system/missing-program.ts'
import { requireTun } from '../system/privileges.ts'
import { deviceFault } from './device-fault.ts'
import { askUapi, hasNoListener } from './uapi-socket.ts'

const PROGRAM = 'wireguard-go'
const DEADLINE_MS = 5_000
const POLL_MS = 20

/** The socket on which wireguard-go takes its configuration. */
export function uapiPath(name: string): string {
  return `/var/run/wireguard/${name}.sock`
}

/** Whether a wireguard-go answers on the socket of that interface. */
export async function isAnswering(name: string): Promise<boolean> {
  try {
    await askUapi(uapiPath(name), 'get=1\n\n')
    return true
  } catch (error) {
    if (hasNoListener(error)) return false
    throw error
  }
}

/**
 * Starts wireguard-go, which makes the interface, and resolves once it takes its configuration. It has a session of its own and
 * outlives this process.
 */
export async function startWireguardGo(name: string, logFile: string): Promise<void> {
  requireTun()
  if (await isAnswering(name)) {
    throw deviceFault(`Another network namespace of this machine has a wireguard-go with the interface name ${name}.`, {
      code: 'interface_taken',
      exitCode: EXIT.conflict,
      hint: 'Choose another name with --interface.',
    })
  }
  const child = await spawned(name, logFile)
  try {
    await answered(child, name, logFile)
  } catch (error) {
    // Its interface has no alias yet, so the next start would take it for one of another program.
    child.kill('SIGKILL')
    throw error
  }
}

async function answered(child: ChildProcess, name: string, logFile: string): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS
  while (!(await isAnswering(name))) {
    if (hasEnded(child)) throw deviceFault(`wireguard-go ended at its start; its log is ${logFile}.`)
    if (Date.now() > deadline)
      throw deviceFault(`wireguard-go did not answer within ${DEADLINE_MS / 1000} s; its log is ${logFile}.`)
    await pause(POLL_MS)
  }
}

/** Waits until the wireguard-go of a removed interface has ended, and ends it if it does not. */
export async function endWireguardGo(name: string): Promise<void> {
  if (!(await haveEnded(name))) {
    for (const pid of processesOf(name)) kill(pid)
    await haveEnded(name)
  }
  await removeStaleSocket(name)
}

/** Removes the socket of a wireguard-go that was killed. */
export async function removeStaleSocket(name: string): Promise<void> {
  if (!(await isAnswering(name))) rmSync(uapiPath(name), { force: true })
}

/** Resolves with false where a wireguard-go of the interface still runs after some time. */
async function haveEnded(name: string): Promise<boolean> {
  const deadline = Date.now() + DEADLINE_MS
  while (processesOf(name).length > 0) {
    if (Date.now() > deadline) return false
    await pause(POLL_MS)
  }
  return true
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function spawned(name: string, logFile: string): Promise<ChildProcess> {
  const log = openLog(logFile)
  const child = spawn(PROGRAM, [name], {
    cwd: '/',
    detached: true,
    env: { ...cleanEnvironment(), WG_PROCESS_FOREGROUND: '1', LOG_LEVEL: 'error' },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child))
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? missingProgram(PROGRAM)
          : deviceFault('wireguard-go could not be started.', { cause: error }),
      ),
    )
  })
}

function openLog(logFile: string): number {
  try {
    const log = openSync(logFile, 'a', 0o600)
    fchmodSync(log, 0o600)
    return log
  } catch (cause) {
    throw deviceFault(`The log of wireguard-go, ${logFile}, cannot be written: ${String(cause)}`, { cause })
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Processes of wireguard-go with that interface in this network namespace. */
function processesOf(name: string): readonly number[] {
  const own = readlinkSync('/proc/self/ns/net')
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => isWireguardGo(pid, name, own))
    .map(Number)
}

function isWireguardGo(pid: string, name: string, networkNamespace: string): boolean {
  try {
    const [program = '', argument] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    if (basename(program) !== PROGRAM || argument !== name) return false
    return readlinkSync(`/proc/${pid}/ns/net`) === networkNamespace
  } catch {
    // It ended since the folder was read, or is ending: a zombie has no namespace.
    return false
  }
}
