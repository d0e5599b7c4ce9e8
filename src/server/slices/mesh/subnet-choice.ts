import { isDeepStrictEqual } from 'node:util'
import { createDomainJob } from '../../sql/domain-job.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { peersChanged } from '../../sql/state-revisions.ts'
import { chooseSubnets, type DomainNetworks } from './hosted-subnets.ts'
import {
  noteBasis,
  outdatedSubnets,
  readHostedBridges,
  readHostedSubnets,
  storeHostedSubnets,
} from './hosted-subnets-store.ts'
import { lockPeers } from './relay-choice-store.ts'

/** How long a change of subnets or hosts may wait, ms. */
const CHOOSE_EVERY_MS = 2_000
/** Subnets of one change that a hint lists: about 16 KiB of JSON. */
const SUBNETS_INLINE_MAX = 512

/**
 * The job that chooses through which nodes peers reach the subnets of bridges, those of tunnels and of the devices of people: of
 * each bridge its reachable host with the lowest id. Readers use the stored choice, so that every replica sees the same mesh at
 * the same revision. A pass in which nothing changed is one query.
 */
export function createSubnetChoice({
  datastore,
  ids,
}: {
  readonly datastore: Datastore
  readonly ids: IdSource
}): LeaderJob {
  return createDomainJob({
    name: 'subnet-choice',
    everyMs: CHOOSE_EVERY_MS,
    datastore,
    ids,
    outdated: outdatedSubnets,
    work: choose,
  })
}

async function choose(change: Change, domainId: string): Promise<void> {
  const { db } = change
  if (!(await lockPeers(db, domainId))) return
  await noteBasis(db, domainId)
  const chosen = chooseSubnets(await readHostedBridges(db, domainId), await networksOf(db, domainId))
  const stored = await readHostedSubnets(db, domainId)
  const changed: string[] = []
  for (const nodeId of [...new Set([...stored.keys(), ...chosen.keys()])].toSorted()) {
    const subnets = chosen.get(nodeId) ?? []
    if (isDeepStrictEqual(subnets, stored.get(nodeId) ?? [])) continue
    if (await storeHostedSubnets(db, nodeId, subnets)) changed.push(nodeId)
  }
  if (changed.length === 0) return
  await peersChanged(db, domainId, changed)
  announce(change, domainId, new Map(changed.map((nodeId) => [nodeId, chosen.get(nodeId) ?? []])))
}

function announce(
  { emit }: Pick<Change, 'emit'>,
  domainId: string,
  changed: ReadonlyMap<string, readonly string[]>,
): void {
  if ([...changed.values()].flat().length > SUBNETS_INLINE_MAX)
    return emit({ event: 'domain_subnets_changed', domainId, aggregate: `domain:${domainId}`, payload: {} })
  for (const [nodeId, subnets] of changed) {
    const payload = { node_id: nodeId, subnets: [...subnets] }
    emit({ event: 'peer_subnets_changed', domainId, aggregate: `node:${nodeId}`, payload })
  }
}

async function networksOf(db: Db, domainId: string): Promise<DomainNetworks> {
  const row = await db
    .selectFrom('domains')
    .select(['mesh_cidr', 'routed_networks'])
    .where('id', '=', domainId)
    .executeTakeFirstOrThrow()
  return { meshCidr: row.mesh_cidr, routedNetworks: row.routed_networks }
}
