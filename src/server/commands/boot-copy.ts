import { join } from 'node:path'
import { resultOf, type CheckResult, type Fault } from '../backup/verify/checks.ts'
import type { KeyAtHand } from '../backup/verify/key-at-hand.ts'
import { openBackend } from '../composition/backend.ts'
import { createLog, type TextSink } from '../composition/log.ts'
import { serve, type RunningServer } from '../composition/serve.ts'
import type { Config } from '../config/config.ts'
import { createMemoryHandover } from '../first-run/memory-handover.ts'
import { BootError } from '../ports/boot-error.ts'
import type { Candidacy } from '../ports/leader-seat.ts'

/** Nobody leads a copy: its jobs would reach what the real server reaches, such as a secret store or an address of a webhook. */
const nobodyLeads: Candidacy['openSeat'] = async () => ({
  hold: async () => false,
  gone: new AbortController().signal,
  leave: async () => undefined,
})

const REQUESTS = 3

/**
 * Starts this version's server on the scratch datastore in the directory, on a free loopback port and without jobs, and
 * makes requests of it: readiness, who am I, and the list of Domains. SpiceDB and NATS are left out; a secret store and a
 * Transit engine are opened as configured, and only read.
 */
export async function bootCopy(
  config: Config,
  directory: string,
  { key, stderr }: { readonly key: KeyAtHand; readonly stderr: TextSink },
): Promise<CheckResult> {
  const startedAt = performance.now()
  if ('skipped' in key) return resultOf('start', key, 0)
  const masterKey = { kind: 'given', key: key.secret.export() } as const
  const faults = await faultsOf({ ...copyConfig(config, directory), masterKey }, stderr)
  return resultOf('start', { count: REQUESTS, what: 'requests', faults }, performance.now() - startedAt)
}

/**
 * As the server's own, but for its places and what it would tell others. No path is one that the real server writes: a
 * datastore that is opened removes its scratch directory.
 */
export function copyConfig(config: Config, directory: string): Config {
  return {
    ...config,
    listen: { host: '127.0.0.1', port: 0 },
    opsListen: undefined,
    baseUrl: undefined,
    dataDir: directory,
    backups: undefined,
    backupScratchDir: join(directory, 'backup-scratch'),
    storage: { kind: 'embedded', directory },
    spicedb: undefined,
    nats: undefined,
    tls: undefined,
    releasesSource: undefined,
    tracing: undefined,
    bootstrapTokenFile: join(directory, 'bootstrap-token'),
    initialPasswordFile: join(directory, 'initial-password'),
    isDev: false,
    isDemo: false,
  }
}

async function faultsOf(config: Config, stderr: TextSink): Promise<readonly Fault[]> {
  try {
    const server = await start(config, stderr)
    try {
      return await ask(server)
    } finally {
      await server.close()
    }
  } catch (error) {
    if (!(error instanceof BootError)) throw error
    return [`The server does not start: ${error.message}`]
  }
}

function start(config: Config, stderr: TextSink): Promise<RunningServer> {
  return serve({
    config,
    log: createLog('error', stderr),
    handover: createMemoryHandover(),
    onBroken: (error) => stderr.write(`${error.message}\n`),
    async openBackend(settings, hooks, brought) {
      const backend = await openBackend(settings, hooks, brought)
      return { ...backend, candidacy: { ...backend.candidacy, openSeat: nobodyLeads } }
    },
  })
}

async function ask(server: RunningServer): Promise<readonly Fault[]> {
  const ready = await fetch(`${server.url}/readyz`)
  const faults = ready.ok ? [] : [`/readyz answers ${ready.status}: ${await ready.text()}`]
  const token = await server.issueToken()
  for (const path of ['/v1/auth/whoami', '/v1/domains']) {
    try {
      await server.request({ method: 'GET', path, token })
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error))
    }
  }
  return faults
}
