import type { Model } from '../../../shared/authz/model.ts'
import { problem } from '../../../shared/problems.ts'
import { createTimeSlices } from '../../../shared/time-slices.ts'
import type { AuthzInsight, ImpactQuery } from '../../ports/authz-insight.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { SettingsCache } from '../embedded-authz/domain-settings.ts'
import { createObjectDomains } from '../embedded-authz/object-domain.ts'
import { createEmbeddedInsight } from '../embedded-authz/insight.ts'
import { loadTuples } from '../embedded-authz/load-tuples.ts'
import { noTuples, type LoadedTuples } from '../embedded-authz/loaded-tuples.ts'
import { readSnapshot } from '../postgres/feed-queries.ts'

export interface InsightDeps {
  readonly model: Model
  readonly datastore: Datastore
  readonly settings: SettingsCache
  readonly feed: Pick<ChangeFeed, 'isFresh' | 'revision'>
}

/** How long an unused index is kept. */
const KEEP_MS = 60_000

interface Kept {
  readonly revision: bigint
  readonly insight: AuthzInsight
}

/**
 * Explanations and previews from an index of the registry: SpiceDB has no previews, and does not explain what was
 * missing. The index is built on demand and kept for a minute. It omits tuples that SpiceDB has not received yet. The
 * first question over a million tuples waits for some seconds.
 */
export function createRegistryInsight({ model, datastore, settings, feed }: InsightDeps): AuthzInsight {
  const domainIn = createObjectDomains(model)
  const slices = createTimeSlices()
  let kept: Kept | undefined
  let loading: Promise<void> | undefined
  let forgetting: NodeJS.Timeout | undefined

  async function load(): Promise<void> {
    const tuples = noTuples(model)
    const revision = await readSnapshot(datastore, (snapshot) => fill(tuples, snapshot))
    kept = {
      revision,
      insight: createEmbeddedInsight({ model, settings, slices, domainIn, usableTuples: () => tuples }),
    }
  }

  /**
   * An index of the tuples in a transaction that keeps others from changing them, those included that SpiceDB will receive,
   * without those that the transaction itself has written.
   */
  async function loadWithin({ db, written }: NonNullable<ImpactQuery['within']>): Promise<AuthzInsight> {
    const tuples = noTuples(model)
    await loadTuples(db, (tuple, revision) => void tuples.index.touch(tuple, revision))
    for (const tuple of written) tuples.index.remove(tuple)
    return createEmbeddedInsight({ model, settings, slices, domainIn, usableTuples: () => tuples })
  }

  /** An index at least as new as the revision that this replica has applied. */
  async function current(): Promise<AuthzInsight> {
    if (!feed.isFresh()) throw problem('authz_unavailable')
    const wanted = feed.revision()
    clearTimeout(forgetting)
    while (kept === undefined || kept.revision < wanted) {
      loading ??= load().finally(() => {
        loading = undefined
      })
      await loading.catch((cause: unknown) => {
        throw problem('authz_unavailable', {}, cause)
      })
    }
    forgetting = setTimeout(() => {
      kept = undefined
    }, KEEP_MS).unref()
    return kept.insight
  }

  return {
    explain: async (query) => (await current()).explain(query),
    impact: async (query) => {
      const { within } = query
      return (await (within === undefined ? current() : loadWithin(within))).impact(query)
    },
  }
}

async function fill({ index }: LoadedTuples, snapshot: Db): Promise<void> {
  await loadTuples(snapshot, (tuple, revision) => void index.touch(tuple, revision))
  const pending = await snapshot.selectFrom('relation_tuples').selectAll().where('state', '=', 'pending').execute()
  for (const tuple of pending) index.remove(tuple)
}
