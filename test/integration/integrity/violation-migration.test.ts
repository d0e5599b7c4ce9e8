import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { migrate, MIGRATIONS } from '../../../src/server/adapters/postgres/migrate.ts'
import { dropEverything } from '../../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../../support/datastores/stores.ts'

const HOME = '01935b5e-8f3a-7c61-9d0a-000000000001'
const OTHER = '01935b5e-8f3a-7c61-9d0a-000000000002'
const WEB = '01935b5e-8f3a-7c61-9d0a-000000000003'
/** A node that left before the migration. */
const GONE = '01935b5e-8f3a-7c61-9d0a-000000000004'
const FOREIGN = '01935b5e-8f3a-7c61-9d0a-000000000006'
const PROJECT = '01935b5e-8f3a-7c61-9d0a-000000000005'

const before = MIGRATIONS.slice(
  0,
  MIGRATIONS.findIndex(({ name }) => name === '0029-integrity-triage'),
)

/** Each violation: its number, node, Domain, kind, artifact, observed checksum, and the minute of its detection. */
const REPORTS = [
  [1, WEB, HOME, 'binary', '/usr/bin/agent', 'aa', 1],
  [2, WEB, HOME, 'binary', '/usr/bin/agent', 'aa', 3],
  [3, WEB, HOME, 'binary', '/usr/bin/agent', 'aa', 2],
  [4, WEB, HOME, 'binary', '/usr/bin/agent', 'bb', 4],
  [5, WEB, HOME, 'hook', 'backup', undefined, 5],
  [6, WEB, HOME, 'hook', 'backup', undefined, 6],
  [7, GONE, HOME, 'hook', 'backup', undefined, 7],
  [8, FOREIGN, OTHER, 'hook', 'backup', undefined, 8],
] as const

const idOf = (number: number): string => `01935b5e-8f3a-7c61-9d0b-${String(number).padStart(12, '0')}`

describe.each(STORES)('The migration of integrity violations on the $name store', (store) => {
  describe.skipIf(store.missing)('of a store that has repeated reports', () => {
    const inUse = useDatastore(store)
    const db = () => inUse.current().pool('interactive')
    const stored = () => db().selectFrom('node_integrity_violations').selectAll().orderBy('id').execute()

    beforeEach(async () => {
      await dropEverything(inUse.current())
      await migrate(inUse.current(), before)
      for (const [id, slug] of [
        [HOME, 'home'],
        [OTHER, 'other'],
      ])
        await sql`
          insert into domains (id, slug, display_name, mesh_cidr, endpoint_ttl_seconds, trusted_networks, strong_acr, created_at, updated_at)
          values (${id}, ${slug}, 'D', '100.64.0.0/10', 300, '[]', '[]', now(), now())`.execute(db())
      await sql`
        insert into projects (id, domain_id, slug, display_name, created_at, updated_at)
        values (${PROJECT}, ${HOME}, 'web', 'Web', now(), now())`.execute(db())
      await sql`
        insert into nodes (
          id, domain_id, project_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels, ephemeral,
          created_at, updated_at
        ) values (
          ${WEB}, ${HOME}, ${PROJECT}, 'web-1', 'vm', ${Buffer.alloc(32, 1)}, '100.64.0.1', '', 0, '{}', false, now(), now()
        )`.execute(db())
      for (const [number, node, domain, kind, artifact, observed, minute] of REPORTS)
        await sql`
          insert into node_integrity_violations (
            id, node_id, domain_id, kind, artifact, observed_checksum, detected_at, accepted_at
          ) values (
            ${idOf(number)}, ${node}, ${domain}, ${kind}, ${artifact}, decode(${observed?.repeat(32) ?? null}, 'hex'),
            ${instant(minute)}, ${instant(10 + number)}
          )`.execute(db())
    })

    const instant = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 7, minute))

    test('keeps the oldest row of each, and counts the others in it', async () => {
      await migrate(inUse.current())
      const rows = await stored()
      const counted = rows.map(({ id, status, occurrences, last_detected_at, accepted_at, last_accepted_at }) => [
        id,
        status,
        occurrences,
        ...[last_detected_at, accepted_at, last_accepted_at].map((at) => at.getUTCMinutes()),
      ])
      expect(counted).toEqual([
        [idOf(1), 'open', '3', 3, 11, 13],
        [idOf(4), 'open', '1', 4, 14, 14],
        [idOf(5), 'open', '2', 6, 15, 16],
        [idOf(7), 'open', '1', 7, 17, 17],
        [idOf(8), 'open', '1', 8, 18, 18],
      ])
    })

    test('gives an artifact one id in its Domain, and rows the Project of their node where it still exists', async () => {
      await migrate(inUse.current())
      const rows = await stored()
      expect(rows.map(({ artifact_id, project_id }) => [artifact_id, project_id])).toEqual([
        [idOf(1), PROJECT],
        [idOf(1), PROJECT],
        [idOf(5), PROJECT],
        [idOf(5), null],
        [idOf(8), null],
      ])
      const artifacts = db().selectFrom('integrity_artifacts').selectAll().orderBy('id')
      expect(await artifacts.execute()).toEqual([
        { id: idOf(1), domain_id: HOME, kind: 'binary', artifact: '/usr/bin/agent' },
        { id: idOf(5), domain_id: HOME, kind: 'hook', artifact: 'backup' },
        { id: idOf(8), domain_id: OTHER, kind: 'hook', artifact: 'backup' },
      ])
    })
  })
})
