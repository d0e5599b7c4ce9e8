import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createEmbeddedAuthorizer, type IndexStats } from '../adapters/embedded-authz/authorizer.ts'
import type { TupleRules } from '../adapters/embedded-authz/tuple-rules.ts'
import type { FollowedFeed } from '../adapters/postgres/change-feed.ts'
import { settleUnmirrored } from '../adapters/postgres/settle-unmirrored.ts'
import { BootError } from '../ports/boot-error.ts'
import type { Config } from '../config/config.ts'
import type { Authorizer } from '../ports/authorizer.ts'
import type { AuthzInsight } from '../ports/authz-insight.ts'
import type { AuthzLookups } from '../ports/authz-lookups.ts'
import type { AuthzReconciler } from '../ports/authz-reconciler.ts'
import type { Datastore } from '../ports/datastore.ts'
import type { LeaderJob } from '../ports/leadership.ts'
import type { TupleMirror } from '../ports/tuple-mirror.ts'

/** An authorization engine and what only some of them have. */
export interface Engine {
  readonly authorizer: Authorizer
  readonly lookups: AuthzLookups
  readonly insight?: AuthzInsight
  readonly rules: TupleRules
  /** Of engines with a copy of their own of the tuples: what keeps it equal to the registry. */
  readonly mirror?: TupleMirror
  readonly reconciler?: AuthzReconciler
  readonly job?: LeaderJob
  /** Resolves when the server behind it answers; absent where there is none. */
  readonly ping?: () => Promise<void>
  /** Size of an index in this process; absent where there is none. */
  readonly indexStats?: () => IndexStats
  /** Makes it ready to answer, once the change feed is started. @throws BootError in one sentence. */
  prepare(): Promise<void>
  /** Keeps for the next start what makes it quicker. */
  close(): Promise<void>
}

export interface EngineGround {
  readonly datastore: Datastore
  /** Not started yet. */
  readonly feed: FollowedFeed
  readonly log: Logger
}

type EngineConfig = Pick<Config, 'spicedb' | 'storage' | 'dataDir'>

/** Opens the engine that the configuration names. What SpiceDB needs is loaded only where there is one. */
export async function openEngine(config: EngineConfig, ground: EngineGround): Promise<Engine> {
  const { spicedb } = config
  if (spicedb === undefined) return embeddedEngine(ground, keptIndexPath(config))
  const { openSpicedb } = await import('../adapters/spicedb/client.ts')
  const { createSpicedbEngine } = await import('../adapters/spicedb/engine.ts')
  const token = textOf(spicedb.tokenFile, '--spicedb-token-file').trim()
  if (token === '') throw new BootError(1, `The file ${spicedb.tokenFile} of --spicedb-token-file is empty.`)
  const { endpoint, security } = spicedb
  const ca = security.caPath === undefined ? undefined : Buffer.from(textOf(security.caPath, '--spicedb-ca'))
  const client = openSpicedb({ endpoint, token, security: { kind: security.kind, ca } })
  return createSpicedbEngine({ ...ground, spicedb: client })
}

/** Beside the embedded datastore, or on each replica's own disk; nowhere for a datastore in memory (decision 0013). */
function keptIndexPath({ storage, dataDir }: EngineConfig): string | undefined {
  return storage.kind === 'memory' ? undefined : join(dataDir, 'authz-index')
}

function embeddedEngine({ datastore, feed, log }: EngineGround, indexPath: string | undefined): Engine {
  const warn = (message: string, cause?: unknown): void => log.warn({ err: cause }, message)
  const kept = indexPath === undefined ? {} : { keptIn: indexPath }
  const authorizer = createEmbeddedAuthorizer({ datastore, changeFeed: feed, warn, ...kept })
  return {
    authorizer,
    lookups: authorizer.lookups,
    insight: authorizer.insight,
    reconciler: authorizer.reconciler,
    rules: authorizer,
    async prepare() {
      const tuples = await settleUnmirrored(datastore, feed)
      if (tuples > 0) log.info({ tuples }, 'wrote tuples to SpiceDB that it had missed')
    },
    indexStats: () => authorizer.stats(),
    close: () => authorizer.keep('end'),
  }
}

function textOf(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new BootError(1, `The file ${path} of ${flag} cannot be read (${code}); check the path and its mode.`, error)
  }
}
