import { chmod, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { agentError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { endProgram } from '../../system/background-program.ts'
import { keepRunning, type KeptProcess } from '../../system/kept-process.ts'
import { askCaddy } from './ask-caddy.ts'
import { firstCaddyConfig } from './caddy-config.ts'
import { caddySign, type IngressPlace } from './ingress-place.ts'

/** Caddy, which ends TLS for names with a certificate from ACME. It outlives the agent, and the next one takes it over. */
export interface Caddy {
  /**
   * Starts it where it does not run yet, without a site.
   *
   * @throws CliError where it cannot, or where it has refused that configuration: nothing else needs to change for it.
   */
  prepare(config: string): Promise<void>
  /** Runs that configuration, and does nothing where it runs already. @throws CliError where it cannot; what ran before goes on. */
  apply(config: string): Promise<void>
  /** Ends it with all connections. One that an earlier agent has configured goes on until it may be ended. */
  end(): Promise<void>
  /** Why it does not run now; undefined while it does. */
  fault(): string | undefined
  /** Nothing is started any more. The process stays. */
  stopWatching(): Promise<void>
}

/** What Caddy needs. */
export interface CaddyDeps {
  readonly place: IngressPlace
  readonly log: Log
  /** Variables with which it trusts certificate authorities, such as SSL_CERT_FILE. */
  readonly environment: Readonly<Record<string, string>>
  /** Whether no bridge that this agent has yet to apply can have sites in it. */
  readonly mayEnd: () => boolean
}

const PROGRAM = 'caddy'

/** Makes the port. Nothing is started before the first configuration. */
export function createCaddy({ place, log, environment, mayEnd }: CaddyDeps): Caddy {
  const { adminSocket, tlsSocket, caddyConfig: file, caddyLog } = place
  const sign = caddySign(place)
  let kept: KeptProcess | undefined
  let loaded: string | undefined
  let refused: string | undefined
  let isEnded = false

  const isAnswering = async (): Promise<boolean> =>
    (await askCaddy(adminSocket, { method: 'GET', path: '/config/admin' }))?.status === 200

  async function keep(): Promise<void> {
    if (kept !== undefined) return
    isEnded = false
    kept = await keepRunning({
      ...sign,
      family: sign.marks,
      program: PROGRAM,
      args: ['run', '--config', file],
      logFile: caddyLog,
      // What it keeps is in `certificates`.
      environment: { ...environment, HOME: dirname(file) },
      log: (line) => log.line(`ingress: ${line}`),
      async prepare() {
        for (const socket of [adminSocket, tlsSocket]) await rm(socket, { force: true })
        await writeFile(file, firstCaddyConfig(place), { mode: 0o600 })
      },
      isReady: isAnswering,
      async onStarted() {
        log.line('ingress: caddy runs')
        if (loaded !== undefined) await load(loaded)
      },
    })
  }

  async function stopWatching(): Promise<void> {
    await kept?.stopWatching()
    kept = undefined
  }

  async function load(config: string): Promise<void> {
    const answer = await askCaddy(adminSocket, { method: 'POST', path: '/load', body: config })
    if (answer?.status !== 200) {
      refused = answer === undefined ? undefined : config
      throw refusal(caddyLog)
    }
    // HAProxy has a user of its own. Another user of this machine gets no more by it than by the port of HAProxy.
    await chmod(tlsSocket, 0o666)
    loaded = config
    // It was refused when Caddy lacked something that it has now.
    if (refused === config) refused = undefined
  }

  return {
    async prepare(config) {
      if (refused === config) throw refusal(caddyLog)
      await keep()
    },
    async apply(config) {
      if (loaded !== config) await load(config)
    },
    async end() {
      // The processes of the machine are looked through once.
      if (isEnded || (loaded === undefined && !mayEnd())) return
      loaded = undefined
      await stopWatching()
      await endProgram(sign)
      isEnded = true
    },
    fault: () => kept?.fault(),
    stopWatching,
  }
}

/** The reason of Caddy may have a part of the configuration, and with it a key. */
function refusal(logFile: string) {
  return agentError('caddy_failed', `caddy refuses its configuration; its log is ${logFile}`)
}
