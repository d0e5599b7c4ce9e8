import { beforeEach, describe, expect, test } from 'vitest'
import { createDomainJob, type DomainQuery } from '../../../../src/server/sql/domain-job.ts'
import { DatastoreError, type Datastore } from '../../../../src/server/ports/datastore.ts'
import { LeadershipLost } from '../../../../src/server/ports/leadership-lost.ts'
import type { LeaderJob, Leading } from '../../../../src/server/ports/leadership.ts'

/** Types of ports of which the job uses one member alone. */
const datastore = { pool: () => undefined } as unknown as Datastore
const leading = {
  signal: new AbortController().signal,
  unitOfWork: { run: (_options: unknown, work: (change: unknown) => Promise<unknown>) => work({}) },
} as unknown as Leading

describe('a job for each Domain', () => {
  let job: LeaderJob
  const asked: DomainQuery[] = []
  const done: string[] = []
  const errors = new Map<string, Error>()

  beforeEach(() => {
    for (const list of [asked, done]) list.length = 0
    errors.clear()
    job = createDomainJob({
      name: 'choice',
      everyMs: 1,
      datastore,
      ids: { next: () => 'id' },
      outdated: async (_db, query) => {
        asked.push(query)
        return ['a', 'b', 'c'].filter((id) => !done.includes(id) && !query.except.includes(id))
      },
      work: async (_change, id) => {
        const error = errors.get(id)
        if (error !== undefined) throw error
        done.push(id)
      },
    })
  })

  test('goes on where one fails, leaves that one out of the next pass, and names it', async () => {
    errors.set('a', new Error('broken'))
    await expect(job.run(leading)).rejects.toMatchObject({
      message: 'choice failed in the Domain a',
      cause: errors.get('a'),
    })
    expect(done).toEqual(['b', 'c'])
    expect(await job.run(leading)).toBe(false)
    expect(asked.map(({ except }) => except)).toEqual([[], ['a']])
  })

  test('names all that fail', async () => {
    for (const id of ['a', 'c']) errors.set(id, new Error(id))
    const failure = await job.run(leading).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(AggregateError)
    expect((failure as AggregateError).errors).toHaveLength(2)
    expect(done).toEqual(['b'])
  })

  test.each([new LeadershipLost('over'), new DatastoreError('unavailable', undefined, undefined)])(
    'ends the pass where every other Domain would fail alike: %s',
    async (error) => {
      errors.set('a', error)
      await expect(job.run(leading)).rejects.toBe(error)
      expect(done).toEqual([])
      errors.clear()
      expect(await job.run(leading)).toBe(false)
      expect(done).toEqual(['a', 'b', 'c'])
    },
  )
})
