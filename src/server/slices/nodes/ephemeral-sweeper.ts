import type { Clock, IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { LeadershipLost } from '../../ports/leadership-lost.ts'
import type { LeaderJob, Leading } from '../../ports/leadership.ts'
import type { AuditEntry } from '../../ports/unit-of-work.ts'
import { lockNodeFully } from '../../sql/lock-node.ts'
import { holdPeers } from '../../sql/state-revisions.ts'
import { deregister } from './deregistration.ts'
import { isSilent, silentEphemerals } from './node-store.ts'
import { UNREACHABLE_AFTER_MS } from '../../sql/reachability.ts'

export interface EphemeralSweeperDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
  /** Called with a node that could not be deregistered; the next sweep retries it. */
  readonly onFailure: (error: unknown, nodeId: string) => void
}

/** Time without heartbeats after which an ephemeral node is deregistered: ten minutes unreachable (decisions 6). For a node that never reported, it counts from its creation. */
const SILENCE_MS = UNREACHABLE_AFTER_MS + 10 * 60 * 1000
/** Nodes examined in one sweep. */
const SWEEP_MAX = 100
const SWEEP_EVERY_MS = 30_000
/** Nodes that no server could hear, during an outage or before a restore, have this long to report. */
const FIRST_AFTER_MS = UNREACHABLE_AFTER_MS

/** The job that deregisters ephemeral nodes without heartbeats. */
export function createEphemeralSweeper(deps: EphemeralSweeperDeps): LeaderJob {
  return {
    name: 'ephemeral-nodes',
    everyMs: SWEEP_EVERY_MS,
    firstAfterMs: FIRST_AFTER_MS,
    run: async (leading) => (await sweepEphemerals(deps, leading)) === SWEEP_MAX,
  }
}

/**
 * Deregisters ephemeral nodes without heartbeats, each in its own transaction that checks again first: a node that
 * reports meanwhile stays.
 *
 * @returns how many nodes were deregistered.
 * @throws LeadershipLost before the next node.
 */
export async function sweepEphemerals(
  deps: EphemeralSweeperDeps,
  leading: Pick<Leading, 'unitOfWork' | 'signal'>,
): Promise<number> {
  const silentSince = new Date(deps.clock.now() - SILENCE_MS)
  const candidates = await silentEphemerals(deps.datastore.pool('worker'), silentSince, SWEEP_MAX)
  let gone = 0
  for (const { id, domain_id: domainId } of candidates) {
    if (leading.signal.aborted) break
    try {
      if (await sweep({ ...deps, ...leading }, { id, domainId, silentSince })) gone += 1
    } catch (error) {
      if (error instanceof LeadershipLost) throw error
      deps.onFailure(error, id)
    }
  }
  return gone
}

async function sweep(
  { unitOfWork, clock, ids }: EphemeralSweeperDeps & Pick<Leading, 'unitOfWork'>,
  node: { id: string; domainId: string; silentSince: Date },
): Promise<boolean> {
  const correlationId = ids.next()
  let isGone = false
  const entry: AuditEntry = {
    domainId: node.domainId,
    subject: 'platform:main',
    relation: 'node.deregister',
    object: `node:${node.id}`,
    outcome: 'granted',
    reason: 'ephemeral_unreachable',
    correlationId,
    context: {},
  }
  await unitOfWork.run({ pool: 'worker', correlationId, audit: () => (isGone ? [entry] : []) }, async (change) => {
    await holdPeers(change.db, node.domainId)
    await lockNodeFully(change.db, node.id)
    if (!(await isSilent(change.db, node.id, node.silentSince))) return
    isGone = (await deregister(change, node.id, clock.now())) !== undefined
  })
  return isGone
}
