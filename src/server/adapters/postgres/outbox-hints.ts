import { AsyncResource } from 'node:async_hooks'
import { sql } from 'kysely'
import type { Datastore } from '../../ports/datastore.ts'

/** The channel on which a process announces committed outbox rows. */
export const OUTBOX_CHANNEL = 'ctl_outbox'

/** Pause between two hints: one hint covers many commits. */
const PAUSE_MS = 25

/**
 * Sends hints by NOTIFY, in a separate transaction: PostgreSQL serializes the commits of transactions that notify. At
 * most one hint is being sent. A failed hint is not repeated.
 */
export function createNotifyHints(datastore: Datastore): () => void {
  let isResting = false
  let isOwed = false
  const notify = AsyncResource.bind(() => {
    isResting = true
    const said = sql`select pg_notify(${OUTBOX_CHANNEL}, '')`.execute(datastore.pool('worker'))
    said.catch(() => undefined).finally(() => setTimeout(rest, PAUSE_MS).unref())
  })
  function rest(): void {
    isResting = false
    if (!isOwed) return
    isOwed = false
    notify()
  }
  return () => {
    if (isResting) isOwed = true
    else notify()
  }
}
