import pino, { type Logger } from 'pino'
import { createAuditSink } from '../../../src/server/adapters/postgres/audit-sink.ts'
import { createApp, type App, type AppDeps } from '../../../src/server/http/app.ts'
import { createAuditQueue, type AuditQueue } from '../../../src/server/http/audit/audit-queue.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import { createMeta } from '../../../src/server/slices/meta/service.ts'
import type { AuditSink } from '../../../src/server/ports/audit-sink.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { Tuple } from '../../../src/server/ports/unit-of-work.ts'
import { meta } from '../../../src/shared/contract/meta.ts'
import { closeBackend } from '../../../src/server/composition/stop-server.ts'
import { EMBEDDED } from '../datastores/stores.ts'
import { csrfOf, ELSEWHERE, fixtureResolvers, HOME, OTHER_PROJECT, PROJECT, SUBJECTS } from './fixture-callers.ts'
import { frozenClock, openTestBackend, type TestClock } from './test-backend.ts'
import { fixture, unwired } from './fixture-contract.ts'
import { createFixture, type FixtureThings } from './fixture-handlers.ts'

/** The contract of the fixture server, but for what is not wired; the document that it serves describes itself too. */
export const fixtureContract = { fixture, meta }

/** The real edge, authorizer and unit of work around operations that exist for tests alone. */
export interface FixtureServer {
  readonly url: string
  readonly port: number
  readonly app: App
  readonly audit: AuditQueue
  readonly datastore: Datastore
  readonly fixture: FixtureThings
  readonly clock: TestClock
  /** Records that were logged, parsed. */
  readonly logged: Readonly<Record<string, unknown>>[]
  /** What the metrics were told: operation and status. */
  readonly observed: (readonly [string, number])[]
  audited(correlationId: string): Promise<readonly AuditView[]>
  stop(): Promise<void>
}

export interface AuditView {
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly outcome: string
  readonly reason: string
  readonly domain_id: string | null
  readonly context: Readonly<Record<string, unknown>>
}

/** Parts to put in the place of the real ones. */
export interface FixtureOptions extends Partial<Omit<AppDeps, 'surfaces' | 'audit' | 'keyring' | 'ids'>> {
  readonly sink?: AuditSink
}

/** Starts the server on a free loopback port with an empty datastore in memory, at a frozen time. */
export async function startFixture(options: FixtureOptions = {}): Promise<FixtureServer> {
  const clock = frozenClock()
  const backend = await openTestBackend(await EMBEDDED.open(), { clock })
  const { datastore, ids, feed, unitOfWork } = backend
  const logged: Readonly<Record<string, unknown>>[] = []
  const log: Logger =
    options.log ?? pino({ level: 'debug' }, { write: (line: string) => logged.push(JSON.parse(line)) })
  const counters = { written() {}, dropped() {}, failed() {} }
  const audit = createAuditQueue({ sink: options.sink ?? createAuditSink(datastore), clock, ids, log, counters })
  const fixtureThings = createFixture({ clock, ids })
  const observed: (readonly [string, number])[] = []
  const app = createApp({
    ...backend,
    resolvers: fixtureResolvers,
    csrfTokens: csrfOf,
    trustedProxies: [],
    allowedOrigins: ['https://console.example'],
    observe: (operation, status) => observed.push([operation, status]),
    ...options,
    log,
    audit,
    surfaces: [
      mounted(fixture, fixtureThings.handlers),
      mounted(unwired, undefined),
      mounted(meta, createMeta({ contract: fixtureContract, renderer: Buffer.from('/* drawn */') })),
    ],
  })
  await feed.start()
  for (const tuple of TUPLES) await write(tuple)
  const port = await app.listen({ host: '127.0.0.1', port: 0 })

  async function write({ isStructural, ...tuple }: ArrangedTuple): Promise<void> {
    const place = { domainId: HOME, projectId: null }
    const run = { pool: 'interactive', correlationId: 'arranged' } as const
    await unitOfWork.run(run, async ({ tuples }) => {
      if (isStructural === true) await tuples.createStructural(tuple, place)
      else await tuples.create(tuple, place)
    })
  }

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    app,
    audit,
    datastore,
    fixture: fixtureThings,
    clock,
    logged,
    observed,
    audited: (correlationId) =>
      datastore
        .pool('interactive')
        .selectFrom('audit')
        .select(['subject', 'relation', 'object', 'outcome', 'reason', 'domain_id', 'context'])
        .where('correlation_id', '=', correlationId)
        .orderBy('id')
        .execute(),
    async stop() {
      await app.drain(1_000)
      await audit.close()
      await closeBackend(backend)
    },
  }
}

type ArrangedTuple = Tuple & { readonly isStructural?: true }

const TUPLES: readonly ArrangedTuple[] = [
  { subject: 'platform:main', relation: 'platform', resource: `domain:${HOME}`, isStructural: true },
  { subject: 'platform:main', relation: 'platform', resource: `domain:${ELSEWHERE}`, isStructural: true },
  { subject: `domain:${HOME}`, relation: 'domain', resource: `project:${PROJECT}`, isStructural: true },
  { subject: `domain:${ELSEWHERE}`, relation: 'domain', resource: `project:${OTHER_PROJECT}`, isStructural: true },
  { subject: SUBJECTS.admin, relation: 'admin', resource: 'platform:main' },
  { subject: SUBJECTS.deputy, relation: 'admin', resource: 'platform:main' },
  { subject: SUBJECTS.keeper, relation: 'admin', resource: `domain:${ELSEWHERE}` },
  { subject: SUBJECTS.viewer, relation: 'viewer', resource: `project:${PROJECT}` },
  { subject: SUBJECTS.viewer, relation: 'viewer', resource: `domain:${HOME}` },
]
