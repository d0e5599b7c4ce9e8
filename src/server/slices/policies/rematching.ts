import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdPeers } from '../../sql/state-revisions.ts'
import { readNodes } from '../../policies/nodes-store.ts'
import { rematchNodes } from '../../policies/rematch-nodes.ts'
import { advanceRematch, namesDefinition, nextRematch, type Rematch } from './rematch-store.ts'

/** Name of the job that matches the nodes of a changed Project or Domain again. */
export const REMATCHING = 'policy-rematching'

const EVERY_MS = 250
/** Nodes of one transaction: a writer of policies waits for no more. */
const NODES_MAX = 1_000

/**
 * Makes the job that matches many nodes again, some of them in each transaction. How far it came is stored with what it
 * wrote: after a crash it goes on there.
 */
export function createRematching({
  datastore,
  ids,
}: {
  readonly datastore: Datastore
  readonly ids: IdSource
}): LeaderJob {
  return {
    name: REMATCHING,
    everyMs: EVERY_MS,
    isUrgent: true,
    async run(leading) {
      const next = await nextRematch(datastore.pool('worker'))
      if (next === undefined) return false
      await leading.unitOfWork.run({ pool: 'worker', correlationId: ids.next() }, (change) => rematchSome(change, next))
      return true
    },
  }
}

async function rematchSome(change: Change, { id, domainId, projectId, definitionId, afterNodeId }: Rematch) {
  const { db } = change
  await holdPeers(db, domainId)
  const concerns = definitionId === null || (await namesDefinition(db, domainId, definitionId))
  const range = { domainId, projectId, after: afterNodeId, limit: NODES_MAX }
  const nodes = concerns ? await readNodes(db, range) : []
  await rematchNodes(change, domainId, nodes)
  await advanceRematch(db, id, nodes.length < NODES_MAX ? undefined : nodes.at(-1)?.id)
}
