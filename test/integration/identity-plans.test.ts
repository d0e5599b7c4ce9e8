import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { selectPrincipals, selectRevealed, type PrincipalFilter } from '../../src/server/slices/identities/store.ts'
import { pageRange } from '../../src/server/ports/page-range.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'

const SUMMARY = [
  'created_at',
  'disabled_at',
  'display_name',
  'domain_id',
  'id',
  'kind',
  'last_sign_in_at',
  'subject_pseudonym',
]

/** 50,000 principals of one Domain: service identities, and users with an address and a local account. */
async function fill({ datastore, home }: Tenancy): Promise<void> {
  const db = datastore.pool('bulk')
  await sql`
    insert into principals (id, domain_id, kind, display_name, subject_sealed, subject_pseudonym, email, created_at, updated_at)
    select gen_random_uuid(), ${home}::uuid, case when row % 2 = 0 then 'service-identity' else 'user' end, 'P ' || row,
      '\\x00', 'pseudonym-' || row, case when row % 2 = 1 then 'user-' || row || '@example.com' end,
      timestamptz '2026-01-01' + row * interval '1 second', now()
    from generate_series(1, 50000) as row`.execute(db)
  await sql`
    insert into local_accounts (id, login, display_name, domain_id, principal_id, password_hash, must_change_password, created_at, updated_at)
    select gen_random_uuid(), 'login-' || substr(email, 6), display_name, domain_id, id, 'x', false, now(), now()
    from principals where email is not null`.execute(db)
  await sql`vacuum analyze principals, local_accounts`.execute(db)
}

describe.each(STORES)('A list of identities on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let tenancy: Tenancy
    beforeAll(async () => {
      tenancy = await startTenancy(store)
      if (store.name === 'postgres') await fill(tenancy)
    }, 120_000)
    afterAll(() => tenancy?.stop())

    const NOBODY = { pseudonym: 'none', login: 'none', email: undefined }
    const page = pageRange(undefined, 50)
    const all = (): PrincipalFilter => {
      return { domainId: tenancy.home, kind: undefined, handled: undefined }
    }

    it('reads what identifies a principal for auditors alone', async () => {
      const [row = {}] = await selectPrincipals(tenancy.db, all(), page).execute()
      expect(Object.keys(row).toSorted()).toEqual(SUMMARY)
      const [revealed = {}] = await selectRevealed(tenancy.db, all(), page).execute()
      expect(Object.keys(revealed).toSorted()).toEqual([...SUMMARY, 'email', 'login', 'subject_sealed'].toSorted())
    })

    it.skipIf(store.name === 'embedded').each([
      ['of a service identity', { pseudonym: 'pseudonym-2222' }, ['P 2222']],
      ['of a user, which no subject is', { pseudonym: 'pseudonym-2223' }, []],
      ['a login', { login: 'login-33333@example.com' }, ['P 33333']],
      ['an address', { email: 'user-44443@example.com' }, ['P 44443']],
      ['both of one user', { login: 'login-5@example.com', email: 'user-5@example.com' }, ['P 5']],
      ['nobody', { email: 'nobody@example.com' }, []],
    ])('finds a handle among 50,000 by an index: %s', async (_, handle, found) => {
      for (const select of [selectPrincipals, selectRevealed]) {
        const query = select(tenancy.db, { ...all(), handled: { ...NOBODY, ...handle } }, page)
        expect((await query.execute()).map(({ display_name: name }) => name)).toEqual(found)
        const lines = await query.explain('text', sql`analyze, buffers`)
        const plan = lines.flatMap((line) => Object.values(line)).join('\n')
        const [, hit = '0', , read = '0'] = /Buffers: shared(?: hit=(\d+))?( read=(\d+))?/.exec(plan) ?? []
        expect(plan).not.toContain('Seq Scan')
        expect(Number(hit) + Number(read)).toBeLessThan(50)
      }
    })
  })
})
