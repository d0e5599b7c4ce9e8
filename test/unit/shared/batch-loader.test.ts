import { describe, expect, test } from 'vitest'
import { createGatheredReads } from '../../../src/shared/batch-loader.ts'
import { DatastoreError, isUnavailable } from '../../../src/server/ports/datastore.ts'

type Found = ReadonlyMap<string, string>

/** Statements that end when they are told to, and the nodes that each was asked for. */
function heldStatements() {
  const asked: (readonly string[])[] = []
  const ends: { resolve: (found: Found) => void; reject: (error: unknown) => void }[] = []
  return {
    asked,
    readMany: (nodeIds: readonly string[]) =>
      new Promise<Found>((resolve, reject) => {
        asked.push(nodeIds)
        ends.push({ resolve, reject })
      }),
    answer: (at: number) => ends[at]?.resolve(new Map(asked[at]?.map((id) => [id, `state of ${id}`]))),
    fail: (at: number, error: unknown) => ends[at]?.reject(error),
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('gathered reads', () => {
  test('of one turn are one statement, and each caller gets its own node', async () => {
    const statements = heldStatements()
    const read = createGatheredReads({ isOutage: isUnavailable, ...statements, flightsMax: 1, batchMax: 10 })
    const answers = ['a', 'b', 'a'].map(read)
    await turn()
    expect(statements.asked).toEqual([['a', 'b']])
    statements.answer(0)
    expect(await Promise.all(answers)).toEqual(['state of a', 'state of b', 'state of a'])
  })

  test('give nothing for a node that is not there', async () => {
    const read = createGatheredReads({
      isOutage: isUnavailable,
      readMany: async () => new Map<string, string>(),
      flightsMax: 1,
      batchMax: 10,
    })
    expect(await read('a')).toBeUndefined()
  })

  test('that come while statements are on their way share the next one, which begins after they asked', async () => {
    const statements = heldStatements()
    const read = createGatheredReads({ isOutage: isUnavailable, ...statements, flightsMax: 2, batchMax: 10 })
    const answers = []
    for (const ids of [['a'], ['b'], ['a', 'c'], ['d']]) {
      answers.push(...ids.map(read))
      await turn()
    }
    expect(statements.asked).toEqual([['a'], ['b']])
    statements.answer(1)
    await turn()
    await turn()
    expect(statements.asked).toEqual([['a'], ['b'], ['a', 'c', 'd']])
    statements.answer(0)
    statements.answer(2)
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'a', 'c', 'd'].map((id) => `state of ${id}`))
  })

  test('go in statements of so many nodes at most', async () => {
    const statements = heldStatements()
    const read = createGatheredReads({ isOutage: isUnavailable, ...statements, flightsMax: 3, batchMax: 2 })
    void ['a', 'b', 'c', 'd', 'e'].map(read)
    await turn()
    expect(statements.asked).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  test('fail together where the datastore is away, those that wait too, and go on afterwards', async () => {
    const statements = heldStatements()
    const read = createGatheredReads({ isOutage: isUnavailable, ...statements, flightsMax: 1, batchMax: 1 })
    const answers = Promise.allSettled(['a', 'b'].map(read))
    await turn()
    const away = new DatastoreError('unavailable', undefined, new Error('ECONNREFUSED'))
    statements.fail(0, away)
    expect(await answers).toEqual(['a', 'b'].map(() => ({ status: 'rejected', reason: away })))
    const later = read('c')
    await turn()
    statements.answer(1)
    expect(await later).toBe('state of c')
  })

  test('that another error ends leave the others alone', async () => {
    const statements = heldStatements()
    const read = createGatheredReads({ isOutage: isUnavailable, ...statements, flightsMax: 1, batchMax: 1 })
    const answers = Promise.allSettled(['a', 'b'].map(read))
    await turn()
    statements.fail(0, new Error('a bug'))
    await turn()
    await turn()
    statements.answer(1)
    expect(await answers).toMatchObject([
      { status: 'rejected', reason: { message: 'a bug' } },
      { status: 'fulfilled', value: 'state of b' },
    ])
  })
})
