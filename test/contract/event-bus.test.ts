import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll } from 'vitest'
import { createEventLog } from '../../src/server/adapters/event-log/event-log.ts'
import { createEventRetention } from '../../src/server/adapters/event-log/retention.ts'
import { openJetStreamBus } from '../../src/server/adapters/jetstream/jetstream.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, type TestStore, useDatastore } from '../support/datastores/stores.ts'
import { type NatsServer, startNatsServer } from '../support/events/nats-server.ts'
import { requirement } from '../support/run/requirements.mjs'
import { type BusInUse, eventBusContract } from './event-bus.contract.ts'

function useEventLog(store: TestStore): BusInUse {
  const inUse = useDatastore(store)
  const clock = { now: () => Date.now() }
  return {
    empty: () => emptyTables(inUse.current()),
    async open() {
      // Two logs over one embedded datastore stand for two replicas, which it does not have otherwise: both must poll.
      const datastore = { ...inUse.current(), kind: 'postgres' as const }
      return createEventLog({ datastore, clock, pollMs: 50, deadlineMs: 2_000, onFailure: () => undefined })
    },
    outage:
      store.name === 'embedded'
        ? undefined
        : { begin: () => inUse.cluster().end('SIGQUIT'), end: () => inUse.cluster().start() },
    async prune() {
      const job = createEventRetention({ clock }, { ageMs: 3_600_000, perNode: 3 })
      const leading = {
        transaction: inUse.current().transaction.bind(undefined, 'worker'),
      }
      // The job uses nothing else of a leader.
      while (await job.run(leading as Parameters<typeof job.run>[0]));
    },
  }
}

function useJetStream(): BusInUse {
  let server: NatsServer | undefined
  let count = 0
  let env = ''
  beforeAll(async () => {
    server = await startNatsServer()
  })
  afterAll(() => server?.stop())
  const here = (): NatsServer => {
    if (server === undefined) throw new Error('the NATS server is not there')
    return server
  }
  return {
    async empty() {
      count += 1
      env = `test${count}`
    },
    open: () =>
      openJetStreamBus({
        address: {
          servers: [here().address],
          credentialsFile: undefined,
          security: { kind: 'plaintext', caPath: undefined },
        },
        settings: { env, replicas: 1, bytesMax: undefined },
        clock: { now: () => Date.now() },
        warn: () => undefined,
      }),
    outage: { begin: () => here().end('SIGKILL'), end: () => here().start() },
    async prune() {
      const connection = await connect({ servers: here().address })
      const manager = await jetstreamManager(connection)
      const name = `ctl-${env}-events`
      await manager.streams.update(name, { max_msgs_per_subject: 3 })
      await connection.close()
    },
  }
}

eventBusContract('JetStream', useJetStream, requirement('nats-server') === undefined)

for (const store of STORES)
  eventBusContract(`the event log of the ${store.name} datastore`, () => useEventLog(store), store.missing)
