import { createHmac } from 'node:crypto'
import pino from 'pino'
import { createUuidV7 } from '../../../src/server/adapters/system/uuid-v7.ts'
import { createApp, type App, type AppDeps } from '../../../src/server/http/app.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import type { Authorizer } from '../../../src/server/ports/authorizer.ts'
import type { AuditEntry } from '../../../src/server/ports/unit-of-work.ts'
import { csrfOf, fixtureResolvers, HOME } from './fixture-callers.ts'
import { fixture, unwired } from './fixture-contract.ts'
import { createFixture, type FixtureThings } from './fixture-handlers.ts'

/** The real edge around the fixture's operations, without a datastore: reading alone works. */
export interface Edge {
  readonly port: number
  readonly app: App
  readonly fixture: FixtureThings
  /** Audit rows, in order. */
  readonly audited: AuditEntry[]
}

/** Grants everything. */
export const permissive: Authorizer = {
  kind: 'embedded',
  check: () => ({ allowed: true, path: [] }),
  pathOf: () => [],
  domainOf: () => HOME,
  hasRelation: () => true,
}

/** Starts an edge on a free loopback port. */
export async function startEdge(options: Partial<AppDeps> = {}): Promise<Edge> {
  const clock = { now: () => Date.parse('2026-03-01T08:00:00.000Z') }
  const ids = createUuidV7(clock)
  const things = createFixture({ clock, ids })
  const audited: AuditEntry[] = []
  const mac = (purpose: string, text: string | Uint8Array): Buffer =>
    createHmac('sha256', purpose).update(text).digest()
  const app = createApp({
    surfaces: [mounted(fixture, things.handlers), mounted(unwired, undefined)],
    resolvers: fixtureResolvers,
    authorizer: permissive,
    unitOfWork: undefined,
    audit: {
      add: (row) => void audited.push(row),
      write: async (row) => void audited.push(row),
      close: async () => undefined,
    },
    keyring: {
      cacheKey: (text) => text,
      keyIds: () => ['k'],
      mac: (purpose, text) => ({ keyId: 'k', mac: mac(purpose, text) }),
      macWith: (purpose, keyId, text) => (keyId === 'k' ? mac(purpose, text) : undefined),
    },
    clock,
    ids,
    log: pino({ level: 'silent' }),
    csrfTokens: csrfOf,
    trustedProxies: [],
    allowedOrigins: [],
    ...options,
  })
  return { port: await app.listen({ host: '127.0.0.1', port: 0 }), app, fixture: things, audited }
}
