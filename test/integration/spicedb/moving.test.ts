import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BootError } from '../../../src/server/ports/boot-error.ts'
import { settleUnmirrored } from '../../../src/server/adapters/postgres/settle-unmirrored.ts'
import { assertSchemaCompatible } from '../../../src/server/adapters/postgres/schema-compatibility.ts'
import { tupleId } from '../../../src/server/adapters/postgres/tuple-id.ts'
import { deploySchema } from '../../../src/server/adapters/spicedb/schema.ts'
import type { Tuple } from '../../../src/server/ports/unit-of-work.ts'
import { compileSchema } from '../../../src/shared/authz/language/compile.ts'
import { parseSchema } from '../../../src/shared/authz/language/parser.ts'
import { apiName } from '../../../src/shared/authz/names.ts'
import { SCHEMA } from '../../../src/shared/authz/schema.ts'
import { clientOf, isEngineMissing, openReplica, type Replica } from '../../support/authz/engines.ts'
import { emptyTables } from '../../support/datastores/empty-tables.ts'
import { POSTGRES, useDatastore } from '../../support/datastores/stores.ts'
import { bothSides } from '../../support/authz/spicedb-equality.ts'
import { startSpicedb, type SpicedbServer } from '../../support/authz/spicedb-server.ts'

const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const NOWHERE = { domainId: null, projectId: null }
const tupleFor = (who: string, relation = 'admin'): Tuple => ({
  subject: `user:${who}`,
  relation,
  resource: 'platform:main',
})

/** What the operator is told; fails where a start is not refused. */
async function refusal(start: Promise<unknown>): Promise<string> {
  const error = await start.then(
    () => new Error('it started'),
    (caught: unknown) => caught,
  )
  expect(error).toBeInstanceOf(BootError)
  return error instanceof BootError ? error.message : ''
}

