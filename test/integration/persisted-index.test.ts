import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEmbeddedAuthorizer } from '../../src/server/adapters/embedded-authz/authorizer.ts'
import { createPersistedIndex, type PersistedIndex } from '../../src/server/adapters/embedded-authz/persisted-index.ts'
import { readIndexFile, writeIndexFile } from '../../src/server/adapters/embedded-authz/index-file.ts'
import { loadTuples } from '../../src/server/adapters/embedded-authz/load-tuples.ts'
import { noTuples, type LoadedTuples } from '../../src/server/adapters/embedded-authz/loaded-tuples.ts'
import { createChangeFeed } from '../../src/server/adapters/postgres/change-feed.ts'
import { createUnitOfWork } from '../../src/server/adapters/postgres/unit-of-work.ts'
import { createUuidV7 } from '../../src/server/adapters/system/uuid-v7.ts'
import type { FeedChange } from '../../src/server/ports/change-feed.ts'
import { SERVICE_MODEL } from '../../src/shared/authz/service-model.ts'
import { tuple } from '../support/authz/tuples.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

const NOW_MS = Date.parse('2026-03-02T09:00:00Z')
const REASON = /^the file of the authorization index is not used; the tuples are loaded from the datastore: (.*)$/

describe.each(STORES)('an index that is kept in a file, over $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    const db = () => inUse.current().pool('bulk')
    let directory: string
    let path: string
    let warnings: string[]
    let kept: PersistedIndex
    const warn = (message: string) => void warnings.push(message)

    beforeEach(async () => {
      await emptyTables(inUse.current())
      directory = await mkdtemp(join(tmpdir(), 'ctl-index-'))
      path = join(directory, 'authz-index')
      warnings = []
      kept = createPersistedIndex({ model: SERVICE_MODEL, datastore: inUse.current(), path, warn })
    })
    afterEach(() => rm(directory, { recursive: true, force: true }))

    async function insert(text: string, revision = 1): Promise<void> {
      const { domain_id: _, ...columns } = tuple(text)
      await sql`
        insert into relation_tuples (id, subject_type, subject_id, subject_relation, relation, resource_type, resource_id,
          caveat_name, caveat_fields, domain_id, project_id, structural, revision, created_at)
        values (gen_random_uuid(), ${columns.subject_type}, ${columns.subject_id}, ${columns.subject_relation},
          ${columns.relation}, ${columns.resource_type}, ${columns.resource_id}, ${columns.caveat_name}, '[]', null, null,
          false, ${revision}, now())`.execute(db())
    }

    async function record(kindOfChange: FeedChange['kind'], text: string, revision: number): Promise<void> {
      const payload = JSON.stringify(tuple(text))
      await sql`insert into authz_changes (revision, ordinal, kind, payload)
        values (${revision}, 1, ${kindOfChange}, ${payload}::jsonb)`.execute(db())
    }

    async function loaded(): Promise<LoadedTuples> {
      const tuples = noTuples(SERVICE_MODEL)
      await loadTuples(db(), (each, revision) => {
        if (tuples.index.touch(each, revision) === 'unknown') tuples.unknownTuples++
      })
      return tuples
    }

    const contents = ({ index, unknownTuples }: LoadedTuples) => ({
      tuples: index.tuples,
      objects: index.objects.size,
      unknownTuples,
    })

    it('is there again as it was, with caveats, names and tuples that the schema does not have', async () => {
      await insert('domain:acme#admin@user:ann')
      await insert('domain:acme#viewer@user:*[within_hours]')
      await insert('project:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b#domain@domain:acme', 2)
      await insert('disk:c#reader@user:ann')
      await kept.save(await loaded(), 7n)
      const restored = await kept.restore(db(), 7n)
      expect(restored && contents(restored)).toEqual({ tuples: 3, objects: 4, unknownTuples: 1 })
      expect(restored?.index.conditions.size).toBe(1)
      expect(warnings).toEqual([])
    })

    it('is brought up to date by the changes since, in their order', async () => {
      await insert('domain:acme#admin@user:ann')
      await kept.save(await loaded(), 7n)
      await sql`delete from relation_tuples`.execute(db())
      await insert('domain:acme#admin@user:bob', 9)
      await record('tuple_touched', 'domain:acme#admin@user:bob', 8)
      await record('tuple_deleted', 'domain:acme#admin@user:ann', 9)
      const restored = await kept.restore(db(), 9n)
      expect(restored && contents(restored)).toEqual({ tuples: 1, objects: 2, unknownTuples: 0 })
      expect(restored?.index.objects.find(SERVICE_MODEL.type('user')?.index ?? -1, 'bob', 0)).toBeGreaterThan(0)
    })

    it('is not there before it was kept', async () => {
      expect(await kept.restore(db(), 7n)).toBeUndefined()
      expect(warnings).toEqual([])
    })

    const flip = async (at: (length: number) => number): Promise<void> => {
      const bytes = await readFile(path)
      const place = at(bytes.length)
      bytes[place] = (bytes[place] ?? 0) ^ 1
      await writeFile(path, bytes)
    }
    const refused: readonly (readonly [string, () => Promise<unknown>, string])[] = [
      ['is empty', () => truncate(path, 0), 'it is cut short'],
      ['lost its end', () => truncate(path, 500), 'it is cut short'],
      ['grew', () => writeFile(path, 'x', { flag: 'a' }), 'it is cut short'],
      ['has a damaged column', () => flip((length) => length - 60), 'its checksum is wrong'],
      ['has a damaged checksum', () => flip((length) => length - 1), 'its checksum is wrong'],
      ['is another file', () => writeFile(path, 'To whom it may concern'), 'it has another format'],
      [
        'belongs to another schema',
        async () => {
          const file = await readIndexFile(path)
          if (file !== undefined) await (await writeIndexFile(path, { ...file, schema: 'older' })).commit()
        },
        'it belongs to another schema',
      ],
      [
        'belongs to another database, or to what a restored backup undid',
        () => sql`delete from authz_index_marks`.execute(db()),
        'it belongs to another database',
      ],
      [
        'is older than the changes that are left',
        () => sql`delete from authz_changes where revision = 8`.execute(db()),
        'changes since it was written are pruned',
      ],
      [
        'differs from tuples that were changed by hand',
        () => sql`delete from relation_tuples where subject_id = 'ann'`.execute(db()),
        'tuples were changed past the service',
      ],
    ]
    it.each(refused)('is not used when it %s, which is said once, and is gone then', async (_, spoil, reason) => {
      await insert('domain:acme#admin@user:ann')
      await insert('domain:acme#admin@user:bob', 9)
      await kept.save(await loaded(), 7n)
      for (const revision of [8, 9]) await record('tuple_touched', 'domain:acme#admin@user:bob', revision)
      await spoil()
      expect(await kept.restore(db(), 9n)).toBeUndefined()
      expect(warnings.map((warning) => REASON.exec(warning)?.[1])).toEqual([reason])
      expect(existsSync(path)).toBe(false)
    })

    it('is not used when it is newer than the database', async () => {
      await insert('domain:acme#admin@user:ann')
      await kept.save(await loaded(), 7n)
      expect(await kept.restore(db(), 6n)).toBeUndefined()
      expect(warnings.map((warning) => REASON.exec(warning)?.[1])).toEqual(['it is newer than the database'])
    })

    it('that cannot be written is said, and nothing more', async () => {
      await mkdir(join(path, 'in-its-place'), { recursive: true })
      await kept.save(await loaded(), 7n)
      expect(warnings).toEqual(['the authorization index could not be kept'])
    })

    it('serves the next run, which then knows what it would have read', async () => {
      await sql`
        insert into relation_tuples (id, subject_type, subject_id, subject_relation, relation, resource_type, resource_id,
          caveat_name, caveat_fields, domain_id, project_id, structural, revision, created_at)
        select gen_random_uuid(), 'user', gen_random_uuid()::text, '', 'admin', 'domain', gen_random_uuid()::text, '', '[]',
          null, null, false, 0, now() from generate_series(1, 6000)`.execute(db())
      const clock = { now: () => NOW_MS }
      const run = async (work: (grant: (subject: string) => Promise<unknown>) => Promise<void>) => {
        const feed = createChangeFeed({ datastore: inUse.current(), warn })
        const authorizer = createEmbeddedAuthorizer({
          datastore: inUse.current(),
          changeFeed: feed,
          keptIn: path,
          warn,
        })
        const { validateTuple } = authorizer
        const failures = { onAuditFailure: () => warn('audit'), onLateFeed: () => warn('late') }
        const sources = {
          datastore: inUse.current(),
          feed,
          clock,
          ids: createUuidV7(clock),
          validateTuple,
          ...failures,
        }
        const unitOfWork = createUnitOfWork(sources)
        await feed.start()
        await work((subject) =>
          unitOfWork.run({ pool: 'interactive', correlationId: 'arranged' }, (tx) =>
            tx.tuples.create(
              { subject, relation: 'admin', resource: 'platform:main' },
              { domainId: null, projectId: null },
            ),
          ),
        )
        feed.stop()
        return authorizer
      }
      const first = await run(async (grant) => {
        await grant('user:ann')
      })
      await first.keep('end')
      await run(async (grant) => {
        await grant('user:bob')
      })
      const third = await run(async () => undefined)
      expect(third.stats()).toMatchObject({ tuples: 6002, unknownTuples: 0 })
      expect(existsSync(path)).toBe(true)
      expect(warnings).toEqual([])
    })
  })
})
