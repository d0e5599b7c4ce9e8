import pino, { type Logger } from 'pino'
import {
  createEmbeddedAuthorizer,
  type EmbeddedAuthorizer,
} from '../../../src/server/adapters/embedded-authz/authorizer.ts'
import { masterKeyOf } from '../../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../../src/server/adapters/keyring/open-keyring.ts'
import { createKeyring, createSecretStore } from '../../../src/server/adapters/keyring/ring.ts'
import { createChangeFeed } from '../../../src/server/adapters/postgres/change-feed.ts'
import { createUnitOfWork } from '../../../src/server/adapters/postgres/unit-of-work.ts'
import { createSpicedbEngine, type SpicedbEngine } from '../../../src/server/adapters/spicedb/engine.ts'
import { openSigner } from '../../../src/server/adapters/sealed-signer/open-signer.ts'
import { createUuidV7 } from '../../../src/server/adapters/system/uuid-v7.ts'
import { createApp } from '../../../src/server/http/app.ts'
import type { AuditQueue } from '../../../src/server/http/audit/audit-queue.ts'
import type { StaleTimes } from '../../../src/server/http/auth/authenticate.ts'
import type { CsrfTokens } from '../../../src/server/http/auth/csrf.ts'
import type { Page } from '../../../src/server/http/pages/pages.ts'
import type { MountedSurface } from '../../../src/server/http/request-context.ts'
import type { Authorizer } from '../../../src/server/ports/authorizer.ts'
import type { ChangeFeed } from '../../../src/server/ports/change-feed.ts'
import type { Clock, IdSource } from '../../../src/server/ports/clock.ts'
import type { CredentialResolver } from '../../../src/server/ports/credential-resolver.ts'
import type { Datastore, Db } from '../../../src/server/ports/datastore.ts'
import type { Keyring, SecretStore } from '../../../src/server/ports/keyring.ts'
import type { Signer } from '../../../src/server/ports/signer.ts'
import type { AuditEntry, Change, UnitOfWork } from '../../../src/server/ports/unit-of-work.ts'
import { clientOf } from '../authz/engines.ts'
import { knownCallers, type KnownCallers } from './known-callers.ts'
import type { SpicedbServer } from '../authz/spicedb-server.ts'

/** What every authorization engine answers. */
type TestedEngine = Omit<EmbeddedAuthorizer, 'stats' | 'keep'>

/** What the surfaces under test are made of. */
export interface ControlPlaneParts {
  readonly datastore: Datastore
  readonly ids: IdSource
  readonly clock: Clock
  readonly feed: ChangeFeed
  readonly authorizer: TestedEngine
  readonly unitOfWork: UnitOfWork
  readonly keyring: Keyring
  readonly secrets: SecretStore
  readonly signer: Signer
}

/** The surfaces under test, and the credentials that they bring beside the known callers. */
export interface UnderTest {
  readonly surfaces: readonly MountedSurface[]
  readonly resolvers?: readonly CredentialResolver[]
  /** Stands before the engine at the edge. */
  readonly authorizer?: Authorizer
  /** How old a credential in memory may be during an outage; none is used by default. */
  readonly staleTimes?: StaleTimes
  /** Hears what the edge logs; nobody by default. */
  readonly log?: Logger
  /** Anti-forgery tokens of the sessions among those credentials. */
  readonly csrfTokens?: CsrfTokens
  readonly pages?: readonly Page[]
  /** Where the edge listens on loopback, and then an origin that changes may come from. Any free port when absent. */
  readonly port?: number
}

/** An answer as it came over the socket. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The JSON document; empty when there was none. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The real edge, authorizer, unit of work and datastore around some surfaces, on loopback, at a frozen time. */
export interface ControlPlane extends ControlPlaneParts {
  /** Where it listens, for requests that `call` cannot make. */
  readonly url: string
  readonly db: Db
  readonly callers: KnownCallers
  /** The time; set it to move it. */
  readonly clock: Clock & { nowMs: number }
  /** Audit rows that no change carried, in order. */
  readonly audited: AuditEntry[]
  /** `operation` is `<METHOD> <path>`; `as` the subject of a known caller. */
  call(as: string, operation: string, body?: unknown): Promise<Answer>
  /** Changes the store as a service would. */
  readonly change: <T>(work: (change: Change) => Promise<T>) => Promise<T>
  stop(): Promise<void>
}

