import { sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createFeedPruning } from '../../src/server/adapters/postgres/feed-pruning.ts'
import { createChangeFeed } from '../../src/server/adapters/postgres/change-feed.ts'
import { createJoinTokenSweeper } from '../../src/server/slices/join-tokens/join-token-sweeper.ts'
import { createKeySweeper } from '../../src/server/slices/nodes/key-sweeper.ts'
import type { LeaderJob } from '../../src/server/ports/leadership.ts'
import { createTokenSweeper } from '../../src/server/slices/tokens/token-sweeper.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { leaderParts, unfenced, type LeaderParts } from '../support/datastores/leading.ts'

const NOW = Date.parse('2026-06-01T08:00:00.000Z')
const DAY_MS = 24 * 60 * 60 * 1000
const HOME = '018f0000-0000-7000-8000-000000000001'
const OWNER = '018f0000-0000-7000-8000-000000000002'
const NODE = '018f0000-0000-7000-8000-000000000003'
const id = (n: number) => `018f0000-0000-7000-8000-0000000001${String(n).padStart(2, '0')}`
const ago = (ms: number) => new Date(NOW - ms).toISOString()

describe.each(STORES)('sweepers on the $name store', (store) => {
  describe.skipIf(store.missing)('of the leader', () => {
    const inUse = useDatastore(store)
    let parts: LeaderParts

    beforeEach(async () => {
      await emptyTables(inUse.current())
      parts = await leaderParts(inUse.current(), NOW)
      const domain = [HOME, 'home', 'Home', '100.64.0.0/10'].map((value) => sql`${value}`)
      await sql`insert into domains values (${sql.join(domain)}, 300, '[]', null, '[]', now(), now())`.execute(db())
      await sql`insert into principals (id, domain_id, kind, display_name, subject_sealed, subject_pseudonym, created_at,
          updated_at)
        values (${OWNER}, ${HOME}, 'service-identity', 'Owner', '\\x00', 'p', now(), now())`.execute(db())
      return () => parts.feed.stop()
    })

    const db = () => inUse.current().pool('interactive')
    const untilQuiet = async (job: LeaderJob) => {
      while (await job.run(unfenced(parts)));
    }
    const left = async (table: 'api_tokens' | 'join_tokens') =>
      (await db().selectFrom(table).select('id').orderBy('id').execute()).map((row) => row.id)

    describe('API tokens', () => {
      const add = async (n: number, token: { hidden: boolean; expiresAt: string }) => {
        await sql`insert into api_tokens (id, domain_id, owner_id, owner_kind, name, prefix, fingerprint, fingerprint_key_id,
            scopes, lifetime_seconds, created_at, expires_at, hidden)
          values (${id(n)}, ${HOME}, ${OWNER}, 'service-identity', 't', 'p', ${Buffer.from(id(n))}, 'k', '[]', 3600,
            ${ago(200 * DAY_MS)}, ${token.expiresAt}, ${token.hidden})`.execute(db())
        await parts.unitOfWork.run({ pool: 'interactive', correlationId: 'x' }, ({ tuples }) =>
          tuples.createStructural(
            { subject: `serviceaccount:${OWNER}`, relation: 'owner', resource: `token:${id(n)}` },
            { domainId: HOME, projectId: null },
          ),
        )
      }

      test('go with their tuples when no list shows them: hidden ones at their end, others 90 days later', async () => {
        await add(1, { hidden: true, expiresAt: ago(0) })
        await add(2, { hidden: true, expiresAt: ago(-1) })
        await add(3, { hidden: false, expiresAt: ago(90 * DAY_MS) })
        await add(4, { hidden: false, expiresAt: ago(90 * DAY_MS - 1) })
        await untilQuiet(createTokenSweeper(parts))
        expect(await left('api_tokens')).toEqual([id(2), id(4)])
        const tuples = await db().selectFrom('relation_tuples').select('resource_id').orderBy('resource_id').execute()
        expect(tuples.map(({ resource_id }) => resource_id)).toEqual([id(2), id(4)])
      })

      test('go however many there are', async () => {
        await sql`insert into api_tokens (id, domain_id, owner_id, owner_kind, name, prefix, fingerprint, fingerprint_key_id,
            scopes, lifetime_seconds, created_at, expires_at, hidden)
          select gen_random_uuid(), ${HOME}, ${OWNER}, 'service-identity', 't', 'p', sha256(n::text::bytea), 'k', '[]', 3600,
            ${ago(DAY_MS)}, ${ago(1)}, true from generate_series(1, 250) as n`.execute(db())
        await untilQuiet(createTokenSweeper(parts))
        expect(await left('api_tokens')).toEqual([])
      })
    })

    test('join tokens go 30 days after their expiry, used up or not', async () => {
      const add = (n: number, expiresAt: string) =>
        sql`insert into join_tokens (id, domain_id, prefix, fingerprint, fingerprint_key_id, labels, ephemeral, max_uses,
            uses, created_by, created_at, expires_at)
          values (${id(n)}, ${HOME}, 'p', ${Buffer.from(id(n))}, 'k', '{}', false, 1, ${n % 2}, 'user:1',
            ${ago(60 * DAY_MS)}, ${expiresAt})`.execute(db())
      await add(1, ago(30 * DAY_MS + 1))
      await add(2, ago(30 * DAY_MS + 1))
      await add(3, ago(30 * DAY_MS))
      await add(4, ago(-DAY_MS))
      await untilQuiet(createJoinTokenSweeper(parts))
      expect(await left('join_tokens')).toEqual([id(3), id(4)])
    })

    test('node secret keys go 30 days after their end, but never the newest of a node', async () => {
      await sql`insert into nodes (id, domain_id, name, kind, public_key, mesh_address, psk_sealed, psk_issued_at, labels,
          ephemeral, created_at, updated_at)
        values (${NODE}, ${HOME}, 'n', 'k', '\\x01', '100.64.0.1', '\\x01', 1, '{}', false, now(), now())`.execute(db())
      const add = (kid: string, key: { created: number; retires?: string; revoked?: string }) =>
        sql`insert into node_secret_keys (node_id, kid, fingerprint, fingerprint_key_id, created_at, retires_at, revoked_at)
          values (${NODE}, ${kid}, ${Buffer.from(kid)}, 'k', ${ago(key.created * DAY_MS)}, ${key.retires ?? null},
            ${key.revoked ?? null})`.execute(db())
      await add('retired', { created: 90, retires: ago(30 * DAY_MS + 1) })
      await add('revoked', { created: 80, revoked: ago(30 * DAY_MS + 1) })
      await add('lately', { created: 70, retires: ago(30 * DAY_MS) })
      await add('newest', { created: 60, revoked: ago(59 * DAY_MS) })
      await untilQuiet(createKeySweeper(parts))
      const keys = await db().selectFrom('node_secret_keys').select('kid').orderBy('kid').execute()
      expect(keys.map(({ kid }) => kid)).toEqual(['lately', 'newest'])
    })

    test('changes of the feed go but for the last ones; a follower that needs them loads everything anew', async () => {
      const warnings: string[] = []
      const late = createChangeFeed({
        datastore: inUse.current(),
        warn: (message) => void warnings.push(message),
        pollIntervalMs: 3_600_000,
      })
      let loads = 0
      late.subscribe(
        () => undefined,
        async () => void (loads += 1),
      )
      await late.start()
      for (let n = 0; n < 10; n++)
        await parts.unitOfWork.run({ pool: 'interactive', correlationId: 'x' }, async (change) =>
          change.domainChanged(HOME),
        )
      await untilQuiet(createFeedPruning(4))
      const { rows } = await sql`select min(revision)::int as first, count(*)::int as count from authz_changes`.execute(
        db(),
      )
      expect(rows).toEqual([{ first: 7, count: 4 }])
      const tooEarly = late.waitFor(10n, 1)
      await expect(tooEarly).rejects.toMatchObject({ code: 'authz_unavailable' })
      await vi.waitFor(() => expect(warnings).toHaveLength(1))
      await late.waitFor(10n, 10_000).finally(() => late.stop())
      expect({ loads, warnings }).toEqual({
        loads: 2,
        warnings: [
          'the changes from revision 0 to 10 are not all there; the followers of the change feed are reloaded',
        ],
      })
    })
  })
})
