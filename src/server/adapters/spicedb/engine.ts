import { SCHEMA } from '../../../shared/authz/schema.ts'
import { SERVICE_MODEL } from '../../../shared/authz/service-model.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { Authorizer } from '../../ports/authorizer.ts'
import type { AuthzInsight } from '../../ports/authz-insight.ts'
import type { AuthzLookups } from '../../ports/authz-lookups.ts'
import type { AuthzReconciler } from '../../ports/authz-reconciler.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { TupleMirror } from '../../ports/tuple-mirror.ts'
import { createSettingsCache, type SettingsCache } from '../embedded-authz/domain-settings.ts'
import { createTupleRules, type TupleRules } from '../embedded-authz/tuple-rules.ts'
import type { FollowedFeed } from '../postgres/change-feed.ts'
import { createSpicedbAuthorizer } from './authorizer.ts'
import type { Spicedb } from './client.ts'
import { followToken } from './freshness.ts'
import { createRegistryInsight } from './insight.ts'
import { createSpicedbLookups } from './lookups.ts'
import { createMirror } from './mirror.ts'
import { followNesting } from './nesting-index.ts'
import { watchSpicedb } from './reachability.ts'
import { createReconciler } from './reconciler.ts'
import { deploySchema } from './schema.ts'
import { countSecondCaveats, readUnmirrored } from './settle-store.ts'
import { createSettlingJob } from './settling-job.ts'

export interface SpicedbEngineDeps {
  readonly spicedb: Spicedb
  readonly datastore: Datastore
  /** Not started yet. */
  readonly feed: FollowedFeed
  readonly log: { info(details: object, message: string): void; warn(details: object, message: string): void }
}

/** SpiceDB behind every port that needs an authorization engine. */
export interface SpicedbEngine {
  readonly authorizer: Authorizer
  readonly lookups: AuthzLookups
  readonly insight: AuthzInsight
  readonly rules: TupleRules
  readonly mirror: TupleMirror
  readonly reconciler: AuthzReconciler
  readonly job: LeaderJob
  /**
   * Writes the schema, and all tuples if SpiceDB may lack some. Resumes what an earlier start left unfinished. Call it
   * after the feed has started and before the server answers requests.
   * @throws BootError in one sentence.
   */
  prepare(): Promise<void>
  /** Resolves when SpiceDB answers. */
  readonly ping: () => Promise<void>
  close(): Promise<void>
}

/** How often a start compares everything while other processes write tuples that SpiceDB does not receive. */
const COMPARISONS_MAX = 3

export function createSpicedbEngine({ spicedb: plain, datastore, feed, log }: SpicedbEngineDeps): SpicedbEngine {
  const model = SERVICE_MODEL
  const spicedb = watchSpicedb(plain)
  const follower = followToken(feed)
  const shared = { model, datastore, spicedb }
  const settings = followSettings(datastore, feed)
  const decisionDeps = { ...shared, settings, freshness: () => follower.token() }
  const authorizer = createSpicedbAuthorizer(decisionDeps)
  const mirror = createMirror({ ...shared, feed })
  const reconciler = createReconciler({ ...shared, mirror })
  followStrangers({ feed, mirror, log })

  async function fill(): Promise<void> {
    await refuseSecondCaveats(datastore)
    for (let round = 0; round < COMPARISONS_MAX; round++) {
      log.info(await reconciler.reconcile(), 'wrote the tuples of the registry to SpiceDB')
      if ((await readUnmirrored(datastore.pool('worker'))) === null) return
    }
  }

  return {
    authorizer,
    lookups: createSpicedbLookups({ ...decisionDeps, check: (query) => authorizer.check(query) }),
    insight: createRegistryInsight({ model, datastore, settings, feed }),
    rules: createTupleRules(followNesting(model, feed)),
    mirror,
    reconciler,
    job: createSettlingJob({ datastore, mirror, reconciler, log }),
    async prepare() {
      try {
        const deployed = await deploySchema(spicedb, SCHEMA)
        const isBehind = (await readUnmirrored(datastore.pool('worker'))) !== null
        if (isBehind || deployed === 'none') await fill()
      } catch (error) {
        if (error instanceof BootError) throw error
        throw new BootError(
          8,
          'SpiceDB does not answer at --spicedb-endpoint: start it, or see whether the token fits.',
          error,
        )
      }
    },
    ping: () => spicedb.ping(),
    close: async () => spicedb.close(),
  }
}

async function refuseSecondCaveats(datastore: Datastore): Promise<void> {
  const bindings = await countSecondCaveats(datastore.pool('worker'))
  if (bindings === 0) return
  throw new BootError(
    1,
    `SpiceDB keeps one caveat for a subject, relation and resource, and ${bindings} of them have several here: leave one each before moving.`,
  )
}

/** Caches the settings of Domains until one changes. */
function followSettings(datastore: Datastore, feed: FollowedFeed): SettingsCache {
  const settings = createSettingsCache(datastore)
  feed.subscribe(
    ({ kind }) => {
      if (kind === 'domain_changed') settings.drop()
    },
    async () => settings.drop(),
  )
  return settings
}

/**
 * Writes tuples to SpiceDB that other processes wrote without it, while a deployment moves from one engine to the
 * other.
 */
function followStrangers({
  feed,
  mirror,
  log,
}: Pick<SpicedbEngineDeps, 'feed' | 'log'> & { mirror: TupleMirror }): void {
  feed.subscribe((change) => {
    if (change.kind !== 'tuple_touched' && change.kind !== 'tuple_deleted') return
    if (change.payload.mirrored === true) return
    mirror.settle([change.payload]).catch((error: unknown) => {
      log.warn({ err: error }, 'a tuple could not be written to SpiceDB; the next comparison writes it')
    })
  })
}
