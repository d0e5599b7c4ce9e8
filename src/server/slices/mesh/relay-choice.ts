import { createDomainJob } from '../../sql/domain-job.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announceRelays, membersOf, type Relayed } from '../../sql/announce-relays.ts'
import { peersChanged, peersChangedWhole } from '../../sql/state-revisions.ts'
import { chooseBridgeRelays, chooseRelays, lockPeers, outdatedChoices } from './relay-choice-store.ts'

/** How long a node that became unreachable may still be chosen, ms; the pause of the reachability sweep is added. */
const CHOOSE_EVERY_MS = 2_000

/**
 * The job that chooses the relays of each Domain and of each bridge that nodes may prefer (decisions: Mode): a node that is
 * reachable and hosts an enabled relay, the lowest by id, and the next one for edges to the first. Readers use the stored
 * choice, so that every replica sees the same mesh at the same revision. A pass in which nothing changed is one query.
 */
export function createRelayChoice({
  datastore,
  ids,
}: {
  readonly datastore: Datastore
  readonly ids: IdSource
}): LeaderJob {
  return createDomainJob({
    name: 'relay-choice',
    everyMs: CHOOSE_EVERY_MS,
    datastore,
    ids,
    outdated: outdatedChoices,
    work: choose,
  })
}

async function choose(change: Change, domainId: string): Promise<void> {
  const { db } = change
  // Under the Domain's lock, since a report or a registration may have changed the right choice meanwhile.
  if (!(await lockPeers(db, domainId))) return
  const isOther = await chooseRelays(db, domainId)
  const bridgeIds = await chooseBridgeRelays(db, domainId)
  const relayed: Relayed = isOther ? 'all' : await membersOf(db, bridgeIds)
  if (relayed === 'all') await peersChangedWhole(db, domainId)
  else if (relayed.length > 0) await peersChanged(db, domainId, relayed)
  await announceRelays(change, domainId, relayed)
}
