import { afterAll, beforeAll } from 'vitest'
import { createEmbeddedAuthorizer } from '../../../src/server/adapters/embedded-authz/authorizer.ts'
import { createChangeFeed, type FollowedFeed } from '../../../src/server/adapters/postgres/change-feed.ts'
import { createUnitOfWork } from '../../../src/server/adapters/postgres/unit-of-work.ts'
import { openSpicedb, type Spicedb } from '../../../src/server/adapters/spicedb/client.ts'
import { createSpicedbEngine, type SpicedbEngine } from '../../../src/server/adapters/spicedb/engine.ts'
import { createMirror } from '../../../src/server/adapters/spicedb/mirror.ts'
import { watchSpicedb, type WatchedSpicedb } from '../../../src/server/adapters/spicedb/reachability.ts'
import { createUuidV7 } from '../../../src/server/adapters/system/uuid-v7.ts'
import type { Authorizer } from '../../../src/server/ports/authorizer.ts'
import type { AuthzInsight } from '../../../src/server/ports/authz-insight.ts'
import type { AuthzLookups } from '../../../src/server/ports/authz-lookups.ts'
import type { Datastore } from '../../../src/server/ports/datastore.ts'
import type { Change, UnitOfWork } from '../../../src/server/ports/unit-of-work.ts'
import { SERVICE_MODEL } from '../../../src/shared/authz/service-model.ts'
import { requirement } from '../run/requirements.mjs'
import { startSpicedb, type SpicedbServer } from './spicedb-server.ts'

export type EngineKind = Authorizer['kind']

export const ENGINE_KINDS: readonly EngineKind[] = ['embedded', 'spicedb']

export const isEngineMissing = (kind: EngineKind): boolean => kind === 'spicedb' && requirement('spicedb') === undefined

/** An authorization engine over a datastore, with what writes its tuples, as one replica has them. */
export interface Replica {
  readonly authorizer: Authorizer
  readonly lookups: AuthzLookups
  readonly insight: AuthzInsight
  readonly feed: FollowedFeed
  readonly unitOfWork: UnitOfWork
  /** Undefined for the embedded engine. */
  readonly spicedb: SpicedbEngine | undefined
  change<T>(work: (change: Change) => Promise<T>): Promise<T>
  /** Makes changes as this replica does, through another datastore. */
  over(written: Datastore): <T>(work: (change: Change) => Promise<T>) => Promise<T>
  stop(): void
}

export interface ReplicaOptions {
  readonly datastore: Datastore
  readonly nowMs: number
  readonly server?: SpicedbServer | undefined
}

const fail = (message: string) => (error: unknown) => {
  throw new Error(message, { cause: error })
}

const SILENT = { info: () => undefined, warn: () => undefined }

export const clientOf = ({ endpoint, token }: SpicedbServer): Spicedb =>
  openSpicedb({ endpoint, token, security: { kind: 'plaintext' } })

/** Opens an engine and starts its feed; SpiceDB has the schema and every tuple afterwards. */
export async function openReplica({ datastore, nowMs, server }: ReplicaOptions): Promise<Replica> {
  const feed = createChangeFeed({ datastore, warn: () => undefined })
  const spicedb = server && createSpicedbEngine({ spicedb: clientOf(server), datastore, feed, log: SILENT })
  const embedded = createEmbeddedAuthorizer({ datastore, changeFeed: feed })
  const { validateTuple } = spicedb?.rules ?? embedded
  const unitOfWorkOver = (written: Datastore, mirror = spicedb?.mirror): UnitOfWork =>
    createUnitOfWork({
      datastore: written,
      feed,
      clock: { now: () => nowMs },
      ids: createUuidV7({ now: Date.now }),
      validateTuple,
      mirror,
      onAuditFailure: fail('audit'),
      onLateFeed: () => undefined,
    })
  const clients: WatchedSpicedb[] = []
  function mirrorOver(written: Datastore, at: SpicedbServer) {
    const client = watchSpicedb(clientOf(at))
    clients.push(client)
    return createMirror({ model: SERVICE_MODEL, datastore: written, spicedb: client, feed })
  }
  const arranged = { pool: 'interactive', correlationId: 'arranged' } as const
  const unitOfWork = unitOfWorkOver(datastore)
  await feed.start()
  await spicedb?.prepare()
  return {
    authorizer: spicedb?.authorizer ?? embedded,
    lookups: spicedb?.lookups ?? embedded.lookups,
    insight: spicedb?.insight ?? embedded.insight,
    feed,
    unitOfWork,
    spicedb,
    change: (work) => unitOfWork.run(arranged, work),
    over: (written) => (work) => unitOfWorkOver(written, server && mirrorOver(written, server)).run(arranged, work),
    stop() {
      feed.stop()
      void spicedb?.close()
      for (const client of clients) client.close()
    },
  }
}

/** The SpiceDB of the surrounding `describe`; undefined for the embedded engine. */
export function useSpicedb(kind: EngineKind): () => SpicedbServer | undefined {
  let server: SpicedbServer | undefined
  beforeAll(async () => {
    if (kind === 'spicedb' && !isEngineMissing(kind)) server = await startSpicedb()
  })
  afterAll(() => server?.close())
  return () => server
}
