import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { deadline } from './deadline.ts'

/** A server with default limits in a process of its own. */
export interface Victim {
  readonly port: number
  /** Token of the bootstrap identity. */
  readonly root: string
  /** Bytes that the log has so far. */
  logBytes(): number
  /** The last of the log, for a report of what went wrong. */
  logEnd(): string
  /** Resident memory now, and the most that it ever was; undefined where the process is gone. */
  memory(): { readonly now: number; readonly peak: number } | undefined
  /** Audit rows that will never be written. */
  auditRowsLost(): Promise<number>
  /** Longest delay of the event loop within the last 15 to 30 seconds. */
  lagSeconds(): Promise<number>
  /** Ends it in order. Resolves with its exit code, or with what happened instead. */
  stop(): Promise<number | string>
  /** Ends it in any case, and removes its files. */
  remove(): Promise<void>
}

export interface VictimOptions {
  /** Folder of a build. */
  readonly dist: string
  /** Of an empty database; the embedded datastore when absent. */
  readonly databaseUrl?: string | undefined
}

const READY_WITHIN_MS = 120_000
/** What the server gives requests, 10 s, and as much again. */
const STOP_WITHIN_MS = 20_000
const LOG_END_CHARS = 4_000

/** What `bin/ctl.js` does, with the command line of another build. */
const RUN = 'require(process.argv[1]).main(process.argv.slice(2)).then((code) => { process.exitCode = code })'

/** Starts the server of a build on a free loopback port. Throws with its log where it does not get ready. */
export async function startVictim({ dist, databaseUrl }: VictimOptions): Promise<Victim> {
  const home = mkdtempSync(join(tmpdir(), 'ctl-floods-'))
  const tokenFile = join(home, 'token')
  const database = databaseUrl === undefined ? [] : ['--database-url', databaseUrl]
  const store = ['--data-dir', join(home, 'data'), ...database]
  const main = resolve(dist, 'ctl/main.cjs')
  const args = ['serve', '--listen', '127.0.0.1:0', '--ops-listen', '127.0.0.1:0', '--bootstrap-token-file', tokenFile]
  const child = spawn(process.execPath, ['-e', RUN, main, ...args, ...store], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      // Targets take effect with the next sample. No flag: a build that lacks it ignores it.
      SERVICE_CAPACITY_SAMPLE_INTERVAL: '1s',
      ...(databaseUrl !== undefined && { SERVICE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }),
    },
  })
  const log = followLog(child)
  try {
    const ready = await deadline(readyLine(child), READY_WITHIN_MS, 'the server was not ready')
    const root = readFileSync(tokenFile, 'utf8').trim()
    return { ...log, ...words({ child, home, opsUrl: ready.ops_url }), port: Number(new URL(ready.url).port), root }
  } catch (error) {
    await removeAll(child, home)
    throw new Error(`${String(error)}\n${log.logEnd()}`, { cause: error })
  }
}

function followLog(child: ChildProcess): Pick<Victim, 'logBytes' | 'logEnd'> {
  let bytes = 0
  let end = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    end = (end + chunk.subarray(-LOG_END_CHARS).toString('utf8')).slice(-LOG_END_CHARS)
  })
  return { logBytes: () => bytes, logEnd: () => end }
}

interface ReadyLine {
  readonly url: string
  readonly ops_url: string
}

async function readyLine(child: ChildProcess): Promise<ReadyLine> {
  if (child.stdout === null) throw new Error('stdout is not piped')
  const lines = createInterface({ input: child.stdout })
  const line = once(lines, 'line').then(([text]) => JSON.parse(String(text)) as ReadyLine)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with ${String(code)} before it was ready`)
  })
  ended.catch(() => undefined)
  return Promise.race<ReadyLine>([line, ended])
}

interface Running {
  readonly child: ChildProcess
  readonly home: string
  readonly opsUrl: string
}

function words({
  child,
  home,
  opsUrl,
}: Running): Pick<Victim, 'memory' | 'auditRowsLost' | 'lagSeconds' | 'stop' | 'remove'> {
  const metrics = async (): Promise<string> =>
    (await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(10_000) })).text()
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    memory: () => (hasEnded() ? undefined : memoryOf(child.pid ?? 0)),
    async auditRowsLost() {
      const text = await metrics()
      return metric(text, 'audit_rows_dropped_total') + metric(text, 'audit_write_failures_total')
    },
    lagSeconds: async () => metric(await metrics(), 'event_loop_lag_seconds'),
    async stop() {
      if (hasEnded()) return `it had ended before, with ${String(child.exitCode ?? child.signalCode)}`
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      try {
        await deadline(ended, STOP_WITHIN_MS, 'it did not end')
      } catch {
        return `it did not end within ${STOP_WITHIN_MS / 1000} s`
      }
      return child.exitCode ?? String(child.signalCode)
    },
    remove: () => removeAll(child, home),
  }
}

async function removeAll(child: ChildProcess, home: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  rmSync(home, { recursive: true, force: true })
}

/** Bytes of resident memory, as the kernel of Linux has counted them. */
function memoryOf(pid: number): Victim['memory'] extends () => infer M ? M : never {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
    return { now: bytes('VmRSS'), peak: bytes('VmHWM') }
  } catch {
    return undefined
  }
}

function metric(text: string, name: string): number {
  return Number(new RegExp(`^${name} ([\\d.e-]+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}
