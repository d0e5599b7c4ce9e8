import type { Db } from '../ports/datastore.ts'

// A transaction locks a node's row before rows that refer to it, as a deregistration does, and before the row of its heartbeats.

/** A node's row, locked. */
export interface LockedNode {
  readonly domain_id: string
  readonly public_key: Buffer
  /** Integer nanoseconds since the epoch, in decimal. */
  readonly psk_issued_at: string
}

/** Locks a node's row until the transaction ends, so that changes of the node are serialized; undefined when there is none. */
export function lockNode(tx: Db, id: string): Promise<LockedNode | undefined> {
  return nodeOf(tx, id).forNoKeyUpdate().executeTakeFirst()
}

/**
 * Does so against new references as well. A transaction that is going to delete the node or to change its mesh key begins with
 * this lock: others add a reference first and lock the row of the heartbeats next, so that taking it later would be a deadlock.
 */
export function lockNodeFully(tx: Db, id: string): Promise<LockedNode | undefined> {
  return nodeOf(tx, id).forUpdate().executeTakeFirst()
}

function nodeOf(tx: Db, id: string) {
  return tx.selectFrom('nodes').select(['domain_id', 'public_key', 'psk_issued_at']).where('id', '=', id)
}
