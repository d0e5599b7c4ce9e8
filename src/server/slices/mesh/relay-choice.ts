import type { Datastore } from '../../ports/datastore.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import { peersChangedWhole } from '../../sql/state-revisions.ts'
import { chooseRelays, lockPeers, outdatedChoices } from './relay-choice-store.ts'

/** How long a node that became unreachable may still be chosen, ms; the pause of the reachability sweep is added. */
const CHOOSE_EVERY_MS = 2_000
/** Domains whose choice changes in one pass, each in a transaction of its own. */
const DOMAINS_MAX = 50

/**
 * The job that chooses, the relay of each Domain (decisions: Mode): a node that is reachable and hosts an enabled relay, the
 * lowest by id, and the next one for edges to the first. Readers use the stored choice, so that every replica sees the
 * same mesh at the same revision. A pass in which nothing changed is one query.
 */
export function createRelayChoice({ datastore }: { readonly datastore: Datastore }): LeaderJob {
  return {
    name: 'relay-choice',
    everyMs: CHOOSE_EVERY_MS,
    async run(leading) {
      const domainIds = await outdatedChoices(datastore.pool('worker'), DOMAINS_MAX)
      for (const domainId of domainIds) {
        if (leading.signal.aborted) break
        await leading.transaction(async (tx) => {
          // Under the Domain's lock, since a report or a registration may have changed the right choice meanwhile.
          if (!(await lockPeers(tx, domainId))) return
          if (await chooseRelays(tx, domainId)) await peersChangedWhole(tx, domainId)
        })
      }
      return domainIds.length === DOMAINS_MAX
    },
  }
}
