import { z } from 'zod'
import type { IdSource } from '../../ports/clock.ts'
import { changedNodeLabels } from '../../ports/outbox-events.ts'
import type { NumberedEvent, OutboxConsumer } from '../../ports/outbox.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { holdsPolicies } from '../../policies/policy-selectors.ts'
import { holdPeers } from '../../sql/state-revisions.ts'
import { readNodes } from '../../policies/nodes-store.ts'
import { rematchNodes } from '../../policies/rematch-nodes.ts'
import { addRematches, namesDefinition, readConcerned, readDomainsOf, type WideScope } from './rematch-store.ts'

/** Nodes that are matched again in one transaction, at most. */
const BATCH_MAX = 200

/**
 * Makes the consumer that matches nodes again whose effective labels changed. A registration matches its node itself. What concerns
 * the nodes of a Project, a Domain or the platform becomes work of its own (`createRematching`): it may be ten thousand nodes.
 */
export function createLabelConsumer({ ids }: { readonly ids: IdSource }): OutboxConsumer {
  return {
    name: 'policy-labels',
    batchMax: BATCH_MAX,
    async handle(change, events) {
      const read = events.map(concernOf)
      const wide = read.findIndex((concern) => concern !== undefined && 'scope' in concern)
      const [first] = read
      // Alone: it locks a Definition, for which a writer that holds the peers of a Domain may wait.
      if (wide === 0 && first !== undefined && 'scope' in first) {
        await addWide(change, { ids }, first)
        return 1
      }
      const taken = wide === -1 ? read : read.slice(0, wide)
      await rematchEach(
        change,
        taken.flatMap((concern) => (concern !== undefined && 'nodeId' in concern ? [concern] : [])),
      )
      return taken.length
    },
  }
}

/** One node whose labels changed. The Definition is null where it may be any. */
interface NodeConcern {
  readonly nodeId: string
  readonly definitionId: string | null
}

interface WideConcern {
  readonly scope: WideScope
  readonly definitionId: string | null
}

/** What an event concerns; undefined where it is none of labels. @throws ZodError, Error where it names no object. */
function concernOf({ event, payload }: NumberedEvent): NodeConcern | WideConcern | undefined {
  if (event !== 'node_labels_changed') return undefined
  const { definition_id: definitionId, scope } = changedNodeLabels.parse(payload)
  const [kind, id] = scope.split(':')
  if (kind === 'node') return { nodeId: z.uuid().parse(id), definitionId }
  if (kind === 'platform') return { scope: { kind }, definitionId }
  if (kind === 'domain' || kind === 'project') return { scope: { kind, id: z.uuid().parse(id) }, definitionId }
  throw new Error(`${scope} names no object that nodes have labels of`)
}

async function addWide(
  { db }: Change,
  { ids }: { readonly ids: IdSource },
  { scope, definitionId }: WideConcern,
): Promise<void> {
  const concerned = await readConcerned(db, scope, definitionId)
  await addRematches(
    db,
    concerned.map((place) => ({ ...place, id: ids.next(), definitionId, afterNodeId: null })),
  )
}

async function rematchEach(change: Change, concerns: readonly NodeConcern[]): Promise<void> {
  if (concerns.length === 0) return
  const domains = await readDomainsOf(change.db, [...new Set(concerns.map(({ nodeId }) => nodeId))])
  // In the order of their ids, as everybody locks several.
  for (const domainId of [...new Set(domains.values())].toSorted()) {
    if (!(await holdsPolicies(change.db, domainId))) continue
    await holdPeers(change.db, domainId)
    const here = concerns.filter(({ nodeId }) => domains.get(nodeId) === domainId)
    const named = await namedAmong(change, domainId, here)
    const concerned = here.filter(({ definitionId }) => definitionId === null || named.has(definitionId))
    const nodeIds = [...new Set(concerned.map(({ nodeId }) => nodeId))]
    if (nodeIds.length > 0) await rematchNodes(change, domainId, await readNodes(change.db, { domainId, ids: nodeIds }))
  }
}

/** The Definitions that policies of the Domain name: labels of others match nothing. */
async function namedAmong(
  { db }: Change,
  domainId: string,
  concerns: readonly NodeConcern[],
): Promise<ReadonlySet<string>> {
  const named = new Set<string>()
  for (const id of new Set(concerns.map(({ definitionId }) => definitionId)))
    if (id !== null && (await namesDefinition(db, domainId, id))) named.add(id)
  return named
}
