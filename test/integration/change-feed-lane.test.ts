import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { createChangeFeed } from '../../src/server/adapters/postgres/change-feed.ts'
import { createCrowd } from '../support/datastores/crowd.ts'
import { POSTGRES, useDatastore } from '../support/datastores/stores.ts'

/** Longer than the feed is waited for. */
const JOB_SECONDS = 5
const SEEN_WITHIN_MS = 2_000
/** S1 Limits. */
const WORKER_MAX = 10

describe.skipIf(POSTGRES.missing)('a PostgreSQL without a free connection slot', () => {
  const inUse = useDatastore(POSTGRES)

  test('is followed while jobs hold every connection that they have', async () => {
    const datastore = inUse.current()
    const feed = createChangeFeed({ datastore, warn: () => undefined })
    await feed.start()
    const crowd = createCrowd(inUse.cluster().url)
    const job = (): Promise<unknown> => sql`select pg_sleep(${JOB_SECONDS})`.execute(datastore.pool('worker'))
    let jobs: Promise<readonly PromiseSettledResult<unknown>[]> | undefined
    try {
      await sql`select 1`.execute(datastore.pool('worker'))
      await crowd.fill()
      jobs = Promise.allSettled(Array.from({ length: WORKER_MAX }, job))
      // What another replica commits.
      await crowd.member().query('update authz_head set revision = revision + 1')
      await crowd
        .member()
        .query(
          `insert into authz_changes (revision, ordinal, kind, payload) values (1, 1, 'credential_changed', '{"kind":"nsk","id":"n"}')`,
        )
      await feed.waitFor(1n, SEEN_WITHIN_MS)
      expect(feed.isFresh()).toBe(true)
    } finally {
      feed.stop()
      await crowd.leave()
      expect((await jobs)?.some(({ status }) => status === 'fulfilled')).toBe(true)
    }
  }, 180_000)
})
