import type { Db } from '../ports/datastore.ts'
import type { PublishOutcome } from '../ports/event-bus.ts'
import type { RelayCounters } from './counters.ts'
import { grouped } from './grouped.ts'
import { deleteOutgoing, keepFailures, type Failure, type Signed } from './outgoing-store.ts'

/** What became of events that the stream was given. Those that are neither were held: they are given again. */
export interface Settlement {
  readonly stored: readonly Signed[]
  readonly refused: readonly Signed[]
  /** Why, of each of those. */
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

/** Takes off their way what the stream has, and lets what it refused hold up its lanes. */
export async function settle(tx: Db, { stored, failures }: Settlement, at: Date): Promise<void> {
  await deleteOutgoing(
    tx,
    stored.map(({ id }) => id),
  )
  await keepFailures(tx, failures, at)
}

/** To be called once that is committed. */
export function countStored(counters: Pick<RelayCounters, 'published'>, { stored }: Settlement): void {
  for (const [type, events] of grouped(stored, (event) => event.type)) counters.published(type, events.length)
}
