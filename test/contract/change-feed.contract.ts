import { beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type ChangeFeedOptions,
  createChangeFeed,
  type FollowedFeed,
} from '../../src/server/adapters/postgres/change-feed.ts'
import { createUnitOfWork } from '../../src/server/adapters/postgres/unit-of-work.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import type { Change, UnitOfWork } from '../../src/server/ports/unit-of-work.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { type TestStore, useDatastore } from '../support/datastores/stores.ts'

const NEVER_MS = 3_600_000

/** What the change feed promises over every datastore (`ports/change-feed.ts`). */
export function changeFeedContract(store: TestStore): void {
  describe.skipIf(store.missing)(`the change feed on the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)
    let open: FollowedFeed[]
    let warnings: string[]
    let warn: (message: string) => void

    beforeEach(async () => {
      await emptyTables(inUse.current())
      open = []
      // A feed that is stopped during a read may still warn.
      const own: string[] = []
      warnings = own
      warn = (message) => void own.push(message)
      return () => open.forEach((feed) => feed.stop())
    })

    /** A follower that keeps the ids of the changed credentials. */
    async function follow(options: Partial<ChangeFeedOptions> = {}) {
      const feed = createChangeFeed({
        datastore: inUse.current(),
        warn,
        pollIntervalMs: NEVER_MS,
        ...options,
      })
      open.push(feed)
      const applied: string[] = []
      const loadedAt: bigint[] = []
      feed.subscribe(
        ({ payload }) => void applied.push('id' in payload ? payload.id : ''),
        async (_snapshot, revision) => void loadedAt.push(revision),
      )
      await feed.start()
      return { feed, applied, loadedAt }
    }

    function writer(feed: Pick<FollowedFeed, 'committed' | 'waitFor'>): (id: string) => Promise<void> {
      const unitOfWork: UnitOfWork = createUnitOfWork({
        datastore: inUse.current(),
        feed,
        clock: { now: () => 0 },
        ids: { next: () => '' },
        validateTuple: () => undefined,
        onAuditFailure: fail,
        onLateFeed: fail,
      })
      const options = { pool: 'interactive', correlationId: '' } as const
      return (id) => unitOfWork.run(options, async (change: Change) => change.credentialChanged('nsk', id))
    }

    /** Another replica: its commits are not told to the feeds of this test. */
    const elsewhere = () => writer({ committed: () => undefined, waitFor: async () => undefined })

    test('loads what follows it from one snapshot before it is started, and follows from there', async () => {
      await elsewhere()('before')
      const { feed, applied, loadedAt } = await follow()
      expect(feed.revision()).toBe(1n)
      expect(loadedAt).toEqual([1n])
      expect(applied).toEqual([])
      await writer(feed)('after')
      expect(applied).toEqual(['after'])
    })

    test('is fresh from its start to its stop', async () => {
      const { feed } = await follow()
      expect(feed.isFresh()).toBe(true)
      feed.stop()
      expect(feed.isFresh()).toBe(false)
    })

    test('is waited for at its start and not after its stop', async () => {
      const { feed } = await follow()
      expect(await feed.untilFresh()).toBe(true)
      feed.stop()
      expect(await feed.untilFresh()).toBe(false)
    })

    test('refuses followers after its start: they would miss what came before', async () => {
      const { feed } = await follow()
      expect(() => feed.subscribe(() => undefined)).toThrow('subscribe before the change feed is started')
    })

    test('applies own commits at once and in order, without a poll', async () => {
      const { feed, applied } = await follow()
      const write = writer(feed)
      for (const id of ['a', 'b', 'c']) await write(id)
      expect(applied).toEqual(['a', 'b', 'c'])
      expect(feed.revision()).toBe(3n)
    })

    test('closes a gap before an own commit from the datastore', async () => {
      const { feed, applied } = await follow()
      await elsewhere()('theirs')
      await writer(feed)('mine')
      expect(applied).toEqual(['theirs', 'mine'])
    })

    test('waits for a revision that another replica made', async () => {
      const { feed, applied } = await follow()
      await elsewhere()('theirs')
      await feed.waitFor(1n, 2_000)
      expect(applied).toEqual(['theirs'])
    })

    test('gives up waiting for a revision that does not come', async () => {
      const { feed } = await follow()
      await expect(feed.waitFor(7n, 30)).rejects.toMatchObject({ code: 'authz_unavailable' })
    })

    test('takes thousands of missed revisions, in order', async () => {
      const { feed, applied } = await follow()
      await seedRevisions(inUse.current(), 2_500)
      await feed.waitFor(2_500n, 10_000)
      expect(applied).toEqual(Array.from({ length: 2_500 }, (_, index) => `seeded-${index + 1}`))
    })

    test('says so and loads anew when a gap cannot be closed, because its changes were pruned', async () => {
      const { feed, loadedAt, applied } = await follow({ pollIntervalMs: 5 })
      await seedRevisions(inUse.current(), 3, [2])
      await feed.waitFor(3n, 2_000)
      expect(loadedAt).toEqual([0n, 3n])
      expect(applied).toEqual([])
      expect(warnings).toEqual([
        'the changes from revision 0 to 3 are not all there; the followers of the change feed are reloaded',
      ])
      await vi.waitFor(() => expect(feed.isFresh()).toBe(true))
    })

    test('says so and loads anew when a follower fails: it cannot be trusted any more', async () => {
      const feed = createChangeFeed({
        datastore: inUse.current(),
        warn,
        pollIntervalMs: 5,
      })
      open.push(feed)
      let loads = 0
      feed.subscribe(
        () => fail('cannot'),
        async () => void (loads += 1),
      )
      await feed.start()
      await writer({ committed: feed.committed, waitFor: async () => undefined })('poison')
      expect(feed.isFresh()).toBe(false)
      await feed.waitFor(1n, 2_000)
      expect(loads).toBe(2)
      expect(warnings).toEqual(['a follower could not apply a change; the followers of the change feed are reloaded'])
    })

    test('fails to start when a follower cannot be loaded', async () => {
      const feed = createChangeFeed({ datastore: inUse.current(), warn: fail })
      open.push(feed)
      feed.subscribe(
        () => undefined,
        async () => fail('no memory'),
      )
      await expect(feed.start()).rejects.toThrow('no memory')
      expect(feed.isFresh()).toBe(false)
    })

    // The embedded store has one process, which makes every commit itself: nobody else moves the head.
    describe.skipIf(store.name === 'embedded')('beside other replicas', () => {
      test('sees their commits by polling, in order', async () => {
        const { applied } = await follow({ pollIntervalMs: 5 })
        const write = elsewhere()
        for (const id of ['a', 'b', 'c']) await write(id)
        await vi.waitFor(() => expect(applied).toEqual(['a', 'b', 'c']))
      })

      test('says so and loads anew when the head went back, as after a failover that lost commits', async () => {
        await seedRevisions(inUse.current(), 5)
        const { feed, loadedAt } = await follow({ pollIntervalMs: 5 })
        await inUse.current().transaction('worker', async (tx) => {
          await tx.deleteFrom('authz_changes').where('revision', '=', '5').execute()
          await tx.updateTable('authz_head').set({ revision: '4' }).execute()
        })
        await vi.waitFor(() => expect(loadedAt).toEqual([5n, 4n]))
        expect(feed.revision()).toBe(4n)
        expect(warnings).toHaveLength(1)
      })

      test('holds a lease of one second from before the confirming query was sent', async () => {
        let nowMs = 0
        const slow: Datastore = {
          ...inUse.current(),
          pool(name) {
            if (name === 'change-feed') nowMs += 600
            return inUse.current().pool(name)
          },
        }
        const { feed } = await follow({ datastore: slow, monotonicMs: () => nowMs })
        expect(nowMs).toBe(600)
        nowMs = 999
        expect(feed.isFresh()).toBe(true)
        nowMs = 1_000
        expect(feed.isFresh()).toBe(false)
      })

      test('is not made fresh by own commits: they confirm nothing of others', async () => {
        let nowMs = 0
        const { feed } = await follow({ monotonicMs: () => nowMs })
        nowMs = 1_500
        await writer(feed)('mine')
        expect(feed.isFresh()).toBe(false)
      })

      test('confirms the head at once for who waits after a stall, and applies first what it missed', async () => {
        let nowMs = 0
        const { feed, applied } = await follow({ monotonicMs: () => nowMs })
        nowMs = 3_000
        await elsewhere()('meanwhile')
        expect(feed.isFresh()).toBe(false)
        expect(await Promise.all([feed.untilFresh(), feed.untilFresh()])).toEqual([true, true])
        expect([feed.isFresh(), applied]).toEqual([true, ['meanwhile']])
      })

      test('loses its lease while the server is away and has it again afterwards', async () => {
        const { feed } = await follow({ pollIntervalMs: 20 })
        await inUse.cluster().end('SIGQUIT')
        await vi.waitFor(() => expect(feed.isFresh()).toBe(false), { timeout: 5_000 })
        expect(await feed.untilFresh()).toBe(false)
        await inUse.cluster().start()
        await vi.waitFor(() => expect(feed.isFresh()).toBe(true), { timeout: 5_000 })
      })
    })
  })
}

/** Writes revisions as another replica would have, leaving out the changes of those named. */
async function seedRevisions(datastore: Datastore, count: number, pruned: readonly number[] = []): Promise<void> {
  const revisions = Array.from({ length: count }, (_, index) => index + 1).filter((each) => !pruned.includes(each))
  await datastore.transaction('bulk', async (tx) => {
    const rows = revisions.map((revision) => ({
      revision: String(revision),
      ordinal: 1,
      kind: 'credential_changed',
      payload: JSON.stringify({ kind: 'nsk', id: `seeded-${revision}` }),
    }))
    await tx.insertInto('authz_changes').values(rows).execute()
    await tx
      .updateTable('authz_head')
      .set({ revision: String(count) })
      .execute()
  })
}

function fail(message: unknown, cause?: unknown): never {
  throw new Error(String(message), { cause })
}
