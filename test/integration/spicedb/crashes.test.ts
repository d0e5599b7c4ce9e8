import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tupleId } from '../../../src/server/adapters/postgres/tuple-id.ts'
import type { Change, Tuple } from '../../../src/server/ports/unit-of-work.ts'
import { isEngineMissing, openReplica, type Replica } from '../../support/authz/engines.ts'
import { crashingDatastore } from '../../support/datastores/crashing-datastore.ts'
import { emptyTables } from '../../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'
import { bothSides } from '../../support/authz/spicedb-equality.ts'
import { startSpicedb, type SpicedbServer } from '../../support/authz/spicedb-server.ts'

const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const NOWHERE = { domainId: null, projectId: null }
const SET_UP: Tuple = { subject: 'user:ann', relation: 'viewer', resource: 'platform:main' }
const GRANT: Tuple = { subject: 'user:ann', relation: 'admin', resource: 'platform:main' }

const grant = async ({ tuples }: Change) => (await tuples.create(GRANT, NOWHERE)) !== undefined
const revoke = async ({ tuples }: Change) => (await tuples.delete(tupleId(GRANT))) !== undefined
const EDGE: Tuple = { subject: 'platform:main', relation: 'platform', resource: 'domain:home' }
const addEdge = async ({ tuples }: Change) => (await tuples.restoreStructural(EDGE, NOWHERE)) === undefined
const removeEdge = async ({ tuples }: Change) => tuples.removeStructural(EDGE)
const deleteObject = async ({ tuples }: Change) => (await tuples.deleteObject('user:ann')) > 0

/** More than any of the changes takes. */
const STEPS_MAX = 40

describe.each(STORES)('a process that ends in the middle of telling SpiceDB, over $name', (store) => {
  describe.skipIf(store.missing || isEngineMissing('spicedb'))('', () => {
    const inUse = useDatastore(store)
    let server: SpicedbServer
    beforeAll(async () => {
      server = await startSpicedb()
    })
    afterAll(() => server.close())
    beforeEach(async () => {
      await emptyTables(inUse.current())
      await server.reset()
    })

    const open = (): Promise<Replica> => openReplica({ datastore: inUse.current(), nowMs: NOW_MS, server })

    test.each([
      { name: 'a grant', before: undefined, work: grant, holds: true },
      { name: 'a revocation', before: grant, work: revoke, holds: false },
      { name: 'the end of a parent edge', before: addEdge, work: removeEdge, holds: false },
      { name: 'the end of an object', before: grant, work: deleteObject, holds: false },
    ])('$name is finished or undone, wherever it ended', { timeout: 240_000 }, async ({ before, work, holds }) => {
      let isDone = false
      for (let step = 0; !isDone; step++) {
        expect(step).toBeLessThan(STEPS_MAX)
        const replica = await open()
        await replica.change(({ tuples }) => tuples.create(SET_UP, NOWHERE))
        if (before !== undefined) await replica.change(before)
        const written = crashingDatastore(inUse.current(), step)
        const acknowledged = await replica
          .over(written)(work)
          .catch(() => undefined)
        replica.stop()
        isDone = acknowledged === true

        const next = await open()
        if (step % 2 === 0) await next.spicedb?.reconciler.reconcile()
        else
          for (let pass = 0; pass < 2; pass++)
            await next.spicedb?.job.run({ ...next, transaction: refuse, signal: NEVER })
        const { registry, spicedb } = await bothSides(inUse.current(), server)
        expect(registry, `after step ${step}`).toEqual(spicedb)
        const decision = await next.authorizer.check({
          subject: 'user:ann',
          relation: 'manage',
          resource: 'platform:main',
          facts: { nowMs: NOW_MS },
          wantPath: false,
        })
        if (isDone) expect(decision.allowed).toBe(holds)
        await next.change(({ tuples }) => tuples.deleteObject('user:ann'))
        next.stop()
      }
    })
  })
})

const NEVER = new AbortController().signal
const refuse = (): never => {
  throw new Error('the job opens no transaction of a leader')
}