const SILENT = { info: () => undefined, warn: () => undefined }

export const START_MS = Date.parse('2026-03-01T08:00:00.000Z')

/** Decides with the embedded engine, or with a real SpiceDB where one is given. */
export async function startControlPlane(
  datastore: Datastore,
  make: (parts: ControlPlaneParts) => UnderTest,
  server?: SpicedbServer,
): Promise<ControlPlane> {
  const clock = { nowMs: START_MS, now: () => clock.nowMs }
  const ids = createUuidV7(clock)
  const feed = createChangeFeed({ datastore, warn: refuse })
  const spicedb = server && createSpicedbEngine({ spicedb: clientOf(server), datastore, feed, log: SILENT })
  const authorizer = spicedb ? engineOf(spicedb) : createEmbeddedAuthorizer({ datastore, changeFeed: feed })
  const unitOfWork = createUnitOfWork({
    datastore,
    feed,
    clock,
    ids,
    validateTuple: authorizer.validateTuple,
    mirror: spicedb?.mirror,
    onAuditFailure: (error) => refuse('an audit row was refused', error),
    onLateFeed: (error) => refuse('the change feed is late', error),
  })
  const ring = await openRing(datastore, masterKeyOf(Buffer.alloc(32, 7)), clock)
  const keyring = createKeyring(ring)
  const secrets = createSecretStore(ring)
  const signer = await openSigner({ datastore, secrets, clock })
  const parts = { datastore, ids, clock, feed, authorizer, unitOfWork, keyring, secrets, signer }
  const made = make(parts)
  const { surfaces, resolvers = [], authorizer: asked = authorizer, log = pino({ level: 'silent' }) } = made
  const { csrfTokens, pages, staleTimes, port: chosen = 0 } = made
  const callers = knownCallers()
  const audited: AuditEntry[] = []
  const app = createApp({
    surfaces,
    resolvers: [...resolvers, callers.resolver],
    authorizer: asked,
    unitOfWork,
    audit: keepIn(audited),
    keyring,
    clock,
    ids,
    log,
    csrfTokens,
    pages,
    staleTimes,
    trustedProxies: [],
    allowedOrigins: chosen === 0 ? [] : [`http://127.0.0.1:${chosen}`],
  })
  await feed.start()
  await spicedb?.prepare()
  const port = await app.listen({ host: '127.0.0.1', port: chosen })
  return {
    ...parts,
    url: `http://127.0.0.1:${port}`,
    db: datastore.pool('interactive'),
    callers,
    clock,
    audited,
    call: (as, operation, body) => send(port, { as, operation, body }),
    change: (work) => runChange(unitOfWork, work),
    async stop() {
      await app.drain(1_000)
      feed.stop()
      await spicedb?.close()
      await datastore.close()
    },
  }
}

function engineOf({ authorizer, lookups, insight, reconciler, rules }: SpicedbEngine): TestedEngine {
  return { ...authorizer, ...rules, lookups, insight, reconciler }
}

function runChange<T>(unitOfWork: UnitOfWork, work: (change: Change) => Promise<T>): Promise<T> {
  return unitOfWork.run({ pool: 'interactive', correlationId: 'arranged' }, work)
}

interface Sending {
  readonly as: string
  readonly operation: string
  readonly body: unknown
}

async function send(port: number, { as, operation, body }: Sending): Promise<Answer> {
  const [method = '', path = ''] = operation.split(' ')
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${as}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
}

function keepIn(rows: AuditEntry[]): AuditQueue {
  return {
    add: (entry) => void rows.push(entry),
    write: async (entry) => void rows.push(entry),
    close: async () => undefined,
  }
}

function refuse(message: string, cause?: unknown): never {
  throw new Error(message, { cause })
}
