import { chmod, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { agentError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { askCaddy } from './ask-caddy.ts'
import { endPrograms, hasEnded, startInBackground } from './background-program.ts'
import { firstCaddyConfig } from './caddy-config.ts'
import type { IngressPlace } from './ingress-place.ts'

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
const READY_MS_MAX = 15_000
const POLL_MS = 50

/** Makes the port. Nothing is started before the first configuration. */
export function createCaddy({ place, log, environment, mayEnd }: CaddyDeps): Caddy {
  const { adminSocket, tlsSocket, caddyConfig: file, caddyLog } = place
  const sign = { program: PROGRAM, argument: file }
  let loaded: string | undefined
  let refused: string | undefined
  let isEnded = false

  const isAnswering = async (): Promise<boolean> =>
    (await askCaddy(adminSocket, { method: 'GET', path: '/config/admin' }))?.status === 200

  async function start(): Promise<void> {
    loaded = undefined
    isEnded = false
    await endPrograms(sign)
    for (const socket of [adminSocket, tlsSocket]) await rm(socket, { force: true })
    await writeFile(file, firstCaddyConfig(place), { mode: 0o600 })
    const child = await startInBackground({
      program: PROGRAM,
      args: ['run', '--config', file],
      logFile: caddyLog,
      // What it keeps is in `certificates`.
      environment: { ...environment, HOME: dirname(file) },
    })
    const deadline = Date.now() + READY_MS_MAX
    while (!(await isAnswering())) {
      if (hasEnded(child) || Date.now() >= deadline)
        throw agentError('caddy_failed', `caddy did not start; its log is ${caddyLog}`)
      await pause(POLL_MS)
    }
    log.line('ingress: caddy runs')
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
  }

  return {
    async prepare(config) {
      if (refused === config) throw refusal(caddyLog)
      if (!(await isAnswering())) await start()
    },
    async apply(config) {
      if (loaded !== config) await load(config)
    },
    async end() {
      // The processes of the machine are looked through once.
      if (isEnded || (loaded === undefined && !mayEnd())) return
      loaded = undefined
      await endPrograms(sign)
      isEnded = true
    },
  }
}

/** The reason of Caddy may have a part of the configuration, and with it a key. */
function refusal(logFile: string) {
  return agentError('caddy_failed', `caddy refuses its configuration; its log is ${logFile}`)
}
