import { sql } from 'kysely'
import { NONE } from '../../../shared/authz/engine/edge-chains.ts'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import { findRule } from '../../../shared/authz/find-rule.ts'
import type { Model } from '../../../shared/authz/model.ts'
import type { TupleColumns } from '../../../shared/authz/tuple.ts'
import { problem } from '../../../shared/problems.ts'
import type { AuthzReconciler } from '../../ports/authz-reconciler.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { loadTuples } from './load-tuples.ts'
import type { LoadedTuples } from './loaded-tuples.ts'

export interface EmbeddedReconcilerDeps {
  readonly model: Model
  readonly datastore: Datastore
  readonly changeFeed: ChangeFeed
  /** The tuples to compare. @throws Problem `authz_unavailable` */
  readonly usableTuples: () => LoadedTuples
}

/** Missing tuples that are looked up a second time; beyond this number the first look-up decides. */
const MISSED_MAX = 10_000
/** Attempts to count both sides without a change in between. */
const COUNTS_MAX = 5
const CATCH_UP_MS = 2_000

/**
 * Compares the index with the registry: that each stored tuple is indexed, and that the index has no others. Nothing is
 * repaired here, and `unresolved` counts the differences: a server that is started without its index file reads every tuple again.
 */
export function createEmbeddedReconciler(deps: EmbeddedReconcilerDeps): AuthzReconciler {
  const { model, datastore, changeFeed, usableTuples } = deps

  /** Stored tuples that the index should have by now but lacks, and how many were examined. */
  async function look(): Promise<{ readonly checked: number; readonly missed: ReadonlySet<string> }> {
    const missed = new Set<string>()
    let checked = 0
    await loadTuples(datastore.pool('bulk'), (tuple, revision) => {
      checked++
      const isDue = BigInt(revision) <= changeFeed.revision()
      if (!isDue || missed.size >= MISSED_MAX || isIndexed(model, usableTuples().index, tuple)) return
      missed.add(JSON.stringify([tuple.subject_type, tuple.subject_id, tuple.subject_relation, ...restOf(tuple)]))
    })
    return { checked, missed }
  }

  /** How many more tuples the index has than the registry, both at one revision. @throws Problem `authz_unavailable` */
  async function surplus(): Promise<number> {
    for (let count = 0; count < COUNTS_MAX; count++) {
      const { rows } = await sql<{ tuples: string; revision: string }>`
        select (select count(*) from relation_tuples) as tuples, revision from authz_head where id = 1
      `.execute(datastore.pool('bulk'))
      const [{ tuples, revision } = { tuples: '0', revision: '0' }] = rows
      await changeFeed.waitFor(BigInt(revision), CATCH_UP_MS)
      const { index, unknownTuples } = usableTuples()
      if (changeFeed.revision() === BigInt(revision)) return index.tuples + unknownTuples - Number(tuples)
    }
    throw problem('authz_unavailable')
  }

  return {
    async reconcile() {
      const { checked, missed } = await look()
      // A tuple that was deleted during the comparison is missing once; a lost one is missing twice.
      const lost = missed.size === 0 ? missed : new Set([...(await look()).missed].filter((tuple) => missed.has(tuple)))
      const more = await surplus()
      // Tuples that the schema does not have are in neither count.
      const unindexed = Math.max(0, lost.size - usableTuples().unknownTuples)
      return { checked, granted: 0, revoked: 0, unresolved: lost.size + Math.max(0, more + unindexed) }
    },
  }
}

const restOf = (tuple: TupleColumns): readonly string[] => [
  tuple.relation,
  tuple.resource_type,
  tuple.resource_id,
  tuple.caveat_name,
]

function isIndexed(model: Model, index: TupleIndex, tuple: TupleColumns): boolean {
  const found = findRule(model, tuple)
  if ('reason' in found) return false
  const { resourceType, relation, rule } = found
  const set = index.sets.find(index.objects.find(resourceType.index, tuple.resource_id, 0), relation.id)
  const object = index.objects.find(rule.type.index, tuple.subject_id, 0)
  const subject = rule.relation === undefined ? object << 1 : (index.sets.find(object, rule.relation.id) << 1) | 1
  const edge = index.edges.find(set, subject)
  if (edge === NONE) return false
  const { caveat_name: caveatName } = tuple
  const held = index.conditions.of(edge)
  if (held === undefined) return caveatName === ''
  if (caveatName === '' && held.unconditional) return true
  return held.conditions.some(({ caveat }) => (caveat?.name ?? '') === caveatName)
}
