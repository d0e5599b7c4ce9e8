import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { agentError, systemCode } from '../../errors.ts'
import { CliError } from '../../../errors/cli-error.ts'
import type { Log } from '../../log.ts'
import { endProgram } from '../../system/background-program.ts'
import { keepRunning, type KeptProcess } from '../../system/kept-process.ts'
import type { RunProgram } from '../../system/run-program.ts'
import { askHaproxy, cutOldSessions, haproxyProcesses, runningDigest, type HaproxyProcesses } from './ask-haproxy.ts'
import { backendsIn, type haproxyConfig } from './haproxy-config.ts'
import { haproxySign, type IngressPlace } from './ingress-place.ts'

/** A configuration with its digest. */
export type HaproxyConfig = ReturnType<typeof haproxyConfig>

/** HAProxy of this machine's ingress. It outlives the agent, and the next one takes it over. */
export interface Haproxy {
  /** The configuration that it runs; undefined where it does not run. */
  running(): Promise<HaproxyConfig | undefined>
  /**
   * Runs that configuration, and does nothing where it runs already. Connections go on, save those of backends that are gone or have
   * another address.
   *
   * @throws CliError where it cannot; what ran before goes on.
   */
  apply(config: HaproxyConfig): Promise<void>
  /** Why it does not run now; undefined while it does. */
  fault(): string | undefined
  /** Ends it with all connections. */
  end(): Promise<void>
  /** Nothing is started any more. The process stays. */
  stopWatching(): Promise<void>
}

/** What HAProxy needs. */
export interface HaproxyDeps {
  readonly place: IngressPlace
  readonly run: RunProgram
  readonly log: Log
  /** Whether open connections of a backend may be cut once it is gone, or has another address. */
  readonly mayCut: (backend: string) => boolean
  /** @throws CliError where the port is taken. */
  readonly assertFree: () => Promise<void>
}

const PROGRAM = 'haproxy'
const READY_MS_MAX = 15_000
const POLL_MS = 50

/** Makes the port. Nothing is started before the first configuration. */
export function createHaproxy({ place, run, log, mayCut, assertFree }: HaproxyDeps): Haproxy {
  const { haproxyConfig: file, masterSocket, haproxyLog } = place
  const sign = haproxySign(place)
  const next = `${file}.next`
  let kept: KeptProcess | undefined

  async function running(): Promise<HaproxyConfig | undefined> {
    const digest = await runningDigest(masterSocket)
    if (digest === undefined) return undefined
    const text = await textIn(file)
    // A file that another process has changed since is not what runs.
    return text.includes(`  description ${digest}\n`) ? { text, digest } : { text: '', digest }
  }

  async function check({ text }: HaproxyConfig): Promise<void> {
    await writeFile(next, text, { mode: 0o600 })
    const { exitCode, stdout, stderr } = await run(PROGRAM, ['-c', '-f', next])
    if (exitCode !== 0) throw refused('refuses its configuration', alertIn(`${stdout}\n${stderr}`))
  }

  async function keep(): Promise<void> {
    kept ??= await keepRunning({
      ...sign,
      family: sign.marks,
      program: PROGRAM,
      args: ['-W', '-S', `${masterSocket},mode,600`, '-f', file],
      logFile: haproxyLog,
      log: (line) => log.line(`ingress: ${line}`),
      async prepare() {
        // Its alerts are those of this start.
        await rm(haproxyLog, { force: true })
        await assertFree()
      },
      isReady: async () => (await runningDigest(masterSocket)) !== undefined,
    })
  }

  async function stopWatching(): Promise<void> {
    await kept?.stopWatching()
    kept = undefined
  }

  async function start(): Promise<void> {
    await stopWatching()
    // One that does not answer holds the port, and one that runs has another configuration.
    await endProgram(sign)
    try {
      await keep()
    } catch (error) {
      if (!(error instanceof CliError) || error.code !== 'program_failed') throw error
      throw refused('did not start', alertIn(await textIn(haproxyLog)))
    }
    log.line('ingress: haproxy runs')
  }

  async function reload({ digest }: HaproxyConfig): Promise<boolean> {
    const before = await haproxyProcesses(masterSocket)
    await askHaproxy(masterSocket, 'reload')
    return answers(digest, () => hasFailedSince(before))
  }

  async function hasFailedSince(before: HaproxyProcesses | undefined): Promise<boolean> {
    const now = await haproxyProcesses(masterSocket)
    return now !== undefined && now.failedReloads > (before?.failedReloads ?? 0)
  }

  /** Waits until the configuration runs, or cannot any more. */
  async function answers(digest: string, hasFailed: () => Promise<boolean>): Promise<boolean> {
    const deadline = Date.now() + READY_MS_MAX
    while ((await runningDigest(masterSocket)) !== digest) {
      if ((await hasFailed()) || Date.now() >= deadline) return false
      await pause(POLL_MS)
    }
    return true
  }

  /** Its workers of before carry the connections that are open; those that lead elsewhere now are cut. */
  async function cutFormer(before: HaproxyConfig, after: HaproxyConfig): Promise<void> {
    const present = backendsIn(after.text)
    const gone = [...backendsIn(before.text)].filter(([name, address]) => present.get(name) !== address && mayCut(name))
    if (gone.length > 0) await cutOldSessions(masterSocket, new Set(gone.map(([name]) => name)))
  }

  async function replace(before: HaproxyConfig, after: HaproxyConfig): Promise<void> {
    if (await reload(after)) return cutFormer(before, after)
    const why = alertIn(await textIn(haproxyLog))
    await writeFile(file, before.text, { mode: 0o600 })
    await reload(before)
    throw refused('did not take its new configuration', why)
  }

  return {
    running,
    async apply(config) {
      const before = await running()
      if (before?.digest === config.digest) return keep()
      await check(config)
      await rename(next, file)
      if (before === undefined) return start()
      await keep()
      await replace(before, config)
    },
    fault: () => kept?.fault(),
    async end() {
      await stopWatching()
      await endProgram(sign)
    },
    stopWatching,
  }
}

function refused(what: string, why: string) {
  return agentError('haproxy_failed', `haproxy ${what}: ${why}`)
}

/** The last line of HAProxy about a failure, without its prefix. */
function alertIn(text: string): string {
  const alerts = [...text.matchAll(/^\[ALERT\]\s+\(\d+\) : (.*)$/gm)].map(([, line = '']) => line)
  return (
    alerts.find((line) => !/ : (?:Error\(s\) found|Fatal errors found)/.test(line)) ?? 'it gives no reason'
  ).slice(0, 300)
}

async function textIn(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return ''
    throw error
  }
}
