import { expect, test } from 'vitest'
import type { Backend } from '../../../../src/server/composition/backend.ts'
import { createHealth } from '../../../../src/server/ops/health.ts'
import { DatastoreStopped, type Datastore } from '../../../../src/server/ports/datastore.ts'
import { secretStoreUnavailable, type SecretStore } from '../../../../src/server/ports/secret-store.ts'
import { probesOf } from '../../../../src/server/composition/probes.ts'

const unused = () => expect.fail('must not be used')

/** A backend whose embedded engine is lost when the test says so; on PostgreSQL there is none. */
function backend(kind: Datastore['kind'], secretStore: Partial<SecretStore> = { kind: 'embedded' }) {
  const state: { lost: Error | undefined } = { lost: undefined }
  const datastore: Datastore = {
    kind,
    pool: unused,
    transaction: unused,
    close: unused,
    async ping() {
      if (state.lost !== undefined) throw new DatastoreStopped(state.lost)
    },
    ...(kind === 'embedded' && { lost: () => state.lost }),
  }
  const parts: Pick<Backend, 'datastore' | 'engine' | 'bus' | 'secretStore'> = {
    datastore,
    engine: {} as Backend['engine'],
    bus: { kind: 'log' } as unknown as Backend['bus'],
    secretStore: secretStore as Backend['secretStore'],
  }
  return { state, probes: probesOf(parts) }
}

test('a lost embedded engine is a probe of its own and makes the server unhealthy', async () => {
  const { state, probes } = backend('embedded')
  let nowMs = 0
  const health = createHealth(probes, { now: () => nowMs })
  expect(await health.report()).toMatchObject({
    status: 'ready',
    probes: [
      { name: 'db-primary', ok: true },
      { name: 'embedded-engine', ok: true },
    ],
  })
  state.lost = new Error('the embedded datastore stopped')
  nowMs = 1_000
  expect(await health.report()).toMatchObject({
    status: 'unhealthy',
    probes: [
      { name: 'db-primary', ok: false, informational: true },
      { name: 'embedded-engine', ok: false, detail: 'it stopped for good: restart the server' },
    ],
  })
})

test('secrets in OpenBao have a probe that blocks readiness until the store answered once, and then only degrades', async () => {
  let isAway = true
  const ping = async (): Promise<void> => {
    if (isAway) throw secretStoreUnavailable('sealed', 'the server is sealed')
  }
  const { probes } = backend('postgres', { kind: 'openbao', ping })
  let nowMs = 0
  const health = createHealth(probes, { now: () => nowMs })
  expect(await health.report()).toMatchObject({
    status: 'unhealthy',
    probes: [
      { name: 'db-primary', ok: true },
      { name: 'secrets-reconcile', ok: false, detail: 'it is sealed: unseal it' },
    ],
  })
  isAway = false
  nowMs = 1_000
  expect((await health.report()).status).toBe('ready')
  isAway = true
  nowMs = 2_000
  expect(await health.report()).toMatchObject({
    status: 'degraded',
    probes: [
      { name: 'db-primary', ok: true },
      { name: 'secrets-reconcile', ok: false, informational: true },
    ],
  })
})

test('PostgreSQL has no such probe: it can always come back', () => {
  expect(backend('postgres').probes.map(({ name }) => name)).toEqual(['db-primary'])
})
