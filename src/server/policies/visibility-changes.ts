import { sql } from 'kysely'
import type { Db } from '../ports/datastore.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { holdPeers, peersChanged, peersChangedWhole } from '../sql/state-revisions.ts'

// Peer visibility `reachable`: which peers a node sees follows from the rules in force, the policies that match nodes, the
// groups and addresses of nodes, and the relays. Every replica computes it from the rows of one revision of the Domain's
// peers, so a change of any of these raises that revision.

/** A part of a change. */
export type VisibilityChange = Pick<Change, 'db' | 'emit'>

/**
 * To be called in the transaction of every change that may decide who sees whom: rules or selector of a policy changed, a
 * policy was deleted, other policies match a node, a node is in other groups. Does nothing unless the Domain's peer
 * visibility is `reachable`. Else it raises the revision of the Domain's peers, and every node whose visible peers differ
 * receives a hint.
 *
 * `nodeIds`: the nodes that other policies match, or that are in other groups, where the rules in force are as before: only
 * their rows are read again. Absent: the rules changed too, and everything is read again.
 *
 * Takes the lock of the Domain's peers (`holdPeers`) unless the caller has it: call it before rows of nodes or of their
 * heartbeats are locked. `peersChanged` is still called where groups of nodes change: peers see these with any visibility.
 */
export async function visibilityChanged(
  change: VisibilityChange,
  domainId: string,
  nodeIds?: readonly string[],
): Promise<void> {
  if (nodeIds?.length === 0) return
  await holdPeers(change.db, domainId)
  // Read under that lock: a change of the setting raises the revision after this change, or before it.
  if (!(await isFiltered(change.db, domainId))) return
  if (nodeIds === undefined) await peersChangedWhole(change.db, domainId)
  else await peersChanged(change.db, domainId, nodeIds)
  await announce(change, domainId)
}

/** To be called in the transaction that changes a Domain's `peer_visibility`, after the setting is written. */
export async function visibilitySettingChanged(change: VisibilityChange, domainId: string): Promise<void> {
  await holdPeers(change.db, domainId)
  await peersChangedWhole(change.db, domainId)
  await announce(change, domainId)
}

async function isFiltered(tx: Db, domainId: string): Promise<boolean> {
  const row = await tx.selectFrom('domains').select('peer_visibility').where('id', '=', domainId).executeTakeFirst()
  return row?.peer_visibility === 'reachable'
}

/** Appends the event that makes the relay compare who sees whom before and after the revision. */
async function announce(change: VisibilityChange, domainId: string): Promise<void> {
  const { rows } = await sql<{ revision: string }>`
    select revision from domain_peers where domain_id = ${domainId}`.execute(change.db)
  const payload = { revision: Number(rows[0]?.revision ?? 0) }
  change.emit({ event: 'peer_visibility_changed', domainId, aggregate: `domain:${domainId}`, payload })
}
