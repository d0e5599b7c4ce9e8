import type { Db } from '../ports/datastore.ts'
import type { PublishOutcome } from '../ports/event-bus.ts'
import type { RelayCounters } from './counters.ts'
import { grouped } from './grouped.ts'
import { deleteOutgoing, storeFailures, type Failure, type Signed } from './outgoing-store.ts'

/** The results of publishing events. An event in neither list was held back and is published again. */
export interface Settlement {
  readonly stored: readonly Signed[]
  readonly refused: readonly Signed[]
  /** The reason for each refused event. */
  readonly failures: readonly Failure[]
}

export function settlementOf(events: readonly Signed[], outcomes: readonly PublishOutcome[]): Settlement {
  const stored: Signed[] = []
  const refused: Signed[] = []
  const failures: Failure[] = []
  for (const [index, event] of events.entries()) {
    const outcome = outcomes[index]
    if (outcome?.kind === 'stored') stored.push(event)
    if (outcome?.kind !== 'refused') continue
    refused.push(event)
    failures.push({ id: event.id, nodeId: event.nodeId, reason: outcome.reason })
  }
  return { stored, refused, failures }
}

/** Deletes published events and blocks the lanes of rejected ones. */
export async function settle(tx: Db, { stored, failures }: Settlement, at: Date): Promise<void> {
  await deleteOutgoing(
    tx,
    stored.map(({ id }) => id),
  )
  await storeFailures(tx, failures, at)
}

/** Counts published events. Call it after the commit. */
export function countStored(counters: Pick<RelayCounters, 'published'>, { stored }: Settlement): void {
  for (const [type, events] of grouped(stored, (event) => event.type)) counters.published(type, events.length)
}
