import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { migrate, MIGRATIONS } from '../../../src/server/adapters/postgres/migrate.ts'
import { findNode } from '../../../src/server/slices/nodes/node-store.ts'
import { dropEverything } from '../../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'

const HOME = '01935b5e-8f3a-7c61-9d0a-000000000001'
const OTHER = '01935b5e-8f3a-7c61-9d0a-000000000002'
const WEB = '01935b5e-8f3a-7c61-9d0a-000000000003'
const DB = '01935b5e-8f3a-7c61-9d0a-000000000004'
const BARE = '01935b5e-8f3a-7c61-9d0a-000000000005'

const LABELS = {
  [WEB]: { zone: 'a', 'platform/env': 'prod', note: 'x=y %_"' },
  [DB]: { zone: 'b', empty: '' },
  [BARE]: {},
}

const before = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0021-labels'),
)

describe.each(STORES)('The migration of labels on the $name store', (store) => {
  describe.skipIf(store.missing)('of a store that has nodes and join tokens', () => {
    const inUse = useDatastore(store)
    const db = () => inUse.current().pool('interactive')

    beforeEach(async () => {
      await dropEverything(inUse.current())
      await migrate(inUse.current(), before)
      await seed()
    })

    async function seed(): Promise<void> {
      for (const [id, slug] of [
        [HOME, 'home'],
        [OTHER, 'other'],
      ])
        await sql`insert into domains values (${id}, ${slug}, 'D', '100.64.0.0/10', 300, '[]', null, '[]', now(), now())`.execute(
          db(),
        )
      const nodes = [
        [WEB, HOME],
        [DB, HOME],
        [BARE, OTHER],
      ] as const
      for (const [number, [id, domainId]] of nodes.entries()) {
        await sql`
          insert into nodes (
            id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral, created_at, updated_at
          ) values (
            ${id}, ${domainId}, ${`node-${number}`}, 'vm', ${Buffer.alloc(32, number)}, ${`100.64.0.${number + 1}`}, '', 0,
            ${JSON.stringify(LABELS[id])}, false, '2026-01-01', '2026-01-02'
          )`.execute(db())
        await sql`insert into node_heartbeats (node_id, created_at) values (${id}, now())`.execute(db())
      }
      await sql`
        insert into join_tokens (
          id, domain_id, prefix, fingerprint, fingerprint_key_id, labels, ephemeral, max_uses, uses, created_by, created_at, expires_at
        ) values (
          gen_random_uuid(), ${OTHER}, 'jtk', '\\x01', 'k', '{"tier":"edge","zone":"c"}', false, 1, 0, 'user:x', now(), now()
        )`.execute(db())
    }

    test('keeps the labels in the answers about nodes', async () => {
      const answers = () => Promise.all([WEB, DB, BARE].map((id) => findNode(db(), id)))
      const former = await answers()
      await migrate(inUse.current())
      expect(await answers()).toEqual(former)
      expect((await answers()).map((node) => node?.labels)).toEqual([LABELS[WEB], LABELS[DB], {}])
    })

    test('makes a Definition of each key of a Domain, and assignments of the labels of nodes', async () => {
      await migrate(inUse.current())
      const definitions = await db()
        .selectFrom('label_definitions')
        .select(['qualified_key', 'value_schema', 'on_delete', 'immutable', 'system', 'granted', 'implicit'])
        .where('scope_kind', '=', 'domain')
        .orderBy('qualified_key')
        .execute()
      const rules = {
        value_schema: { type: 'string' },
        on_delete: 'block',
        immutable: false,
        system: false,
        granted: false,
        implicit: true,
      }
      const ofHome = ['empty', 'note', 'platform/env', 'zone'].map((key) => `domain:${HOME}/${key}`)
      const ofOther = ['tier', 'zone'].map((key) => `domain:${OTHER}/${key}`)
      expect(definitions).toEqual([...ofHome, ...ofOther].map((key) => ({ qualified_key: key, ...rules })))
      const labels = await db()
        .selectFrom('label_assignments as label')
        .innerJoin('label_definitions as definition', 'definition.id', 'label.definition_id')
        .select(['label.object_id', 'definition.local_key', 'label.value', 'label.kind', 'label.assigned_by'])
        .orderBy('label.object_id')
        .orderBy('definition.local_key')
        .execute()
      const rest = { kind: 'node', assigned_by: 'system:migration' }
      const of = (id: string, local_key: string, value: string) => ({ object_id: id, local_key, value, ...rest })
      expect(labels).toEqual([
        of(WEB, 'note', 'x=y %_"'),
        of(WEB, 'platform/env', 'prod'),
        of(WEB, 'zone', 'a'),
        of(DB, 'empty', ''),
        of(DB, 'zone', 'b'),
      ])
    })

    test('lists the objects that can have labels, and follows them from then on', async () => {
      await migrate(inUse.current())
      const objects = () =>
        db().selectFrom('label_objects').select(['kind', 'id', 'domain_id']).orderBy('kind').orderBy('id').execute()
      const domains = [HOME, OTHER].map((id) => ({ kind: 'domain', id, domain_id: id }))
      const nodes = [
        [WEB, HOME],
        [DB, HOME],
        [BARE, OTHER],
      ].map(([id, domain_id]) => ({ kind: 'node', id, domain_id }))
      expect(await objects()).toEqual([...domains, ...nodes])
      await sql`delete from nodes where id = ${WEB}`.execute(db())
      expect(await objects()).toEqual([...domains, ...nodes.slice(1)])
      const left = await db().selectFrom('label_assignments').select('object_id').distinct().execute()
      expect(left).toEqual([{ object_id: DB }])
    })
  })
})
