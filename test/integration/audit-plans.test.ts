import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { selectAudit, type AuditFilter } from '../../src/server/slices/audit/store.ts'
import { relationsMeant } from '../../src/server/slices/audit/relations.ts'
import type { Db } from '../../src/server/ports/datastore.ts'
import { pageRange } from '../../src/server/ports/page-range.ts'
import { POSTGRES, useDatastore } from '../support/datastores/stores.ts'

const DOMAIN = '01935b5e-8f3a-7c61-9d0a-000000000003'
const BUSY = '01935b5e-8f3a-7c61-9d0a-000000000009'
/** Of about 3,600: 1,000 denials of one Domain, a page apiece, are sorted rather than walked in order. */
const PAGES_MAX = 1100

const WHOLE: AuditFilter = {
  domainId: DOMAIN,
  match: {},
  since: undefined,
  until: undefined,
}

/** The position of a row in the midst of them. */
const LATER = ['2026-01-10T00:00:00.000Z', DOMAIN]

/** Relations of all operations that change something, a few of which have rows. */
const WRITES = [...(relationsMeant({ only: 'writes' }) ?? []), 'rare.relation']

/** Four Domains with 500 subjects and 3,000 objects; a few rows are of rare kinds, all of them in one Domain. */
async function fill(db: Db): Promise<void> {
  await sql`
    insert into audit
    select gen_random_uuid(), timestamptz '2026-01-01' + row * interval '10 second',
      ('01935b5e-8f3a-7c61-9d0a-00000000000' || row % 4)::uuid,
      case when row % 20000 = 3 then 'user:rare' when row % 50000 = 11 then 'node:rare' else 'user:' || row % 500 end,
      case
        when row % 20000 = 7 then 'rare.relation'
        when row % 5 = 1 then 'node.list'
        when row % 100 = 2 then 'node.update'
        else 'authz.check'
      end,
      case when row % 40000 = 3 then 'node:rare' else 'node:' || row % 3000 end,
      case when row % 200 = 3 then 'permission_denied' when row % 50000 = 7 then 'internal_error' else 'granted' end,
      'granted', 'c' || row, '{}'
    from generate_series(1, 200000) as row`.execute(db)
  // In one Domain nodes write all the time, and one person reads all the time: each of them changes one thing at the beginning.
  await sql`
    insert into audit
    select gen_random_uuid(), timestamptz '2026-01-01' + row * interval '10 second', ${BUSY}::uuid,
      case when row = 1 then 'user:rare' when row % 3 = 0 then 'user:reader' when row = 2 then 'user:reader'
        else 'node:' || row % 3000 end,
      case when row = 1 or row % 3 <> 0 then 'node.update' else 'node.list' end,
      'node:' || row % 3000, 'granted', 'granted', 'c', '{}'
    from generate_series(1, 100000) as row`.execute(db)
  await sql`vacuum analyze audit`.execute(db)
}

describe.skipIf(POSTGRES.missing)('the plan of the audit list over 200,000 rows', () => {
  const inUse = useDatastore(POSTGRES)
  beforeAll(() => fill(inUse.current().pool('bulk')))

  it.each<[string, Partial<AuditFilter>, (readonly string[])?]>([
    ['everything', {}],
    ['the platform', { domainId: null }],
    ['a later page', {}, LATER],
    ['a period', { since: new Date('2026-01-05T00:00:00Z'), until: new Date('2026-01-06T00:00:00Z') }],
    ['a subject', { match: { subject: 'user:103' } }],
    ['a rare subject', { match: { subject: 'user:rare' } }],
    ['no subject', { match: { subject: 'user:none' } }],
    ['an object', { match: { object: 'node:7' } }],
    ['a rare object', { match: { object: 'node:rare' } }],
    ['no object', { match: { object: 'node:none' } }],
    ['a relation', { match: { relation: 'node.list' } }],
    ['checks', { match: { relation: 'authz.check' } }],
    ['a rare relation', { match: { relation: 'rare.relation' } }],
    ['no relation', { match: { relation: 'none' } }],
    ['denials', { match: { outcome: 'permission_denied' } }],
    ['a rare outcome', { match: { outcome: 'internal_error' } }],
    ['grants', { match: { outcome: 'granted' } }],
    ['one request', { match: { correlation_id: 'c77777' } }],
    ['writes', { match: { relations: WRITES } }],
    ['writes of the platform', { domainId: null, match: { relations: WRITES } }],
    ['writes of a subject', { match: { relations: WRITES, subject: 'user:103' } }],
    ['writes of a rare subject', { match: { relations: WRITES, subject: 'user:rare' } }],
    ['writes of users among those of nodes', { domainId: BUSY, match: { relations: WRITES, actor: 'user' } }],
    ['writes of a user who reads much', { domainId: BUSY, match: { relations: WRITES, subject: 'user:reader' } }],
    ['a group of relations of users', { domainId: BUSY, match: { relations: ['node.update'], actor: 'user' } }],
    ['the server itself', { domainId: BUSY, match: { actor: 'system' } }],
    ['a later page of writes', { match: { relations: WRITES } }, LATER],
    ['a group of relations', { match: { relations: ['node.list', 'node.read', 'rare.relation'] } }],
    ['a group of rare relations', { match: { relations: ['none.list', 'rare.relation'] } }],
    ['a group with checks', { match: { relations: ['authz.check', 'authz.explain'] } }],
    ['users', { match: { actor: 'user' } }],
    ['a rare kind of subject', { match: { actor: 'node' } }],
    ['no subject of a kind', { match: { actor: 'serviceaccount' } }],
    ['writes of users', { match: { relations: WRITES, actor: 'user' } }],
    ['a later page of a subject', { match: { subject: 'user:103' } }, LATER],
  ])('of %s reads few pages, by an index', async (_what, filter, position) => {
    const db = inUse.current().pool('interactive')
    const query = selectAudit(db, { ...WHOLE, ...filter }, pageRange(position, 50))
    const lines = await query.explain('text', sql`analyze, buffers`)
    const plan = lines.flatMap((line) => Object.values(line)).join('\n')
    const [, hit = '0', , read = '0'] = /Buffers: shared(?: hit=(\d+))?( read=(\d+))?/.exec(plan) ?? []
    expect(plan).not.toContain('Seq Scan')
    expect(Number(hit) + Number(read)).toBeLessThan(PAGES_MAX)
  })
})
