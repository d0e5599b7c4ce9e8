import type { Backend } from './backend.ts'
import type { Probe } from '../ops/health.ts'
import { DatastoreStopped } from '../ports/datastore.ts'

type ProbedParts = Pick<Backend, 'datastore' | 'engine' | 'bus' | 'secretStore'>

/** What readiness asks, under the names of S1 Degradation 1. */
export function probesOf({ datastore, engine, bus, secretStore }: ProbedParts): readonly Probe[] {
  const database: Probe = {
    name: 'db-primary',
    meanwhile:
      'Changes, sign-ins, heartbeats and most reads fail. For a short time checks are answered as they were last, and nodes pull the state that they pulled last; event streams stay open and wait.',
    check: (deadlineMs) => datastore.ping(deadlineMs),
  }
  const jetstream: Probe = {
    name: 'jetstream',
    meanwhile:
      'Nodes hear of changes once it is back: their events are kept until then and their streams stay open. Everything else works.',
    check: (deadlineMs) => bus.ping(deadlineMs),
  }
  const always = [
    database,
    ...lossOf(datastore),
    ...(bus.kind === 'jetstream' ? [jetstream] : []),
    ...secretsOf(secretStore),
  ]
  const { ping } = engine
  if (ping === undefined) return always
  const spicedb: Probe = {
    name: 'spicedb-readiness',
    meanwhile:
      'Nothing that asks for a permission works, but checks and reads that were allowed a moment ago. Nodes go on: heartbeats and events need no permission.',
    check: () => ping(),
  }
  return [...always, spicedb]
}

/** Secrets in the datastore have no probe of their own: `db-primary` is theirs. */
function secretsOf(secretStore: Backend['secretStore']): readonly Probe[] {
  if (secretStore.kind === 'embedded') return []
  const reconcile: Probe = {
    name: 'secrets-reconcile',
    meanwhile:
      'Secrets and cloud credentials can be listed, but not written or fetched, and interrupted writes and deletions of secrets wait. Everything else works, and what nodes have fetched stays good.',
    check: () => secretStore.ping(),
  }
  return [reconcile]
}

/** Of the embedded engine, which does not come back: anyone who asks is to go elsewhere until the server was restarted. */
function lossOf({ lost }: Backend['datastore']): readonly Probe[] {
  if (lost === undefined) return []
  const engine: Probe = {
    name: 'embedded-engine',
    meanwhile: 'Nothing works: the process ends, and the server has to be started again.',
    isFinal: true,
    async check() {
      const cause = lost()
      if (cause !== undefined) throw new DatastoreStopped(cause)
    },
  }
  return [engine]
}