describe.skipIf(POSTGRES.missing || isEngineMissing('spicedb'))('moving to SpiceDB', () => {
  const inUse = useDatastore(POSTGRES)
  let server: SpicedbServer
  beforeAll(async () => {
    server = await startSpicedb()
  })
  afterAll(() => server.close())
  beforeEach(async () => {
    await emptyTables(inUse.current())
    await server.reset()
  })

  const open = (at?: SpicedbServer): Promise<Replica> =>
    openReplica({ datastore: inUse.current(), nowMs: NOW_MS, server: at })
  const grant = (replica: Replica, tuple: Tuple) => replica.change(({ tuples }) => tuples.create(tuple, NOWHERE))
  const revoke = (replica: Replica, tuple: Tuple) => replica.change(({ tuples }) => tuples.delete(tupleId(tuple)))
  const mayManage = async (replica: Replica, who: string): Promise<boolean> => {
    const facts = { nowMs: NOW_MS }
    const asked = { subject: `user:${who}`, relation: 'manage', resource: 'platform:main', facts, wantPath: false }
    return (await replica.authorizer.check(asked)).allowed
  }

  test('gives it every tuple before anything is asked of it', async () => {
    const embedded = await open()
    for (const who of ['ann', 'bob', 'cat']) await grant(embedded, tupleFor(who))
    embedded.stop()
    const moved = await open(server)
    expect(await mayManage(moved, 'cat')).toBe(true)
    const { registry, spicedb } = await bothSides(inUse.current(), server)
    expect(registry).toEqual(spicedb)
    expect(registry).toHaveLength(3)
    moved.stop()
  })

  test('happens while processes without it go on writing: what they write counts there too', async () => {
    const embedded = await open()
    await grant(embedded, tupleFor('ann'))
    const moved = await open(server)
    await grant(embedded, tupleFor('bob'))
    await revoke(embedded, tupleFor('ann'))
    await expect.poll(() => mayManage(moved, 'bob')).toBe(true)
    await expect.poll(() => mayManage(moved, 'ann')).toBe(false)
    await grant(moved, tupleFor('cat'))
    await expect.poll(() => mayManage(embedded, 'cat')).toBe(true)
    await revoke(moved, tupleFor('bob'))
    await expect.poll(() => mayManage(embedded, 'bob')).toBe(false)
    embedded.stop()
    moved.stop()
    const { registry, spicedb } = await bothSides(inUse.current(), server)
    expect(registry).toEqual(spicedb)
  })

  test('back is leaving out the flag: what was left unsettled is settled, and a later start compares again', async () => {
    const moved = await open(server)
    await grant(moved, tupleFor('ann'))
    moved.stop()
    const db = inUse.current().pool('interactive')
    await db.updateTable('relation_tuples').set({ state: 'revoking' }).execute()
    const embedded = await open()
    expect(await settleUnmirrored(inUse.current(), embedded.feed)).toBe(1)
    expect(await mayManage(embedded, 'ann')).toBe(false)
    await grant(embedded, tupleFor('bob'))
    embedded.stop()
    const again = await open(server)
    expect(await mayManage(again, 'ann')).toBe(false)
    expect(await mayManage(again, 'bob')).toBe(true)
    again.stop()
  })

  test('mends what was changed in SpiceDB by others, and says how much', async () => {
    const moved = await open(server)
    await grant(moved, tupleFor('ann'))
    const client = clientOf(server)
    const platform = { type: 'platform', id: 'main' }
    const by = (who: string) => ({
      resource: platform,
      relation: 'admin',
      subject: { type: 'user', id: who, relation: '' },
      caveat: '',
    })
    await client.write([
      { op: 'delete', relationship: by('ann') },
      { op: 'touch', relationship: by('mallory') },
    ])
    client.close()
    expect(await moved.spicedb?.reconciler.reconcile()).toEqual({ checked: 2, granted: 1, revoked: 1, unresolved: 0 })
    expect(await mayManage(moved, 'ann')).toBe(true)
    expect(await mayManage(moved, 'mallory')).toBe(false)
    expect(await moved.spicedb?.reconciler.reconcile()).toEqual({ checked: 1, granted: 0, revoked: 0, unresolved: 0 })
    moved.stop()
  })

  test('is refused where a binding has two caveats, which SpiceDB cannot keep', async () => {
    const embedded = await open()
    const onDomain = { subject: 'user:ann', relation: 'admin', resource: 'domain:01935b5e-8f3a-7c61-9d0a-0000000000d1' }
    for (const caveatName of ['strong_auth', 'from_network']) await grant(embedded, { ...onDomain, caveatName })
    embedded.stop()
    expect(await refusal(open(server))).toBe(
      'SpiceDB keeps one caveat for a subject, relation and resource, and 1 of them have several here: leave one each before moving.',
    )
  })

  test('is refused where SpiceDB holds the schema of something else', async () => {
    const client = clientOf(server)
    await client.writeSchema('definition user {}\n\ndefinition document {\n    relation reader: user\n}')
    client.close()
    expect(await refusal(open(server))).toBe(
      'The SpiceDB at --spicedb-endpoint holds the schema of something else: give this server a SpiceDB of its own.',
    )
  })

  test('never writes a schema that relationships would be orphaned by', async () => {
    const moved = await open(server)
    await grant(moved, tupleFor('ann', 'viewer'))
    moved.stop()
    const client = clientOf(server)
    const narrower = SCHEMA.replaceAll('viewer', 'onlooker')
    const said = await refusal(deploySchema(client, narrower))
    client.close()
    expect(said).toMatch(/^SpiceDB refuses the authorization schema of this version, and nothing was changed: .*viewer/)
    const again = await open(server)
    expect(await mayManage(again, 'ann')).toBe(false)
    again.stop()
  })

  test('the registry too refuses a schema that has no place for a tuple', async () => {
    const embedded = await open()
    await grant(embedded, tupleFor('ann', 'viewer'))
    embedded.stop()
    const inForce = (text: string) => ({ text, model: compileSchema(parseSchema(text), apiName) })
    await assertSchemaCompatible(inUse.current(), inForce(SCHEMA))
    expect(
      await refusal(assertSchemaCompatible(inUse.current(), inForce(SCHEMA.replaceAll('viewer', 'onlooker')))),
    ).toBe(
      'The authorization schema of this version has no place for 1 tuples that are there (platform#viewer@user): run the version that wrote them, and remove them first.',
    )
  })
})
