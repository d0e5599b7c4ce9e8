import { createEventLog } from '../../src/server/adapters/event-log/event-log.ts'
import { createEventRetention } from '../../src/server/adapters/event-log/retention.ts'
import {
  DATASTORE_KINDS,
  type DatastoreKind,
  emptyTables,
  isDatastoreMissing,
  useDatastore,
} from '../support/datastores.ts'
import { type BusInUse, eventBusContract } from './event-bus.contract.ts'

function useEventLog(kind: DatastoreKind): BusInUse {
  const store = useDatastore(kind)
  const clock = { now: () => Date.now() }
  return {
    empty: () => emptyTables(store.current()),
    async open() {
      // Two logs over one embedded datastore stand for two replicas, which it does not have otherwise: both must poll.
      const datastore = { ...store.current(), kind: 'postgres' as const }
      return createEventLog({ datastore, clock, pollMs: 50, deadlineMs: 2_000, onFailure: () => undefined })
    },
    outage:
      kind === 'embedded'
        ? undefined
        : { begin: () => store.cluster().end('SIGQUIT'), end: () => store.cluster().start() },
    async prune() {
      const job = createEventRetention({ clock }, { ageMs: 3_600_000, perNode: 3 })
      const leading = {
        transaction: store.current().transaction.bind(undefined, 'worker'),
      }
      // The job uses nothing else of a leader.
      while (await job.run(leading as Parameters<typeof job.run>[0]));
    },
  }
}

for (const kind of DATASTORE_KINDS)
  eventBusContract(`the event log of the ${kind} datastore`, () => useEventLog(kind), isDatastoreMissing(kind))
