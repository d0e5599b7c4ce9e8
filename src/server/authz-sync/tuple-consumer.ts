import type { AssertedTuple, EventTuples, TupleConsumer } from '../ports/event-tuples.ts'
import type { OutboxConsumer } from '../ports/outbox.ts'
import type { TupleWrites } from '../ports/unit-of-work.ts'

/**
 * Writes the tuples that events assert. An object that is gone is skipped, a tuple that is live stays as it is, and events
 * of other literals are passed over.
 */
export function createTupleConsumer({ name, events: table }: TupleConsumer): OutboxConsumer {
  const rows = new Map<string, EventTuples>(Object.entries(table))
  return {
    name,
    async handle({ db, tuples }, events) {
      for (const event of events) {
        const row = rows.get(event.event)
        if (row === undefined || !(await row.hold(db, event))) continue
        for (const asserted of await row.tuplesOf(event, db)) await write(tuples, asserted)
      }
    },
  }
}

/** Writes the tuple unless it is live. */
async function write(tuples: TupleWrites, { tuple, place, structural }: AssertedTuple): Promise<void> {
  await (structural ? tuples.restoreStructural(tuple, place) : tuples.create(tuple, place))
}
